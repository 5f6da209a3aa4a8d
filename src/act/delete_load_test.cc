// SPDX-License-Identifier: Apache-2.0
#include "act/delete_load.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "act/delete_load_tables_test.h"

namespace firn::act {
namespace {

using iceberg::DeleteEntry;
using testing::DeleteTable;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using Rows = std::vector<std::pair<std::string, std::int64_t>>;

constexpr const char* kSchema =
    R"({"type":"struct","schema-id":0,"fields":[{"id":1,"name":"id","required":false,"type":"long"}]})";

DeleteTable MakeTable() { return DeleteTable(testing::MetadataOf(kSchema, 0)); }

/// A data file with ids from 0 on, as many as rows.
iceberg::DataFile PutIds(DeleteTable& table, const std::string& path, std::int64_t rows) {
  std::vector<std::int64_t> ids;
  for (std::int64_t i = 0; i < rows; ++i) ids.push_back(i);
  return table.Put(path, testing::ParquetOf({{"id", 1, "long", testing::JsonList(ids)}}));
}

Result<std::vector<DeletedRows>> Load(DeleteTable& table, DeleteCache& cache,
                                      const std::vector<iceberg::DataFile>& files,
                                      const std::vector<DeleteEntry>& deletes, int threads = 1) {
  std::vector<DataFileDeletes> wanted;
  for (const iceberg::DataFile& file : files) {
    DataFileDeletes& data = wanted.emplace_back();
    data.data = {&file, SequenceNumber(1)};
    for (const DeleteEntry& entry : deletes) {
      const bool other = entry.file.referenced_data_file && *entry.file.referenced_data_file != file.file_path;
      if (!other) data.deletes.push_back(&entry);
    }
  }
  return LoadDeletedRows(table.context(64 << 20, threads), cache, wanted);
}

roaring::PositionSet SetOf(const std::vector<std::int64_t>& positions) {
  roaring::PositionSet set;
  for (const std::int64_t position : positions) set.Add(position);
  return set;
}

TEST(LoadDeletedRows, PositionDeletes_MayBeUnsortedAndRepeated) {
  DeleteTable table = MakeTable();
  DeleteCache cache(1 << 20);
  // One path begins with the other; neither is normalised.
  const std::vector<iceberg::DataFile> files = {PutIds(table, "mem:/t/a", 10), PutIds(table, "mem:/t/ab", 10)};
  const DeleteEntry one = table.PutPositions(
      "mem:/t/d1", {{"mem:/t/ab", 7}, {"mem:/t/a", 3}, {"mem:/t/a", 3}, {"mem:/t//a", 5}, {"mem:/t/ab", 0}});
  const DeleteEntry two = table.PutPositions("mem:/t/d2", {{"mem:/t/a", 1}, {"mem:/t/a", 3}});
  const auto rows = Load(table, cache, files, {one, two}, 2);
  ASSERT_TRUE(rows.has_value()) << ToString(rows.error());
  EXPECT_THAT((*rows)[0].positions.ToVector(), ElementsAre(1, 3));
  EXPECT_THAT((*rows)[1].positions.ToVector(), ElementsAre(0, 7));
  EXPECT_EQ((*rows)[0].by_equality, 0);
}

TEST(LoadDeletedRows, PositionsBehindTheEnd_AreLeftOut) {
  DeleteTable table = MakeTable();
  DeleteCache cache(1 << 20);
  const auto rows = Load(table, cache, {PutIds(table, "mem:/t/a", 4)},
                         {table.PutPositions("mem:/t/d", {{"mem:/t/a", 3}, {"mem:/t/a", 4}, {"mem:/t/a", 1 << 20}})});
  ASSERT_TRUE(rows.has_value()) << ToString(rows.error());
  EXPECT_THAT((*rows)[0].positions.ToVector(), ElementsAre(3));
}

TEST(LoadDeletedRows, RowGroupsOfOtherPaths_AreNotNeeded) {
  DeleteTable table = MakeTable();
  DeleteCache cache(1 << 20);
  Rows deletes;
  for (int file = 0; file < 20; ++file) {
    for (int row = 0; row < 7; ++row) deletes.emplace_back(fmt::format("mem:/t/f{:02}", file), row * 2);
  }
  for (const bool statistics : {true, false}) {
    testing::FileShape shape;
    shape.row_group_rows = 5;
    shape.statistics = statistics;
    const DeleteEntry entry = table.PutPositions("mem:/t/d", deletes, shape);
    for (const char* const path : {"mem:/t/f00", "mem:/t/f07", "mem:/t/f19", "mem:/t/f", "mem:/t/g"}) {
      const auto loaded = LoadPositionDeletes(table.context(), entry.file, std::vector<std::string_view>{path});
      ASSERT_TRUE(loaded.has_value()) << ToString(loaded.error());
      const roaring::PositionSet* const found = loaded->Find(path);
      if (std::string_view(path).size() == 10) {
        ASSERT_NE(found, nullptr) << path;
        EXPECT_THAT(found->ToVector(), ElementsAre(0, 2, 4, 6, 8, 10, 12));
      } else {
        EXPECT_EQ(found, nullptr);
      }
      EXPECT_LE(loaded->by_path.size(), 1u);
    }
  }
}

TEST(LoadDeletedRows, FileWithoutIds_IsReadByNames) {
  DeleteTable table = MakeTable();
  DeleteCache cache(1 << 20);
  testing::FileShape shape;
  shape.with_ids = false;
  const auto rows =
      Load(table, cache, {PutIds(table, "mem:/t/a", 4)}, {table.PutPositions("mem:/t/d", {{"mem:/t/a", 2}}, shape)});
  ASSERT_TRUE(rows.has_value()) << ToString(rows.error());
  EXPECT_THAT((*rows)[0].positions.ToVector(), ElementsAre(2));
}

TEST(LoadDeletedRows, BadPositionDeletes_AreErrors) {
  DeleteTable table = MakeTable();
  DeleteCache cache(1 << 20);
  const std::vector<iceberg::DataFile> files = {PutIds(table, "mem:/t/a", 4)};
  const DeleteEntry good = table.PutPositions("mem:/t/good", {{"mem:/t/a", 2}});
  const struct {
    std::vector<testing::Column> columns;
    const char* text;
  } cases[] = {
      {testing::PositionColumns({{"mem:/t/a", -1}}), "negative"},
      {{{"file_path", 2147483546, "string", R"(["mem:/t/a", null])"}, {"pos", 2147483545, "long", "[1, 2]"}}, "null"},
      {{{"file_path", 2147483546, "string", R"(["mem:/t/a"])"}, {"pos", 2147483545, "long", "[null]"}}, "null"},
      {{{"file_path", 2147483546, "string", R"(["mem:/t/a"])"}, {"pos", 7, "long", "[1]"}}, "no column `pos`"},
      {{{"file_path", 2147483546, "long", "[1]"}, {"pos", 2147483545, "long", "[1]"}}, "column file_path"},
  };
  for (const auto& c : cases) {
    DeleteEntry bad = good;
    bad.file = table.Put("mem:/t/bad", testing::ParquetOf(c.columns));
    bad.file.content = iceberg::FileContent::kPositionDeletes;
    const auto rows = Load(table, cache, files, {good, bad});
    ASSERT_FALSE(rows.has_value()) << c.text;
    EXPECT_THAT(rows.error().message, HasSubstr("mem:/t/bad"));
    EXPECT_THAT(rows.error().message, HasSubstr(c.text));
  }
  DeleteEntry gone = good;
  gone.file.file_path = "mem:/t/gone";
  EXPECT_EQ(Load(table, cache, files, {good, gone}).error().code, Code::kNotFound);
  DeleteEntry miscounted = good;
  miscounted.file.file_path = "mem:/t/copy";
  table.io().Put("mem:/t/copy", testing::ParquetOf(testing::PositionColumns({{"mem:/t/a", 2}, {"mem:/t/a", 3}})));
  EXPECT_FALSE(Load(table, cache, files, {miscounted}).has_value());
  DeleteEntry avro = good;
  avro.file.format = iceberg::FileFormat::kAvro;
  avro.file.file_path = "mem:/t/d.avro";
  EXPECT_EQ(Load(table, cache, files, {avro}).error().code, Code::kUnsupported);
}

TEST(LoadDeletedRows, DeletionVector_HidesPositionDeletes) {
  DeleteTable table = MakeTable();
  DeleteCache cache(1 << 20);
  const std::vector<iceberg::DataFile> files = {PutIds(table, "mem:/t/a", 10), PutIds(table, "mem:/t/b", 10)};
  std::vector<DeleteEntry> deletes =
      table.PutVectors("mem:/t/v.puffin", {{"mem:/t/x", SetOf({0})}, {"mem:/t/a", SetOf({2, 4})}});
  deletes.push_back(table.PutPositions("mem:/t/d", {{"mem:/t/a", 9}, {"mem:/t/b", 9}}));
  const auto rows = Load(table, cache, files, deletes, 2);
  ASSERT_TRUE(rows.has_value()) << ToString(rows.error());
  EXPECT_THAT((*rows)[0].positions.ToVector(), ElementsAre(2, 4));
  EXPECT_THAT((*rows)[1].positions.ToVector(), ElementsAre(9));
}

TEST(LoadDeletedRows, VectorThatDoesNotFitItsEntry_IsAnError) {
  DeleteTable table = MakeTable();
  DeleteCache cache(1 << 20);
  const std::vector<iceberg::DataFile> files = {PutIds(table, "mem:/t/a", 10)};
  const DeleteEntry good = table.PutVectors("mem:/t/v.puffin", {{"mem:/t/a", SetOf({2, 4})}}).front();
  ASSERT_TRUE(Load(table, cache, files, {good}).has_value());
  const auto message_with = [&](const auto& change) {
    DeleteEntry bad = good;
    change(bad.file);
    DataFileDeletes data{{files.data(), SequenceNumber(1)}, {&bad}};
    const auto rows = LoadDeletedRows(table.context(), cache, std::span(&data, 1));
    return rows ? "no error" : ToString(rows.error());
  };
  EXPECT_THAT(message_with([](auto& file) { file.record_count = 3; }), HasSubstr("its entry says 3"));
  EXPECT_THAT(message_with([](auto& file) { file.referenced_data_file = "mem:/t/b"; }), HasSubstr("is not mem:/t/a"));
  EXPECT_THAT(message_with([](auto& file) { file.content_offset = std::nullopt; }), HasSubstr("where it is"));
  EXPECT_THAT(message_with([](auto& file) { ++*file.content_offset; }), HasSubstr("corrupt"));
  EXPECT_THAT(message_with([](auto& file) { *file.content_size_bytes = 1 << 20; }), HasSubstr("ends behind"));
  EXPECT_THAT(message_with([](auto& file) { file.file_path = "mem:/t/gone"; }), HasSubstr("not found"));
  EXPECT_EQ(Load(table, cache, files, {good, good}).error().code, Code::kCorrupt);  // two vectors
}

TEST(LoadDeletedRows, AllKinds_AreJoined) {
  DeleteTable table = MakeTable();
  DeleteCache cache(1 << 20);
  const std::vector<iceberg::DataFile> files = {PutIds(table, "mem:/t/a", 10), PutIds(table, "mem:/t/b", 10)};
  std::vector<DeleteEntry> deletes = table.PutVectors("mem:/t/v.puffin", {{"mem:/t/a", SetOf({2, 4})}});
  deletes.push_back(table.PutPositions("mem:/t/d", {{"mem:/t/b", 9}}));
  deletes.push_back(table.PutEquality("mem:/t/e", testing::ParquetOf({{"id", 1, "long", "[4, 9, 6, 77]"}}), {1}, 5));
  const auto rows = Load(table, cache, files, deletes);
  ASSERT_TRUE(rows.has_value()) << ToString(rows.error());
  EXPECT_THAT((*rows)[0].positions.ToVector(), ElementsAre(2, 4, 6, 9));
  EXPECT_EQ((*rows)[0].by_equality, 2);
  EXPECT_THAT((*rows)[1].positions.ToVector(), ElementsAre(4, 6, 9));
  EXPECT_EQ((*rows)[1].by_equality, 2);
}

TEST(LoadDeletedRows, DeletesOf_GivesWhatTheIndexFinds) {
  DeleteTable table = MakeTable();
  const iceberg::DataFile file = PutIds(table, "mem:/t/a", 10);
  iceberg::DeleteIndex index;
  index.Add(table.PutEquality("mem:/t/e", testing::ParquetOf({{"id", 1, "long", "[1]"}}), {1}, 5), true);
  index.Build();
  EXPECT_EQ(DeletesOf(index, {&file, SequenceNumber(4)}).deletes.size(), 1u);
  EXPECT_THAT(DeletesOf(index, {&file, SequenceNumber(5)}).deletes, IsEmpty());
}

TEST(DeleteCache, FileOfManyDataFiles_IsLoadedOnce) {
  DeleteTable table = MakeTable();
  DeleteCache cache(1 << 20);
  const std::vector<iceberg::DataFile> files = {PutIds(table, "mem:/t/a", 10), PutIds(table, "mem:/t/b", 10)};
  const DeleteEntry entry = table.PutPositions("mem:/t/d", {{"mem:/t/a", 1}, {"mem:/t/b", 2}});
  for (int round = 0; round < 3; ++round) {
    for (const iceberg::DataFile& file : files) ASSERT_TRUE(Load(table, cache, {file}, {entry}).has_value());
  }
  EXPECT_EQ(cache.loads(), 1);
  EXPECT_GT(cache.memory_bytes(), 0);
}

TEST(DeleteCache, LittleMemory_ForgetsTheOldest) {
  DeleteTable table = MakeTable();
  DeleteCache cache(2000);
  const std::vector<iceberg::DataFile> files = {PutIds(table, "mem:/t/a", 10)};
  std::vector<DeleteEntry> entries;
  for (int i = 0; i < 30; ++i) {
    entries.push_back(table.PutPositions(fmt::format("mem:/t/d{}", i), {{"mem:/t/a", i % 10}, {"mem:/t/b", 2}}));
  }
  for (int round = 0; round < 2; ++round) {
    const auto rows = Load(table, cache, files, entries, 2);
    ASSERT_TRUE(rows.has_value()) << ToString(rows.error());
    EXPECT_EQ((*rows)[0].positions.cardinality(), 10);
    EXPECT_LE(cache.memory_bytes(), 2000);
  }
  EXPECT_GT(cache.loads(), 30);
}

TEST(DeleteCache, FileThatDoesNotFit_IsReadForItsDataFilesOnly) {
  DeleteTable table = MakeTable();
  DeleteCache cache(1000);
  const std::vector<iceberg::DataFile> files = {PutIds(table, "mem:/t/a", 10)};
  Rows deletes = {{"mem:/t/a", 1}};
  for (int i = 0; i < 200; ++i) deletes.emplace_back(fmt::format("mem:/t/f{}", i), i);
  const auto rows = Load(table, cache, files, {table.PutPositions("mem:/t/d", deletes)});
  ASSERT_TRUE(rows.has_value()) << ToString(rows.error());
  EXPECT_THAT((*rows)[0].positions.ToVector(), ElementsAre(1));
  EXPECT_EQ(cache.memory_bytes(), 0);
}

TEST(DeleteCache, Failure_IsTriedAgain) {
  DeleteTable table = MakeTable();
  DeleteCache cache(1 << 20);
  const std::vector<iceberg::DataFile> files = {PutIds(table, "mem:/t/a", 10)};
  const DeleteEntry entry = table.PutPositions("mem:/t/d", {{"mem:/t/a", 1}, {"mem:/t/b", 1}});
  const Bytes good = testing::ParquetOf(testing::PositionColumns({{"mem:/t/a", 1}, {"mem:/t/b", 1}}));
  table.io().Put("mem:/t/d", Bytes(good.size()));
  EXPECT_EQ(Load(table, cache, files, {entry}).error().code, Code::kCorrupt);
  table.io().Put("mem:/t/d", good);
  EXPECT_TRUE(Load(table, cache, files, {entry}).has_value());
}

TEST(LoadEachDeletedRows, BrokenDeletes_AreErrorsOfTheFilesThatNeedThem) {
  DeleteTable table = MakeTable();
  DeleteCache cache(1 << 20);
  std::vector<iceberg::DataFile> files;
  for (const char* const name : {"a", "b", "c", "d", "e"})
    files.push_back(PutIds(table, std::string("mem:/t/") + name, 4));
  const DeleteEntry positions = table.PutPositions("mem:/t/p", {{"mem:/t/b", 1}});
  const auto vectors = table.PutVectors("mem:/t/v", {{"mem:/t/c", SetOf({2})}, {"mem:/t/d", SetOf({3})}});
  DeleteEntry bad_vector = vectors[0];
  bad_vector.file.record_count = 7;
  const DeleteEntry keys = table.PutEquality("mem:/t/k", testing::ParquetOf({{"id", 1, "long", "[0]"}}), {1}, 9);
  table.io().Put("mem:/t/p", Bytes(50));
  table.io().Put("mem:/t/e", Bytes(50));
  const std::vector<DataFileDeletes> wanted = {{{&files[0], SequenceNumber(1)}, {&keys}},
                                               {{&files[1], SequenceNumber(1)}, {&positions, &keys}},
                                               {{&files[2], SequenceNumber(1)}, {&bad_vector}},
                                               {{&files[3], SequenceNumber(1)}, {&vectors[1]}},
                                               {{&files[4], SequenceNumber(1)}, {&keys}}};
  const auto rows = LoadEachDeletedRows(table.context(64 << 20, 2), cache, wanted);
  ASSERT_TRUE(rows.has_value()) << ToString(rows.error());
  EXPECT_THAT((*rows)[0]->positions.ToVector(), ElementsAre(0));
  EXPECT_THAT(ToString((*rows)[1].error()), HasSubstr("mem:/t/p"));
  EXPECT_THAT(ToString((*rows)[2].error()), HasSubstr("mem:/t/v"));
  EXPECT_THAT((*rows)[3]->positions.ToVector(), ElementsAre(3));
  EXPECT_THAT(ToString((*rows)[4].error()), HasSubstr("mem:/t/e"));
  EXPECT_FALSE(LoadDeletedRows(table.context(), cache, wanted).has_value());

  // A broken equality delete file concerns all that it applies to.
  table.io().Put("mem:/t/k", Bytes(50));
  const auto none = LoadEachDeletedRows(table.context(), cache, wanted);
  ASSERT_TRUE(none.has_value());
  EXPECT_THAT(ToString((*none)[0].error()), HasSubstr("mem:/t/k"));
  EXPECT_TRUE((*none)[3].has_value());

  const std::atomic<bool> cancelled = true;
  DeleteLoadContext context = table.context();
  context.cancelled = &cancelled;
  EXPECT_EQ(LoadEachDeletedRows(context, cache, wanted).error().code, Code::kCancelled);
}

}  // namespace
}  // namespace firn::act
