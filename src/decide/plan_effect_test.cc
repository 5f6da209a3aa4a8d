// SPDX-License-Identifier: Apache-2.0
#include "decide/plan_effect.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace firn::decide {
namespace {

iceberg::DataFile NewDelete(std::int32_t part, iceberg::FileContent content, std::string path) {
  iceberg::DataFile file;
  file.content = content;
  file.file_path = std::move(path);
  file.partition.values = {part};
  file.file_size_bytes = 1000;
  return file;
}

/// Two partitions of a table of version 3 with `targets` files each; `deletes` equality deletes in the first, one in
/// the second; a vector of the first file.
observe::DeleteFacts FactsOf(int targets, int deletes) {
  observe::DeleteFacts facts;
  facts.format_version = 3;
  facts.snapshot_id = SnapshotId{9};
  const auto add = [&](iceberg::DataFile file) {
    file.equality_ids = {FieldId{1}};
    facts.deletes.Add({std::move(file), SequenceNumber{50}}, false);
    facts.is_global.push_back(false);
    facts.is_needed.push_back(true);
  };
  for (int i = 0; i < deletes; ++i) add(NewDelete(0, iceberg::FileContent::kEqualityDeletes, fmt::format("e{}", i)));
  add(NewDelete(1, iceberg::FileContent::kEqualityDeletes, "other"));
  iceberg::DataFile vector = NewDelete(0, iceberg::FileContent::kPositionDeletes, "v");
  vector.format = iceberg::FileFormat::kPuffin;
  vector.referenced_data_file = "0/0";
  add(std::move(vector));
  facts.deletes.Build();
  for (std::int32_t part = 0; part < 2; ++part) {
    facts.partitions.push_back({SpecId{0}, {{part}}, fmt::format("part={}", part)});
    for (int i = 0; i < targets; ++i) {
      observe::DeleteTarget target;
      target.path = fmt::format("{}/{}", part, i);
      target.partition = static_cast<std::uint32_t>(part);
      target.record_count = 1'000'000;
      target.size_bytes = 1 << 20;
      target.sequence_number = target.file_sequence_number = SequenceNumber{1};
      const iceberg::DataFile file = DataFileOf(facts, target);
      target.kinds = facts.deletes.FindKinds(file, target.sequence_number);
      facts.targets.push_back(std::move(target));
    }
  }
  return facts;
}

TEST(PlanEffect, OfAConversion_CountsDeleteFilesOnceAndTheirOpensForEachDataFile) {
  const observe::DeleteFacts facts = FactsOf(4, 10);
  const DeletePlan plan = PlanDeleteRewrite(facts, {});
  const Effect effect = EffectOf(facts, plan);
  EXPECT_EQ(effect.delete_files_removed, 11);  // the vector is replaced by a larger one
  // In the first partition each file is opened with ten deletes, one of them with its vector as well; then with one.
  EXPECT_EQ(effect.delete_reads_saved, 9 * 4 + 1);
  EXPECT_EQ(effect.bytes, 11'000);
  EXPECT_NEAR(effect.seconds, 8e6 / 5e6, 0.2);
  EXPECT_EQ(effect.files_removed, 0);
  EXPECT_EQ(OpensSaved(effect), 37);
}

TEST(PlanEffect, ConversionPays_WhenOneReadIsSparedWhatItCosts) {
  const auto pays = [](int targets, int deletes) {
    const observe::DeleteFacts facts = FactsOf(targets, deletes);
    const DeletePlan plan = PlanDeleteRewrite(facts, {});
    return Pays(plan, EffectOf(facts, plan));
  };
  // A million rows a file, half of the files under one delete alone: 60 MB of work each, an open counts as 4 MiB.
  EXPECT_FALSE(pays(5, 10));
  EXPECT_FALSE(pays(5, 28));
  EXPECT_TRUE(pays(5, 32));
  DeletePlan plan;
  EXPECT_TRUE(Pays(plan, {})) << "only delete files are read";
  plan.scanned_files = 2;
  plan.scanned_rows = 1'000'000'000'000;
  EXPECT_FALSE(Pays(plan, {.delete_reads_saved = 79}));
  EXPECT_TRUE(Pays(plan, {.delete_reads_saved = 80})) << "too many to leave, whatever it costs";
}

TEST(PlanEffect, OfPartOfTheDeletes_CountsWhatGoes) {
  const observe::DeleteFacts facts = FactsOf(2, 3);
  DeletePlan plan = PlanDeleteRewrite(facts, {});
  std::erase_if(plan.deletes, [&](std::uint32_t i) { return facts.deletes.entries()[i].file.file_path == "e0"; });
  EXPECT_EQ(EffectOf(facts, plan).delete_reads_saved, 2 + 1);
}

TEST(PlanEffect, OfAMerge_IsTheSumOfItsGroups) {
  MergeGroup group;
  group.files = {1, 2, 3};
  group.delete_files = 7;
  group.input_bytes = 100;
  group.predicted_seconds = 2;
  Effect sum = EffectOf(group);
  sum += EffectOf(group);
  EXPECT_EQ(sum,
            (Effect{.files_removed = 4, .files_replaced = 6, .delete_reads_saved = 14, .bytes = 200, .seconds = 4}));
  EXPECT_EQ(PartOf(sum, 0.5), EffectOf(group));
}

TEST(PlanEffect, DeleteFilesThatNothingReadsCountAsOneEach) {
  EXPECT_EQ(OpensSaved({.files_removed = 2, .delete_files_removed = 5}), 7);
  EXPECT_EQ(OpensSaved({.files_removed = 2, .delete_files_removed = 5, .delete_reads_saved = 40}), 42);
}

}  // namespace
}  // namespace firn::decide
