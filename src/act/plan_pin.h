// SPDX-License-Identifier: Apache-2.0
//
// Keeps the snapshot of a plan in the table while its work runs, so that nobody's expiry makes the work worthless.
//
// In: a branch, the plan's id and snapshot. Out: a tag on that snapshot, which goes with the plan's last commit.
// Guarantees: only tags of the name PinName() gives are set or removed, and those of other plans only when they have
//   outlived their own age. A ref of that name that is there already is not touched: it is an error. The tag has an
//   age, so that any expiry, or the next run, removes what a killed run has left. Everything goes through the one
//   commit path.
// Cost: one commit before the work; after it one more only when the last commit did not come about.
// Errors: those of a commit. Threads: one owner.
// Source: Iceberg table spec, "Snapshot Retention Policy"; Java RemoveSnapshots.computeRetainedRefs (a tag is as old as
//   its snapshot); docs/decisions/0006.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "act/change.h"
#include "act/commit.h"

namespace firn::act {

enum class PinMode : std::uint8_t { kNever, kAuto, kAlways };
/// "never", "auto" or "always".
std::optional<PinMode> ParsePinMode(std::string_view text);

/// With kAuto a plan is pinned when its work is predicted to take at least so long.
inline constexpr double kPinSeconds = 300;

/// "firn-plan-" and the last twelve digits of the plan's UUID, which are random.
std::string PinName(std::string_view plan_id);

class PlanPin {
 public:
  /// `environment` outlives the pin. `target.ref` is the plan's branch.
  PlanPin(CommitEnvironment& environment, CommitTarget target, std::string_view plan_id, SnapshotId snapshot);
  PlanPin(const PlanPin&) = delete;
  PlanPin& operator=(const PlanPin&) = delete;

  /// Sets the tag, if `mode` and the seconds of predicted work ask for it. It stays for a day at most, or ten times as
  /// long as is predicted. With kAuto, work goes on without a tag that could not be set; kConflict: the snapshot is
  /// gone.
  Status Set(PinMode mode, double predicted_seconds);
  /// Removes the tag, if it may be there, in a commit of its own. Also after a cancellation.
  Status Release();

  /// What a commit besides has to do so that the tag, and those that have outlived their age, are gone after it.
  void AddRemoval(const CommitBase& base, TimestampMs now, Proposal& proposal) const;
  /// A commit with what AddRemoval() gave was made.
  void NoteRemoved() { may_be_set_ = false; }

 private:
  CommitEnvironment& env_;
  CommitTarget target_;
  iceberg::SnapshotRef tag_;
  bool may_be_set_ = false;
};

/// A change that takes the pin away in the same commit.
class UnpinningChange final : public Change {
 public:
  /// All arguments outlive the change.
  UnpinningChange(Change& change, PlanPin& pin, ports::Clock& clock) : change_(change), pin_(pin), clock_(clock) {}

  Result<Proposal> Propose(const CommitBase& base, MetadataFiles& files) override;
  std::string plan_id() const override { return change_.plan_id(); }
  std::string fence() const override { return change_.fence(); }
  bool IsApplied(const iceberg::TableMetadata& metadata) const override { return change_.IsApplied(metadata); }
  void Committed(std::size_t proposal) override;
  std::vector<std::string> own_files() const override { return change_.own_files(); }
  std::vector<std::string> unused_files() const override { return change_.unused_files(); }

 private:
  Change& change_;
  PlanPin& pin_;
  ports::Clock& clock_;
};

}  // namespace firn::act
