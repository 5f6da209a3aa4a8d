// SPDX-License-Identifier: Apache-2.0
#include "decide/delete_rewrite.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "decide/decide.h"
#include "decide/delete_plan_json.h"

namespace firn::decide {
namespace {

using iceberg::DataFile;
using iceberg::FileContent;
using iceberg::FileFormat;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr std::int64_t kMib = 1 << 20;

/// Facts as observe would make them, of a table partitioned by an int.
class FactsBuilder {
 public:
  explicit FactsBuilder(std::int32_t format_version) {
    facts_.format_version = format_version;
    facts_.snapshot_id = SnapshotId(7);
    facts_.sequence_number = SequenceNumber(90);
  }

  void AddEquality(std::int32_t part, std::int64_t number, bool is_global = false) {
    DataFile file = NewDelete(part, FileContent::kEqualityDeletes, kMib);
    if (is_global) file.spec_id = SpecId(1);
    if (is_global) file.partition.values.clear();
    Add(std::move(file), number, is_global);
  }
  void AddPositions(std::int32_t part, std::int64_t number, const std::string& path = "",
                    std::int64_t size_bytes = kMib) {
    DataFile file = NewDelete(part, FileContent::kPositionDeletes, size_bytes);
    if (!path.empty()) file.referenced_data_file = path;
    Add(std::move(file), number, false);
  }
  void AddVector(std::int32_t part, std::int64_t number, const std::string& path) {
    DataFile file = NewDelete(part, FileContent::kPositionDeletes, kMib);
    file.format = FileFormat::kPuffin;
    file.referenced_data_file = path;
    Add(std::move(file), number, false);
  }
  void AddTarget(const std::string& path, std::int32_t part, std::int64_t number) {
    observe::DeleteTarget target;
    target.path = path;
    target.partition = static_cast<std::uint32_t>(part);
    target.record_count = 100;
    target.size_bytes = kMib;
    target.sequence_number = SequenceNumber(number);
    facts_.targets.push_back(target);
  }

  observe::DeleteFacts Build() {
    for (std::int32_t part = 0; part < 3; ++part) {
      facts_.partitions.push_back({SpecId(0), {{part}}, fmt::format("part={}", part)});
    }
    for (auto& [entry, is_global] : deletes_) {
      if (change_) change_(entry.file);
      facts_.is_global.push_back(is_global);
      facts_.deletes.Add(entry, is_global);
    }
    facts_.deletes.Build();
    facts_.is_needed.resize(deletes_.size());
    for (observe::DeleteTarget& target : facts_.targets) {
      if (change_target_) change_target_(target);
      const DataFile file = DataFileOf(facts_, target);
      target.kinds = facts_.deletes.FindKinds(file, target.sequence_number);
      target.is_doubtful = facts_.deletes.FindMisplaced(file, target.sequence_number).any();
      for (const std::uint32_t i : facts_.deletes.Find(file, target.sequence_number)) facts_.is_needed[i] = true;
      for (const std::uint32_t i : facts_.deletes.Misplaced(file, target.sequence_number)) facts_.is_needed[i] = true;
    }
    return std::move(facts_);
  }

  std::function<void(DataFile&)> change_;
  std::function<void(observe::DeleteTarget&)> change_target_;

 private:
  DataFile NewDelete(std::int32_t part, FileContent content, std::int64_t size_bytes) {
    DataFile file;
    file.file_path = fmt::format("d{}", deletes_.size());
    file.content = content;
    file.partition.values = {part};
    file.record_count = 10;
    file.file_size_bytes = size_bytes;
    if (content == FileContent::kEqualityDeletes) file.equality_ids = {1};
    return file;
  }
  void Add(DataFile file, std::int64_t number, bool is_global) {
    deletes_.push_back({{std::move(file), SequenceNumber(number)}, is_global});
  }

