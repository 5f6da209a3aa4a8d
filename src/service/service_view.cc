// SPDX-License-Identifier: Apache-2.0
// What the API reads of the service.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "service/partition_page.h"
#include "service/service.h"
#include "service/setting_rows.h"

namespace firn::service {
namespace {

void AddCacheMetrics(const ports::FileCacheCounts& counts, std::vector<Metric>& metrics) {
  const auto add = [&metrics](std::string name, std::string about, bool counter, std::int64_t value) {
    metrics.push_back(
        {.name = std::move(name), .about = std::move(about), .counter = counter, .value = static_cast<double>(value)});
  };
  add("firn_manifest_cache_hits_total", "Manifests that looks found in memory", true, counts.hits);
  add("firn_manifest_cache_misses_total", "Manifests that looks had to fetch", true, counts.misses);
  add("firn_manifest_cache_evictions_total", "Manifests that made room for others", true, counts.evictions);
  add("firn_manifest_cache_files", "Manifests in memory", false, counts.files);
  add("firn_manifest_cache_bytes", "Memory of the manifests in memory", false, counts.size_bytes);
}

}  // namespace

Readiness Service::Ready() {
  const std::lock_guard lock(counters_mutex_);
  if (stopping_) return {false, "it is shutting down"};
  if (!dispatch_->is_state_writable() && state_status_) return {false, "the state cannot be written: no job starts"};
  if (!state_status_) return {false, state_status_.error().message};
  if (sweeps_ == 0) return {false, "the catalogs have not been listed yet"};
  if (!catalog_errors_.empty() && catalog_errors_.size() == tables_.catalogs().size()) {
    return {false, "no catalog answers: " + catalog_errors_.begin()->second};
  }
  return {true, ""};
}

/// Sums over all rows, at most kSumsAgeMs old: with thousands of tables they are not made for every reader.
Result<FleetSummary> Service::TableSums() {
  constexpr std::int64_t kSumsAgeMs = 1000;
  const std::int64_t now_ms = clock_.MonotonicNs() / 1'000'000;
  {
    const std::lock_guard lock(counters_mutex_);
    if (sums_made_ms_ != 0 && now_ms - sums_made_ms_ < kSumsAgeMs) return sums_;
  }
  FleetSummary sums;
  double weighted = 0;
  PageOf page{.after = "", .limit = kPageItemsMax};
  do {
    FIRN_ASSIGN(const auto rows, shown_.Tables({.order = TableFilter::Order::kName}, page));
    for (const TableRow& row : rows.items) {
      ++sums.tables;
      sums.files += row.files;
      sums.bytes += row.bytes;
      sums.small_files += row.small_files;
      sums.removable_files += row.removable_files;
      sums.tables_not_ok += row.state != TableRow::State::kOk;
      weighted += row.entropy * static_cast<double>(row.files);
    }
    page.after = rows.next;
  } while (!page.after.empty());
  sums.entropy = sums.files == 0 ? 0 : weighted / static_cast<double>(sums.files);
  const std::lock_guard lock(counters_mutex_);
  sums_ = sums;
  sums_made_ms_ = now_ms;
  return sums;
}

Result<FleetSummary> Service::Summary() {
  FIRN_ASSIGN(const FleetSummary sums, TableSums());
  FleetSummary summary;
  {
    const std::lock_guard lock(counters_mutex_);
    summary = counters_;
  }
  summary.tables = sums.tables;
  summary.files = sums.files;
  summary.bytes = sums.bytes;
  summary.small_files = sums.small_files;
  summary.removable_files = sums.removable_files;
  summary.tables_not_ok = sums.tables_not_ok;
  summary.entropy = sums.entropy;
  const ports::EventCounts events = events_.counts();
  summary.events = events.taken_in;
  summary.events_duplicate = events.duplicates;
  summary.events_dropped = events.dropped;
  const Dispatch::Figures figures = dispatch_->figures();
  summary.paused = figures.is_paused;
  summary.queue_length = figures.waiting;
  summary.jobs_running = figures.running;
  summary.merges += figures.merges;
  summary.files_replaced += figures.files_replaced;
  summary.bytes_rewritten += figures.bytes_rewritten;
  summary.staleness_bound_ms =
      options_.sweep_interval_ms * 2 + options_.debounce_ms + agenda_.LateMs(clock_.Now().value);
  FIRN_ASSIGN(summary.trends, store_->Trends(""));
  return summary;
}

Result<Page<TableRow>> Service::Tables(const TableFilter& filter, const PageOf& page) {
  return shown_.Tables(filter, page);
}

Result<TableDetail> Service::Table(std::string_view id) {
  FIRN_ASSIGN(TableDetail detail, shown_.Table(id));
  FIRN_ASSIGN(detail.trends, store_->Trends(id));
  detail.analysed_ms = dispatch_->options().analyses->MadeMs(id);
  return detail;
}

Result<Page<PartitionRow>> Service::Partitions(std::string_view id, const PageOf& page) {
  FIRN_ASSIGN(const auto table, FindTable(id));
  const std::unique_lock lock(table->mutex, kLookPatience);
  if (!lock.owns_lock()) return StillLooking(id);
  return PartitionPage(table->watched, page, clock_.Now());
}

Result<AnalysisRow> Service::Analysis(std::string_view id) {
  FIRN_TRY(FindTable(id));
  return store_->Analysis(id);
}

Result<Page<DecisionRow>> Service::Decisions(const DecisionFilter& filter, const PageOf& page) {
  return store_->Decisions(filter, page);
}

Result<Page<QueueRow>> Service::Queue(const PageOf& page) {
  FleetRowStore rows;
  rows.PutQueue(dispatch_->Queue());
  return rows.Queue(page);
}

Result<Page<JobRow>> Service::Jobs(const JobFilter& filter, const PageOf& page) {
  FIRN_ASSIGN(auto found, store_->Jobs(filter, page));
  for (JobRow& job : found.items) dispatch_->AddProgress(job);
  return found;
}

Result<JobRow> Service::Job(std::string_view id) {
  FIRN_ASSIGN(JobRow job, store_->Job(id));
  dispatch_->AddProgress(job);
  return job;
}

Result<Page<OutcomeRow>> Service::Outcomes(std::string_view table_or_empty, const PageOf& page) {
  FIRN_ASSIGN(const auto jobs, store_->EndedJobs(table_or_empty, page));
  Page<OutcomeRow> outcomes{{}, jobs.next};
  for (const JobRow& job : jobs.items) {
    outcomes.items.push_back({job.id, job.table, job.action, job.ended_ms, job.predicted, *job.measured,
                              dispatch_->CorrectionOf(job.table, job.action)});
  }
  return outcomes;
}

Result<Page<RequestRow>> Service::Requests(const PageOf& page) { return store_->Requests(page); }

Result<std::vector<PolicyRow>> Service::Policies() {
  std::vector<PolicyRow> rows = PolicyRowsOf(options_.policy);
  for (PolicyRow& row : catalog_policies_.Rows()) rows.push_back(std::move(row));
  return rows;
}

Result<std::vector<SettingRow>> Service::Settings() { return options_.settings; }

std::vector<Metric> Service::Metrics() {
  std::vector<Metric> metrics;
  for (const auto& more : more_metrics_) std::ranges::move(more(), std::back_inserter(metrics));
  const std::int64_t late_ms = agenda_.LateMs(clock_.Now().value);
  metrics.push_back({.name = "firn_agenda_late_seconds",
                     .about = "How long the table that is most overdue has waited for a look",
                     .value = static_cast<double>(late_ms) / 1000});
  metrics.push_back({.name = "firn_agenda_tables",
                     .about = "Tables that wait for a look",
                     .value = static_cast<double>(agenda_.size())});
  AddCacheMetrics(manifests_.counts(), metrics);
  const std::lock_guard lock(counters_mutex_);
  metrics.push_back({.name = "firn_table_scans_total",
                     .about = "Looks that had to read a table as a whole, since the start",
                     .counter = true,
                     .value = static_cast<double>(table_scans_)});
  for (const auto& catalog : tables_.catalogs()) {
    metrics.push_back({.name = "firn_catalog_up",
                       .about = "Whether the catalog could be listed the last time",
                       .labels = {{"catalog", catalog->name()}},
                       .value = catalog_errors_.contains(catalog->name()) ? 0.0 : 1.0});
  }
  metrics.push_back({.name = "firn_tables_of_other_services",
                     .about = "Tables that another firn service has worked on lately",
                     .value = static_cast<double>(others_.size())});
  metrics.push_back({.name = "firn_state_writable",
                     .about = "Whether the last write of the state succeeded",
                     .value = state_status_ ? 1.0 : 0.0});
  return metrics;
}

bool Service::Serves(std::string_view catalog) const {
  return std::ranges::any_of(tables_.catalogs(), [&](const auto& one) { return one->name() == catalog; });
}

bool Service::AcceptEvent(ports::TableEvent event) {
  return events_.Push(std::move(event)) != ports::EventQueue::Pushed::kDroppedOldest;
}

}  // namespace firn::service
