// SPDX-License-Identifier: Apache-2.0
//
// Hints that a table changed, from wherever they come: events over HTTP, a Kafka topic, a watched directory.
//
// In: events of sources that nobody vouches for. Out: the same, oldest first, each table's equal ones once.
// Guarantees: an event is a hint and never the truth: whoever takes it loads the table from its catalog. A queue
//   holds at most `capacity` events; an event equal to a waiting one takes its place at the end; a full queue
//   drops its oldest one. Both are counted: what is dropped is found by the sweep.
// Cost: O(1) an event. Threads: any. Errors: none; losing is counted.
// Source: Iceberg REST OpenAPI (ReportMetricsRequest), CloudEvents 1.0, S3 event messages.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <list>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace firn::ports {

/// What a scan report says about the files that one query had to open.
struct ScanFigures {
  std::int64_t data_files = 0;
  std::int64_t delete_files = 0;
  std::int64_t bytes = 0;
  std::int64_t planning_ms = 0;
  bool operator==(const ScanFigures&) const = default;
};

struct TableEvent {
  enum class Kind { kCommit, kScan, kCreate, kDrop, kRename };
  enum class Source { kMetricsReport, kCloudEvent, kStorage, kWebhook, kKafka, kDirectory };

  Kind kind = Kind::kCommit;
  Source source = Source::kWebhook;
  /// Empty where the source does not know it; either the name or the location is known.
  std::string catalog = {};
  std::vector<std::string> name_space = {};
  std::string table = {};
  std::string uuid = {};
  /// The table's directory, without "/" at the end.
  std::string location = {};
  std::optional<std::int64_t> snapshot_id = {};
  std::optional<ScanFigures> scan = {};
};

/// "commit", "scan", "create", "drop", "rename".
std::string_view Word(TableEvent::Kind kind);
/// "metrics-report", "cloud-event", "storage", "webhook", "kafka", "directory".
std::string_view Word(TableEvent::Source source);
/// "catalog/ns.name", the location where there is no name.
std::string TableText(const TableEvent& event);

struct EventCounts {
  std::int64_t taken_in = 0;
  std::int64_t duplicates = 0;
  std::int64_t dropped = 0;
};

class EventSource {
 public:
  virtual ~EventSource() = default;
  /// At most `count_max` events; waits up to `wait_ms` for the first one.
  virtual std::vector<TableEvent> Take(std::size_t count_max, std::int64_t wait_ms) = 0;
  virtual EventCounts counts() const = 0;
};

/// What other threads push events into; also the twin for tests.
class EventQueue final : public EventSource {
 public:
  explicit EventQueue(std::size_t capacity) : capacity_(capacity) {}

  enum class Pushed { kNew, kDuplicate, kDroppedOldest };
  /// Commits of one table are equal whatever their snapshot is: the newest one stays. Scans are equal only with
  /// equal figures, because each counts.
  Pushed Push(TableEvent event);
  std::vector<TableEvent> Take(std::size_t count_max, std::int64_t wait_ms) override;
  EventCounts counts() const override;
  std::size_t size() const;
  /// Takers that wait return at once, from now on.
  void Close();

 private:
  struct Waiting {
    std::string key;
    TableEvent event;
  };
  const std::size_t capacity_;
  mutable std::mutex mutex_;
  std::condition_variable arrived_;
  bool closed_ = false;
  std::list<Waiting> waiting_;
  std::unordered_map<std::string, std::list<Waiting>::iterator> by_key_;
  EventCounts counts_;
};

}  // namespace firn::ports
