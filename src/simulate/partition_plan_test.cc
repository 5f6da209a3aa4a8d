// SPDX-License-Identifier: Apache-2.0
#include "simulate/partition_plan.h"

#include <gtest/gtest.h>

#include "orient/orient.h"
#include "simulate/trace_fixture.h"

namespace firn::simulate {
namespace {

using fixture::kMiB;

class PartitionPlan : public testing::Test {
 protected:
  PartitionPlan() { settings.policy.target_size_bytes = 128 * kMiB; }

  void Add(const std::vector<NewFile>& files) {
    Commit commit;
    commit.partitions.resize(1);
    commit.partitions[0].partition = 3;
    commit.partitions[0].added = files;
    world.Apply(commit);
  }
  decide::Plan Decide(const observe::Facts& facts) {
    auto plan = decide::Decide(facts, orient::Diagnose(facts, settings.policy), settings.policy, {});
    EXPECT_TRUE(plan.has_value());
    return std::move(*plan);
  }

  PlanSettings settings;
  World world{1, 96 * kMiB};
};

TEST_F(PartitionPlan, FactsSayWhatAReaderOfTheManifestsSees) {
  Add({{kMiB, 1000}, {2 * kMiB, 2000}});
  Commit commit;
  commit.partitions.resize(1);
  commit.partitions[0] = {3, {{500, 5}}, {}, DeleteKind::kVectors, 300, {0.0F}};
  world.Apply(commit);
  commit.partitions[0] = {3, {}, {}, DeleteKind::kEquality, 100, {0.9F}};
  world.Apply(commit);
  const observe::Facts facts = FactsOf(world, 0, 3);
  ASSERT_EQ(facts.files.size(), 3U);
  EXPECT_EQ(facts.files[0].deleted_rows, 300);
  EXPECT_EQ(facts.files[0].delete_files, 2U);
  EXPECT_EQ(facts.files[1].deleted_rows, 0);  // what equality deletes delete is not known
  EXPECT_EQ(facts.files[1].record_count, 2000);
  EXPECT_TRUE((facts.files[1].flags & observe::kMayHaveMoreDeletes) != 0);
  EXPECT_TRUE((facts.files[0].flags & observe::kHasDeletionVector) != 0);
  EXPECT_EQ(facts.partitions[0].file_count, 3);
  EXPECT_EQ(facts.sequence_number.value, 3);
}

TEST_F(PartitionPlan, TheJobIsThePlans) {
  Add(std::vector<NewFile>(7, NewFile{kMiB, 1000}));
  auto job = PlanPartition(world, 0, 3, settings);
  ASSERT_TRUE(job.has_value());
  ASSERT_EQ(job->merges.size(), 1U);
  EXPECT_EQ(job->merges[0].inputs.size(), 7U);
  EXPECT_EQ(job->merges[0].input_bytes, 7 * kMiB);
  EXPECT_GT(job->seconds, 0);
  world.Apply(*job);
  EXPECT_EQ(world.totals().files, 1);
  EXPECT_EQ(world.totals().bytes, job->merges[0].output_bytes);
  job = PlanPartition(world, 0, 3, settings);
  ASSERT_TRUE(job.has_value());
  EXPECT_TRUE(job->merges.empty());
}

TEST_F(PartitionPlan, BrokenPromisesAreFound) {
  Add(std::vector<NewFile>(12, NewFile{kMiB, 1000}));
  const observe::Facts facts = FactsOf(world, 0, 3);
  const decide::Plan plan = Decide(facts);
  ASSERT_EQ(plan.groups.size(), 1U);
  EXPECT_TRUE(CheckPlan(facts, plan, settings.policy, {}).has_value());

  decide::Plan twice = plan;
  twice.groups.push_back(twice.groups[0]);
  EXPECT_NE(CheckPlan(facts, twice, settings.policy, {}).error().message.find("two groups"), std::string::npos);
  decide::Plan more = plan;
  more.groups[0].predicted_outputs = 13;
  EXPECT_NE(CheckPlan(facts, more, settings.policy, {}).error().message.find("become 13"), std::string::npos);
  decide::Plan less = plan;
  less.groups[0].files.resize(6);  // six files are left that a second plan would merge
  const Status status = CheckPlan(facts, less, settings.policy, {});
  ASSERT_FALSE(status.has_value());
  EXPECT_EQ(status.error().code, Code::kInternal);
}

}  // namespace
}  // namespace firn::simulate