  observe::DeleteFacts facts_;
  std::vector<std::pair<iceberg::DeleteEntry, bool>> deletes_;
};

DeleteRewriteOptions Only(bool equality, bool positions, bool dangling) {
  DeleteRewriteOptions options;
  options.equality = equality;
  options.positions = positions;
  options.dangling = dangling;
  return options;
}

FactsBuilder Mixed(std::int32_t version) {
  FactsBuilder builder(version);
  builder.AddEquality(0, 5);        // d0
  builder.AddEquality(0, 2);        // d1: nothing is older
  builder.AddPositions(0, 6, "a");  // d2
  builder.AddPositions(0, 6);       // d3: of any file
  builder.AddPositions(1, 3);       // d4: nothing is as old
  builder.AddTarget("a", 0, 3);
  builder.AddTarget("b", 0, 5);  // positions only
  builder.AddTarget("c", 1, 4);
  return builder;
}

TEST(PlanDeleteRewrite, Version3_EverythingGoesToVectors) {
  const observe::DeleteFacts facts = Mixed(3).Build();
  const DeletePlan plan = PlanDeleteRewrite(facts, {});
  EXPECT_TRUE(plan.writes_vectors);
  EXPECT_THAT(plan.deletes, ElementsAre(0, 1, 2, 3, 4));
  EXPECT_THAT(plan.targets, ElementsAre(0, 1));
  EXPECT_EQ(plan.equality_files, 1);
  EXPECT_EQ(plan.position_files, 2);
  EXPECT_EQ(plan.dangling_files, 2);
  EXPECT_EQ(plan.scanned_files, 1);
  EXPECT_EQ(plan.scanned_rows, 100);
  EXPECT_EQ(plan.reason,
            "Rewriting 1 equality delete file to deletion vectors, 2 position delete files to deletion vectors, 2 "
            "delete files that apply to nothing; the keys of 100 rows in 1 data file are read.");
  EXPECT_EQ(ToJson(plan, facts).Find("deletes")->elements().size(), 5U);
}

TEST(PlanDeleteRewrite, Version3OnlyEquality_TakesPositionDeletesThatEveryFileIsCoveredFor) {
  // d2 names a file that gets a vector; d3 reaches another one, which keeps it.
  const DeletePlan plan = PlanDeleteRewrite(Mixed(3).Build(), Only(true, false, false));
  EXPECT_THAT(plan.deletes, ElementsAre(0, 2));
  EXPECT_THAT(plan.targets, ElementsAre(0));
}

TEST(PlanDeleteRewrite, Version2_MergesOnlyManySmallFiles) {
  DeletePlan plan = PlanDeleteRewrite(Mixed(2).Build(), {});
  EXPECT_FALSE(plan.writes_vectors);
  EXPECT_THAT(plan.deletes, ElementsAre(0, 1, 4));
  EXPECT_THAT(plan.targets, ElementsAre(0));
  ASSERT_EQ(plan.refusals.size(), 2U);
  EXPECT_EQ(plan.refusals[0].code, kCodeFew);
  EXPECT_EQ(plan.refusals[0].partition, "part=0");

  DeleteRewriteOptions options;
  options.min_input_files = 2;
  plan = PlanDeleteRewrite(Mixed(2).Build(), options);
  EXPECT_THAT(plan.deletes, ElementsAre(0, 1, 2, 3, 4));
  EXPECT_THAT(plan.targets, ElementsAre(0, 1));
  options.target_size_bytes = kMib;  // they are as large as wanted
  EXPECT_THAT(PlanDeleteRewrite(Mixed(2).Build(), options).deletes, ElementsAre(0, 1, 4));
}

TEST(PlanDeleteRewrite, Version2ByFile_MergesDeletesOfOneDataFile) {
  FactsBuilder builder(2);
  for (const char* const path : {"a", "a", "b"}) builder.AddPositions(0, 6, path);
  builder.AddPositions(0, 6);
  builder.AddTarget("a", 0, 3);
  builder.AddTarget("b", 0, 3);
  DeleteRewriteOptions options;
  options.by_file = true;
  const DeletePlan plan = PlanDeleteRewrite(builder.Build(), options);
  EXPECT_THAT(plan.deletes, ElementsAre(0, 1));
  EXPECT_THAT(plan.targets, ElementsAre(0));
}

TEST(PlanDeleteRewrite, UnreadableFiles_KeepTheirDeletes) {
  const struct {
    std::string_view code;
    std::function<void(observe::DeleteTarget&)> change_target;
    std::function<void(DataFile&)> change;
  } cases[] = {
      {"format", [](auto& t) { t.format = FileFormat::kOrc; }, {}},
      {"encrypted", [](auto& t) { t.is_encrypted = true; }, {}},
      {"format", {}, [](auto& f) { f.format = FileFormat::kAvro; }},
      {"encrypted", {}, [](auto& f) { f.key_metadata = Bytes{1}; }},
  };
  for (const auto& c : cases) {
    FactsBuilder builder(3);
    builder.AddEquality(0, 5);
    builder.AddEquality(1, 5);
    builder.AddTarget("a", 0, 3);
    builder.AddTarget("b", 1, 3);
    if (c.change_target) {
      builder.change_target_ = [&](observe::DeleteTarget& target) {
        if (target.path == "a") c.change_target(target);
      };
    }
    if (c.change) {
      builder.change_ = [&](DataFile& file) {
        if (file.file_path == "d0") c.change(file);
      };
    }
    const DeletePlan plan = PlanDeleteRewrite(builder.Build(), {});
    EXPECT_THAT(plan.deletes, ElementsAre(1));
    EXPECT_THAT(plan.targets, ElementsAre(1));
    ASSERT_EQ(plan.refusals.size(), 1U);
    EXPECT_EQ(plan.refusals[0].code, c.code);
  }
}

TEST(PlanDeleteRewrite, Version3_UnreadablePositionsKeepTheFileFromAVector) {
  FactsBuilder builder(3);
  builder.AddEquality(0, 5);
  builder.AddPositions(0, 6, "a");
  builder.AddTarget("a", 0, 3);
  builder.change_ = [](DataFile& file) {
    if (file.content == FileContent::kPositionDeletes) file.format = FileFormat::kOrc;
  };
  const DeletePlan plan = PlanDeleteRewrite(builder.Build(), {});
  EXPECT_THAT(plan.deletes, IsEmpty());
  EXPECT_THAT(plan.targets, IsEmpty());
  EXPECT_EQ(plan.refusals.size(), 2U);
}

TEST(PlanDeleteRewrite, MisplacedDelete_NeitherGoesNorLetsOthersGo) {
  FactsBuilder builder(3);
  builder.AddEquality(0, 5);
  builder.AddPositions(1, 6, "a");  // of another partition than the file
  builder.AddTarget("a", 0, 3);
  const DeletePlan plan = PlanDeleteRewrite(builder.Build(), {});
  EXPECT_THAT(plan.deletes, IsEmpty());
  EXPECT_EQ(plan.refusals.front().code, kCodeDoubtful);
}

TEST(PlanDeleteRewrite, VectorHidesPositionDeletes_TheyGoWithoutANewVector) {
  FactsBuilder builder(3);
  builder.AddVector(0, 7, "a");
  builder.AddPositions(0, 6, "a");
  builder.AddTarget("a", 0, 3);
  const DeletePlan plan = PlanDeleteRewrite(builder.Build(), {});
  EXPECT_THAT(plan.deletes, ElementsAre(1));
  EXPECT_EQ(plan.dangling_files, 1);
  EXPECT_THAT(plan.targets, IsEmpty());
}

iceberg::MetadataPtr PartMetadata() {
  const std::string_view text =
      R"({"format-version":2,"table-uuid":"9c12d441-03fe-4693-9a96-a0705ddf69c1","location":"mem://t",)"
      R"("last-updated-ms":1,"last-sequence-number":0,"last-column-id":1,"current-schema-id":0,"schemas":[)"
      R"({"type":"struct","schema-id":0,"fields":[{"id":1,"name":"part","required":true,"type":"int"}]}],)"
      R"("default-spec-id":0,"partition-specs":[{"spec-id":0,"fields":[{"source-id":1,"field-id":1000,"name":"part",)"
      R"("transform":"identity"}]},{"spec-id":1,"fields":[]}],"last-partition-id":1000,"default-sort-order-id":0,)"
      R"("sort-orders":[{"order-id":0,"fields":[]}],"properties":{},"snapshots":[],"refs":{}})";
  auto metadata = iceberg::TableMetadata::Parse(AsBytes(text));
  EXPECT_TRUE(metadata.has_value());
  return std::make_shared<const iceberg::TableMetadata>(std::move(*metadata));
}

TEST(PlanDeleteRewrite, SelectedPartitions_LeaveGlobalDeletesAlone) {
  FactsBuilder builder(3);
  builder.AddEquality(0, 5);
  builder.AddEquality(1, 5);
  builder.AddEquality(0, 6, true);
  builder.AddPositions(2, 1);  // dangling
  builder.AddTarget("a", 0, 3);
  builder.AddTarget("b", 1, 3);
  const observe::DeleteFacts facts = builder.Build();
  EXPECT_THAT(PlanDeleteRewrite(facts, {}).deletes, ElementsAre(0, 1, 2, 3));
  const auto selection = PartitionSelection::Make(nullptr, {"part=1"}, PartMetadata());
  ASSERT_TRUE(selection.has_value()) << ToString(selection.error());
  DeleteRewriteOptions options;
  options.selection = &*selection;
  const DeletePlan plan = PlanDeleteRewrite(facts, options);
  EXPECT_THAT(plan.deletes, ElementsAre(1));
  EXPECT_THAT(plan.targets, ElementsAre(1));
  EXPECT_EQ(plan.refusals.front().code, kCodeGlobal);
}

TEST(PlanDeleteRewrite, Disabled_PlansNothingAndSaysSo) {
  DeleteRewriteOptions options;
  options.enabled = false;
  const DeletePlan plan = PlanDeleteRewrite(Mixed(3).Build(), options);
  EXPECT_THAT(plan.deletes, IsEmpty());
  ASSERT_EQ(plan.refusals.size(), 1U);
  EXPECT_EQ(plan.refusals[0].code, "disabled");
}

}  // namespace
}  // namespace firn::decide
