// SPDX-License-Identifier: Apache-2.0
#include "decide/delete_fold.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "base/random.h"
#include "decide/decide.h"
#include "orient/delete_debt.h"
#include "orient/orient.h"

namespace firn::decide {
namespace {

constexpr std::int64_t kKiB = 1 << 10, kMiB = 1 << 20;

orient::Policy MakePolicy() {
  orient::Policy policy;
  policy.target_size_bytes = 128 * kMiB;
  policy.mergeable_flags = observe::kRewritableFlags;
  return policy;
}

struct FileSpec {
  std::int64_t size_bytes = 0, deleted_rows = 0;
  std::uint32_t delete_files = 0;
};

/// One partition; files of 100 rows.
observe::Facts MakeFacts(const std::vector<FileSpec>& files) {
  observe::Facts facts;
  facts.table = "db.t";
  facts.snapshot_id = SnapshotId{77};
  facts.partitions.emplace_back();
  for (const FileSpec& spec : files) {
    observe::DataFileFacts& file = facts.files.emplace_back();
    file.ordinal = static_cast<std::uint32_t>(facts.files.size() - 1);
    file.data_sequence_number = file.ordinal;
    file.size_bytes = spec.size_bytes;
    file.record_count = 100;
    file.deleted_rows = spec.deleted_rows;
    file.delete_files = spec.delete_files;
    if (spec.delete_files > 0) file.flags = observe::kHasPositionDeletes;
  }
  return facts;
}

Plan MakePlan(const observe::Facts& facts, const orient::Policy& policy = MakePolicy(),
              const DecideOptions& options = {}) {
  auto plan = Decide(facts, orient::Diagnose(facts, policy), policy, options);
  EXPECT_TRUE(plan.has_value());
  return std::move(*plan);
}

/// The table after the plan, sizes as predicted.
observe::Facts Apply(const observe::Facts& facts, const Plan& plan) {
  observe::Facts after = facts;
  after.files.clear();
  std::set<std::uint32_t> gone;
  for (const MergeGroup& group : plan.groups) gone.insert(group.files.begin(), group.files.end());
  for (std::uint32_t i = 0; i < facts.files.size(); ++i) {
    if (!gone.contains(i)) after.files.push_back(facts.files[i]);
  }
  for (const MergeGroup& group : plan.groups) {
    if (group.predicted_outputs == 0) continue;
    observe::DataFileFacts& file = after.files.emplace_back();
    for (const std::uint32_t i : group.files) {
      file.data_sequence_number = std::max(file.data_sequence_number, facts.files[i].data_sequence_number);
    }
    file.size_bytes = group.predicted_output_bytes;
    file.record_count = group.input_records - group.deleted_rows;
    file.flags = observe::kHasPositionDeletes;  // a shared delete file that could not be removed
    file.sort_order_id = group.sort_order_id;
  }
  for (std::uint32_t i = 0; i < after.files.size(); ++i) after.files[i].ordinal = i;
  return after;
}

TEST(DeleteFold, LargeFile_IsRewrittenAloneFromTheThresholdOn) {
  const auto facts = MakeFacts({{200 * kMiB, 29, 1}, {200 * kMiB, 30, 1}, {200 * kMiB, 0, 100}, {200 * kMiB, 0, 99}});
  const Plan plan = MakePlan(facts);
  ASSERT_EQ(plan.groups.size(), 2U);
  std::vector<std::vector<std::uint32_t>> files = {plan.groups[0].files, plan.groups[1].files};
  std::ranges::sort(files);
  EXPECT_EQ(files, (std::vector<std::vector<std::uint32_t>>{{1}, {2}}));
  for (const MergeGroup& group : plan.groups) {
    const bool by_ratio = group.files[0] == 1;
    EXPECT_EQ(group.why, by_ratio ? "30.0 % of its rows are deleted: at least 30 %"
                                  : "100 delete files apply to it: from 100 on it pays");
    EXPECT_EQ(group.deleted_rows, by_ratio ? 30 : 0);
    EXPECT_EQ(group.predicted_output_bytes, by_ratio ? 140 * kMiB : 200 * kMiB);
  }
  EXPECT_EQ(plan.deleted_rows, 30);
  EXPECT_EQ(plan.files_after, 4);
  EXPECT_TRUE(
      plan.reason.starts_with("Rewrite 2 files into 2: 0 files fewer, 101 delete file reads less, 30 deleted "
                              "rows dropped"))
      << plan.reason;
  const auto refusal = std::ranges::find(plan.refusals, kCodeDeletes, &Refusal::code);
  ASSERT_NE(refusal, plan.refusals.end());
  EXPECT_EQ(refusal->files, 2);
  EXPECT_TRUE(MakePlan(Apply(facts, plan)).groups.empty());
}

TEST(DeleteFold, SmallDueFiles_AreJoinedBecauseTheyAreWrittenAnyway) {
  const auto facts = MakeFacts({{kMiB, 50, 1}, {kMiB, 0, 0}, {kMiB, 50, 1}});
  const Plan plan = MakePlan(facts);
  ASSERT_EQ(plan.groups.size(), 1U);
  EXPECT_EQ(plan.groups[0].files, (std::vector<std::uint32_t>{0, 2}));
  EXPECT_EQ(plan.groups[0].why, "2 files become one, 100 deleted rows drop out, 2 delete file reads less");
  EXPECT_TRUE(MakePlan(Apply(facts, plan)).groups.empty());
}

TEST(DeleteFold, DueFilesBeyondTheLimitOfAGroup_AreDividedAndTheNextPlanJoins) {
  auto facts = MakeFacts(std::vector<FileSpec>(50'000, {kKiB, 50, 1}));
  std::size_t groups = 0;
  for (const std::size_t expected : {7U, 1U, 0U}) {
    const Plan plan = MakePlan(facts);
    ASSERT_EQ(plan.groups.size(), expected);
    EXPECT_EQ(plan.is_divided, expected == 7);
    for (const MergeGroup& group : plan.groups) EXPECT_LE(group.files.size(), 8192U);
    groups += plan.groups.size();
    facts = Apply(facts, plan);
  }
  EXPECT_EQ(groups, 8U);
}

TEST(DeleteFold, AllRowsDeleted_RemovesWithoutAnOutput) {
  const auto facts = MakeFacts({{200 * kMiB, 100, 1}});
  const Plan plan = MakePlan(facts);
  ASSERT_EQ(plan.groups.size(), 1U);
  EXPECT_EQ(plan.groups[0].predicted_outputs, 0);
  EXPECT_EQ(plan.groups[0].predicted_output_bytes, 0);
  EXPECT_EQ(plan.files_after, 0);
}

TEST(DeleteFold, OrderedPartition_DueFilesStayInTheirPlace) {
  const auto facts = MakeFacts({{kMiB, 50, 1}, {200 * kMiB, 0, 0}, {kMiB, 50, 1}, {200 * kMiB, 40, 1}});
  DecideOptions options;
  options.key_ranges = [](const std::vector<std::uint32_t>& files) -> Result<std::vector<std::optional<KeyRange>>> {
    std::vector<std::optional<KeyRange>> ranges;
    for (const std::uint32_t i : files) ranges.push_back(KeyRange{i, i});
    return ranges;
  };
  const Plan plan = MakePlan(facts, MakePolicy(), options);
  ASSERT_EQ(plan.groups.size(), 3U);
  for (const MergeGroup& group : plan.groups) EXPECT_EQ(group.files.size(), 1U);
  EXPECT_TRUE(plan.notes.empty());
}

TEST(DeleteFold, RandomTables_EveryDueFileOnceAndThenNothing) {
  Random random(7);
  for (int round = 0; round < 3000; ++round) {
    orient::Policy policy = MakePolicy();
    policy.min_input_files = 2 + static_cast<std::int32_t>(random.Below(6));
    std::vector<FileSpec> specs(1 + random.Below(40));
    for (FileSpec& spec : specs) {
      const std::int64_t scale = std::int64_t{1} << random.Below(9);
      spec.size_bytes = static_cast<std::int64_t>(random.Below(static_cast<std::uint64_t>(scale * kMiB))) + kKiB;
      if (random.Below(2) == 0) continue;
      spec.delete_files = static_cast<std::uint32_t>(1 + random.Below(60));
      if (random.Below(2) == 0) spec.deleted_rows = static_cast<std::int64_t>(random.Below(101));
    }
    const auto facts = MakeFacts(specs);
    const Plan plan = MakePlan(facts, policy);
    std::set<std::uint32_t> seen;
    for (const MergeGroup& group : plan.groups) {
      for (const std::uint32_t i : group.files) EXPECT_TRUE(seen.insert(i).second);
      EXPECT_LE(group.predicted_outputs, 1);
      if (group.files.size() > 1) {
        EXPECT_LE(group.predicted_output_bytes, policy.size_max_bytes() + 1);
      }
    }
    for (std::uint32_t i = 0; i < facts.files.size(); ++i) {
      EXPECT_TRUE(seen.contains(i) || !orient::IsFoldDue(facts.files[i], policy)) << round << ' ' << i;
    }
    ASSERT_TRUE(MakePlan(Apply(facts, plan), policy).groups.empty()) << round;
  }
}

}  // namespace
}  // namespace firn::decide
