// SPDX-License-Identifier: Apache-2.0
//
// Fills a FleetRowStore with a fleet that looks like a real one: for tests of the API and of the dashboard.
//
// In: how many tables, the time. Out: tables, partitions, decisions, jobs, a queue, policies, trends.
// Guarantees: the same arguments give the same fleet.
// Threads: one owner.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "api/analysis_fixture.h"
#include "base/human_text.h"
#include "base/random.h"
#include "service/fleet_row_store.h"

namespace firn::api {

inline constexpr std::int64_t kHourMs = 3'600'000;
inline constexpr std::int64_t kMiB = 1 << 20;

inline std::string FixtureTableName(int i) {
  constexpr std::array<const char*, 6> kSpaces = {"sales", "web", "iot.sensors", "billing", "ml.features", "logistics"};
  constexpr std::array<const char*, 8> kNames = {"orders",   "clicks", "readings",  "invoices",
                                                 "sessions", "events", "shipments", "profiles"};
  const auto at = static_cast<std::size_t>(i);
  const char* name = kNames[at / kSpaces.size() % kNames.size()];
  const int round = i / static_cast<int>(kSpaces.size() * kNames.size());
  return round == 0 ? fmt::format("{}.{}", kSpaces[at % kSpaces.size()], name)
                    : fmt::format("{}.{}_{:03}", kSpaces[at % kSpaces.size()], name, round);
}

inline std::vector<service::TrendPoint> FixtureTrend(Random& random, std::int64_t files, double entropy,
                                                     std::int64_t now_ms) {
  std::vector<service::TrendPoint> points;
  double level = static_cast<double>(files) * 1.6;
  for (int i = 71; i >= 0; --i) {
    level += static_cast<double>(files) * 0.03 * (random.NextUnit() - 0.2);
    if (i % 17 == 0) level *= 0.7;  // a merge
    points.push_back({.ms = now_ms - i * kHourMs,
                      .files = static_cast<std::int64_t>(level),
                      .bytes = static_cast<std::int64_t>(level) * 40 * kMiB,
                      .entropy = std::min(1.0, entropy * (0.7 + level / (1 + static_cast<double>(files)) * 0.3))});
  }
  // The last point is now.
  const double scale = static_cast<double>(files) / std::max(1.0, static_cast<double>(points.back().files));
  for (service::TrendPoint& point : points) {
    point.files = static_cast<std::int64_t>(static_cast<double>(point.files) * scale);
    point.entropy = std::min(1.0, point.entropy * entropy / std::max(0.01, points.back().entropy));
  }
  points.back().entropy = entropy;
  return points;
}

inline service::TableDetail FixtureTable(int i, Random& random, std::int64_t now_ms) {
  service::TableDetail table;
  service::TableRow& row = table.row;
  row.catalog = i % 5 == 4 ? "archive" : "lake";
  row.name = FixtureTableName(i);
  row.id = row.catalog + "/" + row.name;
  row.uuid = random.NewUuid();
  row.format_version = i % 3 == 0 ? 3 : 2;
  row.files = 20 + static_cast<std::int64_t>(random.Below(6'000));
  row.small_files = static_cast<std::int64_t>(static_cast<double>(row.files) * random.NextUnit());
  row.removable_files = row.small_files * 8 / 10;
  row.bytes = (row.files - row.small_files) * 400 * kMiB + row.small_files * 9 * kMiB;
  row.delete_files = i % 4 == 0 ? static_cast<std::int64_t>(random.Below(300)) : 0;
  row.entropy = static_cast<double>(row.small_files) / static_cast<double>(row.files);
  row.score = 100 - 85 * row.entropy - static_cast<double>(row.delete_files) / 20;
  row.score = std::max(0.0, row.score);
  row.partitions = 1 + static_cast<std::int64_t>(random.Below(400));
  row.noisy_partitions = static_cast<std::int64_t>(random.Below(static_cast<std::uint64_t>(row.partitions)) / 4);
  row.last_snapshot_id = static_cast<std::int64_t>(random.Next() >> 1);
  row.last_commit_ms = now_ms - static_cast<std::int64_t>(random.Below(4'000'000));
  row.last_looked_ms = row.last_commit_ms + 800;
  row.priority = i % 10 == 0 ? 4 : 1;
  if (i % 97 == 13) {
    row.state = service::TableRow::State::kFailing;
    row.state_reason = "3 jobs in a row failed: s3://lake/x/data: access denied; tried again in 20 min";
    table.breaker = {.state = "open", .failures = 3, .until_ms = now_ms + 1'200'000, .reason = "access denied"};
  } else if (i % 97 == 41) {
    row.state = service::TableRow::State::kUnreadable;
    row.state_reason = "format version 4 is not supported";
  } else if (i % 97 == 60) {
    row.state = service::TableRow::State::kPaused;
    row.state_reason = "paused by a person";
  }
  table.settings = {{"firn.target-file-size-bytes", "536870912", "property", "Size that merged files should have."},
                    {"firn.effort", "balanced", "default", "How much a merge may recode to save bytes."},
                    {"firn.priority", fmt::format("{}", row.priority), "file", "Weight against other tables."}};
  table.trends = FixtureTrend(random, row.files, row.entropy, now_ms);
  table.histogram.edges = {1 * kMiB,   4 * kMiB,   16 * kMiB,  64 * kMiB, 128 * kMiB,
                           256 * kMiB, 384 * kMiB, 512 * kMiB, 768 * kMiB};
  for (std::size_t bar = 0; bar <= table.histogram.edges.size(); ++bar) {
    const auto count = static_cast<std::int64_t>(random.Below(static_cast<std::uint64_t>(row.files) / 5 + 1));
    table.histogram.before.push_back(bar < 5 ? count * 3 : count / 4);
    table.histogram.now.push_back(bar < 5 ? count / 2 : count);
  }
  table.savings = {.jobs = 14,
                   .files = row.files * 3,
                   .bytes_rewritten = row.bytes / 3,
                   .predicted_seconds = 610,
                   .measured_seconds = 655,
                   .reads_saved = row.files * 40};
  return table;
}

inline std::vector<service::PartitionRow> FixturePartitions(std::int64_t count, Random& random, std::int64_t now_ms) {
  constexpr std::array<const char*, 3> kRegions = {"eu", "us", "ap"};
  std::vector<service::PartitionRow> rows;
  for (std::int64_t i = 0; i < count; ++i) {
    service::PartitionRow row;
    row.text = fmt::format("day=2026-{:02}-{:02}/region={}", 1 + i / 84 % 12, 1 + i / 3 % 28,
                           kRegions[static_cast<std::size_t>(i % 3)]);
    row.files = 1 + static_cast<std::int64_t>(random.Below(60));
    row.small_files = static_cast<std::int64_t>(random.Below(static_cast<std::uint64_t>(row.files) + 1));
    row.removable_files = row.small_files * 3 / 4;
    row.bytes = row.files * 90 * kMiB;
    row.entropy = static_cast<double>(row.small_files) / static_cast<double>(row.files);
    row.noise = random.NextUnit() * random.NextUnit() * 3;
    row.last_change_ms = now_ms - static_cast<std::int64_t>(random.Below(90'000'000));
    row.last_scan_ms = i % 7 == 0 ? 0 : row.last_change_ms - kHourMs;
    row.verdict = row.noise < 1 ? "quiet" : (row.removable_files < 8 ? "calm" : "scan");
    row.reason = row.noise < 1 ? fmt::format("noise {:.2f} is below the threshold 1", row.noise)
                               : fmt::format("noise {:.2f}, {} removable files", row.noise, row.removable_files);
    rows.push_back(std::move(row));
  }
  return rows;
}

inline service::DecisionRow FixtureDecision(int i, const service::TableRow& table, std::int64_t now_ms) {
  constexpr std::array<const char*, 4> kKinds = {"nothing-to-do", "not-now", "scan", "run"};
  constexpr std::array<const char*, 4> kReasons = {
      "noise 0.31 is below the threshold 1: no partition is scanned",
      "written every 4 s: merging now would be overtaken; planned for the next quiet interval",
      "noise 2.40 in 3 partitions is above the threshold 1",
      "412 files become 9 in 38 s: 10.6 files a second, the best of 23 candidates"};
  const auto kind = static_cast<std::size_t>(i % 4);
  service::DecisionRow row{
      .id = fmt::format("d{:08}", i), .table = table.id, .kind = kKinds[kind], .time_ms = now_ms - (400 - i) * 60'000};
  if (i % 3 == 0) row.partition = "day=2026-03-04/region=eu";
  const bool ran = kind == 3;
  row.json = fmt::format(
      R"({{"reason": "{}", "inputs": {{"noise": {:.2f}, "threshold": 1, "small_files": {}}}, )"
      R"("alternatives": [{{"text": "merge the whole table", "value": 3.1, "why_not": "over budget"}}, )"
      R"({{"text": "wait for 6 h", "value": 1.2, "why_not": ""}}], )"
      R"("prediction": {}, "outcome": {}}})",
      kReasons[kind], 0.3 + static_cast<double>(i % 9) / 4, 40 + i % 300,
      ran ? R"({"files_removed": 403, "bytes": 4026531840, "seconds": 38, "reads_saved": 5200})" : "null",
      ran && i % 8 == 3 ? R"({"files_removed": 403, "bytes": 3984588800, "seconds": 41.5, "reads_saved": 5100})"
                        : "null");
  return row;
}

inline service::JobRow FixtureJob(int i, const service::TableRow& table, std::int64_t now_ms) {
  using State = service::JobRow::State;
  constexpr std::array<const char*, 3> kActions = {"merge", "rewrite-deletes", "fold"};
  service::JobRow job{.id = fmt::format("j{:08}", i),
                      .table = table.id,
                      .action = kActions[static_cast<std::size_t>(i % 3)],
                      .partitions = {"day=2026-03-04/region=eu", "day=2026-03-05/region=eu"},
                      .state = i >= 78 ? State::kRunning : (i % 11 == 5 ? State::kFailed : State::kDone),
                      .created_ms = now_ms - (90 - i) * 240'000};
  job.started_ms = job.created_ms + 9'000;
  job.plan_id = fmt::format("0195f2c0-7a{:02x}-7cc3-98c4-dc0c0c07398f", i);
  job.predicted = {.files_removed = 120 + i, .bytes = (900 + i) * kMiB, .seconds = 21.0 + i % 30, .reads_saved = 900};
  job.progress = job.state == State::kRunning ? 0.35 + 0.2 * (i % 3) : 1;
  if (job.state == State::kRunning) return job;
  job.ended_ms = job.started_ms + 1'000 * (22 + i % 31);
  if (job.state == State::kFailed) {
    job.error = "s3://lake/x/data/00012.parquet: access denied";
  } else {
    job.measured = decide::Effect{
        .files_removed = 120 + i, .bytes = (880 + i) * kMiB, .seconds = 22.4 + i % 31, .reads_saved = 870};
  }
  return job;
}

inline std::vector<service::QueueRow> FixtureQueue(const std::vector<service::TableRow>& tables, std::int64_t now_ms) {
  std::vector<service::QueueRow> queue;
  for (std::size_t i = 0; i < std::min<std::size_t>(30, tables.size()); ++i) {
    const service::TableRow& table = tables[i];
    const double seconds = 8 + static_cast<double>(i) * 3;
    const double benefit = static_cast<double>(table.removable_files);
    queue.push_back({.position = static_cast<std::int64_t>(i) + 1,
                     .table = table.id,
                     .action = i % 4 == 3 ? "rewrite-deletes" : "merge",
                     .partitions = {"day=2026-03-04/region=eu"},
                     .benefit = benefit,
                     .predicted_seconds = seconds,
                     .predicted_bytes = static_cast<std::int64_t>(seconds) * 90 * kMiB,
                     .priority = table.priority,
                     .created_ms = now_ms - static_cast<std::int64_t>(i) * 30'000,
                     .deadline_ms = i == 1 ? now_ms + kHourMs : 0,
                     .cause = i == 1 ? "request" : (i % 5 == 4 ? "sweep" : "commit"),
                     .score = 100.0 / static_cast<double>(i + 1),
                     .why_here = fmt::format("{} files less for {} of work, times priority {}; waits for a worker",
                                             HumanCount(table.removable_files), HumanSeconds(seconds), table.priority),
                     .not_before_ms = i % 6 == 5 ? now_ms + 900'000 : 0});
  }
  return queue;
}

inline void FillSettings(service::FleetRowStore& fleet) {
  fleet.PutPolicies(
      {{.scope = "default",
        .source = "default",
        .settings = {{"firn.target-file-size-bytes", "536870912", "default", ""}}},
       {.scope = "lake/sales.*",
        .source = "file",
        .settings = {{"firn.priority", "4", "file", "Weight against other tables."},
                     {"firn.quiet-hours", "08:00-18:00 Europe/Berlin", "file", "No jobs are started then."}}}});
  fleet.PutSettings({{"firn.serve.listen", "127.0.0.1:8642", "file", "Address of the API and the dashboard."},
                     {"firn.serve.token", "s3cret-token-of-the-fixture", "file", "What clients prove themselves with."},
                     {"catalog.lake.uri", "https://someone:pass-of-the-fixture@catalog.example/api", "file", ""},
                     {"firn.serve.workers", "2", "default", "Jobs at once."}});
  fleet.PutMetrics({{.name = "firn_jobs_ended_total",
                     .about = "Jobs by end.",
                     .counter = true,
                     .labels = {{"state", "done"}},
                     .value = 72},
                    {.name = "firn_jobs_ended_total",
                     .about = "Jobs by end.",
                     .counter = true,
                     .labels = {{"state", "failed"}},
                     .value = 7}});
}

/// A fleet of `count` tables as of `now_ms`.
inline void FillFleet(service::FleetRowStore& fleet, int count, std::int64_t now_ms) {
  Random random(7);
  fleet.SetNow(now_ms);
  service::FleetSummary sum{.version = "0.1.0", .started_ms = now_ms - 30 * kHourMs};
  std::vector<service::TableRow> tables;
  for (int i = 0; i < count; ++i) {
    service::TableDetail table = FixtureTable(i, random, now_ms);
    if (i < 24) fleet.PutPartitions(table.row.id, FixturePartitions(table.row.partitions, random, now_ms));
    sum.files += table.row.files;
    sum.bytes += table.row.bytes;
    sum.small_files += table.row.small_files;
    sum.removable_files += table.row.removable_files;
    sum.tables_not_ok += table.row.state == service::TableRow::State::kOk ? 0 : 1;
    tables.push_back(table.row);
    fleet.PutTable(std::move(table));
  }
  for (int i = 0; i < 400 && !tables.empty(); ++i) {
    fleet.PutDecision(FixtureDecision(i, tables[static_cast<std::size_t>(i / 20) % tables.size()], now_ms));
  }
  for (int i = 0; i < 80 && !tables.empty(); ++i) {
    const service::JobRow job = FixtureJob(i, tables[static_cast<std::size_t>(i) % tables.size()], now_ms);
    if (job.measured) {
      fleet.PutOutcome({.job = job.id,
                        .table = job.table,
                        .action = job.action,
                        .ended_ms = job.ended_ms,
                        .predicted = job.predicted,
                        .measured = *job.measured,
                        .cost_correction = 1.06});
    }
    fleet.PutJob(job);
  }
  if (!tables.empty()) fleet.PutAnalysis(FixtureAnalysis(tables.front().id, now_ms));
  fleet.PutQueue(FixtureQueue(tables, now_ms));
  FillSettings(fleet);
  sum.entropy = sum.files > 0 ? static_cast<double>(sum.small_files) / static_cast<double>(sum.files) : 0;
  sum.jobs_running = tables.empty() ? 0 : 2;
  sum.commits_seen = count * 120;
  sum.partitions_changed = count * 410;
  sum.partitions_noisy = count * 96;
  sum.partition_scans = count * 60;
  sum.merges = count * 14;
  sum.files_replaced = count * 700;
  sum.bytes_rewritten = sum.bytes / 5;
  sum.events = count * 118;
  sum.events_duplicate = count * 31;
  sum.events_dropped = 12;
  sum.snapshots_found_by_sweep_only = 3;
  sum.staleness_bound_ms = 330'000;
  sum.trends = FixtureTrend(random, sum.files, sum.entropy, now_ms);
  fleet.PutSummary(std::move(sum));
}

}  // namespace firn::api
