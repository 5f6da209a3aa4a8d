// SPDX-License-Identifier: Apache-2.0
#include "orient/table_state.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <tuple>
#include <utility>

#include "base/human_text.h"
#include "orient/delete_debt.h"
#include "orient/partition_scan.h"

namespace firn::orient {
namespace {

constexpr std::size_t kKeyBytesOfPartition = 64;  // on average, at most
constexpr std::size_t kForgottenShare = 8;        // an eighth at a time

std::string SnapshotText(const std::optional<SnapshotId>& id) {
  return id ? fmt::format("snapshot {}", id->value) : std::string("the empty table");
}

std::string WhyOtherBasis(const StateBasis& was, const StateBasis& is) {
  if (was == is) return {};
  if (was.target_size_bytes != is.target_size_bytes) {
    return fmt::format("the target file size is {} now instead of {}", HumanBytes(is.target_size_bytes),
                       HumanBytes(was.target_size_bytes));
  }
  return "the policy about small files or deletes has changed";
}

/// Losing this state loses nothing.
bool IsEmpty(const PartitionState& state) {
  return state.is_exact() && state.file_count == 0 && state.position_delete_files == 0 &&
         state.equality_delete_files == 0 && state.pending_since == 0;
}

void SortUnique(std::vector<std::uint32_t>& indexes) {
  std::ranges::sort(indexes);
  const auto again = std::ranges::unique(indexes);
  indexes.erase(again.begin(), again.end());
}

void TakeEarlier(std::uint32_t seconds, std::uint32_t& earliest) {
  if (earliest == 0 || (seconds != 0 && seconds < earliest)) earliest = seconds;
}

}  // namespace

void TableState::Reset(std::string reason) {
  needs_scan_ = std::move(reason);
  snapshot_id_.reset();
  store_.Clear();
  forgotten_ = global_deletes_ = 0;
  forgotten_pending_since_ = global_deletes_since_ = 0;
}

std::string TableState::WhyUnknown(const observe::ChangeSet& set, const Policy& policy) const {
  if (!set.is_complete) return set.reason.empty() ? "the changes are not complete" : set.reason;
  if (set.table_uuid != table_uuid_) return "another table has the name now";
  if (set.ref != ref_) return fmt::format("the state is that of {}, the changes are of {}", ref_, set.ref);
  if (set.partitioning != partitioning_) return "partition specs or the types of partition values have changed";
  return WhyOtherBasis(basis_, BasisOf(policy));
}

TableState::Applied TableState::Apply(const observe::ChangeSet& set, const Policy& policy, TimestampMs now) {
  Applied applied;
  if (!needs_scan_.empty()) return applied;
  if (std::string why = WhyUnknown(set, policy); !why.empty()) {
    Reset(std::move(why));
    return applied;
  }
  NotePolicy(policy, now);
  // Changes that were taken already stand before the one that follows.
  auto next = set.changes.begin();
  if (set.since != snapshot_id_) {
    next = std::ranges::find(set.changes, snapshot_id_,
                             [](const observe::Change& change) { return std::optional(change.snapshot_id); });
    if (next != set.changes.end()) {
      ++next;
    } else if (set.head != snapshot_id_) {
      Reset(fmt::format("changes since {} do not follow {}", SnapshotText(set.since), SnapshotText(snapshot_id_)));
      return applied;
    }
  }
  for (; next != set.changes.end() && needs_scan_.empty(); ++next) {
    if (!CheckFollows(*next)) return {};
    Take(*next, policy, now, applied.touched);
    ++applied.changes;
  }
  SortUnique(applied.touched);
  return applied;
}

TableState::Applied TableState::Apply(const observe::Change& change, const Policy& policy, TimestampMs now) {
  Applied applied;
  if (!needs_scan_.empty() || std::optional(change.snapshot_id) == snapshot_id_) return applied;
  if (!CheckFollows(change)) return applied;
  if (std::string why = WhyOtherBasis(basis_, BasisOf(policy)); !why.empty()) {
    Reset(std::move(why));
    return applied;
  }
  NotePolicy(policy, now);
  Take(change, policy, now, applied.touched);
  applied.changes = 1;
  SortUnique(applied.touched);
  return applied;
}

/// What was not worth doing may be so under another policy, in partitions that nobody touches any more.
void TableState::NotePolicy(const Policy& policy, TimestampMs now) {
  if (removable_files_min_ == policy.removable_files_min() && tolerated_entropy_ == policy.tolerated_entropy) return;
  removable_files_min_ = policy.removable_files_min();
  tolerated_entropy_ = policy.tolerated_entropy;
  if (forgotten_ > 0) TakeEarlier(StateSeconds(now), forgotten_pending_since_);
  for (std::uint32_t i = 0; i < store_.size(); ++i) {
    PartitionState& state = store_.at(i);
    if (state.pending_since == 0 && IsWorthDoing(state, policy)) state.pending_since = StateSeconds(now);
  }
}

bool TableState::CheckFollows(const observe::Change& change) {
  if (change.parent_id == snapshot_id_) return true;
  Reset(fmt::format("snapshot {} does not follow {}", change.snapshot_id.value, SnapshotText(snapshot_id_)));
  return false;
}

void TableState::Take(const observe::Change& change, const Policy& policy, TimestampMs now,
                      std::vector<std::uint32_t>& touched) {
  const std::uint32_t seconds = StateSeconds(std::min(change.timestamp, now));
  for (const observe::PartitionDelta& delta : change.partitions) {
    const std::uint32_t index = Insert(PartitionKeyOf(delta.spec_id, delta.tuple), &touched);
    ApplyDelta(delta, change.is_own, seconds, policy, store_.at(index));
    touched.push_back(index);
  }
  NoteGlobalDeletes(change, seconds);
  snapshot_id_ = change.snapshot_id;
}

void TableState::NoteGlobalDeletes(const observe::Change& change, std::uint32_t seconds) {
  if (change.is_own) return;
  for (const observe::PartitionDelta& delta : change.partitions) {
    const std::int64_t files = delta.added_deletes.equality_files;
    if (!delta.is_unpartitioned || files == 0 || store_.size() < 2) continue;
    global_deletes_ += files;
    TakeEarlier(seconds, global_deletes_since_);
  }
}

std::uint32_t TableState::Insert(std::string_view key, std::vector<std::uint32_t>* touched) {
  if (const auto found = store_.Find(key)) return *found;
  const std::size_t most = std::max<std::size_t>(partitions_max_, 1);
  if (store_.size() >= most || store_.key_bytes() >= most * kKeyBytesOfPartition) ForgetQuietest(touched);
  const std::uint32_t index = store_.Insert(key).index;
  if (forgotten_ > 0) store_.at(index).flags = kForgotten;
  return index;
}

void TableState::ForgetQuietest(std::vector<std::uint32_t>* touched) {
  const auto rank = [this](std::uint32_t index) {
    const PartitionState& state = store_.at(index);
    return std::tuple(!IsEmpty(state), state.pending_since != 0, std::max(state.last_change, state.last_scan), index);
  };
  std::vector<std::uint32_t> order(store_.size());
  std::iota(order.begin(), order.end(), 0u);
  const std::size_t count = std::max<std::size_t>(1, order.size() / kForgottenShare);
  if (order.empty()) return;
  std::ranges::nth_element(order, order.begin() + static_cast<std::ptrdiff_t>(count - 1), {}, rank);
  std::vector<bool> kept(order.size(), true);
  for (std::size_t i = 0; i < count; ++i) {
    const PartitionState& state = store_.at(order[i]);
    kept[order[i]] = false;
    ++forgotten_total_;
    if (!IsEmpty(state)) ++forgotten_;
    if (state.pending_since != 0) TakeEarlier(state.pending_since, forgotten_pending_since_);
  }
  const std::vector<std::uint32_t> moved = store_.Keep(kept);
  if (touched == nullptr) return;
  for (std::uint32_t& index : *touched) index = moved[index];
  std::erase(*touched, PartitionStore::kGone);
}

void TableState::AbsorbScan(const observe::Facts& facts, const Policy& policy) {
  Reset({});
  table_uuid_ = facts.table_uuid;
  ref_ = facts.ref;
  snapshot_id_ = facts.snapshot_id;
  partitioning_ = facts.partitioning;
  basis_ = BasisOf(policy);
  removable_files_min_ = policy.removable_files_min();
  tolerated_entropy_ = policy.tolerated_entropy;
  ForEachScanned(facts, policy, [this](const observe::PartitionFacts& partition, const PartitionState& state) {
    const std::uint32_t index = Insert(PartitionKeyOf(partition.spec_id, partition.tuple), nullptr);
    store_.at(index) = state;
  });
}

Status TableState::AbsorbScan(const observe::Facts& facts, const Policy& policy, std::span<const std::string> keys) {
  if (!needs_scan_.empty()) return Error{Code::kConflict, "the whole table is to be scanned: " + needs_scan_};
  if (facts.table_uuid != table_uuid_ || facts.ref != ref_ || facts.snapshot_id != snapshot_id_ ||
      facts.partitioning != partitioning_ || BasisOf(policy) != basis_) {
    return Error{Code::kConflict, fmt::format("the facts are of {} with another policy or partitioning, or not of {}",
                                              SnapshotText(facts.snapshot_id), SnapshotText(snapshot_id_))};
  }
  NotePolicy(policy, facts.observed_at);
  const std::uint32_t seconds = StateSeconds(facts.observed_at);
  std::map<std::string, PartitionState> scanned;
  for (const std::string& key : keys) scanned[key].last_scan = seconds;
  ForEachScanned(facts, policy, [&scanned](const observe::PartitionFacts& partition, const PartitionState& state) {
    // Others may be there with the deletes that reach into the scanned ones.
    const auto found = scanned.find(PartitionKeyOf(partition.spec_id, partition.tuple));
    if (found != scanned.end()) found->second = state;
  });
  for (auto& [key, state] : scanned) {
    PartitionState& known = store_.at(Insert(key, nullptr));
    state.last_change = known.last_change;
    known = state;
  }
  return Ok();
}

std::string TableState::WhyScanAll(const Policy& policy, TimestampMs now) const {
  if (!needs_scan_.empty()) return needs_scan_;
  if (std::string why = WhyOtherBasis(basis_, BasisOf(policy)); !why.empty()) return why;
  const auto age_of = [now](std::uint32_t since) { return since == 0 ? -1 : now.value / 1000 - since; };
  if (age_of(forgotten_pending_since_) >= policy.noise_age_seconds) {
    return fmt::format("{} forgotten, with changes pending for {}", HumanCount(forgotten_, "partition"),
                       HumanSeconds(static_cast<double>(age_of(forgotten_pending_since_))));
  }
  if (global_deletes_ >= ManyDeleteFiles(policy) || age_of(global_deletes_since_) >= policy.noise_age_seconds) {
    return fmt::format("{} for all partitions since the last scan",
                       HumanCount(global_deletes_, "equality delete file"));
  }
  return {};
}

}  // namespace firn::orient
