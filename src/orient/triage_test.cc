// SPDX-License-Identifier: Apache-2.0
#include "orient/triage.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "orient/partition_scan.h"
#include "orient/partition_state_json.h"

namespace firn::orient {
namespace {

using ::testing::HasSubstr;

constexpr std::int64_t kMiB = std::int64_t{1} << 20;
constexpr TimestampMs kNow{1'700'000'000'000};
TimestampMs After(std::int64_t seconds) { return {kNow.value + seconds * 1000}; }

/// 100 files of 500 MiB at the default target of 512 MiB, scanned now.
PartitionState Healthy() {
  PartitionState state;
  for (int i = 0; i < 100; ++i) AddFile({500 * kMiB, 1, 0}, BasisOf(Policy()), state);
  state.files_at_scan = 100;
  state.last_scan = StateSeconds(kNow);
  return state;
}

void Append(PartitionState& state, std::int64_t size_bytes, TimestampMs when, int files = 1) {
  observe::PartitionDelta delta;
  delta.added.assign(static_cast<std::size_t>(files), {size_bytes, 1, 0});
  ApplyDelta(delta, false, StateSeconds(when), Policy(), state);
}

TEST(Triage, StreamOfSmallFiles_AsInTheDocument) {
  PartitionState state = Healthy();
  EXPECT_EQ(Triage(state, Policy(), kNow).kind, VerdictKind::kQuiet);
  for (int i = 1; i <= 29; ++i) {
    const TimestampMs when = After(60 * (i - 1));
    Append(state, 10 * kMiB, when);
    const Verdict verdict = Triage(state, Policy(), when);
    EXPECT_EQ(verdict.kind, i < 29 ? VerdictKind::kQuiet : VerdictKind::kScan) << i << ": " << verdict.reason;
    if (i == 10) {
      EXPECT_NEAR(verdict.noise.total(), 0.355, 0.001);
    }
    if (i == 29) {
      EXPECT_NEAR(verdict.noise.files, 0.29, 1e-12);
      EXPECT_NEAR(verdict.noise.bytes, 0.142, 0.001);
      EXPECT_NEAR(verdict.noise.commits, 0.58, 1e-12);
      EXPECT_NEAR(verdict.noise.age, 0.019, 0.001);
      EXPECT_EQ(verdict.removable_files, 28);
      EXPECT_NEAR(verdict.entropy, 0.465, 0.001);
      EXPECT_FALSE(verdict.is_estimate);
      EXPECT_EQ(verdict.reason, "28 of 129 files removable, entropy 0.47");
    }
  }
  Policy tolerant;
  tolerant.tolerated_entropy = 0.5;
  const Verdict verdict = Triage(state, tolerant, After(60 * 28));
  EXPECT_EQ(verdict.kind, VerdictKind::kCalm);
  EXPECT_THAT(verdict.reason, HasSubstr("0.47 is tolerated up to 0.5"));
}

TEST(Triage, LargeFiles_AreCalmForEver) {
  PartitionState state = Healthy();
  for (int i = 1; i <= 4; ++i) {
    Append(state, 512 * kMiB, kNow);
    EXPECT_EQ(Triage(state, Policy(), kNow).kind, i < 4 ? VerdictKind::kQuiet : VerdictKind::kCalm) << i;
  }
  EXPECT_EQ(Triage(state, Policy(), After(1'000'000'000)).kind, VerdictKind::kCalm);
}

TEST(Triage, NewPartition_ThatHoldsFewFiles) {
  PartitionState state;
  Append(state, kMiB, kNow, 3);
  EXPECT_EQ(Triage(state, Policy(), kNow).kind, VerdictKind::kQuiet);
  Append(state, kMiB, kNow, 2);
  EXPECT_EQ(Triage(state, Policy(), kNow).kind, VerdictKind::kScan);
}

TEST(Triage, LittleNoise_IsLookedAtByItsAge) {
  PartitionState state = Healthy();
  Append(state, kMiB, kNow, 6);
  EXPECT_EQ(Triage(state, Policy(), kNow).kind, VerdictKind::kQuiet);
  EXPECT_EQ(Triage(state, Policy(), After(86'400)).kind, VerdictKind::kScan);
  EXPECT_EQ(Triage(state, Policy(), {0}).kind, VerdictKind::kQuiet);  // a clock that went back
}

TEST(Triage, ThresholdZero_LooksAtEveryChange) {
  Policy policy;
  policy.noise_threshold = 0;
  PartitionState state = Healthy();
  EXPECT_EQ(Triage(state, policy, kNow).kind, VerdictKind::kQuiet);
  Append(state, kMiB, kNow);
  EXPECT_EQ(Triage(state, policy, kNow).kind, VerdictKind::kCalm);
  Append(state, kMiB, kNow, 4);
  EXPECT_EQ(Triage(state, policy, kNow).kind, VerdictKind::kScan);
}

TEST(Triage, Deletes_AreEstimatesUntilAScan) {
  Policy policy;
  policy.noise_threshold = 0;
  PartitionState state = Healthy();
  observe::PartitionDelta delta;
  delta.added_deletes.position_files = 10;
  ApplyDelta(delta, false, StateSeconds(kNow), policy, state);
  Verdict verdict = Triage(state, policy, kNow);
  EXPECT_TRUE(verdict.is_estimate);
  EXPECT_EQ(verdict.kind, VerdictKind::kCalm);
  EXPECT_THAT(Triage(state, policy, After(86'400)).reason, HasSubstr("estimates since"));
  delta.added_deletes = {.position_files = 0, .equality_files = 0, .vectors = 20, .rows = 5};
  ApplyDelta(delta, false, StateSeconds(kNow), policy, state);
  verdict = Triage(state, policy, kNow);
  EXPECT_EQ(verdict.kind, VerdictKind::kScan);
  EXPECT_EQ(verdict.reason, "30 delete files added since the last scan for 100 data files");
  EXPECT_EQ(state.position_delete_files, 30u);
  // Going is counted too; more than there were is no more than an estimate.
  delta.added_deletes = {};
  delta.removed_deletes.vectors = 31;
  ApplyDelta(delta, false, StateSeconds(kNow), policy, state);
  EXPECT_EQ(state.position_delete_files, 0u);
  EXPECT_TRUE(state.has_numbers());
}

TEST(Triage, WhatAScanFoundWorthDoing_IsLookedAtAgain) {
  PartitionState state = Healthy();
  state.fold_files = 1;
  state.pending_since = StateSeconds(kNow);
  EXPECT_EQ(Triage(state, Policy(), After(86'399)).kind, VerdictKind::kQuiet);
  EXPECT_EQ(Triage(state, Policy(), After(86'400)).reason, "1 file due for their deletes at the last scan");
  // A rewrite of our own settles it; what is left of it is found out once more.
  observe::PartitionDelta own;
  own.removed = {{500 * kMiB, 1, 0}};
  own.added = {{400 * kMiB, 1, 0}};
  ApplyDelta(own, true, StateSeconds(After(10)), Policy(), state);
  EXPECT_EQ(state.fold_files, 0u);
  EXPECT_FALSE(state.is_exact());
  EXPECT_EQ(Triage(state, Policy(), After(86'400)).kind, VerdictKind::kScan);
}

TEST(Noise, NeverFallsBeforeAScan_AndCountsDoNotWrap) {
  PartitionState state = Healthy();
  state.files_changed = 0xffffffff;
  state.commits = 0xffffffff;
  state.bytes_changed = std::numeric_limits<std::int64_t>::max() - 1;
  const double before = MeasureNoise(state, Policy(), kNow).total();
  Append(state, 500 * kMiB, kNow, 3);
  EXPECT_GE(MeasureNoise(state, Policy(), kNow).total(), before);
  EXPECT_EQ(state.files_changed, 0xffffffff);
  EXPECT_EQ(state.bytes_changed, std::numeric_limits<std::int64_t>::max());
}

TEST(PartitionState, WhatCannotBe_IsAContradiction) {
  const StateBasis basis = BasisOf(Policy());
  PartitionState empty;
  RemoveFile({1, 1, 0}, basis, empty);
  EXPECT_EQ(empty.flags, kContradicted);
  PartitionState healthy = Healthy();
  RemoveFile({kMiB, 1, 0}, basis, healthy);  // there is no small one
  EXPECT_FALSE(healthy.has_numbers());
  EXPECT_EQ(healthy.file_count, 0u);
  PartitionState huge;
  for (int i = 0; i < 3; ++i) AddFile({std::numeric_limits<std::int64_t>::max() / 2, 1, 0}, basis, huge);
  EXPECT_EQ(huge.flags, kContradicted);
  PartitionState blocked;
  AddFile({kMiB, 1, observe::kNotParquet}, basis, blocked);
  EXPECT_EQ(blocked.small_files, 0u);
  RemoveFile({kMiB, 1, observe::kNotParquet}, basis, blocked);
  EXPECT_EQ(blocked, PartitionState());
}

TEST(PartitionStateJson, HasTheMembersOfThePartitionList) {
  PartitionState state = Healthy();
  Append(state, kMiB, kNow);
  const json::Value value = ToJson(state, "day=1", Triage(state, Policy(), kNow));
  EXPECT_EQ(*value.Find("text")->AsString(), "day=1");
  EXPECT_EQ(value.Find("files")->AsInt64(), 101);
  EXPECT_EQ(value.Find("bytes")->AsInt64(), 100 * 500 * kMiB + kMiB);
  EXPECT_EQ(value.Find("small_files")->AsInt64(), 1);
  EXPECT_EQ(value.Find("removable_files")->AsInt64(), 0);
  EXPECT_EQ(value.Find("delete_files")->AsInt64(), 0);
  EXPECT_EQ(value.Find("last_change_ms")->AsInt64(), kNow.value);
  EXPECT_EQ(*value.Find("verdict")->AsString(), "quiet");
  EXPECT_NEAR(*value.Find("noise")->AsDouble(), 0.0305, 0.0001);
  state.flags = kForgotten;
  const Verdict verdict = Triage(state, Policy(), After(86'400));
  EXPECT_TRUE(ToJson(state, "", verdict).Find("files")->is_null());
  EXPECT_EQ(*ToJson(verdict).Find("verdict")->AsString(), "scan");
}

}  // namespace
}  // namespace firn::orient
