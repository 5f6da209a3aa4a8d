// SPDX-License-Identifier: Apache-2.0
#include "observe/history.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "observe/changes.h"
#include "observe/observe.h"

namespace firn::observe {
namespace {

using iceberg::Snapshot;

/// Oldest first. A broken table may hold a circle of parents.
std::vector<const Snapshot*> AncestorsOf(const iceberg::TableMetadata& metadata, const Snapshot* head) {
  std::vector<const Snapshot*> path;
  for (const Snapshot* at = head; at != nullptr && path.size() < metadata.snapshots().size();) {
    path.push_back(at);
    at = at->parent_id ? metadata.FindSnapshot(*at->parent_id) : nullptr;
  }
  std::ranges::reverse(path);
  return path;
}

class HistoryReader {
 public:
  HistoryReader(const ports::LoadedTable& table, ports::FileIO& io, const HistoryOptions& options)
      : table_(table), io_(io), options_(options) {}

  Result<History> Run() {
    const iceberg::TableMetadata& metadata = *table_.metadata;
    const Snapshot* head = metadata.RefSnapshot(options_.ref);
    if (head == nullptr && options_.ref != "main") {
      return Error{Code::kNotFound, fmt::format("there is no branch or tag `{}`", options_.ref)};
    }
    if (head == nullptr) return Error{Code::kInvalidArgument, "the table has no snapshot: there is no history"};
    path_ = AncestorsOf(metadata, head);
    SkipOld(*head);
    FIRN_TRY(ReadAllChanges());
    FIRN_TRY(ReadStart());
    history_.started_at = path_[first_]->timestamp;
    history_.start_reason = std::move(reason_);
    return std::move(history_);
  }

 private:
  Status CheckLength() const {
    if (first_ + 1 < path_.size()) return Ok();
    return Error{Code::kInvalidArgument, fmt::format("there is no history before the newest snapshot: {}", reason_)};
  }

  void SkipOld(const Snapshot& head) {
    const Snapshot& oldest = *path_.front();
    // Some writers take the parent's id away with the parent.
    reason_ = oldest.parent_id                              ? "those before it have expired"
              : oldest.sequence_number == SequenceNumber{1} ? "it is the table's first"
                                                            : "no older one is known";
    if (!options_.length_ms) return;
    const std::int64_t since = head.timestamp.value - *options_.length_ms;
    while (first_ + 2 < path_.size() && path_[first_ + 1]->timestamp.value < since) ++first_;
    if (first_ > 0) reason_ = "what was before is older than was asked for";
  }

  Status ReadAllChanges() {
    FIRN_TRY(CheckLength());
    while (true) {
      ChangesOptions wanted{.ref = options_.ref, .since = path_[first_]->id};
      wanted.snapshots_max = options_.snapshots_max;
      wanted.entries_max = options_.entries_max;
      FIRN_ASSIGN(history_.changes, ReadChanges(table_, io_, wanted));
      if (history_.changes.is_complete) return Ok();
      const auto broken = std::ranges::find_if(
          path_, [&](const Snapshot* snapshot) { return snapshot->id == history_.changes.broken_at; });
      if (broken == path_.end()) return Error{Code::kLimit, std::move(history_.changes.reason)};
      first_ = static_cast<std::size_t>(broken - path_.begin());
      reason_ = std::move(history_.changes.reason);
      FIRN_TRY(CheckLength());
    }
  }

  Status ReadStart() {
    ObserveOptions wanted{.ref = options_.ref, .threads = options_.threads};
    while (true) {
      wanted.snapshot_id = path_[first_]->id;
      auto facts = Observe(table_, io_, wanted, path_[first_]->timestamp);
      if (facts) {
        history_.start = std::move(*facts);
        return Ok();
      }
      const Code code = facts.error().code;
      if (code != Code::kCorrupt && code != Code::kNotFound) return std::move(facts.error());
      reason_ = fmt::format("snapshot {}: {}", path_[first_]->id.value, facts.error().message);
      ++first_;
      FIRN_TRY(CheckLength());
      auto& changes = history_.changes.changes;
      changes.erase(changes.begin());
      history_.changes.since = path_[first_]->id;
    }
  }

  const ports::LoadedTable& table_;
  ports::FileIO& io_;
  const HistoryOptions& options_;
  std::vector<const Snapshot*> path_;
  std::size_t first_ = 0;  // of path_
  std::string reason_;
  History history_;
};

}  // namespace

Result<History> ReadHistory(const ports::LoadedTable& table, ports::FileIO& io, const HistoryOptions& options) {
  const std::string name = table.id.name.empty() ? table.metadata->location() : ports::ToString(table.id);
  return HistoryReader(table, io, options).Run().In(name);
}

}  // namespace firn::observe
