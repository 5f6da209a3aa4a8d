// SPDX-License-Identifier: Apache-2.0
#include "decide/decide.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "base/random.h"
#include "decide/packing_oracle.h"
#include "decide/plan_json.h"
#include "orient/delete_debt.h"
#include "orient/orient.h"

namespace firn::decide {
namespace {

constexpr std::int64_t kKiB = 1 << 10, kMiB = 1 << 20;

/// One list of sizes a partition; file i of the table has sequence number i.
observe::Facts MakeFacts(const std::vector<std::vector<std::int64_t>>& partitions) {
  observe::Facts facts;
  facts.table = "db.t";
  facts.snapshot_id = SnapshotId{77};
  facts.sequence_number = SequenceNumber{9};
  for (const auto& sizes : partitions) {
    const auto index = static_cast<std::uint32_t>(facts.partitions.size());
    observe::PartitionFacts partition;
    partition.text = "p=" + std::to_string(index);
    facts.partitions.push_back(partition);
    for (std::int64_t size : sizes) {
      observe::DataFileFacts file;
      file.partition = index;
      file.ordinal = static_cast<std::uint32_t>(facts.files.size());
      file.data_sequence_number = file.ordinal;
      file.size_bytes = size;
      file.record_count = 10;
      facts.files.push_back(file);
    }
  }
  return facts;
}

orient::Policy MakePolicy() {
  orient::Policy policy;
  policy.target_size_bytes = 128 * kMiB;
  return policy;
}

Plan MakePlan(const observe::Facts& facts, const orient::Policy& policy = MakePolicy(),
              const DecideOptions& options = {}) {
  auto plan = Decide(facts, orient::Diagnose(facts, policy), policy, options);
  EXPECT_TRUE(plan.has_value());
  return std::move(*plan);
}

const Refusal* Find(const Plan& plan, std::string_view code) {
  for (const auto& refusal : plan.refusals) {
    if (refusal.code == code) return &refusal;
  }
  return nullptr;
}

/// The table after the plan, sizes as predicted.
observe::Facts Apply(const observe::Facts& facts, const Plan& plan) {
  std::vector<bool> gone(facts.files.size());
  std::vector<std::vector<observe::DataFileFacts>> files(facts.partitions.size());
  for (const auto& group : plan.groups) {
    observe::DataFileFacts merged = facts.files[group.files[0]];
    for (auto i : group.files) {
      gone[i] = true;
      merged.data_sequence_number = std::max(merged.data_sequence_number, facts.files[i].data_sequence_number);
    }
    merged.size_bytes = group.predicted_output_bytes;
    merged.record_count = group.input_records - group.deleted_rows;
    // What a rewrite cannot know of it: old shared deletes may still be listed for its partition.
    merged.flags = static_cast<std::uint16_t>(merged.flags & ~(observe::kDeleteFlags & ~observe::kHasPositionDeletes));
    merged.delete_files = 0;
    merged.deleted_rows = 0;
    if (group.predicted_outputs == 0) continue;
    merged.sort_order_id = group.sort_order_id;
    files[group.partition].push_back(merged);
  }
  observe::Facts after = facts;
  after.files.clear();
  for (std::size_t i = 0; i < facts.files.size(); ++i) {
    if (!gone[i]) files[facts.files[i].partition].push_back(facts.files[i]);
  }
  for (auto& list : files) after.files.insert(after.files.end(), list.begin(), list.end());
  for (std::size_t i = 0; i < after.files.size(); ++i) after.files[i].ordinal = static_cast<std::uint32_t>(i);
  return after;
}

void ExpectGuarantees(const observe::Facts& facts, const orient::Policy& policy, const Plan& plan) {
  std::set<std::uint32_t> seen;
  std::int64_t replaced = 0, outputs = 0;
  for (const auto& group : plan.groups) {
    EXPECT_FALSE(group.why.empty());
    if (group.files.size() < 2) {
      ASSERT_EQ(group.files.size(), 1U);
      EXPECT_TRUE(orient::IsFoldDue(facts.files[group.files[0]], policy));
    }
    if (group.files.size() > 1) {
      EXPECT_LE(group.predicted_output_bytes, policy.size_max_bytes() + 1);
    }
    outputs += group.predicted_outputs;
    EXPECT_LE(group.predicted_output_bytes, group.input_bytes);
    std::int64_t bytes = 0;
    for (auto i : group.files) {
      EXPECT_TRUE(seen.insert(i).second);
      EXPECT_EQ(facts.files[i].partition, group.partition);
      EXPECT_EQ(facts.files[i].flags & ~policy.mergeable_flags, 0);
      if (group.files.size() > 1) {
        EXPECT_LT(orient::LiveSizeBytes(facts.files[i]), policy.healthy_size_bytes());
      }
      bytes += facts.files[i].size_bytes;
    }
    EXPECT_EQ(bytes, group.input_bytes);
    replaced += static_cast<std::int64_t>(group.files.size());
  }
  EXPECT_EQ(replaced, plan.files_replaced);
  EXPECT_EQ(plan.files_before - plan.files_after, replaced - outputs);
  // Every file is in a group or in a refusal.
  std::int64_t refused = 0;
  for (const auto& refusal : plan.refusals) refused += refusal.files;
  EXPECT_EQ(replaced + refused, plan.files_before);
}

TEST(Decide, WorkedExample_MergesInsidePartitions) {
  const auto facts =
      MakeFacts({std::vector<std::int64_t>(7, 100 * kKiB), {kMiB}, {200 * kMiB, 100 * kMiB}, {kMiB, kMiB}});
  const auto policy = MakePolicy();
  const Plan plan = MakePlan(facts, policy, {.plan_id = "id-1"});
  ExpectGuarantees(facts, policy, plan);
  ASSERT_EQ(plan.groups.size(), 1U);
  EXPECT_EQ(plan.groups[0].files, (std::vector<std::uint32_t>{0, 1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(plan.groups[0].input_records, 70);
  EXPECT_EQ(plan.plan_id, "id-1");
  EXPECT_EQ(plan.base_snapshot_id, SnapshotId{77});
  EXPECT_EQ(plan.base_sequence_number, SequenceNumber{9});
  EXPECT_EQ(plan.files_before, 12);
  EXPECT_EQ(plan.files_after, 6);
  EXPECT_LT(plan.size_mse_after, plan.size_mse_before);
  EXPECT_TRUE(plan.reason.starts_with("Merge 7 small files into 1: 6 files fewer, 700 KiB to read")) << plan.reason;
  EXPECT_EQ(Find(plan, kCodeSingle)->partition, "p=1");
  EXPECT_EQ(Find(plan, kCodeFew)->partition, "p=3");
  EXPECT_EQ(Find(plan, kCodeFew)->reason, "2 small files left, 2.00 MiB together: waiting for 5 files or 96.0 MiB");
  EXPECT_EQ(Find(plan, kCodeHealthy)->files, 2);
}

TEST(Decide, FilesThatWait_SayForWhat) {
  std::vector<std::int64_t> sizes(4, 100 * kKiB);
  sizes.push_back(2 * kMiB);  // of an earlier merge
  const auto waiting = MakeFacts({sizes});
  const Plan plan = MakePlan(waiting, MakePolicy(), {});
  EXPECT_TRUE(plan.groups.empty());
  EXPECT_EQ(Find(plan, kCodeNotWorth)->reason,
            "5 small files left: waiting until the others together have the 2.00 MiB of the largest");
}

TEST(Decide, NothingSelected_IsNotAnEmptyTable) {
  EXPECT_EQ(MakePlan(MakeFacts({}), MakePolicy(), {}).reason, "Nothing to do: the table has no files.");
  EXPECT_EQ(MakePlan(MakeFacts({}), MakePolicy(), {.is_selection = true}).reason,
            "Nothing to do: no partition that was asked for has files.");
}

TEST(Decide, FlaggedFiles_AreRefusedWithTheirReason) {
  auto facts = MakeFacts({std::vector<std::int64_t>(12, 100 * kKiB)});
  facts.files[0].flags = observe::kHasPositionDeletes;
  facts.files[1].flags = observe::kHasDeletionVector;
  facts.files[2].flags = observe::kHasEqualityDeletes;
  facts.files[3].flags = observe::kNotParquet;
  facts.files[4].flags = observe::kEncrypted | observe::kHasEqualityDeletes;
  facts.files[5].flags = observe::kHasRowLineage;
  facts.files[6].flags = observe::kUnknownTransform;
  facts.files[7].flags = observe::kHasMisplacedDeletes;
  auto policy = MakePolicy();
  policy.mergeable_flags = 0;
  const Plan plan = MakePlan(facts, policy);
  ExpectGuarantees(facts, policy, plan);
  EXPECT_TRUE(plan.groups.empty()) << "four plain files are too few";
  std::int64_t deletes = 0;
  for (const auto& refusal : plan.refusals) deletes += refusal.code == kCodeDeletes ? refusal.files : 0;
  EXPECT_EQ(deletes, 4);
  for (auto code : {kCodeFormat, kCodeEncrypted, kCodeRowLineage, kCodeTransform}) {
    ASSERT_NE(Find(plan, code), nullptr) << code;
    EXPECT_EQ(Find(plan, code)->files, 1) << code;
  }
}

TEST(Decide, AllowedFlags_AreMerged) {
  auto facts = MakeFacts({std::vector<std::int64_t>(6, 100 * kKiB)});
  for (auto& file : facts.files) file.flags = observe::kHasPositionDeletes;
  auto policy = MakePolicy();
  policy.mergeable_flags = observe::kHasPositionDeletes;
  EXPECT_EQ(MakePlan(facts, policy).groups.size(), 1U);
  facts.files[2].flags |= observe::kHasEqualityDeletes;
  EXPECT_EQ(MakePlan(facts, policy).groups.at(0).files.size(), 5U);
}

TEST(Decide, Budget_TakesTheBestThatFit) {
  const auto facts = MakeFacts({std::vector<std::int64_t>(10, 10 * kMiB), std::vector<std::int64_t>(50, 100 * kKiB),
                                std::vector<std::int64_t>(10, kMiB)});
  const auto policy = MakePolicy();
  const Plan plan = MakePlan(facts, policy, {.max_bytes = 16 * kMiB});
  ExpectGuarantees(facts, policy, plan);
  ASSERT_EQ(plan.groups.size(), 2U);
  EXPECT_EQ(plan.groups[0].partition, 1U) << "most files removed for a second first";
  EXPECT_EQ(plan.groups[1].partition, 2U);
  EXPECT_EQ(Find(plan, kCodeBudget)->files, 10);
  EXPECT_EQ(Find(plan, kCodeBudget)->bytes, 100 * kMiB);
}

TEST(Decide, PartitionFilter_LeavesOutTheOthers) {
  const auto facts = MakeFacts({std::vector<std::int64_t>(10, kMiB), std::vector<std::int64_t>(10, kMiB)});
  DecideOptions options;
  options.partition_filter = [](const observe::PartitionFacts& partition) { return partition.text == "p=1"; };
  const Plan plan = MakePlan(facts, MakePolicy(), options);
  ASSERT_EQ(plan.groups.size(), 1U);
  EXPECT_EQ(plan.groups[0].partition, 1U);
  EXPECT_EQ(Find(plan, kCodeExcluded)->files, 10);
}

TEST(Decide, DisabledTable_PlansNothingAndSaysSo) {
  const auto facts = MakeFacts({std::vector<std::int64_t>(10, kMiB)});
  auto policy = MakePolicy();
  policy.enabled = false;
  const Plan plan = MakePlan(facts, policy);
  EXPECT_TRUE(plan.groups.empty());
  EXPECT_EQ(Find(plan, kCodeDisabled)->files, 10);
  EXPECT_EQ(plan.reason, "Nothing is planned: firn.enabled is false.");
  const Plan healthy = MakePlan(MakeFacts({{100 * kMiB}}), policy);
  ASSERT_NE(Find(healthy, kCodeDisabled), nullptr) << "it is forbidden, whether there is work or not";
  EXPECT_EQ(Find(healthy, kCodeDisabled)->files, 0);
}

TEST(Decide, EmptyAndHealthyTables_SayNothingToDo) {
  EXPECT_EQ(MakePlan({}).reason, "Nothing to do: the table has no files.");
  EXPECT_EQ(MakePlan(MakeFacts({{100 * kMiB}})).reason, "Nothing to do: every file has at least 96.0 MiB.");
}

TEST(Decide, RowOrder_IsTheOrderOfArrival) {
  auto facts = MakeFacts({std::vector<std::int64_t>(6, kMiB)});
  for (std::size_t i = 0; i < 6; ++i) facts.files[i].data_sequence_number = static_cast<std::int64_t>(60 - i);
  EXPECT_EQ(MakePlan(facts).groups.at(0).files, (std::vector<std::uint32_t>{5, 4, 3, 2, 1, 0}));
}

TEST(Decide, SortedFilesWithDisjointKeys_KeepTheirOrder) {
  auto facts = MakeFacts({std::vector<std::int64_t>(12, kMiB)});
  for (auto& file : facts.files) file.sort_order_id = 3;
  facts.files[6].size_bytes = 100 * kMiB;  // healthy: a barrier
  DecideOptions options;
  options.key_ranges = [&](const std::vector<std::uint32_t>& files) -> Result<std::vector<std::optional<KeyRange>>> {
    std::vector<std::optional<KeyRange>> ranges;
    for (auto i : files) ranges.push_back(KeyRange{200 - 2 * i, 201 - 2 * i});  // keys fall as files come
    return ranges;
  };
  const auto policy = MakePolicy();
  const Plan plan = MakePlan(facts, policy, options);
  ExpectGuarantees(facts, policy, plan);
  ASSERT_EQ(plan.groups.size(), 2U);
  for (const auto& group : plan.groups) {
    EXPECT_TRUE(group.keeps_order);
    EXPECT_EQ(group.sort_order_id, 3);
    EXPECT_TRUE(std::is_sorted(group.files.rbegin(), group.files.rend()));
    EXPECT_EQ(group.files.front() > 6, group.files.back() > 6) << "the healthy file is not jumped over";
  }
}

TEST(Decide, OverlappingOrUnknownKeys_GiveUnsortedOutputsAndANote) {
  auto facts = MakeFacts({std::vector<std::int64_t>(8, kMiB)});
  for (auto& file : facts.files) file.sort_order_id = 3;
  for (bool unknown : {false, true}) {
    DecideOptions options;
    options.key_ranges = [&](const std::vector<std::uint32_t>& files) -> Result<std::vector<std::optional<KeyRange>>> {
      std::vector<std::optional<KeyRange>> ranges(files.size(), KeyRange{0, 5});
      if (unknown) {
        for (std::size_t i = 0; i < ranges.size(); ++i)
          ranges[i] = KeyRange{static_cast<std::int64_t>(i) * 10, static_cast<std::int64_t>(i) * 10};
        ranges[4] = std::nullopt;
      }
      return ranges;
    };
    const Plan plan = MakePlan(facts, MakePolicy(), options);
    ASSERT_EQ(plan.groups.size(), 1U);
    EXPECT_FALSE(plan.groups[0].keeps_order);
    EXPECT_EQ(plan.groups[0].sort_order_id, 0);
    ASSERT_EQ(plan.notes.size(), 1U);
  }
}

TEST(Decide, KeyRangeError_IsPassedOn) {
  const auto facts = MakeFacts({std::vector<std::int64_t>(8, kMiB)});
  const auto policy = MakePolicy();
  DecideOptions options;
  options.key_ranges = [](const auto&) -> Result<std::vector<std::optional<KeyRange>>> {
    return Error{Code::kCorrupt, "manifest m1"};
  };
  auto plan = Decide(facts, orient::Diagnose(facts, policy), policy, options);
  ASSERT_FALSE(plan.has_value());
  EXPECT_EQ(plan.error().code, Code::kCorrupt);
}

TEST(Decide, ToleratedEntropy_LeavesFewSmallFilesAlone) {
  std::vector<std::int64_t> sizes(1000, 128 * kMiB);
  sizes.insert(sizes.end(), 8, kMiB);
  const auto facts = MakeFacts({sizes});
  auto policy = MakePolicy();
  EXPECT_EQ(MakePlan(facts, policy).groups.size(), 1U);
  policy.tolerated_entropy = 0.1;
  const Plan plan = MakePlan(facts, policy);
  EXPECT_TRUE(plan.groups.empty());
  EXPECT_EQ(Find(plan, kCodeTolerated)->files, 8);
}

TEST(Decide, ManyPartitions_BoundTheRefusals) {
  const auto facts = MakeFacts(std::vector<std::vector<std::int64_t>>(500, {kMiB, kMiB}));
  const auto policy = MakePolicy();
  const Plan plan = MakePlan(facts, policy, {.refusals_max = 10});
  EXPECT_LE(plan.refusals.size(), 12U);
  ExpectGuarantees(facts, policy, plan);
  EXPECT_EQ(plan.refusals.back().reason, "the same reason in 490 more partitions");
}

TEST(Decide, RandomTables_KeepTheGuaranteesAndReachAFixedPoint) {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    Random random(seed);
    auto policy = MakePolicy();
    if (seed % 4 == 0) policy.min_input_files = 2;
    if (seed % 7 == 0) policy.tolerated_entropy = 0.3;
    std::vector<std::vector<std::int64_t>> partitions(1 + random.Below(6));
    for (auto& sizes : partitions) sizes = oracle::RandomSizes(random, random.Below(80), policy.target_size_bytes);
    auto facts = MakeFacts(partitions);
    for (auto& file : facts.files) {
      if (random.Below(20) == 0) file.flags = static_cast<std::uint16_t>(1U << random.Below(7));
    }
    const Plan plan = MakePlan(facts, policy);
    ExpectGuarantees(facts, policy, plan);
    EXPECT_EQ(json::Write(ToJson(plan, facts)), json::Write(ToJson(MakePlan(facts, policy), facts)));
    const auto after = Apply(facts, plan);
    const Plan again = MakePlan(after, policy);
    EXPECT_TRUE(again.groups.empty()) << "seed " << seed;
    EXPECT_LE(orient::Diagnose(after, policy).avoidable_error, orient::Diagnose(facts, policy).avoidable_error + 1e-9);
  }
}

}  // namespace
}  // namespace firn::decide
