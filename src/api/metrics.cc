// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <iterator>
#include <set>

#include "api/answer.h"
#include "api/route.h"

namespace firn::api {
namespace {

using service::Metric;

std::string Escaped(std::string_view text, bool label) {
  std::string out;
  for (const char c : text) {
    if (c == '\\')
      out += "\\\\";
    else if (c == '\n')
      out += "\\n";
    else if (c == '"' && label)
      out += "\\\"";
    else
      out.push_back(c);
  }
  return out;
}

void Append(std::string& out, const Metric& metric, std::set<std::string>& described) {
  if (described.insert(metric.name).second) {
    fmt::format_to(std::back_inserter(out), "# HELP {} {}\n# TYPE {} {}\n", metric.name, Escaped(metric.about, false),
                   metric.name, metric.counter ? "counter" : "gauge");
  }
  out += metric.name;
  if (!metric.labels.empty()) {
    out += '{';
    for (const auto& [name, value] : metric.labels) {
      fmt::format_to(std::back_inserter(out), "{}=\"{}\",", name, Escaped(value, true));
    }
    out.back() = '}';
  }
  fmt::format_to(std::back_inserter(out), " {}\n", metric.value);
}

std::vector<Metric> SummaryMetrics(const service::FleetSummary& s) {
  const auto gauge = [](std::string name, std::string about, double value) {
    return Metric{.name = std::move(name), .about = std::move(about), .value = value};
  };
  const auto counter = [](std::string name, std::string about, std::int64_t value) {
    return Metric{
        .name = std::move(name), .about = std::move(about), .counter = true, .value = static_cast<double>(value)};
  };
  const auto number = [](std::int64_t value) { return static_cast<double>(value); };
  return {
      gauge("firn_paused", "1 while everything is paused.", s.paused ? 1 : 0),
      gauge("firn_shadow", "1 when it decides without acting.", s.shadow ? 1 : 0),
      gauge("firn_start_time_seconds", "When the service started, in seconds since 1970.", number(s.started_ms) / 1000),
      gauge("firn_tables", "Tables that are looked after.", number(s.tables)),
      gauge("firn_tables_not_ok", "Tables that are paused, failing, unreadable or dropped.", number(s.tables_not_ok)),
      gauge("firn_files", "Data files of all tables.", number(s.files)),
      gauge("firn_bytes", "Bytes of the data files of all tables.", number(s.bytes)),
      gauge("firn_small_files", "Data files below the healthy size.", number(s.small_files)),
      gauge("firn_removable_files", "Files that merging would remove.", number(s.removable_files)),
      gauge("firn_entropy_ratio", "Mean file-size entropy, weighted by files.", s.entropy),
      gauge("firn_queue_length", "Candidates that wait.", number(s.queue_length)),
      gauge("firn_jobs_running", "Jobs that run.", number(s.jobs_running)),
      gauge("firn_staleness_bound_seconds", "No commit is unseen for longer.", number(s.staleness_bound_ms) / 1000),
      counter("firn_commits_seen_total", "Snapshots of others that were looked at.", s.commits_seen),
      counter("firn_partitions_changed_total", "Partitions that those changed.", s.partitions_changed),
      counter("firn_partitions_noisy_total", "Partitions that changed enough to be worth a look.", s.partitions_noisy),
      counter("firn_partition_scans_total", "Partitions whose entries were read.", s.partition_scans),
      counter("firn_merges_total", "Merges that were committed.", s.merges),
      counter("firn_files_replaced_total", "Files that merges replaced.", s.files_replaced),
      counter("firn_bytes_rewritten_total", "Bytes that were written by jobs.", s.bytes_rewritten),
      counter("firn_events_total", "Events that came in.", s.events),
      counter("firn_events_duplicate_total", "Events equal to one that was waiting.", s.events_duplicate),
      counter("firn_events_dropped_total", "Events that were lost because too many waited.", s.events_dropped),
      counter("firn_snapshots_found_by_sweep_only_total", "Snapshots that no event had told of.",
              s.snapshots_found_by_sweep_only),
  };
}

Response ShowMetrics(const Call& call) {
  const auto summary = call.fleet.Summary();
  if (!summary) return ErrorAnswer(summary.error());
  std::string text;
  std::set<std::string> described;
  for (const Metric& metric : SummaryMetrics(*summary)) Append(text, metric, described);
  for (const Metric& metric : call.fleet.Metrics()) Append(text, metric, described);
  return {.content_type = "text/plain; version=0.0.4; charset=utf-8",
          .headers = {{"Cache-Control", "no-store"}},
          .body = std::move(text)};
}

}  // namespace

std::vector<Route> MetricsRoutes() { return {{.method = "GET", .pattern = "/metrics", .answer = ShowMetrics}}; }

}  // namespace firn::api
