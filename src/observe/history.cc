// SPDX-License-Identifier: Apache-2.0
#include "observe/history.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <ranges>
#include <span>
#include <utility>
#include <vector>

#include "iceberg/ancestors.h"
#include "iceberg/calendar.h"
#include "observe/changes.h"
#include "observe/missing_ref.h"
#include "observe/observe.h"

namespace firn::observe {
namespace {

using iceberg::Snapshot;

constexpr std::int64_t kYearMs = std::int64_t{366} * 86'400'000;
constexpr std::int64_t kTimeMaxMs = 253'402'300'799'999;  // the last of the year 9999
constexpr std::int64_t kBackMaxMs = kYearMs, kGapMaxMs = 10 * kYearMs, kLengthMaxMs = 20 * kYearMs;

constexpr std::size_t kStepMax = 64;  // snapshots that are read together

/// "1764500000000000 ms since 1970 (57885-...)": what was written, and what that means.
std::string TimeText(const Snapshot& snapshot) {
  const std::int64_t ms = snapshot.timestamp.value;
  if (ms < 0 || ms > kTimeMaxMs) return fmt::format("snapshot {}: its time is {} ms", snapshot.id.value, ms);
  return fmt::format("snapshot {}: its time is {} ms ({})", snapshot.id.value, ms,
                     iceberg::DateText(iceberg::FloorDivide(ms, 86'400'000)));
}

/// What is played has the length of the table's life: times that cannot be true would make it endless.
Status CheckTimes(std::span<const Snapshot* const> path) {
  for (std::size_t i = 0; i < path.size(); ++i) {
    const std::int64_t at = path[i]->timestamp.value;
    const auto wrong = [&](std::string_view what) {
      return Error{Code::kCorrupt, fmt::format("{}, {}", TimeText(*path[i]), what)};
    };
    if (at < 0 || at > kTimeMaxMs) return wrong("which is no time from 1970 to 9999 in milliseconds");
    if (i == 0) continue;
    const std::int64_t since_last = at - path[i - 1]->timestamp.value;
    if (since_last < -kBackMaxMs) return wrong("more than a year before that of its parent");
    if (since_last > kGapMaxMs) return wrong("more than ten years after that of its parent");
    if (at - path[0]->timestamp.value > kLengthMaxMs) return wrong("more than 20 years after that of the first one");
  }
  return Ok();
}

class HistoryReader {
 public:
  HistoryReader(const ports::LoadedTable& table, ports::FileIO& io, const HistoryOptions& options)
      : table_(table), io_(io), options_(options) {}

  Result<History> Run() {
    const iceberg::TableMetadata& metadata = *table_.metadata;
    const Snapshot* head = metadata.RefSnapshot(options_.ref);
    if (head == nullptr && options_.ref != "main") {
      return MissingRef(metadata, options_.ref);
    }
    if (head == nullptr) return Error{Code::kInvalidArgument, "the table has no snapshot: there is no history"};
    iceberg::Ancestors ancestors = iceberg::AncestorsOf(metadata, head);
    path_ = std::move(ancestors.path);
    std::ranges::reverse(path_);
    FIRN_TRY(CheckTimes(std::span(path_).last(1)));
    SkipOld(*head);
    if (ancestors.circle && first_ == 0) {
      reason_ = fmt::format("snapshot {} is its own ancestor", ancestors.circle->value);
      broken_ = Code::kCorrupt;
    }
    FIRN_TRY(CheckTimes(std::span(path_).subspan(first_)));
    FIRN_TRY(ReadAllChanges());
    FIRN_TRY(ReadStart());
    history_.started_at = path_[first_]->timestamp;
    history_.start_reason = std::move(reason_);
    return std::move(history_);
  }

