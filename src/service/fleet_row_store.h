// SPDX-License-Identifier: Apache-2.0
//
// Keeps the rows that the API shows, in memory: the service its tables in one, a test everything that it shows.
//
// In: rows, what is asked. Out: rows in order and in pages; what was asked.
// Guarantees: keeps every promise of FleetView and FleetControl, with 10,000 tables and more.
// Cost: a page of tables is O(tables log tables); everything is in memory.
// Threads: any.
// Errors: as fleet_view.h; a request for a table that is not there is kNotFound.
#pragma once

#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "service/fleet_view.h"

namespace firn::service {

class FleetRowStore final : public FleetView, public FleetControl {
 public:
  /// Adds or replaces, and tells the readers of Feed().
  void PutTable(TableDetail table);
  void RemoveTable(const std::string& id);
  void PutPartitions(const std::string& table, std::vector<PartitionRow> partitions);
  void PutAnalysis(AnalysisRow analysis);
  void PutDecision(DecisionRow decision);
  void PutQueue(std::vector<QueueRow> queue);
  void PutJob(JobRow job);
  void PutOutcome(OutcomeRow outcome);
  void PutSummary(FleetSummary summary);
  void PutPolicies(std::vector<PolicyRow> policies);
  void PutSettings(std::vector<SettingRow> settings);
  void PutMetrics(std::vector<Metric> metrics);
  void PutReadiness(Readiness readiness);
  /// From now on every reading call that may fail fails so; Ok() ends it.
  void FailWith(Status status);
  /// Time of requests from now on.
  void SetNow(std::int64_t now_ms) { now_ms_ = now_ms; }

  std::vector<ports::TableEvent> events() const;

  Readiness Ready() override;
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
  FleetNews& Feed() override { return news_; }
  /// Those of its tables.
  bool Serves(std::string_view catalog) const override;

  bool AcceptEvent(ports::TableEvent event) override;
  Result<std::string> AddRequest(const NewRequest& request) override;
  Status Pause(std::string_view table) override { return SetPaused(table, true); }
  Status Resume(std::string_view table) override { return SetPaused(table, false); }

 private:
  static constexpr std::size_t kEventsMax = 10'000;  // the oldest go first
  Status SetPaused(std::string_view table, bool paused);

  mutable std::mutex mutex_;
  FleetNews news_;
  Status failure_ = Ok();
  Readiness readiness_{.ready = true, .reason = {}};
  FleetSummary summary_;
  std::map<std::string, TableDetail, std::less<>> tables_;
  std::map<std::string, std::vector<PartitionRow>, std::less<>> partitions_;
  std::map<std::string, AnalysisRow, std::less<>> analyses_;  // by table
  std::map<std::string, DecisionRow, std::greater<>> decisions_;
  std::vector<QueueRow> queue_;
  std::map<std::string, JobRow, std::greater<>> jobs_;
  std::map<std::string, OutcomeRow, std::greater<>> outcomes_;  // by job
  std::map<std::string, RequestRow, std::greater<>> requests_;
  std::vector<PolicyRow> policies_;
  std::vector<SettingRow> settings_;
  std::vector<Metric> metrics_;
  std::vector<ports::TableEvent> events_;
  std::int64_t now_ms_ = 0;
};

}  // namespace firn::service
