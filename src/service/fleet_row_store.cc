// SPDX-License-Identifier: Apache-2.0
#include "service/fleet_row_store.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "service/page_cursor.h"

namespace firn::service {
namespace {

char LowerAscii(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

bool ContainsIgnoringCase(std::string_view text, std::string_view part) {
  return std::search(text.begin(), text.end(), part.begin(), part.end(),
                     [](char a, char b) { return LowerAscii(a) == LowerAscii(b); }) != text.end();
}

/// The page after the cursor's place of rows that each have one.
template <class Row, class PlaceOfRow>
Result<Page<Row>> PageInOrder(const std::vector<const Row*>& rows, const PageOf& page, const PlaceOfRow& place_of) {
  std::vector<std::pair<Place, const Row*>> sorted;
  sorted.reserve(rows.size());
  std::optional<Place> after;
  if (!page.after.empty()) {
    FIRN_ASSIGN(after, ParseCursor(page.after));
  }
  for (const Row* row : rows) {
    Place place = place_of(*row);
    if (!after || *after < place) sorted.emplace_back(std::move(place), row);
  }
  const auto limit = static_cast<std::size_t>(std::clamp(page.limit, 1, kPageItemsMax));
  const auto middle = sorted.begin() + static_cast<std::ptrdiff_t>(std::min(limit, sorted.size()));
  std::partial_sort(sorted.begin(), middle, sorted.end(),
                    [](const auto& a, const auto& b) { return a.first < b.first; });
  Page<Row> result;
  for (auto at = sorted.begin(); at != middle; ++at) result.items.push_back(*at->second);
  if (middle != sorted.end()) result.next = CursorOf(std::prev(middle)->first);
  return result;
}

/// The page of a map whose keys are in the order of the answer.
template <class Map, class Keep>
Result<Page<typename Map::mapped_type>> PageOfMap(const Map& map, const PageOf& page, const Keep& keep) {
  const auto limit = static_cast<std::size_t>(std::clamp(page.limit, 1, kPageItemsMax));
  if (!page.after.empty() && !map.contains(page.after)) {
    return Error{Code::kInvalidArgument, "`after` is not the `next` of an answer"};
  }
  Page<typename Map::mapped_type> result;
  for (auto at = page.after.empty() ? map.begin() : map.upper_bound(page.after); at != map.end(); ++at) {
    if (!keep(at->second)) continue;
    if (result.items.size() == limit) return result;
    result.items.push_back(at->second);
    result.next = at->first;
  }
  result.next.clear();
  return result;
}

/// Behind every table that has a score.
constexpr double kNoScoreRank = 101;

Place TablePlace(const TableRow& row, TableFilter::Order order) {
  const auto falling = [&](auto value) { return Place{-static_cast<double>(value), 0, row.id}; };
  switch (order) {
    case TableFilter::Order::kWorst:
      return {row.state == TableRow::State::kOk ? 1.0 : 0.0, row.score < 0 ? kNoScoreRank : row.score, row.id};
    case TableFilter::Order::kName: return {0, 0, row.id};
    case TableFilter::Order::kFiles: return falling(row.files);
    case TableFilter::Order::kBytes: return falling(row.bytes);
    case TableFilter::Order::kSmallFiles: return falling(row.small_files);
    case TableFilter::Order::kRemovableFiles: return falling(row.removable_files);
    case TableFilter::Order::kEntropy: return falling(row.entropy);
    case TableFilter::Order::kLastCommit: return falling(row.last_commit_ms);
  }
  return {};
}

Error NotAnalysed(std::string_view id) { return {Code::kNotFound, fmt::format("`{}` was never analysed", id)}; }
Error NoTable(std::string_view id) { return {Code::kNotFound, fmt::format("no table `{}`", id)}; }

}  // namespace

void FleetRowStore::PutTable(TableDetail table) {
  std::string id = table.row.id;
  {
    const std::lock_guard lock(mutex_);
    tables_.insert_or_assign(id, std::move(table));
  }
  news_.Publish(News::Kind::kTable, std::move(id));
}

void FleetRowStore::RemoveTable(const std::string& id) {
  {
    const std::lock_guard lock(mutex_);
    tables_.erase(id);
    partitions_.erase(id);
  }
  news_.Publish(News::Kind::kTable, id);
}

void FleetRowStore::PutPartitions(const std::string& table, std::vector<PartitionRow> partitions) {
  const std::lock_guard lock(mutex_);
  partitions_.insert_or_assign(table, std::move(partitions));
}

void FleetRowStore::PutDecision(DecisionRow decision) {
  News note{.kind = News::Kind::kDecision, .table = decision.table, .id = decision.id};
  {
    const std::lock_guard lock(mutex_);
    decisions_.insert_or_assign(note.id, std::move(decision));
  }
  news_.Publish(note.kind, std::move(note.table), std::move(note.id));
}

void FleetRowStore::PutQueue(std::vector<QueueRow> queue) {
  {
    const std::lock_guard lock(mutex_);
    queue_ = std::move(queue);
  }
  news_.Publish(News::Kind::kQueue);
}

void FleetRowStore::PutJob(JobRow job) {
  News note{.kind = News::Kind::kJob, .table = job.table, .id = job.id};
  {
    const std::lock_guard lock(mutex_);
    jobs_.insert_or_assign(note.id, std::move(job));
  }
  news_.Publish(note.kind, std::move(note.table), std::move(note.id));
}

void FleetRowStore::PutOutcome(OutcomeRow outcome) {
  const std::lock_guard lock(mutex_);
  std::string job = outcome.job;
  outcomes_.insert_or_assign(std::move(job), std::move(outcome));
}

void FleetRowStore::PutSummary(FleetSummary summary) {
  {
    const std::lock_guard lock(mutex_);
    summary_ = std::move(summary);
  }
  news_.Publish(News::Kind::kSummary);
}

void FleetRowStore::PutPolicies(std::vector<PolicyRow> policies) {
  const std::lock_guard lock(mutex_);
  policies_ = std::move(policies);
}

void FleetRowStore::PutSettings(std::vector<SettingRow> settings) {
  const std::lock_guard lock(mutex_);
  settings_ = std::move(settings);
}

void FleetRowStore::PutMetrics(std::vector<Metric> metrics) {
  const std::lock_guard lock(mutex_);
  metrics_ = std::move(metrics);
}

void FleetRowStore::PutReadiness(Readiness readiness) {
  const std::lock_guard lock(mutex_);
  readiness_ = std::move(readiness);
}

void FleetRowStore::FailWith(Status status) {
  const std::lock_guard lock(mutex_);
  failure_ = std::move(status);
}

std::vector<ports::TableEvent> FleetRowStore::events() const {
  const std::lock_guard lock(mutex_);
  return events_;
}

Readiness FleetRowStore::Ready() {
  const std::lock_guard lock(mutex_);
  return readiness_;
}

Result<FleetSummary> FleetRowStore::Summary() {
  const std::lock_guard lock(mutex_);
  FIRN_TRY(failure_);
  FleetSummary summary = summary_;
  summary.tables = static_cast<std::int64_t>(tables_.size());
  summary.queue_length = static_cast<std::int64_t>(queue_.size());
  return summary;
}

Result<Page<TableRow>> FleetRowStore::Tables(const TableFilter& filter, const PageOf& page) {
  const std::lock_guard lock(mutex_);
  FIRN_TRY(failure_);
  std::vector<const TableRow*> rows;
  for (const auto& [id, table] : tables_) {
    if (filter.state && table.row.state != *filter.state) continue;
    if (ContainsIgnoringCase(id, filter.search)) rows.push_back(&table.row);
  }
  return PageInOrder(rows, page, [&](const TableRow& row) { return TablePlace(row, filter.order); });
}

Result<TableDetail> FleetRowStore::Table(std::string_view id) {
  const std::lock_guard lock(mutex_);
  FIRN_TRY(failure_);
  const auto found = tables_.find(id);
  if (found == tables_.end()) return NoTable(id);
  TableDetail detail = found->second;
  if (const auto analysis = analyses_.find(id); analysis != analyses_.end()) {
    detail.analysed_ms = analysis->second.made_ms;
  }
  return detail;
}

void FleetRowStore::PutAnalysis(AnalysisRow analysis) {
  const std::string table = analysis.table;
  {
    const std::lock_guard lock(mutex_);
    analyses_.insert_or_assign(table, std::move(analysis));
  }
  news_.Publish(News::Kind::kTable, table);
}

Result<AnalysisRow> FleetRowStore::Analysis(std::string_view table) {
  const std::lock_guard lock(mutex_);
  FIRN_TRY(failure_);
  if (!tables_.contains(table)) return NoTable(table);
  const auto found = analyses_.find(table);
  if (found == analyses_.end()) return NotAnalysed(table);
  return found->second;
}

Result<Page<PartitionRow>> FleetRowStore::Partitions(std::string_view table, const PageOf& page) {
  const std::lock_guard lock(mutex_);
  FIRN_TRY(failure_);
  if (!tables_.contains(table)) return NoTable(table);
  std::vector<const PartitionRow*> rows;
  if (const auto found = partitions_.find(table); found != partitions_.end()) {
    for (const PartitionRow& row : found->second) rows.push_back(&row);
  }
  return PageInOrder(rows, page, [](const PartitionRow& row) {
    return Place{-row.noise, -static_cast<double>(row.removable_files), row.text};
  });
}

Result<Page<DecisionRow>> FleetRowStore::Decisions(const DecisionFilter& filter, const PageOf& page) {
  const std::lock_guard lock(mutex_);
  FIRN_TRY(failure_);
  return PageOfMap(decisions_, page, [&](const DecisionRow& row) {
    return (filter.table.empty() || row.table == filter.table) && (filter.kind.empty() || row.kind == filter.kind) &&
           (filter.partition.empty() || row.partition == filter.partition);
  });
}

Result<Page<QueueRow>> FleetRowStore::Queue(const PageOf& page) {
  const std::lock_guard lock(mutex_);
  FIRN_TRY(failure_);
  std::vector<const QueueRow*> rows;
  for (const QueueRow& row : queue_) rows.push_back(&row);
  return PageInOrder(rows, page,
                     [](const QueueRow& row) { return Place{static_cast<double>(row.position), 0, row.table}; });
}

Result<Page<JobRow>> FleetRowStore::Jobs(const JobFilter& filter, const PageOf& page) {
  const std::lock_guard lock(mutex_);
  FIRN_TRY(failure_);
  return PageOfMap(jobs_, page, [&](const JobRow& row) {
    return (filter.table.empty() || row.table == filter.table) && (!filter.state || row.state == *filter.state);
  });
}

Result<JobRow> FleetRowStore::Job(std::string_view id) {
  const std::lock_guard lock(mutex_);
  FIRN_TRY(failure_);
  const auto found = jobs_.find(std::string(id));
  if (found == jobs_.end()) return Error{Code::kNotFound, fmt::format("no job `{}`", id)};
  return found->second;
}

Result<Page<OutcomeRow>> FleetRowStore::Outcomes(std::string_view table_or_empty, const PageOf& page) {
  const std::lock_guard lock(mutex_);
  FIRN_TRY(failure_);
  return PageOfMap(outcomes_, page,
                   [&](const OutcomeRow& row) { return table_or_empty.empty() || row.table == table_or_empty; });
}

Result<Page<RequestRow>> FleetRowStore::Requests(const PageOf& page) {
  const std::lock_guard lock(mutex_);
  FIRN_TRY(failure_);
  return PageOfMap(requests_, page, [](const RequestRow&) { return true; });
}

Result<std::vector<PolicyRow>> FleetRowStore::Policies() {
  const std::lock_guard lock(mutex_);
  FIRN_TRY(failure_);
  return policies_;
}

Result<std::vector<SettingRow>> FleetRowStore::Settings() {
  const std::lock_guard lock(mutex_);
  FIRN_TRY(failure_);
  return settings_;
}

std::vector<Metric> FleetRowStore::Metrics() {
  const std::lock_guard lock(mutex_);
  return metrics_;
}

bool FleetRowStore::Serves(std::string_view catalog) const {
  const std::lock_guard lock(mutex_);
  const std::string prefix = std::string(catalog) + "/";
  const auto first = tables_.lower_bound(prefix);
  return first != tables_.end() && first->first.starts_with(prefix);
}

bool FleetRowStore::AcceptEvent(ports::TableEvent event) {
  const std::lock_guard lock(mutex_);
  const bool full = events_.size() >= kEventsMax;
  if (full) events_.erase(events_.begin());
  events_.push_back(std::move(event));
  return !full;
}

Result<std::string> FleetRowStore::AddRequest(const NewRequest& request) {
  const std::lock_guard lock(mutex_);
  FIRN_TRY(failure_);
  if (!tables_.contains(request.table)) return NoTable(request.table);
  std::string id = fmt::format("request-{:06}", requests_.size() + 1);
  requests_.emplace(
      id, RequestRow{.id = id, .request = request, .created_ms = now_ms_, .state = "waiting", .reason = {}, .job = {}});
  news_.Publish(News::Kind::kQueue);
  return id;
}

Status FleetRowStore::SetPaused(std::string_view table, bool paused) {
  {
    const std::lock_guard lock(mutex_);
    FIRN_TRY(failure_);
    if (table.empty()) {
      summary_.paused = paused;
    } else {
      const auto found = tables_.find(table);
      if (found == tables_.end()) return NoTable(table);
      found->second.row.state = paused ? TableRow::State::kPaused : TableRow::State::kOk;
      found->second.row.state_reason = paused ? "paused by a person" : "";
    }
  }
  news_.Publish(table.empty() ? News::Kind::kSummary : News::Kind::kTable, std::string(table));
  return Ok();
}

}  // namespace firn::service
