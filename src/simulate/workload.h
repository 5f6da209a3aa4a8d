// SPDX-License-Identifier: Apache-2.0
//
// Kinds of streaming ingestion, by name: how many tables, how often they commit, how large their files are, how late.
//
// In: a name. Out: all numbers that a synthetic trace is made from.
// Guarantees: every number that shapes a trace is here, and printed with the results.
// Errors: kInvalidArgument that lists the names.
// Threads: values. Source: docs/simulator.md.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "format/json/json.h"
#include "simulate/trace.h"

namespace firn::simulate {

struct Workload {
  std::string name;
  std::string what;  // of each table, for people; see Describe
  std::int32_t tables = 1;
  double hours = 24;

  double commit_seconds = 60;  // mean time between two commits of a table: a Poisson process
  double commit_spread = 0;    // sigma of the logarithm of that mean over the tables
  /// Every `burst_every_hours`, for `burst_hours`, commits come `burst_factor` times as often.
  double burst_every_hours = 0, burst_hours = 0, burst_factor = 1;

  /// Partitions are slots of time times buckets; new rows go to the newest slot.
  double slot_hours = 24;
  std::int32_t buckets = 1;
  std::int32_t buckets_per_commit = 1;
  std::int32_t history_slots = 0;  // older slots that exist at the start ...
  std::int32_t history_files = 0;  // ... each bucket with so many files of about the target size
  double late_partitions = 0;      // mean number of older partitions that a commit reaches
  double late_slots = 3;           // mean age of those
  double late_size_factor = 1;     // size of late files against the others

  double files_per_partition = 1;     // mean, at least 1, of one commit
  std::int64_t file_bytes = 1 << 20;  // median
  double file_spread = 0.5;           // sigma of the logarithm of the size
  std::int64_t row_bytes = 100;

  double upsert_share = 0;   // part of the commits that delete older rows as well
  double upsert_rows = 0.5;  // rows that these delete, against the rows that they add
  DeleteKind deletes = DeleteKind::kNone;
  std::int64_t target_size_bytes = std::int64_t{128} << 20;
};

std::span<const Workload> Workloads();
Result<Workload> FindWorkload(std::string_view name);
/// kInvalidArgument naming the number that makes no sense.
Status CheckWorkload(const Workload& workload);
/// One sentence, with the number of tables that it has now.
std::string Describe(const Workload& workload);
json::Value ToJson(const Workload& workload);

}  // namespace firn::simulate
