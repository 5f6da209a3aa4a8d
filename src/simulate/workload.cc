// SPDX-License-Identifier: Apache-2.0
#include "simulate/workload.h"

#include <fmt/format.h>

#include <vector>

#include "base/human_text.h"

namespace firn::simulate {
namespace {

constexpr std::int64_t kKiB = 1 << 10, kMiB = 1 << 20;

Workload StreamingLate() {
  Workload w;
  w.name = "streaming-late";
  w.what = "a commit a minute, days times 8 buckets, every third commit reaches an older day";
  w.tables = 20;
  w.hours = 72;
  w.commit_seconds = 60;
  w.commit_spread = 0.5;
  w.buckets = 8;
  w.buckets_per_commit = 4;
  w.history_slots = 14;
  w.history_files = 3;
  w.late_partitions = 0.33;
  w.late_slots = 3;
  w.late_size_factor = 0.1;
  w.files_per_partition = 1.5;
  w.file_bytes = 2 * kMiB;
  w.file_spread = 1;
  return w;
}

Workload Bursty() {
  Workload w;
  w.name = "bursty";
  w.what = "nearly silent, and 40 times as many commits for half an hour, four times a day";
  w.tables = 40;
  w.hours = 96;
  w.commit_seconds = 600;
  w.commit_spread = 0.8;
  w.burst_every_hours = 6;
  w.burst_hours = 0.5;
  w.burst_factor = 40;
  w.buckets = 4;
  w.buckets_per_commit = 2;
  w.history_slots = 7;
  w.history_files = 2;
  w.late_partitions = 0.1;
  w.files_per_partition = 4;
  w.file_bytes = 4 * kMiB;
  w.file_spread = 1.2;
  return w;
}

Workload ManySmallTables() {
  Workload w;
  w.name = "many-small-tables";
  w.what = "a few megabytes a day, a commit every quarter of an hour";
  w.tables = 1000;
  w.hours = 48;
  w.commit_seconds = 900;
  w.commit_spread = 1.2;
  w.history_slots = 5;
  w.late_partitions = 0.1;
  w.late_slots = 2;
  w.file_bytes = 64 * kKiB;
  w.file_spread = 1;
  return w;
}

Workload SteadyWide() {
  Workload w;
  w.name = "steady-wide";
  w.what = "64 buckets a day, a large commit every five minutes into all of them";
  w.tables = 5;
  w.hours = 72;
  w.commit_seconds = 300;
  w.buckets = 64;
  w.buckets_per_commit = 64;
  w.history_slots = 3;
  w.history_files = 2;
  w.late_partitions = 1;
  w.late_size_factor = 0.2;
  w.file_bytes = 12 * kMiB;
  w.file_spread = 0.6;
  return w;
}

Workload Upserts() {
  Workload w;
  w.name = "upserts";
  w.what = "16 buckets without time, a commit a minute; four of five delete older rows by vectors";
  w.tables = 10;
  w.hours = 48;
  w.slot_hours = 24 * 365;
  w.buckets = 16;
  w.buckets_per_commit = 6;
  w.history_files = 4;
  w.file_bytes = 1 * kMiB;
  w.file_spread = 0.8;
  w.upsert_share = 0.8;
  w.upsert_rows = 0.6;
  w.deletes = DeleteKind::kVectors;
  return w;
}

Workload UpsertsByKey() {
  Workload w = Upserts();
  w.name = "upserts-by-key";
  w.what = "as upserts, with equality deletes, each of which applies to all older files of its partition";
  w.deletes = DeleteKind::kEquality;
  return w;
}

Workload Fleet() {
  Workload w;
  w.name = "fleet";
  w.what = "a commit each ten seconds: how quick commits become decisions";
  w.tables = 100'000;
  w.hours = 0.05;
  w.commit_seconds = 10;
  w.commit_spread = 0.5;
  w.buckets = 4;
  w.buckets_per_commit = 2;
  w.file_bytes = 1 * kMiB;
  w.file_spread = 1;
  w.late_partitions = 0.1;
  w.history_slots = 2;
  return w;
}

}  // namespace

std::span<const Workload> Workloads() {
  static const std::vector<Workload> workloads = {StreamingLate(), Bursty(), ManySmallTables(), SteadyWide(), Upserts(),
                                                  UpsertsByKey(),  Fleet()};
  return workloads;
}

Result<Workload> FindWorkload(std::string_view name) {
  std::vector<std::string_view> names;
  for (const Workload& workload : Workloads()) {
    if (workload.name == name) return workload;
    names.push_back(workload.name);
  }
  return Error{Code::kInvalidArgument,
               fmt::format("\"{}\" is no workload: there are {}", name, fmt::join(names, ", "))};
}

Status CheckWorkload(const Workload& w) {
  struct Range {
    std::string_view name;
    double value, low, high;
  };
  const Range ranges[] = {
      {"tables", static_cast<double>(w.tables), 1, 1e6},
      {"hours", w.hours, 0.001, 24 * 366},
      {"commit_seconds", w.commit_seconds, 0.01, 1e7},
      {"buckets", static_cast<double>(w.buckets), 1, 10'000},
      {"slot_hours", w.slot_hours, 0.01, 1e6},
      {"file_bytes", static_cast<double>(w.file_bytes), 1, 1e12},
      {"target_size_bytes", static_cast<double>(w.target_size_bytes), 1024, 4.4e12},
  };
  for (const Range& range : ranges) {
    if (range.value >= range.low && range.value <= range.high) continue;
    return Error{Code::kInvalidArgument, fmt::format("{} of the workload is {}, not between {} and {}", range.name,
                                                     range.value, range.low, range.high)};
  }
  return Ok();
}

std::string Describe(const Workload& w) {
  return fmt::format("{}, each {}", HumanCount(static_cast<std::int64_t>(w.tables), "table"), w.what);
}

json::Value ToJson(const Workload& w) {
  json::Value value = json::Value::Object();
  value.Set("name", w.name);
  value.Set("what", Describe(w));
  value.Set("tables", w.tables);
  value.Set("hours", w.hours);
  value.Set("commit_seconds", w.commit_seconds);
  value.Set("commit_spread", w.commit_spread);
  value.Set("burst_every_hours", w.burst_every_hours);
  value.Set("burst_hours", w.burst_hours);
  value.Set("burst_factor", w.burst_factor);
  value.Set("slot_hours", w.slot_hours);
  value.Set("buckets", w.buckets);
  value.Set("buckets_per_commit", w.buckets_per_commit);
  value.Set("history_slots", w.history_slots);
  value.Set("history_files", w.history_files);
  value.Set("late_partitions", w.late_partitions);
  value.Set("late_slots", w.late_slots);
  value.Set("late_size_factor", w.late_size_factor);
  value.Set("files_per_partition", w.files_per_partition);
  value.Set("file_bytes", w.file_bytes);
  value.Set("file_spread", w.file_spread);
  value.Set("row_bytes", w.row_bytes);
  value.Set("upsert_share", w.upsert_share);
  value.Set("upsert_rows", w.upsert_rows);
  value.Set("deletes", w.deletes == DeleteKind::kVectors    ? "vectors"
                       : w.deletes == DeleteKind::kEquality ? "equality"
                                                            : "none");
  value.Set("target_size_bytes", w.target_size_bytes);
  return value;
}

}  // namespace firn::simulate
