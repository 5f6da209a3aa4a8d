// SPDX-License-Identifier: Apache-2.0
#include "ports/event_source.h"

#include <fmt/format.h>

#include <chrono>
#include <iterator>
#include <utility>

#include "ports/catalog.h"

namespace firn::ports {
namespace {

/// Each part with its length before it: no name can be mistaken for two.
void AppendPart(std::string& key, std::string_view part) {
  fmt::format_to(std::back_inserter(key), "{}:{}", part.size(), part);
}

std::string KeyOf(const TableEvent& event) {
  std::string key(Word(event.kind));
  AppendPart(key, event.catalog);
  for (const std::string& level : event.name_space) AppendPart(key, level);
  AppendPart(key, event.table);
  AppendPart(key, event.uuid);
  AppendPart(key, event.location);
  if (event.scan) {
    fmt::format_to(std::back_inserter(key), "/{}/{}/{}/{}/{}", event.snapshot_id.value_or(0), event.scan->data_files,
                   event.scan->delete_files, event.scan->bytes, event.scan->planning_ms);
  }
  return key;
}

}  // namespace

std::string_view Word(TableEvent::Kind kind) {
  switch (kind) {
    case TableEvent::Kind::kCommit: return "commit";
    case TableEvent::Kind::kScan: return "scan";
    case TableEvent::Kind::kCreate: return "create";
    case TableEvent::Kind::kDrop: return "drop";
    case TableEvent::Kind::kRename: return "rename";
  }
  return "commit";
}

std::string_view Word(TableEvent::Source source) {
  switch (source) {
    case TableEvent::Source::kMetricsReport: return "metrics-report";
    case TableEvent::Source::kCloudEvent: return "cloud-event";
    case TableEvent::Source::kStorage: return "storage";
    case TableEvent::Source::kWebhook: return "webhook";
    case TableEvent::Source::kKafka: return "kafka";
    case TableEvent::Source::kDirectory: return "directory";
  }
  return "webhook";
}

std::string TableText(const TableEvent& event) {
  if (event.table.empty()) return event.location;
  const std::string catalog = event.catalog.empty() ? "" : event.catalog + "/";
  return catalog + ToString(TableIdentifier{event.name_space, event.table});
}

EventQueue::Pushed EventQueue::Push(TableEvent event) {
  std::string key = KeyOf(event);
  Pushed pushed = Pushed::kNew;
  {
    const std::lock_guard lock(mutex_);
    ++counts_.taken_in;
    if (const auto found = by_key_.find(key); found != by_key_.end()) {
      waiting_.erase(found->second);
      by_key_.erase(found);
      ++counts_.duplicates;
      pushed = Pushed::kDuplicate;
    } else if (waiting_.size() >= capacity_ && !waiting_.empty()) {
      by_key_.erase(waiting_.front().key);
      waiting_.pop_front();
      ++counts_.dropped;
      pushed = Pushed::kDroppedOldest;
    }
    waiting_.push_back({key, std::move(event)});
    by_key_.emplace(std::move(key), std::prev(waiting_.end()));
  }
  arrived_.notify_one();
  return pushed;
}

std::vector<TableEvent> EventQueue::Take(std::size_t count_max, std::int64_t wait_ms) {
  std::unique_lock lock(mutex_);
  arrived_.wait_for(lock, std::chrono::milliseconds(wait_ms), [this] { return closed_ || !waiting_.empty(); });
  std::vector<TableEvent> taken;
  while (!waiting_.empty() && taken.size() < count_max) {
    by_key_.erase(waiting_.front().key);
    taken.push_back(std::move(waiting_.front().event));
    waiting_.pop_front();
  }
  return taken;
}

EventCounts EventQueue::counts() const {
  const std::lock_guard lock(mutex_);
  return counts_;
}

std::size_t EventQueue::size() const {
  const std::lock_guard lock(mutex_);
  return waiting_.size();
}

void EventQueue::Close() {
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
  }
  arrived_.notify_all();
}

}  // namespace firn::ports
