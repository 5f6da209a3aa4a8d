// SPDX-License-Identifier: Apache-2.0
//
// The optimizer that runs by itself: learns of commits, looks at tables, decides, does the work, and remembers why.
//
// In: catalogs, options, events and requests. Out: tables in shape; decisions, jobs and figures for the API.
// Guarantees: events are hints, the sweep finds what they miss: a commit is unseen for at most staleness_bound_ms while
// its
//   catalog answers. A request is on disk before it is acknowledged. After a kill nothing is done twice: work is
//   planned anew on the table as it is, and the commit path refuses a plan whose files are gone. Without a writable
//   state no new job starts. In shadow mode nothing is written to any table.
// Cost: threads: one each for events, sweep and dispatch, `watchers` that look, `workers` that rewrite. Memory: the
// workers
//   share memory_bytes; about 120 bytes a partition, some kilobytes a table.
// Threads: any; Stop() from one.
// Errors: Open: those of the state file; Start: kLimit, a thread cannot be started; a catalog that is down is tried
//   again.
// Source: docs/service.md; docs/architecture.md ("The service").
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "base/random.h"
#include "ports/cached_file_io.h"
#include "ports/catalog.h"
#include "ports/clock.h"
#include "ports/event_source.h"
#include "ports/processes.h"
#include "service/agenda.h"
#include "service/catalog_policies.h"
#include "service/dispatch.h"
#include "service/fleet_row_store.h"
#include "service/fleet_tables.h"
#include "service/fleet_view.h"
#include "service/state_store.h"

namespace firn::service {

struct ServiceOptions {
  std::int64_t sweep_interval_ms = 5 * 60 * 1000;
  /// Between the first event of a table and the look at it: more of them are one look then.
  std::int64_t debounce_ms = 500;
  int watchers = 2;
  int workers = 1;
  std::int64_t memory_bytes = std::int64_t{1} << 30;
  /// Of manifests that looks have read.
  std::int64_t manifest_cache_bytes = std::int64_t{64} << 20;
  int look_threads = 1;  // of a watcher
  std::size_t events_max = 100'000;
  std::size_t tables_max = 100'000;  // that events may name before a sweep has seen them
  std::int64_t requests_max = 10'000;
  bool shadow = false;
  std::uint64_t seed = 0;
  /// What the owners of tables and databases want, unless the tables say otherwise.
  FleetPolicy policy = {};
  /// Catalogs that have policies of their own.
  std::vector<PolicySourceOf> policy_sources = {};
  std::vector<SettingRow> settings = {};  // to be shown
  /// Existing local folder for the experiments of analyses; empty: the system's for temporary files.
  std::string scratch = {};
  /// See act/run_journal.h; null: runs are not marked. Outlives the service.
  const ports::Processes* processes = nullptr;
};

class Service final : public FleetView, public FleetControl {
 public:
  static Result<std::unique_ptr<Service>> Open(const std::string& state_path,
                                               std::vector<std::shared_ptr<ports::Catalog>> catalogs,
                                               ports::Clock& clock, ServiceOptions options);
  ~Service() override;

  Status Start();
  /// Looks end at their next read, running jobs at their next page; everything is on disk when it returns.
  void Stop();
  /// Where adapters of other sources push events.
  ports::EventQueue& events() { return events_; }
  /// What such an adapter counts is shown with the service's own metrics. Before Start().
  void AddMetrics(std::function<std::vector<Metric>()> more) { more_metrics_.push_back(std::move(more)); }

  Readiness Ready() override;
  bool Serves(std::string_view catalog) const override;
  Result<FleetSummary> Summary() override;
  Result<Page<TableRow>> Tables(const TableFilter& filter, const PageOf& page) override;
  Result<TableDetail> Table(std::string_view id) override;
  Result<Page<PartitionRow>> Partitions(std::string_view table, const PageOf& page) override;
  Result<AnalysisRow> Analysis(std::string_view table) override;
  Result<Page<DecisionRow>> Decisions(const DecisionFilter& filter, const PageOf& page) override;
  Result<Page<QueueRow>> Queue(const PageOf& page) override;
  Result<Page<JobRow>> Jobs(const JobFilter& filter, const PageOf& page) override;
  Result<JobRow> Job(std::string_view id) override;
  Result<Page<OutcomeRow>> Outcomes(std::string_view table_or_empty, const PageOf& page) override;
  Result<Page<RequestRow>> Requests(const PageOf& page) override;
  Result<std::vector<PolicyRow>> Policies() override;
  Result<std::vector<SettingRow>> Settings() override;
  std::vector<Metric> Metrics() override;
  FleetNews& Feed() override { return shown_.Feed(); }