 private:
  Status CheckLength() const {
    if (first_ + 1 < path_.size()) return Ok();
    return Error{broken_, fmt::format("there is no history before the newest snapshot: {}", reason_)};
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

  /// From the newest on, in steps: what is older than a broken snapshot is of no use. Sets first_.
  Status ReadAllChanges() {
    FIRN_TRY(CheckLength());
    const std::size_t count = path_.size() - 1 - first_;
    if (static_cast<std::int64_t>(count) > options_.snapshots_max) {
      return Error{Code::kLimit,
                   fmt::format("too many changes: {} snapshots, at most {} are read", count, options_.snapshots_max)};
    }
    std::vector<std::vector<Change>> parts;  // the newest first
    std::size_t end = path_.size() - 1, step = kStepMax;
    std::int64_t manifests_read = 0, entries_read = 0;
    while (end > first_) {
      const std::size_t begin = end - std::min(step, end - first_);
      ChangesOptions wanted{.ref = options_.ref, .since = path_[begin]->id, .until = path_[end]->id};
      wanted.snapshots_max = options_.snapshots_max;
      wanted.entries_max = options_.entries_max - entries_read;
      FIRN_ASSIGN(history_.changes, ReadChanges(table_, io_, wanted));
      manifests_read += history_.changes.manifests_read;
      if (history_.changes.is_complete) {
        entries_read += history_.changes.entries_read;
        parts.push_back(std::move(history_.changes.changes));
        end = begin;
        continue;
      }
      const auto broken = std::ranges::find_if(
          path_, [&](const Snapshot* snapshot) { return snapshot->id == history_.changes.broken_at; });
      if (broken == path_.end()) {
        return Error{Code::kLimit,
                     fmt::format("too many changes: more than {} manifest entries", options_.entries_max)};
      }
      first_ = static_cast<std::size_t>(broken - path_.begin());
      reason_ = std::move(history_.changes.reason);
      broken_ = Code::kCorrupt;
      step = std::max<std::size_t>(1, (end - first_) / 2);
    }
    history_.changes.since = path_[first_]->id;
    history_.changes.head = path_.back()->id;
    history_.changes.is_complete = true;
    history_.changes.reason.clear();
    history_.changes.broken_at.reset();
    history_.changes.manifests_read = manifests_read;
    history_.changes.entries_read = entries_read;
    history_.changes.changes.clear();
    for (auto& part : parts | std::views::reverse) {
      std::ranges::move(part, std::back_inserter(history_.changes.changes));
    }
    return CheckLength();
  }

  /// False: its files are gone or broken.
  Result<bool> TryStart(std::size_t index) {
    ObserveOptions wanted{.ref = options_.ref, .snapshot_id = path_[index]->id, .threads = options_.threads};
    auto facts = Observe(table_, io_, wanted, path_[index]->timestamp);
    if (facts) {
      history_.start = std::move(*facts);
      return true;
    }
    const Code code = facts.error().code;
    if (code != Code::kCorrupt && code != Code::kNotFound) return std::move(facts.error());
    reason_ = fmt::format("snapshot {}: {}", path_[index]->id.value, facts.error().message);
    broken_ = code;
    return false;
  }

  /// The first snapshot whose files can be read. A file that is gone is one of many snapshots in a row, so the search
  /// leaps, and then halves.
  Status ReadStart() {
    FIRN_ASSIGN(const bool is_readable, TryStart(first_));
    if (is_readable) return Ok();
    const std::size_t last = path_.size() - 2;  // one change has to be left
    std::size_t failed = first_, good = path_.size();
    for (std::size_t step = 1; good == path_.size(); step *= 2) {
      if (failed == last) {
        first_ = path_.size() - 1;
        return CheckLength();
      }
      const std::size_t next = std::min(failed + step, last);
      FIRN_ASSIGN(const bool readable, TryStart(next));
      (readable ? good : failed) = next;
    }
    while (good - failed > 1) {
      const std::size_t middle = failed + (good - failed) / 2;
      FIRN_ASSIGN(const bool readable, TryStart(middle));
      (readable ? good : failed) = middle;
    }
    auto& changes = history_.changes.changes;
    changes.erase(changes.begin(), changes.begin() + static_cast<std::ptrdiff_t>(good - first_));
    first_ = good;
    history_.changes.since = path_[first_]->id;
    return Ok();
  }

  const ports::LoadedTable& table_;
  ports::FileIO& io_;
  const HistoryOptions& options_;
  std::vector<const Snapshot*> path_;
  std::size_t first_ = 0;  // of path_
  std::string reason_;
  Code broken_ = Code::kInvalidArgument;  // what it means if nothing is left
  History history_;
};

}  // namespace

Result<History> ReadHistory(const ports::LoadedTable& table, ports::FileIO& io, const HistoryOptions& options) {
  const std::string name = table.id.name.empty() ? table.metadata->location() : ports::ToString(table.id);
  return HistoryReader(table, io, options).Run().In(name);
}

}  // namespace firn::observe
