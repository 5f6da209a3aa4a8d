// SPDX-License-Identifier: Apache-2.0
//
// What the API may read of the running service, and what it may ask it to do.
//
// In: filters and pages; events, requests. Out: rows.
// Guarantees: an answer has at most kPageItemsMax items; walking from page to page by `next` shows every item that
//   was there all the time exactly once, also while others come, go and change places in an order by id.
// Cost: one page, not the fleet. Threads: any.
// Errors: kNotFound for a table, job or request that is not there; kInvalidArgument for a cursor that is not
//   one of ours, an unknown action or partition; kUnavailable while the state cannot be read; kLimit when too many
//   requests wait.
// Source: docs/api.md.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "ports/event_source.h"
#include "service/fleet_news.h"
#include "service/fleet_rows.h"

namespace firn::service {

inline constexpr int kPageItemsMax = 500;
inline constexpr int kPageItemsDefault = 50;

struct PageOf {
  std::string after = {};  // `next` of the page before; empty: the first page
  int limit = kPageItemsDefault;
};

template <class Row>
struct Page {
  std::vector<Row> items;
  std::string next;  // empty: there is no more
};

struct TableFilter {
  /// kWorst: state not ok first, then the lowest score. All but kName are descending; equal ones by id.
  enum class Order { kWorst, kName, kFiles, kBytes, kSmallFiles, kRemovableFiles, kEntropy, kLastCommit };
  Order order = Order::kWorst;
  std::string search = {};  // part of the id, without regard to the case of ASCII letters
  std::optional<TableRow::State> state = {};
};

struct DecisionFilter {
  std::string table = {};  // id; empty: all
  std::string partition = {};
  std::string kind = {};
};

struct JobFilter {
  std::string table = {};
  std::optional<JobRow::State> state = {};
};

class FleetView {
 public:
  virtual ~FleetView() = default;
  virtual Readiness Ready() = 0;
  /// Whether it looks after the tables of this catalog.
  virtual bool Serves(std::string_view catalog) const = 0;
  virtual Result<FleetSummary> Summary() = 0;
  virtual Result<Page<TableRow>> Tables(const TableFilter& filter, const PageOf& page) = 0;
  virtual Result<TableDetail> Table(std::string_view id) = 0;
  /// Worst first: the highest noise, then the most removable files.
  virtual Result<Page<PartitionRow>> Partitions(std::string_view table, const PageOf& page) = 0;
  /// kNotFound also where the table has never been analysed.
  virtual Result<AnalysisRow> Analysis(std::string_view table) = 0;
  /// Newest first.
  virtual Result<Page<DecisionRow>> Decisions(const DecisionFilter& filter, const PageOf& page) = 0;
  /// In the order in which they would start.
  virtual Result<Page<QueueRow>> Queue(const PageOf& page) = 0;
  /// Newest first.
  virtual Result<Page<JobRow>> Jobs(const JobFilter& filter, const PageOf& page) = 0;
  virtual Result<JobRow> Job(std::string_view id) = 0;
  virtual Result<Page<OutcomeRow>> Outcomes(std::string_view table_or_empty, const PageOf& page) = 0;
  virtual Result<Page<RequestRow>> Requests(const PageOf& page) = 0;
  virtual Result<std::vector<PolicyRow>> Policies() = 0;
  /// Of the service itself.
  virtual Result<std::vector<SettingRow>> Settings() = 0;
  virtual std::vector<Metric> Metrics() = 0;
  /// What changes, as it changes; lives as long as the view.
  virtual FleetNews& Feed() = 0;
};

class FleetControl {
 public:
  virtual ~FleetControl() = default;
  /// Never waits. False: it took the place of an older event (the sweep will find what that one told of).
  virtual bool AcceptEvent(ports::TableEvent event) = 0;
  /// The request's id, once the request is safe on disk.
  virtual Result<std::string> AddRequest(const NewRequest& request) = 0;
  /// Of one table, or of everything where `table` is empty. Running jobs end; nothing new starts.
  virtual Status Pause(std::string_view table) = 0;
  virtual Status Resume(std::string_view table) = 0;
};

}  // namespace firn::service
