// SPDX-License-Identifier: Apache-2.0
#include "service/service.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "base/human_text.h"
#include "base/log.h"
#include "base/threads.h"
#include "base/version.h"
#include "service/earlier_work.h"
#include "service/service_log.h"
#include "service/setting_rows.h"
#include "service/table_name.h"

namespace firn::service {
namespace {

constexpr std::size_t kEventsAtOnce = 256;
constexpr std::int64_t kPatienceMs = 1000;
constexpr std::int64_t kRetryMinMs = 5'000;
/// Scans alone are a reason to save a table so often.
constexpr std::int64_t kSaveReadsMs = 3'600'000;
/// A table that its catalog does not have any more is shown for so long.
constexpr std::int64_t kShowGoneMs = 24 * 3'600'000;

/// Those of a table that is not there any more say nothing about the one that has its name.
ReadRate PresentReads(FleetTable& table, bool is_replaced) {
  const std::lock_guard news(table.news_mutex);
  if (is_replaced) table.reads = {};
  return table.reads;
}

/// So long the policies of a catalog are not asked for again: sweeps, which come a little sooner or later, do it.
std::int64_t FreshMs(const ServiceOptions& options) { return options.sweep_interval_ms / 4 * 3; }

}  // namespace

Service::Service(std::unique_ptr<StateStore> store, std::vector<std::shared_ptr<ports::Catalog>> catalogs,
                 ports::Clock& clock, ServiceOptions options)
    : store_(std::move(store)),
      clock_(clock),
      options_(std::move(options)),
      tables_(std::move(catalogs)),
      catalog_policies_(options_.policy_sources, FreshMs(options_), clock),
      manifests_(options_.manifest_cache_bytes),
      events_(options_.events_max),
      request_ids_(options_.seed ^ 0x52455155455354ULL) {
  counters_.version = kVersion;
  counters_.shadow = options_.shadow;
  counters_.started_ms = clock.Now().value;
  auto analyses = std::make_shared<Analyses>();
  const auto settings_of = [this, analyses](const std::string& id,
                                            const iceberg::TableMetadata& metadata) -> Result<TableSettings> {
    PolicyValues policies;
    if (const auto table = tables_.Find(id)) {
      FIRN_ASSIGN(policies, catalog_policies_.Of(table->catalog->name(), table->name));
    }
    return ResolveTable(options_.policy, id, metadata.properties(), policies,
                        analyses->ProposedTarget(id, metadata.table_uuid()));
  };
  DispatchOptions dispatch = {options_.workers, options_.memory_bytes, options_.shadow, options_.seed, settings_of};
  dispatch.service_id = Random(options_.seed ^ 0x5345525649434549ULL).NewUuid();
  dispatch.analyses = analyses;
  dispatch.scratch = options_.scratch;
  dispatch.processes = options_.processes;
  dispatch_ = std::make_unique<Dispatch>(*store_, tables_, shown_.Feed(), clock_, dispatch,
                                         [this](const JobNews& news) { HearOf(news); });
}

Service::~Service() { Stop(); }

Result<std::unique_ptr<Service>> Service::Open(const std::string& state_path,
                                               std::vector<std::shared_ptr<ports::Catalog>> catalogs,
                                               ports::Clock& clock, ServiceOptions options) {
  FIRN_ASSIGN(auto store, StateStore::Open(state_path));
  std::unique_ptr<Service> service(new Service(std::move(store), std::move(catalogs), clock, std::move(options)));
  FIRN_TRY(service->Restore());
  return service;
}

Status Service::Start() {
  Random random(options_.seed);
  std::vector<std::function<void()>> works = {[this] { RunEvents(); }, [this] { RunSweep(); }};
  for (int i = 0; i < options_.watchers; ++i) {
    works.emplace_back([this, own = random.Fork()]() mutable { RunWatcher(own); });
  }
  for (std::function<void()>& work : works) {
    FIRN_ASSIGN(threads_.emplace_back(), StartThread(std::move(work)).In("the service"));
  }
  FIRN_TRY(dispatch_->Start().In("the service"));
  Log(LogLevel::kInfo, fmt::format("the service {} starts{}: {}, {} known, {}, {}", dispatch_->options().service_id,
                                   options_.shadow ? " as a shadow" : "",
                                   HumanCount(static_cast<std::int64_t>(tables_.catalogs().size()), "catalog"),
                                   HumanCount(static_cast<std::int64_t>(tables_.size()), "table"),
                                   HumanCount(options_.watchers, "watcher"), HumanCount(options_.workers, "worker")));
  return Ok();
}

void Service::Stop() {
  if (stopping_.exchange(true)) return;
  dispatch_->Stop();
  events_.Close();
  agenda_.Close();
  {
    const std::lock_guard lock(wait_mutex_);
    wake_.notify_all();
  }
  threads_.clear();  // joins them
  NoteState(SaveCounters());
  shown_.Feed().Close();
  Log(LogLevel::kInfo, "the service has ended");
}

void Service::WaitMs(std::int64_t ms) {
  std::unique_lock lock(wait_mutex_);
  wake_.wait_for(lock, std::chrono::milliseconds(ms), [this] { return stopping_.load(); });
}

void Service::RunEvents() {
  while (!stopping_) {
    for (const ports::TableEvent& event : events_.Take(kEventsAtOnce, kPatienceMs)) TakeEvent(event);
  }
}

void Service::TakeEvent(const ports::TableEvent& event) {
  const std::int64_t now_ms = clock_.Now().value;
  auto found = tables_.FindFor(event);
  const bool is_scan = event.kind == ports::TableEvent::Kind::kScan;
  if (found.empty() && !event.table.empty() && !is_scan && IsText(event.table)) {
    // Of a table that no sweep has seen yet. Whether it is there is found out by looking.
    for (const auto& catalog : tables_.catalogs()) {
      if (event.catalog.empty() ? tables_.catalogs().size() > 1 : catalog->name() != event.catalog) continue;
      if (tables_.size() >= options_.tables_max) break;
      found.push_back(tables_.Add(catalog, {event.name_space, event.table}).table);
    }
  }
  // A place that no table is known to have: a new one's, maybe.
  if (found.empty() && !is_scan) is_listing_wanted_ = true;
  for (const auto& table : found) {
    {
      const std::lock_guard lock(table->news_mutex);
      if (is_scan && event.scan) table->reads.Add(*event.scan, now_ms);
      // Seen already; duplicates and late events cost nothing.
      if (event.snapshot_id && table->seen_snapshot_id == *event.snapshot_id) continue;
    }
    if (is_scan) continue;
    agenda_.Add({table->id, now_ms + options_.debounce_ms, decide::Cause::kCommit, false});
  }
}

void Service::RunWatcher(Random random) {
  while (!stopping_) {
    const auto item = agenda_.Take(clock_.Now().value, kPatienceMs);
    if (!item) continue;
    LookAt(*item, random);
    agenda_.Done(item->table);
  }
}

void Service::LookAt(const AgendaItem& item, Random& random) {
  if (stopping_) return;
  const auto table = tables_.Find(item.table);
  if (table == nullptr) return;
  const TimestampMs now = clock_.Now();
  const std::lock_guard lock(table->mutex);
  TakeSavings(*table);
  LookOptions look;
  look.database = table->database;
  look.cause = item.cause;
  look.is_full = item.is_full;
  look.settings_of = dispatch_->options().settings_of;
  look.threads = options_.look_threads;
  look.manifests = &manifests_;
  look.cancelled = &stopping_;
  look.service_id = dispatch_->options().service_id;
  const TableRow before = table->watched.record.row;
  LookResult result = Look(*table->catalog, table->name, look, random, now, table->watched);
  if (result.error && (result.error->code == Code::kCancelled || stopping_)) return;  // the next run looks again
  {
    const std::lock_guard news(table->news_mutex);
    table->was_seen = true;
    table->seen_snapshot_id = table->watched.record.row.last_snapshot_id;
  }
  if (!table->watched.location.empty()) tables_.NoteLocation(table->watched.location, table);
  // An event of a table that never was, or one that has been gone for long.
  const WatchedTable& watched = table->watched;
  if (result.is_gone && (watched.record.row.uuid.empty() || now.value - watched.gone_ms > kShowGoneMs)) {
    Log(LogLevel::kDebug, table->id + ": forgotten: its catalog does not have it");
    return Forget(*table);
  }
  LogTable(before, table->watched.record.row, result.is_replaced);
  if (result.error && result.error->code == Code::kUnavailable) {
    const std::int64_t wait =
        std::min(options_.sweep_interval_ms, kRetryMinMs << std::min<std::int64_t>(table->watched.failures, 10));
    agenda_.Add({table->id, now.value + wait, item.cause, item.is_full});
  }
  Absorb(*table, item, now, std::move(result));
}

void Service::Forget(const FleetTable& table) {
  dispatch_->options().analyses->Remove(table.id);
  dispatch_->Forget(table.id);
  catalog_policies_.Forget(table.catalog->name(), table.name);
  NoteState(store_->RemoveTable(table.id));
  shown_.RemoveTable(table.id);
  tables_.Remove(table.id);
  const std::lock_guard lock(counters_mutex_);
  others_.erase(table.id);
}

/// What a look has found goes to the queue, to the state, and to those who watch.
void Service::Absorb(FleetTable& table, const AgendaItem& item, TimestampMs started, LookResult result) {
  StateUpdate update;
  update.is_kept = true;
  FollowRequests(table, started, result, update);
  // Before a job can end that answers them.
  if (!update.requests.empty()) NoteState(store_->Write(update));
  const bool has_news = !std::exchange(update.requests, {}).empty();
  if (result.is_replaced) {
    dispatch_->Forget(table.id);
    dispatch_->options().analyses->Remove(table.id);
    NoteState(store_->RemoveAnalysis(table.id));
  }
  if (!result.error) SetScopes(table);
  if (result.other_service) HearOfOther(table.id, *result.other_service);
  if (!result.error) OfferDueAnalysis(table);
  for (decide::Candidate& analysis : result.analyses) dispatch_->OfferAnalysis(std::move(analysis));
  if (result.candidates) {
    const std::lock_guard news(table.news_mutex);
    for (decide::Candidate& candidate : *result.candidates) {
      candidate.predicted.reads_saved =
          table.reads.ReadsSaved(candidate.predicted.files_removed, table.watched.record.row.files);
    }
    dispatch_->Offer(table.id, std::move(*result.candidates), result.scanned_keys);
  }
  CountLook(item, result.counts);
  if (!result.is_unchanged) LogLook(table.id, item.cause, result.counts);
  TableRecord& record = table.watched.record;
  const bool has_work = dispatch_->HasWork(table.id) || table.watched.needs_full;
  const bool had_work = std::exchange(record.has_work, has_work);
  const ReadRate reads = PresentReads(table, result.is_replaced);
  const bool has_reads = reads.last_ms - table.watched.saved_reads_ms > kSaveReadsMs;
  if (result.is_unchanged && !has_news && !has_reads && had_work == record.has_work) return Publish(table);
  record.learned = WithReads(dispatch_->Learned(table.id), reads);
  table.watched.saved_reads_ms = reads.last_ms;
  update.has_partitions = SavePartitions(table.watched, started);
  update.table = &record;
  update.trend = result.trend ? &*result.trend : nullptr;
  update.decisions = std::move(result.decisions);
  NoteState(store_->Write(update));
  LogDecisions(update.decisions);
  record.partitions.clear();
  for (const decide::Decision& decision : update.decisions) {
    shown_.Feed().Publish(News::Kind::kDecision, decision.table, std::to_string(decision.id));
  }
  Publish(table);
}

/// Whether the partitions go into the record this time: large tables are saved now and then, and what happened since is
/// read again from the commits after a restart.
bool Service::SavePartitions(WatchedTable& watched, TimestampMs now) {
  constexpr std::size_t kAlwaysMax = 2'000;
  constexpr std::int64_t kSaveEveryMs = 60'000;
  constexpr std::size_t kBytesMax = std::size_t{256} << 20;
  if (watched.state.size() > kAlwaysMax && now.value - watched.saved_ms < kSaveEveryMs) return false;
  watched.saved_ms = now.value;
  watched.record.partitions = std::string(AsText(watched.state.Serialize()));
  // More is scanned anew after a restart.
  if (watched.record.partitions.size() > kBytesMax) watched.record.partitions.clear();
  return true;
}

void Service::TakeSavings(FleetTable& table) {
  const std::lock_guard news(table.news_mutex);
  Savings& sum = table.watched.record.savings;
  const Savings added = std::exchange(table.savings, {});
  sum.jobs += added.jobs;
  sum.files += added.files;
  sum.delete_reads_saved += added.delete_reads_saved;
  sum.bytes_rewritten += added.bytes_rewritten;
  sum.predicted_seconds += added.predicted_seconds;
  sum.measured_seconds += added.measured_seconds;
  sum.reads_saved += added.reads_saved;
}

void Service::SetScopes(const FleetTable& table) {
  decide::ScopeSettings scope = TableScope(table.watched.wanted);
  scope.paused = table.watched.record.paused;
  dispatch_->SetSettings(decide::Scope::kTable, table.id, std::move(scope));
  // Whether the file's rules are sound was checked when it was read.
  if (auto database = ResolveDatabase(options_.policy, table.database)) {
    dispatch_->SetSettings(decide::Scope::kDatabase, table.database, std::move(*database));
  }
}

void Service::NoteState(const Status& status) {
  {
    const std::lock_guard lock(counters_mutex_);
    const bool is_news = !status && (state_status_ || state_status_.error().message != status.error().message);
    if (is_news) Log(LogLevel::kError, status.error().message);
    state_status_ = status;
  }
  dispatch_->SetStateWritable(status.has_value());
}

void Service::CountLook(const AgendaItem& item, const LookCounts& counts) {
  const std::lock_guard lock(counters_mutex_);
  counters_.commits_seen += counts.commits;
  counters_.partitions_changed += counts.partitions_changed;
  counters_.partitions_noisy += counts.partitions_noisy;
  counters_.partition_scans += counts.partition_scans;
  table_scans_ += counts.table_scans;
  if (item.cause == decide::Cause::kSweep) counters_.snapshots_found_by_sweep_only += counts.commits;
}

/// The table's row as the API shows it; the caller holds its mutex.
void Service::Publish(FleetTable& table) {
  TableDetail detail;
  const TableRecord& record = table.watched.record;
  detail.row = record.row;
  if (record.paused && detail.row.state == TableRow::State::kOk) {
    detail.row.state = TableRow::State::kPaused;
    detail.row.state_reason = "paused";
  }
  detail.histogram = record.histogram;
  detail.savings = record.savings;
  detail.settings = SettingRowsOf(table.watched.wanted);
  dispatch_->Describe(table.id, detail);
  if (detail.row.state == TableRow::State::kOk) detail.row.state_reason = ReasonOfOther(table.id);
  shown_.PutTable(std::move(detail));
}

}  // namespace firn::service
