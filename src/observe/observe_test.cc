// SPDX-License-Identifier: Apache-2.0
#include "observe/observe.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "observe/observe_fixture.h"
#include "observe/resolve.h"

namespace firn::observe {
namespace {

using fixture::Deletes;
using fixture::kList;
using fixture::ResolveFiles;
using fixture::World;
using iceberg::DataFile;
using iceberg::EntryStatus;
using iceberg::FileContent;
using iceberg::FileFormat;
using iceberg::ManifestContent;
using iceberg::ManifestEntry;
using iceberg::ManifestFile;
using iceberg::TableMetadata;
using iceberg::fixture::Added;
using iceberg::fixture::Carried;
using iceberg::fixture::Must;
using iceberg::fixture::PlainFile;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(Observe, LiveFiles_AreSummedByPartition) {
  World world;
  world.AddManifest({Added(PlainFile("a", 19001)), Added(PlainFile("b", 19000)), Added(PlainFile("c", 19001))});
  world.AddManifest({Carried(EntryStatus::kDeleted, PlainFile("gone"), 5, 3),
                     Carried(EntryStatus::kExisting, PlainFile("d", 19000), 5, 3)});
  world.AddManifest({Carried(EntryStatus::kDeleted, PlainFile("gone2"), 5, 3)});
  world.WriteList();
  std::vector<std::int64_t> done;
  ObserveOptions options;
  options.progress = [&done](const ObserveProgress& progress) {
    EXPECT_EQ(progress.manifests_total, 2);
    done.push_back(progress.manifests_done);
  };
  const auto facts = world.Run(options);
  ASSERT_TRUE(facts.has_value()) << ToString(facts.error());
  EXPECT_EQ(facts->table, "db.t");
  EXPECT_EQ(facts->snapshot_id, SnapshotId(77));
  EXPECT_EQ(facts->sequence_number, SequenceNumber(9));
  EXPECT_EQ(facts->observed_at.value, 5);
  EXPECT_THAT(done, ElementsAre(1, 2));
  ASSERT_EQ(facts->manifests.size(), 3u);
  EXPECT_EQ(facts->manifests[1].live_files, 1);
  EXPECT_EQ(facts->manifest_entries_read, 5);
  ASSERT_EQ(facts->partitions.size(), 2u);
  EXPECT_EQ(facts->partitions[0].text, "day=2022-01-09/name=x");
  EXPECT_EQ(facts->partitions[0].file_count, 2);
  EXPECT_EQ(facts->partitions[1].size_bytes, 2000);
  EXPECT_EQ(facts->partitions[1].record_count, 20);
  ASSERT_EQ(facts->files.size(), 4u);
  std::vector<std::string> places;
  for (const DataFileFacts& file : facts->files) {
    places.push_back(std::to_string(file.partition) + ":" + std::to_string(file.manifest) + ":" +
                     std::to_string(file.ordinal) + ":" + std::to_string(file.data_sequence_number));
  }
  EXPECT_THAT(places, ElementsAre("0:0:0:9", "0:0:2:9", "1:0:1:9", "1:1:1:3"));
  ASSERT_EQ(facts->snapshots.size(), 1u);
  EXPECT_THAT(facts->snapshots[0].refs, ElementsAre("main"));
  EXPECT_LE(sizeof(DataFileFacts), 56u);
}

TEST(Observe, AnyNumberOfThreads_GivesTheSameFacts) {
  World world;
  for (int i = 0; i < 40; ++i) {
    std::vector<ManifestEntry> entries;
    for (int j = 0; j < 25; ++j) {
      entries.push_back(Added(PlainFile(std::to_string(i) + "-" + std::to_string(j), 19000 + (i * j) % 7)));
    }
    world.AddManifest(entries);
  }
  world.WriteList();
  const Facts one = Must(world.Run());
  ASSERT_EQ(one.files.size(), 1000u);
  for (const int threads : {2, 5, 100}) {
    const Facts many = Must(world.Run({.threads = threads, .check_duplicates = true}));
    ASSERT_EQ(many.files.size(), one.files.size());
    for (std::size_t i = 0; i < one.files.size(); ++i) {
      EXPECT_EQ(std::memcmp(&one.files[i], &many.files[i], offsetof(DataFileFacts, flags)), 0);
    }
    ASSERT_EQ(many.partitions.size(), one.partitions.size());
    for (std::size_t i = 0; i < one.partitions.size(); ++i) EXPECT_EQ(one.partitions[i].text, many.partitions[i].text);
  }
}

TEST(Observe, Deletes_FlagTheFilesThatTheyApplyTo) {
  World world;
  world.AddManifest({Carried(EntryStatus::kExisting, PlainFile("old", 19000), 5, 2),
                     Carried(EntryStatus::kExisting, PlainFile("old2", 19000), 5, 2), Added(PlainFile("new", 19000)),
                     Carried(EntryStatus::kExisting, PlainFile("elsewhere", 19001), 5, 2)});
  DataFile referenced = Deletes(FileContent::kPositionDeletes, "p");
  referenced.referenced_data_file = "old2";
  referenced.record_count = 4;
  // Only existing entries: such a manifest must not be passed over.
  world.AddManifest({Carried(EntryStatus::kExisting, Deletes(FileContent::kEqualityDeletes, "e"), 5, 4),
                     Carried(EntryStatus::kExisting, referenced, 5, 4)},
                    {.content = ManifestContent::kDeletes});
  world.WriteList();
  const auto facts = world.Run({.threads = 2});
  ASSERT_TRUE(facts.has_value()) << ToString(facts.error());
  std::vector<int> flags;
  for (const DataFileFacts& file : facts->files) flags.push_back(file.flags);
  EXPECT_THAT(flags, ElementsAre(kHasEqualityDeletes | kMayHaveMoreDeletes,
                                 kHasEqualityDeletes | kHasPositionDeletes | kMayHaveMoreDeletes, 0, 0));
  std::vector<int> delete_files;
  for (const DataFileFacts& file : facts->files) delete_files.push_back(static_cast<int>(file.delete_files));
  EXPECT_THAT(delete_files, ElementsAre(1, 2, 0, 0));
  EXPECT_EQ(facts->files[0].deleted_rows, 0);
  EXPECT_EQ(facts->files[1].deleted_rows, 4);
  EXPECT_EQ(facts->position_delete_files, 1);
  EXPECT_EQ(facts->equality_delete_files, 1);
  EXPECT_EQ(facts->partitions[0].position_delete_files, 1);
  EXPECT_EQ(facts->partitions[0].equality_delete_files, 1);
  EXPECT_EQ(facts->partitions[0].deleted_rows_max, 4);
}

TEST(Observe, GlobalEqualityDelete_ReachesEverySpecAlsoUnderAFilter) {
  World world;
  world.AddManifest({Carried(EntryStatus::kExisting, PlainFile("a", 19000), 5, 2)});
  DataFile global = Deletes(FileContent::kEqualityDeletes, "e");
  global.spec_id = SpecId(1);
  global.partition.values.clear();
  world.AddManifest({Added(global)}, {.spec_id = SpecId(1), .content = ManifestContent::kDeletes});
  world.WriteList();
  ObserveOptions options;
  options.partition_filter = [](SpecId spec, const iceberg::PartitionTuple&) { return spec == SpecId(0); };
  for (const ObserveOptions& chosen : {ObserveOptions{}, options}) {
    const Facts facts = Must(world.Run(chosen));
    ASSERT_EQ(facts.files.size(), 1u);
    EXPECT_EQ(facts.files[0].flags, kHasEqualityDeletes | kMayHaveMoreDeletes);
    EXPECT_EQ(facts.files[0].delete_files, 1U);
    EXPECT_EQ(facts.equality_delete_files, 1);
  }
}

TEST(Observe, V3_VectorsAndLineage) {
  World world(3);
  world.AddManifest({Added(PlainFile("a")), Added(PlainFile("b")), Added(PlainFile("c", 19001))});
  const auto vector = [](const std::string& path, std::int64_t offset, std::int32_t day = 19000) {
    DataFile file = Deletes(FileContent::kPositionDeletes, "x.puffin", day);
    file.format = FileFormat::kPuffin;
    file.format_text = "PUFFIN";
    file.referenced_data_file = path;
    file.content_offset = offset;
    file.content_size_bytes = 30;
    return file;
  };
  world.AddManifest({Added(vector("b", 4)), Added(vector("c", 34, 19000))}, {.content = ManifestContent::kDeletes});
  world.WriteList();
  const Facts facts = Must(world.Run());
  ASSERT_EQ(facts.files.size(), 3u);
  EXPECT_EQ(facts.files[0].flags, kHasRowLineage);
  EXPECT_EQ(facts.files[1].flags, kHasRowLineage | kHasDeletionVector);
  // Its vector names it but stands in another partition: nobody may touch that file.
  EXPECT_EQ(facts.files[2].flags, kHasRowLineage | kHasMisplacedDeletes);
  EXPECT_EQ(facts.deletion_vectors, 2);
  ObserveOptions only_its_partition;
  only_its_partition.partition_filter = [](SpecId, const iceberg::PartitionTuple& tuple) {
    return tuple.values[0] == iceberg::Literal(std::int32_t{19001});
  };
  const Facts filtered = Must(world.Run(only_its_partition));
  ASSERT_EQ(filtered.files.size(), 1u);
  EXPECT_EQ(filtered.files[0].flags, kHasRowLineage | kHasMisplacedDeletes);
  EXPECT_EQ(filtered.deletion_vectors, 0);
}

TEST(Observe, SharedPositionDeletes_CountForFilesThatTheyCanKnow) {
  World world;
  // "merged" has old rows, but its path is younger than the deletes.
  ManifestEntry merged = Carried(EntryStatus::kExisting, PlainFile("merged", 19000), 5, 2);
  merged.file_sequence_number = SequenceNumber(6);
  world.AddManifest({Carried(EntryStatus::kExisting, PlainFile("old", 19000), 5, 2), merged});
  DataFile shared = Deletes(FileContent::kPositionDeletes, "p");
  shared.record_count = 4;
  world.AddManifest({Carried(EntryStatus::kExisting, shared, 5, 4)}, {.content = ManifestContent::kDeletes});
  world.WriteList();
  const Facts facts = Must(world.Run());
  ASSERT_EQ(facts.files.size(), 2u);
  EXPECT_EQ(facts.files[0].delete_files, 1U);
  EXPECT_EQ(facts.files[0].flags, kHasPositionDeletes | kMayHaveMoreDeletes);
  EXPECT_EQ(facts.files[1].delete_files, 0U);
  EXPECT_EQ(facts.files[1].flags, kHasPositionDeletes);
  EXPECT_EQ(facts.files[0].deleted_rows + facts.files[1].deleted_rows, 0);
}

TEST(Observe, OtherReasons_AreFlags) {
  World world;
  DataFile orc = PlainFile("a.orc"), encrypted = PlainFile("e");
  orc.format = FileFormat::kOrc;
  orc.format_text = "ORC";
  orc.sort_order_id = SortOrderId(3);
  encrypted.key_metadata = Bytes{1};
  world.AddManifest({Added(orc), Added(encrypted)});
  world.WriteList();
  const Facts facts = Must(world.Run());
  EXPECT_EQ(facts.files[0].flags, kNotParquet);
  EXPECT_EQ(facts.files[0].sort_order_id, 3);
  EXPECT_EQ(facts.files[1].flags, kEncrypted);
}

TEST(Observe, PartitionFilter_LeavesOthersOut) {
  World world;
  world.AddManifest({Added(PlainFile("a", 19000)), Added(PlainFile("b", 19001)), Added(PlainFile("c", 19000))});
  world.WriteList();
  ObserveOptions options;
  options.partition_filter = [](SpecId, const iceberg::PartitionTuple& tuple) {
    return tuple.values[0] == iceberg::Literal(std::int32_t{19001});
  };
  const Facts facts = Must(world.Run(options));
  ASSERT_EQ(facts.partitions.size(), 1u);
  ASSERT_EQ(facts.files.size(), 1u);
  EXPECT_EQ(facts.files[0].ordinal, 1u);
  EXPECT_EQ(facts.manifest_entries_read, 3);
}

TEST(Observe, V1InlineManifests_AreRead) {
  World world(1, R"(,"manifests":["s3://b/t/m0.avro","s3://b/t/m1.avro"])");
  world.AddManifest({Added(PlainFile("a"))});
  DataFile other = PlainFile("b");
  other.spec_id = SpecId(1);
  other.partition.values.clear();
  world.AddManifest({Added(other)}, {.spec_id = SpecId(1)});
  const auto facts = world.Run();
  ASSERT_TRUE(facts.has_value()) << ToString(facts.error());
  EXPECT_EQ(facts->files.size(), 2u);
  EXPECT_EQ(facts->partitions[1].spec_id, SpecId(1));
  EXPECT_FALSE(facts->manifests[0].file.added_files_count.has_value());
}

TEST(Observe, V1InlineManifestOfUnknownSpec_IsCorrupt) {
  World world(1, R"(,"manifests":["s3://b/t/m0.avro"])");
  const TableMetadata other = iceberg::fixture::Table(1, R"({"id":1,"name":"id","required":true,"type":"long"})",
                                                      R"([{"spec-id":0,"fields":[]},{"spec-id":6,"fields":[]}])");
  DataFile file = PlainFile("a");
  file.spec_id = SpecId(6);
  file.partition.values.clear();
  world.io().Put("s3://b/t/m0.avro", iceberg::fixture::Write(other, {Added(file)}, {.spec_id = SpecId(6)}).bytes);
  EXPECT_EQ(world.Run().error().code, Code::kCorrupt);
}

TEST(Observe, EmptyTableAndUnknownRef) {
  World world;
  world.table().metadata = std::make_shared<const TableMetadata>(iceberg::fixture::PlainTable(2));
  const Facts facts = Must(world.Run());
  EXPECT_FALSE(facts.snapshot_id.has_value());
  EXPECT_TRUE(facts.files.empty() && facts.snapshots.empty());
  EXPECT_EQ(world.Run({.ref = "nowhere"}).error().code, Code::kNotFound);
}

TEST(Observe, UnreadableManifest_IsAnErrorWithItsLocation) {
  for (const int threads : {1, 3}) {
    World world;
    for (int i = 0; i < 5; ++i) world.AddManifest({Added(PlainFile("f" + std::to_string(i)))});
    world.AddManifest({Added(Deletes(FileContent::kEqualityDeletes, "e"))}, {.content = ManifestContent::kDeletes});
    world.WriteList();
    world.io().Put("s3://b/t/m5.avro", Bytes{'O', 'b', 'j', 1, 0});
    auto facts = world.Run({.threads = threads});
    ASSERT_FALSE(facts.has_value());
    EXPECT_THAT(facts.error().message, HasSubstr("m5.avro"));
    ASSERT_TRUE(world.io().Delete("s3://b/t/m2.avro").has_value());
    world.lines().pop_back();
    world.WriteList();
    facts = world.Run({.threads = threads});
    ASSERT_FALSE(facts.has_value());
    EXPECT_EQ(facts.error().code, Code::kNotFound);
    EXPECT_THAT(facts.error().message, HasSubstr("m2.avro"));
  }
}

TEST(Observe, PathThatIsLiveTwice_IsFoundWhenAsked) {
  World world;
  world.AddManifest({Added(PlainFile("a")), Added(PlainFile("b"))});
  world.AddManifest({Added(PlainFile("c")), Added(PlainFile("b"))});
  world.WriteList();
  EXPECT_TRUE(world.Run().has_value());
  const auto facts = world.Run({.check_duplicates = true});
  ASSERT_FALSE(facts.has_value());
  EXPECT_EQ(facts.error().code, Code::kCorrupt);
  EXPECT_THAT(facts.error().message, HasSubstr("b is live twice: entry 1 of s3://b/t/m0.avro and entry 1 of"));
}

TEST(ForEachFile, GivesFullEntriesInTheOrderAsked) {
  World world(3);
  for (int i = 0; i < 3; ++i) {
    std::vector<ManifestEntry> entries;
    for (int j = 0; j < 4; ++j) {
      DataFile file = PlainFile(std::to_string(i) + "/" + std::to_string(j), 19000 + j);
      file.lower_bounds = {{1, {static_cast<std::uint8_t>(j)}}};
      entries.push_back(Added(std::move(file)));
    }
    world.AddManifest(entries);
  }
  world.WriteList();
  const Facts facts = Must(world.Run());
  const std::vector<std::uint32_t> chosen{11, 0, 7, 0, 4};
  const auto entries = ResolveFiles(facts, chosen, world.io(), world.metadata());
  ASSERT_TRUE(entries.has_value()) << ToString(entries.error());
  ASSERT_EQ(entries->size(), chosen.size());
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    const DataFileFacts& file = facts.files[chosen[i]];
    const ManifestEntry& entry = entries->at(i);
    EXPECT_EQ(entry.file.file_path, std::to_string(file.manifest) + "/" + std::to_string(file.ordinal));
    EXPECT_EQ(entry.file.lower_bounds.size(), 1u);
    EXPECT_EQ(entry.sequence_number, SequenceNumber(9));
    EXPECT_EQ(entry.snapshot_id, SnapshotId(77));
    EXPECT_EQ(entry.file.first_row_id, file.manifest * 40 + file.ordinal * 10);
  }
  EXPECT_TRUE(ResolveFiles(facts, {}, world.io(), world.metadata())->empty());
  EXPECT_EQ(ResolveFiles(facts, std::vector<std::uint32_t>{12}, world.io(), world.metadata()).error().code,
            Code::kInvalidArgument);
}

TEST(ForEachFile, OtherManifestThanObserved_IsCorrupt) {
  World world;
  world.AddManifest({Added(PlainFile("a")), Added(PlainFile("b"))});
  world.WriteList();
  Facts facts = Must(world.Run());
  facts.files[1].size_bytes = 7;
  EXPECT_EQ(ResolveFiles(facts, std::vector<std::uint32_t>{1}, world.io(), world.metadata()).error().code,
            Code::kCorrupt);
  facts.files[1].ordinal = 9;
  EXPECT_EQ(ResolveFiles(facts, std::vector<std::uint32_t>{1}, world.io(), world.metadata()).error().code,
            Code::kCorrupt);
}

}  // namespace
}  // namespace firn::observe