  bool AcceptEvent(ports::TableEvent event) override;
  Result<std::string> AddRequest(const NewRequest& request) override;
  Status Pause(std::string_view table) override;
  Status Resume(std::string_view table) override;

 private:
  Service(std::unique_ptr<StateStore> store, std::vector<std::shared_ptr<ports::Catalog>> catalogs, ports::Clock& clock,
          ServiceOptions options);
  Status Restore();
  Status RestoreAnalyses();
  void RunEvents();
  void RunSweep();
  void RunWatcher(Random random);

  void Sweep(Random& random);
  void AddToAgenda(FleetTable& table, Random& random);
  std::size_t ListCatalogs(Random& random);
  void NoteFleet(std::int64_t now_ms);
  void TakeEvent(const ports::TableEvent& event);
  void LookAt(const AgendaItem& item, Random& random);
  void Absorb(FleetTable& table, const AgendaItem& item, TimestampMs started, LookResult result);
  bool SavePartitions(WatchedTable& watched, TimestampMs now);
  void TakeSavings(FleetTable& table);
  void Forget(const FleetTable& table);
  void HearOf(const JobNews& news);
  void HearOfOther(const std::string& table, const std::string& service_id);
  std::string ReasonOfOther(const std::string& table);
  void FollowRequests(const FleetTable& table, TimestampMs started, LookResult& result, StateUpdate& update);
  decide::Candidate AnalysisOf(const FleetTable& table, decide::Cause cause, const NewRequest& request);
  void OfferDueAnalysis(const FleetTable& table);
  bool Answer(const FleetTable& table, RequestRow& request, LookResult& result);
  void FollowJob(const JobNews& news);
  void SetScopes(const FleetTable& table);
  void Publish(FleetTable& table);
  Status Acknowledged(Status written);
  Status SetPaused(std::string_view table, bool paused);
  Result<std::shared_ptr<FleetTable>> FindTable(std::string_view id) const;
  static Error StillLooking(std::string_view id);
  Result<FleetSummary> TableSums();
  void CountLook(const AgendaItem& item, const LookCounts& counts);
  void NoteState(const Status& status);
  Status SaveCounters();
  void WaitMs(std::int64_t ms);

  /// How long people wait for a table that is being looked at.
  static constexpr std::chrono::seconds kLookPatience{2};

  const std::unique_ptr<StateStore> store_;
  ports::Clock& clock_;
  const ServiceOptions options_;
  FleetTables tables_;
  CatalogPolicies catalog_policies_;
  ports::FileCache manifests_;
  Agenda agenda_;
  FleetRowStore shown_;
  ports::EventQueue events_;
  std::vector<std::function<std::vector<Metric>()>> more_metrics_;
  std::unique_ptr<Dispatch> dispatch_;
  std::vector<std::jthread> threads_;
  std::atomic<bool> stopping_ = false;
  std::mutex wait_mutex_;
  std::condition_variable wake_;

  std::mutex requests_mutex_;
  Random request_ids_;
  std::map<std::string, std::vector<RequestRow>> requests_;  // open ones by table
  std::int64_t requests_open_ = 0;

  std::mutex counters_mutex_;
  FleetSummary counters_;  // only its counts
  FleetSummary sums_;      // over all rows, at that time
  std::int64_t sums_made_ms_ = 0;
  std::int64_t table_scans_ = 0;
  Status state_status_ = Ok();                         // of the last write
  std::map<std::string, std::string> catalog_errors_;  // by name
  /// Tables on which another service works too.
  struct Other {
    std::string service_id;
    std::int64_t heard_ms = 0;  // of the clock that only goes forward
  };
  std::map<std::string, Other, std::less<>> others_;
  std::set<std::string> others_said_;  // ids of services
  std::atomic<std::int64_t> sweeps_ = 0;
  std::atomic<bool> is_listing_wanted_ = false;  // an event told of a table that is not known
  std::set<std::string> left_out_;               // names that cannot be shown; of the sweep alone
};

}  // namespace firn::service
