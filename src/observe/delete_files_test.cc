// SPDX-License-Identifier: Apache-2.0
#include "observe/delete_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "observe/observe_fixture.h"

namespace firn::observe {
namespace {

using fixture::Deletes;
using fixture::World;
using iceberg::DataFile;
using iceberg::EntryStatus;
using iceberg::FileContent;
using iceberg::FileFormat;
using iceberg::ManifestContent;
using iceberg::fixture::Added;
using iceberg::fixture::Carried;
using iceberg::fixture::PlainFile;
using ::testing::ElementsAre;

DataFile Vector(const std::string& path, const std::string& data_file, std::int32_t day = 19000) {
  DataFile file = Deletes(FileContent::kPositionDeletes, path, day);
  file.format = FileFormat::kPuffin;
  file.format_text = "PUFFIN";
  file.referenced_data_file = data_file;
  file.content_offset = 4;
  file.content_size_bytes = 40;
  return file;
}

DataFile Global(DataFile file) {
  file.spec_id = SpecId(1);
  file.partition.values.clear();
  return file;
}

/// Data files a (3), b (5), c (7) of one day and d (2) of another, and deletes.
void Fill(World& world) {
  world.AddManifest({Carried(EntryStatus::kExisting, PlainFile("c"), 5, 7),
                     Carried(EntryStatus::kExisting, PlainFile("a"), 5, 3),
                     Carried(EntryStatus::kDeleted, PlainFile("gone"), 5, 1)});
  world.AddManifest({Carried(EntryStatus::kExisting, PlainFile("b"), 5, 5),
                     Carried(EntryStatus::kExisting, PlainFile("d", 19001), 5, 2)});
  DataFile of_a = Deletes(FileContent::kPositionDeletes, "p-a");
  of_a.referenced_data_file = "a";
  DataFile of_gone = of_a;
  of_gone.file_path = "p-gone";
  of_gone.referenced_data_file = "gone";
  world.AddManifest({Carried(EntryStatus::kExisting, Deletes(FileContent::kEqualityDeletes, "e4"), 5, 4),
                     Carried(EntryStatus::kExisting, Deletes(FileContent::kEqualityDeletes, "e3"), 5, 3),
                     Carried(EntryStatus::kExisting, of_a, 5, 6), Carried(EntryStatus::kExisting, of_gone, 5, 6),
                     Carried(EntryStatus::kDeleted, Deletes(FileContent::kEqualityDeletes, "e9"), 5, 9)},
                    {.content = ManifestContent::kDeletes});
}

std::vector<std::string> Texts(const DeleteFacts& facts) {
  std::vector<std::string> texts;
  for (const DeleteTarget& target : facts.targets) {
    texts.push_back(target.path + (target.kinds.equality ? " e" : "") + (target.kinds.positions ? " p" : "") +
                    (target.kinds.vector ? " v" : "") + (target.is_doubtful ? " ?" : ""));
  }
  return texts;
}

TEST(ObserveDeletes, Targets_AreLiveFilesThatSomeDeleteAppliesTo) {
  World world;
  Fill(world);
  world.WriteList();
  for (const int threads : {1, 4}) {
    const auto facts = ObserveDeletes(world.table(), world.io(), {.threads = threads});
    ASSERT_TRUE(facts.has_value()) << ToString(facts.error());
    EXPECT_THAT(Texts(*facts), ElementsAre("a e p"));
    EXPECT_EQ(facts->data_files, 4);
    EXPECT_EQ(facts->deletes.entries().size(), 4U);
    EXPECT_THAT(facts->is_needed, ElementsAre(true, false, true, false));
    const DeleteTarget& a = facts->targets[0];
    EXPECT_EQ(a.sequence_number, SequenceNumber(3));
    EXPECT_EQ(facts->manifests[a.manifest], "s3://b/t/m0.avro");
    EXPECT_EQ(facts->partitions[a.partition].text, "day=2022-01-08/name=x");
    EXPECT_EQ(DataFileOf(*facts, a).record_count, 10);
  }
}

TEST(ObserveDeletes, GlobalEqualityDelete_ReachesAllPartitions) {
  World world;
  Fill(world);
  world.AddManifest({Carried(EntryStatus::kExisting, Global(Deletes(FileContent::kEqualityDeletes, "g")), 5, 6)},
                    {.spec_id = SpecId(1), .content = ManifestContent::kDeletes});
  world.WriteList();
  const auto facts = ObserveDeletes(world.table(), world.io(), {});
  ASSERT_TRUE(facts.has_value()) << ToString(facts.error());
  EXPECT_THAT(Texts(*facts), ElementsAre("a e p", "b e", "d e"));
  EXPECT_THAT(facts->is_global, ElementsAre(false, false, false, false, true));
  EXPECT_TRUE(facts->is_needed[4]);
}

TEST(ObserveDeletes, DeletesThatDoNotFit_MakeTheirFileDoubtful) {
  World world(3);
  world.AddManifest({Carried(EntryStatus::kExisting, PlainFile("a"), 5, 3),
                     Carried(EntryStatus::kExisting, PlainFile("b"), 5, 3),
                     Carried(EntryStatus::kExisting, PlainFile("b"), 5, 3)});
  world.AddManifest({Carried(EntryStatus::kExisting, Vector("v", "a", 19001), 5, 6),
                     Carried(EntryStatus::kExisting, Vector("w", "b"), 5, 6)},
                    {.content = ManifestContent::kDeletes});
  world.WriteList();
  const auto facts = ObserveDeletes(world.table(), world.io(), {});
  ASSERT_TRUE(facts.has_value()) << ToString(facts.error());
  EXPECT_THAT(Texts(*facts), ElementsAre("a ?", "b v ?", "b v ?"));
  EXPECT_THAT(facts->is_needed, ElementsAre(true, true));
}

TEST(ObserveDeletes, WithoutDeletes_NoDataManifestIsRead) {
  World world;
  world.AddManifest({Added(PlainFile("a"))});
  world.WriteList();
  ASSERT_TRUE(world.io().Delete("s3://b/t/m0.avro").has_value());
  const auto facts = ObserveDeletes(world.table(), world.io(), {});
  ASSERT_TRUE(facts.has_value()) << ToString(facts.error());
  EXPECT_TRUE(facts->targets.empty());
  EXPECT_EQ(ObserveDeletes(world.table(), world.io(), {.ref = "none"}).error().code, Code::kNotFound);
}

TEST(ObserveDeletes, UnreadableManifest_IsAnError) {
  World world;
  Fill(world);
  world.WriteList();
  ASSERT_TRUE(world.io().Delete("s3://b/t/m1.avro").has_value());
  EXPECT_FALSE(ObserveDeletes(world.table(), world.io(), {.threads = 3}).has_value());
}

}  // namespace
}  // namespace firn::observe
