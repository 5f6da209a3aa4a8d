// SPDX-License-Identifier: Apache-2.0
#include "act/equality_match.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <utility>

#include "act/delete_load_tables_test.h"
#include "format/parquet/footer.h"

namespace firn::act {
namespace {

using iceberg::DeleteEntry;
using testing::Column;
using testing::DeleteTable;
using ::testing::ElementsAre;
using testing::FieldOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::ParquetOf;
using testing::SchemaOf;
using testing::TableOf;
using Positions = std::vector<std::int64_t>;

Result<std::vector<Positions>> Match(const DeleteLoadContext& context, const std::vector<iceberg::DataFile>& files,
                                     const std::vector<DeleteEntry>& deletes, std::int64_t sequence_number = 1,
                                     EqualityStatistics* statistics = nullptr) {
  std::vector<DataFileRef> data;
  for (const iceberg::DataFile& file : files) data.push_back({&file, SequenceNumber(sequence_number)});
  std::vector<const DeleteEntry*> entries;
  for (const DeleteEntry& entry : deletes) entries.push_back(&entry);
  FIRN_ASSIGN(const auto found, MatchEqualityDeletes(context, data, entries, statistics));
  std::vector<Positions> positions;
  for (const Result<roaring::PositionSet>& set : found) {
    if (!set) return set.error();
    positions.push_back(set->ToVector());
  }
  return positions;
}

/// One data file and one delete file with all the ids of its columns.
Result<Positions> MatchOne(DeleteTable& table, const std::vector<Column>& data, const std::vector<Column>& deletes,
                           std::vector<FieldId> ids = {}) {
  if (ids.empty()) {
    for (const Column& column : deletes) ids.push_back(column.id);
  }
  const iceberg::DataFile file = table.Put("mem:/t/a", ParquetOf(data));
  const DeleteEntry entry = table.PutEquality("mem:/t/e", ParquetOf(deletes), ids, 2);
  FIRN_ASSIGN(const auto positions, Match(table.context(), {file}, {entry}));
  return positions[0];
}

TEST(MatchEqualityDeletes, SequenceNumber_MustBeHigher) {
  DeleteTable table = TableOf(FieldOf(1, "id", "long"));
  const iceberg::DataFile file = table.Put("mem:/t/a", ParquetOf({{"id", 1, "long", "[10, 11, 12, 13]"}}));
  const std::vector<DeleteEntry> deletes = {
      table.PutEquality("mem:/t/e3", ParquetOf({{"id", 1, "long", "[10, 13]"}}), {1}, 3),
      table.PutEquality("mem:/t/e5", ParquetOf({{"id", 1, "long", "[12, 99]"}}), {1}, 5),
      table.PutEquality("mem:/t/e4", ParquetOf({{"id", 1, "long", "[13, 13]"}}), {1}, 4)};
  EXPECT_THAT(Match(table.context(), {file}, deletes, 2).value()[0], ElementsAre(0, 2, 3));
  EXPECT_THAT(Match(table.context(), {file}, deletes, 3).value()[0], ElementsAre(2, 3));
  EXPECT_THAT(Match(table.context(), {file}, deletes, 4).value()[0], ElementsAre(2));
  EXPECT_THAT(Match(table.context(), {file}, deletes, 5).value()[0], IsEmpty());
}

TEST(MatchEqualityDeletes, Null_EqualsNullAndNothingElse) {
  DeleteTable table = TableOf(FieldOf(1, "a", "int") + "," + FieldOf(2, "b", "string"));
  const std::vector<Column> data = {{"a", 1, "int", "[null, 1, 0, null, 1]"},
                                    {"b", 2, "string", R"([null, "x", "", "x", null])"}};
  const struct {
    const char* a;
    const char* b;
    Positions wanted;
  } cases[] = {
      {"[null]", "[null]", {0}},
      {"[1]", R"(["x"])", {1}},
      {"[0]", R"([""])", {2}},
      {"[null]", R"(["x"])", {3}},
      {"[1]", "[null]", {4}},
      {"[null]", R"([""])", {}},
      {"[1, null]", R"(["x", "x"])", {1, 3}},
      {"[0]", "[null]", {}},
  };
  for (const auto& c : cases) {
    const auto found = MatchOne(table, data, {{"a", 1, "int", c.a}, {"b", 2, "string", c.b}});
    ASSERT_TRUE(found.has_value()) << ToString(found.error());
    EXPECT_EQ(*found, c.wanted) << c.a << " " << c.b;
  }
  EXPECT_EQ(MatchOne(table, data, {{"a", 1, "int", "[null]"}}).value(), (Positions{0, 3}));
  EXPECT_EQ(MatchOne(table, data, {{"b", 2, "string", "[null]"}}).value(), (Positions{0, 4}));
  EXPECT_EQ(MatchOne(table, data, {{"a", 1, "int", "[0]"}}).value(), (Positions{2}));
}

TEST(MatchEqualityDeletes, IdSets_AreMatchedEachByItself) {
  DeleteTable table = TableOf(FieldOf(1, "a", "int") + "," + FieldOf(2, "b", "int"));
  const iceberg::DataFile file =
      table.Put("mem:/t/a", ParquetOf({{"a", 1, "int", "[1, 1, 2, 3]"}, {"b", 2, "int", "[1, 2, 1, 3]"}}));
  // Columns in another order, and one that is not compared.
  const std::vector<DeleteEntry> deletes = {
      table.PutEquality("mem:/t/ab", ParquetOf({{"b", 2, "int", "[2]"}, {"a", 1, "int", "[1]"}}), {2, 1}, 2),
      table.PutEquality("mem:/t/b", ParquetOf({{"a", 1, "int", "[7]"}, {"b", 2, "int", "[3]"}}), {2}, 2)};
  EXPECT_THAT(Match(table.context(), {file}, deletes).value()[0], ElementsAre(1, 3));
}

TEST(MatchEqualityDeletes, EveryType_IsCompared) {
  const struct {
    const char* type;
    const char* data;
    const char* deletes;
    Positions wanted;
  } cases[] = {
      {"boolean", "[true, false, null]", "[false]", {1}},
      {"int", "[1, -1, null]", "[-1]", {1}},
      {"long", "[1, -1, 4294967297]", "[4294967297]", {2}},
      {"float", "[0.0, -0.0, 1.5, NaN]", "[-0.0, NaN]", {1, 3}},
      {"double", "[0.0, -0.0, 1.5, NaN]", "[0.0, NaN]", {0, 3}},
      {"string", R"(["a", "ab", ""])", R"(["ab", "b"])", {1}},
      {"binary", R"(["a", "ab", ""])", R"([""])", {2}},
      {"fixed[3]", R"(["abc", "abd"])", R"(["abd"])", {1}},
      {"uuid", R"(["0123456789abcdef", "0123456789abcdeg"])", R"(["0123456789abcdeg"])", {1}},
      {"date", "[1, 2]", "[2]", {1}},
      {"time", "[1, 2]", "[2]", {1}},
      {"timestamp", "[1, 2]", "[2]", {1}},
      {"timestamptz", "[1, 2]", "[2]", {1}},
      {"decimal(9,2)", R"(["1.00", "-1.00"])", R"(["-1.00"])", {1}},
      {"decimal(12,2)", R"(["1.00", "-1.00"])", R"(["-1.00"])", {1}},
      {"decimal(38,2)", R"(["1.00", "-1.00"])", R"(["-1.00"])", {1}},
  };
  for (const auto& c : cases) {
    DeleteTable table = TableOf(FieldOf(1, "k", c.type));
    const auto found = MatchOne(table, {{"k", 1, c.type, c.data}}, {{"k", 1, c.type, c.deletes}});
    ASSERT_TRUE(found.has_value()) << c.type << ": " << ToString(found.error());
    EXPECT_EQ(*found, c.wanted) << c.type;
  }
}

TEST(MatchEqualityDeletes, PromotedColumns_AreComparedInTheWiderType) {
  const struct {
    const char* narrow;
    const char* wide;
    const char* narrow_values;
    const char* wide_values;
  } cases[] = {
      {"int", "long", "[-1, 1, null]", "[-1, 4294967297, null]"},
      {"float", "double", "[0.5, 1.0, null]", "[0.5, 1.1, null]"},
      {"decimal(9,2)", "decimal(12,2)", R"(["-1.00", "1.00", null])", R"(["-1.00", "10000000.00", null])"},
      {"decimal(9,2)", "decimal(38,2)", R"(["-1.00", "1.00", null])", R"(["-1.00", "10000000.00", null])"},
      {"date", "timestamp", "[-1, 1, null]", "[-86400000000, 86400000001, null]"},
  };
  for (const auto& c : cases) {
    for (const int current : {0, 1}) {  // also after a return to the old schema
      DeleteTable table(
          testing::MetadataOf(SchemaOf(0, FieldOf(1, "k", c.narrow)) + "," + SchemaOf(1, FieldOf(1, "k", c.wide)),
                              current, R"({"spec-id":0,"fields":[]})", 3));
      const Column narrow{"k", 1, c.narrow, c.narrow_values}, wide{"k", 1, c.wide, c.wide_values};
      for (const auto& [data, deletes] : {std::pair(narrow, wide), std::pair(wide, narrow)}) {
        const auto found = MatchOne(table, {data}, {deletes});
        ASSERT_TRUE(found.has_value()) << c.narrow << ": " << ToString(found.error());
        EXPECT_EQ(*found, (Positions{0, 2})) << data.type << " deleted by " << deletes.type;
      }
    }
  }
}

TEST(MatchEqualityDeletes, DroppedAndRenamedColumns_AreFoundById) {
  DeleteTable table(testing::MetadataOf(SchemaOf(0, FieldOf(1, "a", "int") + "," + FieldOf(2, "gone", "string")) + "," +
                                            SchemaOf(1, FieldOf(1, "b", "int") + "," + FieldOf(3, "gone", "string")),
                                        1));
  const std::vector<Column> data = {{"a", 1, "int", "[1, 2, 3]"},
                                    {"gone", 2, "string", R"(["x", "y", "y"])"},
                                    {"later", 3, "string", R"(["y", "x", "x"])"}};
  EXPECT_EQ(MatchOne(table, data, {{"gone", 2, "string", R"(["x"])"}}).value(), (Positions{0}));
  EXPECT_EQ(MatchOne(table, data, {{"b", 1, "int", "[3]"}, {"other", 2, "string", R"(["y"])"}}).value(),
            (Positions{2}));
}

TEST(MatchEqualityDeletes, NestedColumns_AreNullWhereAParentIs) {
  DeleteTable table = TableOf(FieldOf(10, "s",
                                      R"({"type":"struct","fields":[{"id":11,"name":"x","required":true,"type":"int"},)"
                                      R"({"id":12,"name":"y","required":false,"type":"int","initial-default":5}]})"),
                              3);
  const char* const type = "struct<11 x int!, 12 y int>";
  const std::vector<Column> data = {{"s", 10, type, R"([{"x":1,"y":1}, null, {"x":2,"y":null}, {"x":1,"y":2}])"}};
  EXPECT_EQ(MatchOne(table, data, {{"s", 10, type, R"([{"x":1,"y":9}])"}}, {11}).value(), (Positions{0, 3}));
  EXPECT_EQ(MatchOne(table, data, {{"s", 10, type, "[null]"}}, {11}).value(), (Positions{1}));
  EXPECT_EQ(MatchOne(table, data, {{"s", 10, type, "[null]"}}, {12}).value(), (Positions{1, 2}));
  EXPECT_EQ(MatchOne(table, data, {{"s", 10, type, R"([{"x":1,"y":2}])"}}, {12, 11}).value(), (Positions{3}));
  const char* const only_y = "struct<12 y int>";
  EXPECT_EQ(MatchOne(table, data, {{"s", 10, only_y, R"([{"y":2}, null])"}}, {12}).value(), (Positions{1, 2, 3}));
  // A field that was added later is its default, but null in a null struct, and in a file without the struct.
  const std::vector<Column> old = {{"s", 10, "struct<11 x int!>", R"([{"x":1}, null])"}};
  EXPECT_EQ(MatchOne(table, old, {{"s", 10, only_y, R"([{"y":5}])"}}, {12}).value(), (Positions{0}));
  EXPECT_EQ(MatchOne(table, old, {{"s", 10, only_y, "[null]"}}, {12}).value(), (Positions{1}));
  EXPECT_EQ(MatchOne(table, {{"z", 99, "int", "[1, 2]"}}, {{"s", 10, only_y, "[null]"}}, {12}).value(),
            (Positions{0, 1}));
}

TEST(MatchEqualityDeletes, ColumnsAtAnotherDepthThanInTheSchema_AreRefused) {
  DeleteTable table =
      TableOf(FieldOf(1, "id", "int") + "," +
              FieldOf(10, "s", R"({"type":"struct","fields":[)" + FieldOf(12, "y", "int") + "]}") + "," +
              FieldOf(20, "t", R"({"type":"struct","fields":[)" + FieldOf(22, "u", "int") + "]}"));
  const std::vector<Column> data = {{"id", 1, "int", "[1, 2]"}, {"s", 10, "struct<12 y int>", R"([{"y":1}, null])"}};
  const auto error = [&](const std::vector<Column>& columns, const std::vector<FieldId>& ids) {
    const auto matched = MatchOne(table, data, columns, ids);
    EXPECT_FALSE(matched.has_value());
    return matched ? Error{} : matched.error();
  };
  // Readers that go by paths find no such column: for them all keys are null.
  const Error flat = error({{"y", 12, "int", "[1]"}}, {12});
  EXPECT_EQ(flat.code, Code::kUnsupported);
  EXPECT_NE(flat.message.find("equality column 12"), std::string::npos) << flat.message;
  EXPECT_NE(flat.message.find("mem:/t/"), std::string::npos) << flat.message;
  EXPECT_EQ(error({{"s", 10, "struct<1 id int>", R"([{"id":1}])"}}, {1}).code, Code::kUnsupported);
  EXPECT_EQ(error({{"t", 20, "struct<12 y int>", R"([{"y":1}])"}}, {12}).code, Code::kUnsupported);
}

TEST(MatchEqualityDeletes, MissingColumns_AreDefaultsOrPartitionValuesOrNull) {
  const std::string specs = R"({"spec-id":0,"fields":[]},{"spec-id":1,"fields":[)"
                            R"({"source-id":3,"field-id":1000,"name":"p","transform":"identity"},)"
                            R"({"source-id":4,"field-id":1001,"name":"b","transform":"bucket[4]"}]})";
  DeleteTable table(testing::MetadataOf(
      SchemaOf(0, FieldOf(1, "id", "int") + "," + FieldOf(2, "d", "string", R"(,"initial-default":"dd")") + "," +
                      FieldOf(3, "p", "long") + "," + FieldOf(4, "n", "int")),
      0, specs, 3));
  const iceberg::DataFile file =
      table.Put("mem:/t/a", ParquetOf({{"id", 1, "int", "[1, 2]"}}), 1, {{std::int64_t{7}, std::int32_t{2}}});
  const auto deleted_by = [&](const std::vector<Column>& columns) {
    std::vector<FieldId> ids;
    for (const Column& column : columns) ids.push_back(column.id);
    return Match(table.context(), {file}, {table.PutEquality("mem:/t/e", ParquetOf(columns), ids, 2)}).value()[0];
  };
  EXPECT_THAT(deleted_by({{"d", 2, "string", R"(["dd"])"}}), ElementsAre(0, 1));
  EXPECT_THAT(deleted_by({{"d", 2, "string", "[null]"}}), IsEmpty());
  EXPECT_THAT(deleted_by({{"p", 3, "long", "[7]"}, {"id", 1, "int", "[2]"}}), ElementsAre(1));
  EXPECT_THAT(deleted_by({{"p", 3, "long", "[8]"}}), IsEmpty());
  EXPECT_THAT(deleted_by({{"n", 4, "int", "[null]"}}), ElementsAre(0, 1));
  EXPECT_THAT(deleted_by({{"n", 4, "int", "[2]"}}), IsEmpty());  // no bucket number is taken for the value
}

TEST(MatchEqualityDeletes, Scope_IsSpecAndTupleOrTheWholeTable) {
  const std::string specs =
      R"({"spec-id":0,"fields":[]},)"
      R"({"spec-id":1,"fields":[{"source-id":1,"field-id":1000,"name":"p","transform":"identity"}]},)"
      R"({"spec-id":2,"fields":[{"source-id":1,"field-id":1000,"name":"p","transform":"identity"}]})";
  DeleteTable table(testing::MetadataOf(SchemaOf(0, FieldOf(1, "p", "int") + "," + FieldOf(2, "id", "int")), 0, specs));
  const auto data = [](int p) {
    return ParquetOf({{"p", 1, "int", fmt::format("[{}, {}, {}]", p, p, p)}, {"id", 2, "int", "[1, 2, 3]"}});
  };
  const auto tuple = [](std::int32_t value) { return iceberg::PartitionTuple{{value}}; };
  const std::vector<iceberg::DataFile> files = {
      table.Put("mem:/t/1", data(1), 1, tuple(1)), table.Put("mem:/t/2", data(2), 1, tuple(2)),
      table.Put("mem:/t/3", data(1), 2, tuple(1)), table.Put("mem:/t/4", data(4), 0)};
  const auto keys = [](int id) { return ParquetOf({{"id", 2, "int", fmt::format("[{}]", id)}}); };
  const std::vector<DeleteEntry> deletes = {table.PutEquality("mem:/t/e1", keys(1), {2}, 2, 1, tuple(1)),
                                            table.PutEquality("mem:/t/e2", keys(2), {2}, 2, 0),
                                            table.PutEquality("mem:/t/e3", keys(3), {2}, 2, 2, tuple(1))};
  EXPECT_THAT(Match(table.context(), files, deletes).value(),
              ElementsAre(ElementsAre(0, 1), ElementsAre(1), ElementsAre(1, 2), ElementsAre(1)));
}

TEST(MatchEqualityDeletes, FilesWithoutIds_NeedANameMapping) {
  DeleteTable table = TableOf(FieldOf(1, "id", "int") + "," +
                              FieldOf(10, "s", R"({"type":"struct","fields":[)" + FieldOf(11, "x", "int") + "]}"));
  testing::FileShape shape;
  shape.with_ids = false;
  const Bytes data =
      ParquetOf({{"old_id", 0, "int", "[1, 2]"}, {"s", 0, "struct<0 x int>", R"([{"x":5}, null])"}}, shape);
  const iceberg::DataFile file = table.Put("mem:/t/a", data);
  const std::vector<DeleteEntry> deletes = {
      table.PutEquality("mem:/t/e", ParquetOf({{"id", 1, "int", "[2]"}}), {1}, 2),
      table.PutEquality("mem:/t/f", ParquetOf({{"s", 10, "struct<11 x int>", R"([{"x":5}])"}}), {11}, 2)};
  EXPECT_EQ(Match(table.context(), {file}, deletes).error().code, Code::kUnsupported);
  const auto mapping =
      iceberg::ParseNameMapping(R"([{"field-id":1,"names":["id","old_id"]},)"
                                R"({"field-id":10,"names":["s"],"fields":[{"field-id":11,"names":["x"]}]}])");
  ASSERT_TRUE(mapping.has_value());
  DeleteLoadContext context = table.context();
  context.name_mapping = &*mapping;
  EXPECT_THAT(Match(context, {file}, deletes).value()[0], ElementsAre(0, 1));
}

TEST(MatchEqualityDeletes, BadInput_IsAnErrorWithTheFile) {
  DeleteTable table = TableOf(FieldOf(1, "id", "int") + "," +
                              FieldOf(2, "l",
                                      R"({"type":"list","element-id":3,)"
                                      R"("element":"int","element-required":false})"));
  const iceberg::DataFile file = table.Put("mem:/t/a", ParquetOf({{"id", 1, "int", "[1, 2]"}}));
  const Bytes keys = ParquetOf({{"id", 1, "int", "[2]"}});
  const DeleteEntry good = table.PutEquality("mem:/t/e", keys, {1}, 2);
  const auto error_with = [&](const std::vector<FieldId>& ids, const auto& change) {
    DeleteEntry bad = table.PutEquality("mem:/t/bad", keys, ids, 2);
    change(bad.file);
    const auto found = Match(table.context(), {file}, {good, bad});
    return found ? "no error" : ToString(found.error());
  };
  const auto nothing = [](iceberg::DataFile&) {};
  EXPECT_THAT(error_with({}, nothing), HasSubstr("mem:/t/bad: an equality delete file without equality ids"));
  EXPECT_THAT(error_with({77}, nothing), HasSubstr("mem:/t/bad: equality column 77 is in no schema"));
  EXPECT_THAT(error_with({3}, nothing), HasSubstr("below a list or a map"));
  EXPECT_THAT(error_with({2}, nothing), HasSubstr("cannot be compared"));
  EXPECT_THAT(error_with({1}, [](auto& f) { f.file_path = "mem:/t/gone"; }), HasSubstr("not found: mem:/t/gone"));
  EXPECT_THAT(error_with({1}, [](auto& f) { f.format = iceberg::FileFormat::kOrc; }), HasSubstr("unsupported"));
  EXPECT_THAT(error_with({1}, [](auto& f) { f.record_count = 7; }), HasSubstr("corrupt"));
  EXPECT_THAT(error_with({1}, [](auto& f) { f.spec_id = SpecId(9); }), HasSubstr("corrupt"));
  EXPECT_THAT(error_with({1}, [](auto& f) { f.key_metadata = Bytes{1}; }), HasSubstr("encrypted"));
  const DeleteEntry other = table.PutEquality("mem:/t/other", ParquetOf({{"x", 9, "int", "[2]"}}), {1}, 2);
  EXPECT_THAT(ToString(Match(table.context(), {file}, {other}).error()), HasSubstr("missing in the delete file"));
  const DeleteEntry text = table.PutEquality("mem:/t/text", ParquetOf({{"x", 1, "string", R"(["2"])"}}), {1}, 2);
  EXPECT_EQ(Match(table.context(), {file}, {text}).error().code, Code::kUnsupported);
  table.io().Put("mem:/t/a", Bytes(100));
  EXPECT_THAT(ToString(Match(table.context(), {file}, {good}).error()), HasSubstr("corrupt: mem:/t/a"));
  const std::atomic<bool> cancelled = true;
  DeleteLoadContext context = table.context();
  context.cancelled = &cancelled;
  EXPECT_EQ(Match(context, {file}, {good}).error().code, Code::kCancelled);
}

/// The footer with other statistics for the first column.
Bytes WithStatistics(const Bytes& file, const std::function<void(parquet::Statistics&)>& change) {
  MemorySource source("file", file);
  parquet::FileMetaData footer = parquet::ReadFooter(source).value();
  for (parquet::RowGroup& group : footer.row_groups) change(*group.columns[0].meta->statistics);
  const auto footer_bytes = LoadLittle<std::uint32_t>(file.data() + file.size() - 8);
  Bytes changed(file.begin(), file.end() - 8 - footer_bytes);
  const Bytes written = parquet::WriteFooter(footer);
  changed.insert(changed.end(), written.begin(), written.end());
  return changed;
}

TEST(MatchEqualityDeletes, RowGroupsOutsideOfTheKeys_AreNotRead) {
  DeleteTable table = TableOf(FieldOf(1, "id", "long"));
  std::vector<std::int64_t> ids(100);
  for (std::size_t i = 0; i < ids.size(); ++i) ids[i] = static_cast<std::int64_t>(i);
  testing::FileShape shape;
  shape.row_group_rows = 10;
  const Bytes data = ParquetOf({{"id", 1, "long", testing::JsonList(ids)}}, shape);
  const auto rows_read = [&](const Bytes& bytes, const char* keys) {
    EqualityStatistics statistics;
    const iceberg::DataFile file = table.Put("mem:/t/a", bytes);
    const DeleteEntry entry = table.PutEquality("mem:/t/e", ParquetOf({{"id", 1, "long", keys}}), {1}, 2);
    EXPECT_THAT(Match(table.context(), {file}, {entry}, 1, &statistics).value()[0], ElementsAre(42, 57));
    return statistics.data_rows_read;
  };
  EXPECT_EQ(rows_read(data, "[42, 57]"), 20);
  EXPECT_EQ(rows_read(data, "[42, 57, null]"), 20);  // there are no nulls in the data
  EXPECT_EQ(rows_read(WithStatistics(data, [](auto& s) { s.null_count = std::nullopt; }), "[42, 57, null]"), 100);
  EXPECT_EQ(rows_read(WithStatistics(data, [](auto& s) { s.max_value = std::nullopt; }), "[42, 57]"), 100);
  EXPECT_EQ(rows_read(WithStatistics(data, [](auto& s) { std::swap(s.min_value, s.max_value); }), "[42, 57]"), 100);
  EXPECT_EQ(rows_read(WithStatistics(data, [](auto& s) { s.min_value->resize(4); }), "[42, 57]"), 100);
}

}  // namespace
}  // namespace firn::act
