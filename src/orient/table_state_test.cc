// SPDX-License-Identifier: Apache-2.0
#include "orient/table_state.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "orient/orient.h"
#include "orient/table_state_bytes.h"
#include "orient/triage.h"

namespace firn::orient {
namespace {

using observe::Change;
using observe::ChangedFile;
using observe::ChangeSet;
using observe::Facts;
using observe::PartitionDelta;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr std::int64_t kMiB = std::int64_t{1} << 20;
constexpr TimestampMs kNow{1'700'000'000'000};

Policy SmallPolicy() {
  Policy policy;
  policy.target_size_bytes = 100 * kMiB;
  return policy;
}

iceberg::PartitionTuple Day(std::int32_t day) { return {{iceberg::Literal(day)}}; }
std::string KeyOfDay(std::int32_t day) { return PartitionKeyOf(SpecId(0), Day(day)); }

/// Facts of snapshot `id`: per day the sizes of its files in MiB.
Facts FactsOf(std::int64_t id, const std::vector<std::pair<std::int32_t, std::vector<std::int64_t>>>& days) {
  Facts facts;
  facts.table_uuid = "u";
  facts.snapshot_id = SnapshotId(id);
  facts.partitioning = 1;
  facts.observed_at = kNow;
  for (const auto& [day, sizes] : days) {
    observe::PartitionFacts& partition = facts.partitions.emplace_back();
    partition.tuple = Day(day);
    for (const std::int64_t mib : sizes) {
      observe::DataFileFacts& file = facts.files.emplace_back();
      file.partition = static_cast<std::uint32_t>(facts.partitions.size() - 1);
      file.size_bytes = mib * kMiB;
      file.record_count = 1000;
      ++partition.file_count;
    }
  }
  return facts;
}

PartitionDelta Delta(std::int32_t day, const std::vector<std::int64_t>& added,
                     const std::vector<std::int64_t>& removed = {}) {
  PartitionDelta delta;
  delta.tuple = Day(day);
  for (const std::int64_t mib : added) delta.added.push_back({mib * kMiB, 1000, 0});
  for (const std::int64_t mib : removed) delta.removed.push_back({mib * kMiB, 1000, 0});
  return delta;
}

Change ChangeOf(std::int64_t id, std::vector<PartitionDelta> partitions) {
  Change change;
  change.snapshot_id = SnapshotId(id);
  change.parent_id = SnapshotId(id - 1);
  change.timestamp = kNow;
  change.partitions = std::move(partitions);
  return change;
}

ChangeSet SetOf(std::int64_t since, std::vector<Change> changes) {
  ChangeSet set;
  set.table_uuid = "u";
  set.partitioning = 1;
  set.since = SnapshotId(since);
  set.head = changes.empty() ? set.since : changes.back().snapshot_id;
  set.changes = std::move(changes);
  return set;
}

TableState Scanned(std::int64_t id, const std::vector<std::pair<std::int32_t, std::vector<std::int64_t>>>& days,
                   std::size_t partitions_max = kPartitionsMax) {
  TableState state(partitions_max);
  state.AbsorbScan(FactsOf(id, days), SmallPolicy());
  return state;
}

const PartitionState& At(const TableState& state, std::int32_t day) {
  const auto index = state.Find(KeyOfDay(day));
  EXPECT_TRUE(index.has_value()) << day;
  return state.partition(index.value_or(0));
}

TEST(TableState, Scan_EqualsTheDiagnosis) {
  const Policy policy = SmallPolicy();
  Facts facts = FactsOf(7, {{1, {1, 2, 3, 120}}, {2, {80, 10, 10}}});
  facts.files[3].deleted_rows = 900;  // 12 MiB of 120 are live
  facts.files[3].delete_files = 1;
  facts.files[5].flags = observe::kHasMisplacedDeletes;  // small, but blocked
  facts.partitions[1].position_delete_files = 2;
  facts.partitions[1].deletion_vectors = 3;
  facts.partitions[1].equality_delete_files = 4;
  TableState state;
  EXPECT_EQ(state.needs_scan(), "never scanned");
  state.AbsorbScan(facts, policy);
  EXPECT_EQ(state.needs_scan(), "");
  EXPECT_EQ(state.snapshot_id(), SnapshotId(7));
  const Diagnosis diagnosis = Diagnose(facts, policy);
  ASSERT_EQ(diagnosis.partitions.size(), 2u);
  for (const PartitionDiagnosis& d : diagnosis.partitions) {
    const PartitionState& partition = At(state, d.partition == 0 ? 1 : 2);
    EXPECT_TRUE(partition.is_exact());
    EXPECT_EQ(partition.file_count, d.file_count);
    EXPECT_EQ(MeanSquaredErrorOf(partition), d.size_mse);
    EXPECT_EQ(SmallFilesOf(partition), d.small_files);
    EXPECT_EQ(SmallBytesOf(partition), d.small_bytes);
    EXPECT_EQ(RemovableFilesOf(partition, policy.target_size_bytes), d.removable_files);
    EXPECT_EQ(partition.fold_files, d.fold_files);
  }
  EXPECT_EQ(At(state, 2).position_delete_files, 5u);
  EXPECT_EQ(At(state, 2).equality_delete_files, 4u);
}

TEST(TableState, Changes_EqualAScanOfWhatTheyLead) {
  TableState state = Scanned(7, {{1, {1, 2, 3, 120}}, {2, {80}}});
  const auto applied =
      state.Apply(SetOf(7, {ChangeOf(8, {Delta(1, {4, 200}, {2}), Delta(3, {5})}), ChangeOf(9, {Delta(3, {6}, {5})})}),
                  SmallPolicy(), kNow);
  EXPECT_EQ(applied.changes, 2);
  EXPECT_EQ(state.snapshot_id(), SnapshotId(9));
  EXPECT_THAT(applied.touched, ElementsAre(*state.Find(KeyOfDay(1)), *state.Find(KeyOfDay(3))));
  const TableState anew = Scanned(9, {{1, {1, 3, 4, 120, 200}}, {2, {80}}, {3, {6}}});
  for (const std::int32_t day : {1, 2, 3}) {
    const PartitionState &is = At(state, day), &wanted = At(anew, day);
    EXPECT_TRUE(is.is_exact());
    EXPECT_EQ(is.file_count, wanted.file_count);
    EXPECT_EQ(is.error_squares_low, wanted.error_squares_low);
    EXPECT_EQ(is.error_squares_high, wanted.error_squares_high);
    EXPECT_EQ(is.size_bytes, wanted.size_bytes);
    EXPECT_EQ(is.small_files, wanted.small_files);
    EXPECT_EQ(is.small_bytes, wanted.small_bytes);
  }
  EXPECT_EQ(At(state, 1).files_changed, 3u);
  EXPECT_EQ(At(state, 1).bytes_changed, 206 * kMiB);
  EXPECT_EQ(At(state, 3).commits, 2u);
  EXPECT_EQ(At(state, 2).commits, 0u);
}

TEST(TableState, ChangesAreTakenOnce) {
  TableState state = Scanned(7, {{1, {1}}});
  const ChangeSet set = SetOf(7, {ChangeOf(8, {Delta(1, {2})}), ChangeOf(9, {Delta(1, {3})})});
  EXPECT_EQ(state.Apply(set, SmallPolicy(), kNow).changes, 2);
  const Bytes saved = state.Serialize();
  EXPECT_EQ(state.Apply(set, SmallPolicy(), kNow).changes, 0);
  EXPECT_EQ(state.Apply(set.changes[1], SmallPolicy(), kNow).changes, 0);
  EXPECT_EQ(state.Serialize(), saved);
  // A set that overlaps.
  EXPECT_EQ(state.Apply(SetOf(8, {set.changes[1], ChangeOf(10, {Delta(1, {3})})}), SmallPolicy(), kNow).changes, 1);
  EXPECT_EQ(At(state, 1).file_count, 4u);
}

TEST(TableState, WhatDoesNotFollow_MakesEverythingUnknown) {
  struct Case {
    std::function<void(ChangeSet&, Policy&)> spoil;
    std::string reason;
  };
  const std::vector<Case> cases = {
      {[](ChangeSet& s, Policy&) { s.is_complete = false, s.reason = "history expired"; }, "history expired"},
      {[](ChangeSet& s, Policy&) { s.table_uuid = "v"; }, "another table"},
      {[](ChangeSet& s, Policy&) { s.ref = "dev"; }, "dev"},
      {[](ChangeSet& s, Policy&) { s.partitioning = 2; }, "partition specs"},
      {[](ChangeSet& s, Policy&) { s.changes[0].parent_id = SnapshotId(5); }, "does not follow snapshot 7"},
      {[](ChangeSet& s, Policy&) { s.since = SnapshotId(6), s.changes.clear(); }, "do not follow snapshot 7"},
      {[](ChangeSet&, Policy& p) { p.target_size_bytes *= 2; }, "target file size is 200 MiB now instead of 100 MiB"},
      {[](ChangeSet&, Policy& p) { p.healthy_fraction = 0.5; }, "policy"},
      {[](ChangeSet&, Policy& p) { p.delete_file_threshold = 2; }, "policy"},
  };
  for (const Case& c : cases) {
    TableState state = Scanned(7, {{1, {1}}});
    ChangeSet set = SetOf(7, {ChangeOf(8, {Delta(1, {2})})});
    Policy policy = SmallPolicy();
    c.spoil(set, policy);
    EXPECT_TRUE(state.Apply(set, policy, kNow).touched.empty());
    EXPECT_THAT(state.needs_scan(), HasSubstr(c.reason));
    EXPECT_EQ(state.size(), 0u);
    EXPECT_EQ(state.WhyScanAll(policy, kNow), state.needs_scan());
    // Nothing but a scan helps.
    EXPECT_EQ(state.Apply(SetOf(7, {ChangeOf(8, {Delta(1, {2})})}), SmallPolicy(), kNow).changes, 0);
    state.AbsorbScan(FactsOf(8, {{1, {1, 2}}}), policy);
    EXPECT_EQ(state.needs_scan(), "");
    EXPECT_EQ(At(state, 1).file_count, 2u);
  }
}

TEST(TableState, ScanOfSomePartitions_ReplacesThese) {
  TableState state = Scanned(7, {{1, {1, 1}}, {2, {2}}, {3, {3}}});
  (void)state.Apply(SetOf(7, {ChangeOf(8, {Delta(1, {4}), Delta(2, {5}), Delta(3, {}, {3})})}), SmallPolicy(), kNow);
  const std::vector<std::string> keys = {KeyOfDay(1), KeyOfDay(3)};
  // The filter of the scan lets day 2 through as far as its deletes reach.
  ASSERT_TRUE(state.AbsorbScan(FactsOf(8, {{1, {1, 1, 4}}, {2, {}}}), SmallPolicy(), keys).has_value());
  EXPECT_EQ(At(state, 1).commits, 0u);
  EXPECT_EQ(At(state, 1).file_count, 3u);
  EXPECT_EQ(At(state, 1).files_at_scan, 3u);
  EXPECT_EQ(At(state, 2).commits, 1u);
  EXPECT_EQ(At(state, 2).file_count, 2u);
  EXPECT_EQ(At(state, 3).file_count, 0u);
  EXPECT_EQ(At(state, 3).pending_since, 0u);
  const auto other = state.AbsorbScan(FactsOf(9, {{1, {1}}}), SmallPolicy(), keys);
  ASSERT_FALSE(other.has_value());
  EXPECT_EQ(other.error().code, Code::kConflict);
  EXPECT_EQ(At(state, 1).file_count, 3u);
}

TEST(TableState, MoreRemovedThanKnown_IsAContradictionUntilAScan) {
  TableState state = Scanned(7, {{1, {1}}, {2, {2}}});
  (void)state.Apply(SetOf(7, {ChangeOf(8, {Delta(1, {}, {1, 1})})}), SmallPolicy(), kNow);
  EXPECT_EQ(state.needs_scan(), "");
  const Verdict verdict = Triage(At(state, 1), SmallPolicy(), kNow);
  EXPECT_EQ(verdict.kind, VerdictKind::kScan);
  EXPECT_TRUE(verdict.is_estimate);
  ASSERT_TRUE(state.AbsorbScan(FactsOf(8, {{1, {9}}}), SmallPolicy(), std::vector{KeyOfDay(1)}).has_value());
  EXPECT_TRUE(At(state, 1).is_exact());
  EXPECT_EQ(At(state, 1).file_count, 1u);
}

TEST(TableState, OwnChanges_MakeNoNoise) {
  TableState state = Scanned(7, {{1, {1, 1, 1, 1, 1, 1}}});
  EXPECT_NE(At(state, 1).pending_since, 0u);  // five files are removable
  Change own = ChangeOf(8, {Delta(1, {6}, {1, 1, 1, 1, 1, 1})});
  own.is_own = true;
  (void)state.Apply(own, SmallPolicy(), kNow);
  EXPECT_EQ(At(state, 1).file_count, 1u);
  EXPECT_EQ(At(state, 1).files_changed, 0u);
  EXPECT_EQ(At(state, 1).pending_since, 0u);
  EXPECT_EQ(Triage(At(state, 1), SmallPolicy(), kNow).kind, VerdictKind::kQuiet);
  // What others did meanwhile stays.
  (void)state.Apply(ChangeOf(9, {Delta(1, {1})}), SmallPolicy(), kNow);
  own = ChangeOf(10, {Delta(1, {7}, {6, 1})});
  own.is_own = true;
  (void)state.Apply(own, SmallPolicy(), kNow);
  EXPECT_EQ(At(state, 1).files_changed, 1u);
  EXPECT_NE(At(state, 1).pending_since, 0u);
}

TEST(TableState, TooManyPartitions_TheQuietestAreForgottenAndCounted) {
  std::vector<std::pair<std::int32_t, std::vector<std::int64_t>>> days;
  for (std::int32_t day = 0; day < 16; ++day) days.push_back({day, {100}});
  TableState state = Scanned(7, days, 16);
  EXPECT_EQ(state.size(), 16u);
  std::vector<PartitionDelta> deltas;
  for (std::int32_t day = 0; day < 14; ++day) deltas.push_back(Delta(day, {100}));
  (void)state.Apply(ChangeOf(8, std::move(deltas)), SmallPolicy(), kNow);
  // Days 14 and 15 are quiet: they go first.
  const auto applied = state.Apply(ChangeOf(9, {Delta(3, {1}), Delta(20, {1})}), SmallPolicy(), kNow);
  EXPECT_EQ(state.size(), 15u);
  EXPECT_EQ(state.forgotten_total(), 2);
  EXPECT_FALSE(state.Find(KeyOfDay(14)) || state.Find(KeyOfDay(15)));
  EXPECT_THAT(applied.touched, ElementsAre(*state.Find(KeyOfDay(3)), *state.Find(KeyOfDay(20))));
  EXPECT_EQ(At(state, 3).file_count, 3u);
  // It may be one of those that were forgotten: only its noise is known.
  EXPECT_FALSE(At(state, 20).has_numbers());
  EXPECT_EQ(state.WhyScanAll(SmallPolicy(), TimestampMs{kNow.value + 90'000'000}), "");
  const Verdict later = Triage(At(state, 20), SmallPolicy(), TimestampMs{kNow.value + 90'000'000});
  EXPECT_EQ(later.kind, VerdictKind::kScan);
  // Now all have something pending, and one of them has to go.
  (void)state.Apply(ChangeOf(10, {Delta(21, {1}), Delta(22, {1})}), SmallPolicy(), kNow);
  EXPECT_EQ(state.WhyScanAll(SmallPolicy(), kNow), "");
  EXPECT_THAT(state.WhyScanAll(SmallPolicy(), TimestampMs{kNow.value + 90'000'000}), HasSubstr("forgotten"));
}

TEST(TableState, ScanOfForgottenPartitions_BringsThemBack) {
  std::vector<std::pair<std::int32_t, std::vector<std::int64_t>>> days;
  for (std::int32_t day = 0; day < 8; ++day) days.push_back({day, {100}});
  TableState state = Scanned(7, days, 8);
  (void)state.Apply(ChangeOf(8, {Delta(8, {1}), Delta(9, {1})}), SmallPolicy(), kNow);
  EXPECT_FALSE(state.Find(KeyOfDay(0)) || state.Find(KeyOfDay(1)));
  const std::vector<std::string> keys = {KeyOfDay(0), KeyOfDay(1)};
  ASSERT_TRUE(state.AbsorbScan(FactsOf(8, {{0, {100}}, {1, {1, 1, 1, 1, 1}}}), SmallPolicy(), keys).has_value());
  EXPECT_LE(state.size(), 8u);
  EXPECT_TRUE(At(state, 0).is_exact());
  EXPECT_EQ(At(state, 1).file_count, 5u);
  EXPECT_NE(At(state, 1).pending_since, 0u);
  EXPECT_EQ(state.forgotten_total(), 4);
}

TEST(TableState, StricterPolicy_MakesOldFindingsPending) {
  Policy policy = SmallPolicy();
  TableState state = Scanned(7, {{1, {1, 1, 1}}, {2, {100}}});
  EXPECT_EQ(At(state, 1).pending_since, 0u);
  policy.min_removable_files = 2;
  (void)state.Apply(SetOf(7, {}), policy, TimestampMs{kNow.value + 5000});
  EXPECT_EQ(state.needs_scan(), "");
  EXPECT_EQ(At(state, 1).pending_since, StateSeconds(kNow) + 5);
  EXPECT_EQ(At(state, 2).pending_since, 0u);
  EXPECT_EQ(Triage(At(state, 1), policy, TimestampMs{kNow.value + 90'000'000}).kind, VerdictKind::kScan);
}

TEST(TableState, DeletesOfAllPartitions_LeadToAScanOfTheTable) {
  TableState state = Scanned(7, {{1, {100}}, {2, {100}}});
  PartitionDelta delta;
  delta.spec_id = SpecId(1);
  delta.is_unpartitioned = true;
  delta.added_deletes.equality_files = 39;
  (void)state.Apply(ChangeOf(8, {delta}), SmallPolicy(), kNow);
  EXPECT_EQ(state.WhyScanAll(SmallPolicy(), kNow), "");
  EXPECT_THAT(state.WhyScanAll(SmallPolicy(), TimestampMs{kNow.value + 90'000'000}), HasSubstr("39 equality delete"));
  delta.added_deletes.equality_files = 1;
  (void)state.Apply(ChangeOf(9, {delta}), SmallPolicy(), kNow);
  EXPECT_THAT(state.WhyScanAll(SmallPolicy(), kNow), HasSubstr("40 equality delete"));
}

TEST(TableStateBytes, RoundTrip_AndEveryDamageIsSeen) {
  TableState state = Scanned(7, {{1, {1, 2, 3}}, {2, {80}}});
  (void)state.Apply(ChangeOf(8, {Delta(1, {4}), Delta(9, {5})}), SmallPolicy(), kNow);
  const Bytes saved = state.Serialize();
  auto loaded = TableState::Parse(saved);
  ASSERT_TRUE(loaded.has_value()) << ToString(loaded.error());
  EXPECT_EQ(loaded->Serialize(), saved);
  const auto more = ChangeOf(9, {Delta(9, {6}, {5})});
  (void)loaded->Apply(more, SmallPolicy(), kNow);
  (void)state.Apply(more, SmallPolicy(), kNow);
  EXPECT_TRUE(*loaded == state);
  EXPECT_EQ(loaded->Find(KeyOfDay(9)), state.Find(KeyOfDay(9)));

  for (std::size_t size = 0; size < saved.size(); ++size) {
    const auto cut = TableState::Parse(ByteView(saved).first(size));
    ASSERT_FALSE(cut.has_value()) << size;
    EXPECT_EQ(cut.error().code, Code::kCorrupt);
  }
  for (std::size_t bit = 0; bit < saved.size() * 8; ++bit) {
    Bytes damaged = saved;
    damaged[bit / 8] ^= static_cast<std::uint8_t>(1 << (bit % 8));
    const auto read = TableState::Parse(damaged);
    ASSERT_FALSE(read.has_value()) << bit;
    EXPECT_EQ(read.error().code, Code::kCorrupt);
  }
}

TEST(TableStateBytes, EstimatesThatOutliveTheirFiles_AreLoaded) {
  Facts facts = FactsOf(7, {{1, {120}}});
  facts.files[0].deleted_rows = 900;
  facts.files[0].delete_files = 1;
  TableState state;
  state.AbsorbScan(facts, SmallPolicy());
  EXPECT_EQ(SmallFilesOf(At(state, 1)), 1);
  (void)state.Apply(ChangeOf(8, {Delta(1, {}, {120})}), SmallPolicy(), kNow);
  EXPECT_EQ(SmallFilesOf(At(state, 1)), 0);
  EXPECT_EQ(RemovableFilesOf(At(state, 1), SmallPolicy().target_size_bytes), 0);
  const auto loaded = TableState::Parse(state.Serialize());
  ASSERT_TRUE(loaded.has_value()) << ToString(loaded.error());
  EXPECT_TRUE(*loaded == state);
}

TEST(TableStateBytes, SmallerMaximum_Forgets) {
  std::vector<std::pair<std::int32_t, std::vector<std::int64_t>>> days;
  for (std::int32_t day = 0; day < 100; ++day) days.push_back({day, {100}});
  const auto loaded = TableState::Parse(Scanned(7, days).Serialize(), 40);
  ASSERT_TRUE(loaded.has_value());
  EXPECT_LE(loaded->size(), 40u);
  EXPECT_EQ(loaded->forgotten_total(), 100 - static_cast<std::int64_t>(loaded->size()));
}

TEST(PartitionKey, IsReadBack) {
  const iceberg::PartitionTuple tuple{{iceberg::Literal(std::int32_t{-5}), iceberg::Literal(std::string("a/b")),
                                       iceberg::Literal(), iceberg::Literal(true), iceberg::Literal(2.5),
                                       iceberg::Literal(Bytes{1, 2}), iceberg::Literal(iceberg::Decimal{-7})}};
  const std::string key = PartitionKeyOf(SpecId(3), tuple);
  const auto read = PartitionOfKey(key);
  ASSERT_TRUE(read.has_value()) << ToString(read.error());
  EXPECT_EQ(read->spec_id, SpecId(3));
  EXPECT_TRUE(iceberg::SameTuple(read->tuple, tuple));
  for (std::size_t size = 0; size < key.size(); ++size) {
    const auto cut = PartitionOfKey(std::string_view(key).substr(0, size));
    EXPECT_TRUE(!cut || cut->tuple.values.size() < tuple.values.size()) << size;
  }
}

}  // namespace
}  // namespace firn::orient
