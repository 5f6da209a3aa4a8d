// SPDX-License-Identifier: Apache-2.0
#include "act/plan_pin.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "act/metadata_change.h"
#include "base/log.h"

namespace firn::act {
namespace {

using iceberg::AssertRefSnapshotId;
using iceberg::SnapshotRef;
using iceberg::TableMetadata;

constexpr std::string_view kPrefix = "firn-plan-";
constexpr std::size_t kDigits = 12;
/// What a killed run leaves goes with the first expiry, or the first run, after so long.
constexpr std::int64_t kAgeMs = 86'400'000;
/// Predictions may be wrong by this factor before the tag is too young for its work.
constexpr double kAgeFactor = 10;

bool IsSet(const TableMetadata& metadata, const SnapshotRef& tag) {
  const SnapshotRef* found = metadata.FindRef(tag.name);
  return found != nullptr && !found->is_branch && found->snapshot_id == tag.snapshot_id;
}

/// Since when a ref counts, as an expiry sees it: the time of its snapshot.
std::int64_t AgeMs(const iceberg::Snapshot& snapshot, TimestampMs now) {
  return std::max<std::int64_t>(0, now.value - snapshot.timestamp.value);
}

bool IsPinName(std::string_view name) {
  if (!name.starts_with(kPrefix) || name.size() != kPrefix.size() + kDigits) return false;
  return std::ranges::all_of(name.substr(kPrefix.size()),
                             [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

/// A pin of a run that was killed: any expiry might remove it.
bool IsLeftOver(const SnapshotRef& ref, const TableMetadata& metadata, TimestampMs now) {
  if (ref.is_branch || !IsPinName(ref.name) || !ref.max_ref_age_ms) return false;
  const iceberg::Snapshot* snapshot = metadata.FindSnapshot(ref.snapshot_id);
  return snapshot != nullptr && AgeMs(*snapshot, now) > *ref.max_ref_age_ms;
}

/// Others may have changed the ref between two loads of the table.
void AddRemoval(const SnapshotRef& ref, Proposal& proposal) {
  proposal.requirements.push_back(AssertRefSnapshotId{ref.name, ref.snapshot_id});
  proposal.updates.push_back(iceberg::RemoveSnapshotRef{ref.name});
}

class SetPin final : public MetadataChange {
 public:
  SetPin(const SnapshotRef& tag, const PlanPin& pin, TimestampMs now) : tag_(tag), pin_(pin), now_(now) {}

  Result<Proposal> Propose(const CommitBase& base, MetadataFiles&) override {
    if (base.metadata.FindSnapshot(tag_.snapshot_id) == nullptr) {
      return Error{Code::kNotFound, fmt::format("snapshot {} of the plan was removed", tag_.snapshot_id.value)};
    }
    if (base.metadata.FindRef(tag_.name) != nullptr) {
      return Error{Code::kConflict, fmt::format("there is another ref `{}`", tag_.name)};
    }
    Proposal proposal;
    pin_.AddRemoval(base, now_, proposal);
    proposal.requirements.push_back(AssertRefSnapshotId{tag_.name, std::nullopt});
    proposal.updates.push_back(iceberg::SetSnapshotRef{tag_});
    return proposal;
  }
  bool IsApplied(const TableMetadata& metadata) const override { return IsSet(metadata, tag_); }

 private:
  const SnapshotRef& tag_;
  const PlanPin& pin_;
  TimestampMs now_;
};

class RemovePin final : public MetadataChange {
 public:
  RemovePin(const SnapshotRef& tag, const PlanPin& pin, TimestampMs now) : tag_(tag), pin_(pin), now_(now) {}

  Result<Proposal> Propose(const CommitBase& base, MetadataFiles&) override {
    Proposal proposal;
    pin_.AddRemoval(base, now_, proposal);
    if (!proposal.updates.empty()) return proposal;
    return Error{Code::kNotFound, fmt::format("tag `{}` is gone already", tag_.name)};
  }
  bool IsApplied(const TableMetadata& metadata) const override { return !IsSet(metadata, tag_); }

 private:
  const SnapshotRef& tag_;
  const PlanPin& pin_;
  TimestampMs now_;
};

}  // namespace

std::optional<PinMode> ParsePinMode(std::string_view text) {
  if (text == "never") return PinMode::kNever;
  if (text == "auto") return PinMode::kAuto;
  if (text == "always") return PinMode::kAlways;
  return std::nullopt;
}

std::string PinName(std::string_view plan_id) {
  return std::string(kPrefix) + std::string(plan_id.substr(plan_id.size() - std::min(plan_id.size(), kDigits)));
}

PlanPin::PlanPin(CommitEnvironment& environment, CommitTarget target, std::string_view plan_id, SnapshotId snapshot)
    : env_(environment), target_(std::move(target)) {
  tag_.name = PinName(plan_id);
  tag_.snapshot_id = snapshot;
  tag_.is_branch = false;
}

Status PlanPin::Set(PinMode mode, double predicted_seconds) {
  if (mode == PinMode::kNever || (mode == PinMode::kAuto && predicted_seconds < kPinSeconds)) return Ok();
  FIRN_ASSIGN(const ports::LoadedTable table, env_.catalog.LoadTable(target_.table));
  const iceberg::Snapshot* snapshot = table.metadata->FindSnapshot(tag_.snapshot_id);
  const TimestampMs now = env_.clock.Now();
  const double work_ms = std::clamp(predicted_seconds * kAgeFactor * 1000, 0.0, 1e12);
  // The age is counted from the snapshot's time on, and not from now.
  tag_.max_ref_age_ms =
      (snapshot == nullptr ? 0 : AgeMs(*snapshot, now)) + std::max(kAgeMs, static_cast<std::int64_t>(work_ms));
  SetPin change(tag_, *this, now);
  const CommitReport report = Commit(env_, target_, change);
  may_be_set_ = report.status || report.status.error().code == Code::kOutcomeUnknown;
  if (report.status) return Ok();
  Error error = Error(report.status.error()).In("the plan's snapshot cannot be pinned");
  // Without its snapshot the plan is worth nothing: make another.
  if (error.code == Code::kNotFound) return Error{Code::kConflict, std::move(error.message)};
  if (mode == PinMode::kAlways || error.code == Code::kCancelled) return error;
  Log(LogLevel::kWarn, fmt::format("{}: {}", ToString(target_.table), ToString(error)));
  return Ok();
}

Status PlanPin::Release() {
  if (!may_be_set_) return Ok();
  CommitEnvironment environment = env_;
  environment.cancelled = nullptr;
  FIRN_ASSIGN(const ports::LoadedTable table, env_.catalog.LoadTable(target_.table));
  if (IsSet(*table.metadata, tag_)) {
    RemovePin change(tag_, *this, env_.clock.Now());
    const CommitReport report = Commit(environment, target_, change);
    if (!report.status && report.status.error().code != Code::kNotFound) {
      return Error(report.status.error()).In(fmt::format("tag `{}` stays until it has outlived its age", tag_.name));
    }
  }
  may_be_set_ = false;
  return Ok();
}

void PlanPin::AddRemoval(const CommitBase& base, TimestampMs now, Proposal& proposal) const {
  for (const SnapshotRef& ref : base.metadata.refs()) {
    const bool is_own = ref.name == tag_.name && IsSet(base.metadata, tag_);
    if (is_own || IsLeftOver(ref, base.metadata, now)) act::AddRemoval(ref, proposal);
  }
}

Result<Proposal> UnpinningChange::Propose(const CommitBase& base, MetadataFiles& files) {
  FIRN_ASSIGN(Proposal proposal, change_.Propose(base, files));
  pin_.AddRemoval(base, clock_.Now(), proposal);
  return proposal;
}

void UnpinningChange::Committed(std::size_t proposal) {
  change_.Committed(proposal);
  pin_.NoteRemoved();
}

}  // namespace firn::act
