// SPDX-License-Identifier: Apache-2.0
// Inputs whose columns are not those of the output: missing, moved, required, of another type; and bad requests.
#include <gtest/gtest.h>

#include <algorithm>

#include "format/parquet/promotion.h"
#include "splice/arrow_tables_test.h"
#include "splice/page_surgery_test.h"
#include "splice/schema_match.h"

namespace firn::splice::testing {
namespace {

using Kind = ColumnSource::Kind;

ColumnSource From(std::int32_t leaf, Kind kind = Kind::kCopy) {
  ColumnSource source;
  source.kind = kind;
  source.leaf = leaf;
  return source;
}

ColumnSource Constant(std::optional<Bytes> value = std::nullopt) {
  ColumnSource source;
  source.kind = Kind::kConstant;
  source.constant = std::move(value);
  return source;
}

template <class T>
Bytes Plain(T value) {
  Bytes bytes(sizeof value);
  StoreLittle(bytes.data(), value);
  return bytes;
}

Bytes Text(std::string_view text) { return {text.begin(), text.end()}; }

Input With(const std::string& name, const TablePtr& table, std::vector<ColumnSource> columns) {
  Input input = InputOf(name, WriteFile(table));
  input.columns = std::move(columns);
  return input;
}

Options WithSchemaOf(const TablePtr& table) {
  Options options;
  options.schema = FooterOf(WriteFile(table)).schema;
  return options;
}

TEST(SpliceSchema, MissingColumns_BecomeNullOrConstant) {
  const TablePtr whole = JsonTable({{"i", "int32", "[1, null, 3]"},
                                    {"s", "string", "[\"a\", \"b\", null]"},
                                    {"b", "bool", "[true, false, null]"},
                                    {"d", "double", "[1.5, null, 2.5]"},
                                    {"l", "list<int32>", "[[1], [], null]"}});
  const TablePtr part = JsonTable({{"x", "int32", "[7, 8]"}});
  const TablePtr expected = JsonTable({{"i", "int32", "[7, 8]"},
                                       {"s", "string", "[\"new\", \"new\"]"},
                                       {"b", "bool", "[true, true]"},
                                       {"d", "double", "[4.5, 4.5]"},
                                       {"l", "list<int32>", "[null, null]"}});
  const std::vector<ColumnSource> columns = {From(0), Constant(Text("new")), Constant(Plain<std::uint8_t>(1)),
                                             Constant(Plain(4.5)), Constant()};
  for (const bool missing_first : {false, true}) {
    std::vector<Input> inputs = {InputOf("whole", WriteFile(whole)), With("part", part, columns)};
    std::vector<TablePtr> tables = {whole, expected};
    if (missing_first) std::swap(inputs[0], inputs[1]), std::swap(tables[0], tables[1]);
    const Result<Spliced> spliced = SpliceFiles(inputs, WithSchemaOf(whole));
    ASSERT_TRUE(spliced) << ToString(spliced.error());
    EXPECT_EQ(DifferenceOf(tables, spliced->file), "");
    EXPECT_EQ(ChunksOf(spliced->report, Tier::kSynthesize), 4);
    const parquet::FileMetaData footer = FooterOf(spliced->file);
    EXPECT_EQ(footer.row_groups[0].columns[4].meta->statistics->null_count, 4);  // every level below a value
    EXPECT_EQ(footer.row_groups[0].columns[1].meta->statistics->max_value, Text("new"));
    EXPECT_EQ(footer.row_groups[0].columns[1].meta->statistics->null_count, 1);
  }
}

TEST(SpliceSchema, OnlyMissingColumns_MakeFilesOfNulls) {
  const TablePtr schema = JsonTable({{"a", "int64", "[]"}, {"b", "string", "[]"}, {"c", "bool", "[]"}});
  const TablePtr part = JsonTable({{"x", "int32", "[7, 8, 9]"}});
  const Result<Spliced> spliced =
      SpliceFiles({With("p", part, {Constant(), Constant(Text("k")), Constant()})}, WithSchemaOf(schema));
  ASSERT_TRUE(spliced) << ToString(spliced.error());
  const TablePtr expected = JsonTable({{"a", "int64", "[null, null, null]"},
                                       {"b", "string", "[\"k\", \"k\", \"k\"]"},
                                       {"c", "bool", "[null, null, null]"}});
  EXPECT_EQ(DifferenceOf({expected}, spliced->file), "");
}

TEST(SpliceSchema, MovedColumns_AreFoundByLeaf) {
  const TablePtr first = JsonTable({{"a", "int32", "[1, 2]"}, {"b", "string", "[\"x\", \"y\"]"}});
  const TablePtr second =
      JsonTable({{"b2", "string", "[\"z\"]"}, {"extra", "double", "[1.0]"}, {"a2", "int32", "[3]"}});
  const TablePtr expected = JsonTable({{"a", "int32", "[3]"}, {"b", "string", "[\"z\"]"}});
  const Result<Spliced> spliced = SpliceFiles(
      {InputOf("first", WriteFile(first)), With("second", second, {From(2), From(0)})}, WithSchemaOf(first));
  ASSERT_TRUE(spliced) << ToString(spliced.error());
  EXPECT_EQ(DifferenceOf({first, expected}, spliced->file), "");
}

TEST(SpliceSchema, RequiredInput_OptionalOutput_GetsLevels) {
  const TablePtr optional = JsonTable({{"a", "int32", "[1, null]"}, {"l", "list<int32>", "[[1], null]"}});
  const TablePtr required = JsonTable({{"a", "int32!", "[5, 6, 7]"}, {"l", "list<int32>!", "[[2, null], [], [3]]"}});
  const TablePtr expected = JsonTable({{"a", "int32", "[5, 6, 7]"}, {"l", "list<int32>", "[[2, null], [], [3]]"}});
  for (const bool v2 : {false, true}) {
    FileChoice choice;
    choice.v2 = v2;
    Options options = WithSchemaOf(optional);
    const std::vector<ColumnSource> columns = {From(0), From(1)};
    Input first = InputOf("required", WriteFile(required, choice)),
          second = InputOf("optional", WriteFile(optional, choice));
    first.columns = second.columns = columns;
    const Result<Spliced> spliced = SpliceFiles({first, second}, options);
    ASSERT_TRUE(spliced) << ToString(spliced.error());
    EXPECT_EQ(DifferenceOf({expected, optional}, spliced->file), "");
    EXPECT_EQ(ChunksOf(spliced->report, Tier::kDecode), 0);
  }
}

TEST(SpliceSchema, PromotedColumn_IsDecodedAlone) {
  const TablePtr wide = JsonTable({{"a", "int64", "[10000000000, null]"}, {"s", "string", "[\"x\", \"y\"]"}});
  const TablePtr narrow = JsonTable({{"a", "int32", "[5, -6]"}, {"s", "string", "[\"x\", null]"}});
  const TablePtr expected = JsonTable({{"a", "int64", "[5, -6]"}, {"s", "string", "[\"x\", null]"}});
  for (const Kind kind : {Kind::kConvert, Kind::kCopy}) {
    const Result<Spliced> spliced = SpliceFiles(
        {InputOf("wide", WriteFile(wide)), With("narrow", narrow, {From(0, kind), From(1)})}, WithSchemaOf(wide));
    ASSERT_TRUE(spliced) << ToString(spliced.error());
    EXPECT_EQ(DifferenceOf({wide, expected}, spliced->file), "");
    EXPECT_EQ(ChunksOf(spliced->report, Tier::kDecode), 1);
    EXPECT_FALSE(spliced->report.notes.empty());
    const parquet::FileMetaData footer = FooterOf(spliced->file);
    EXPECT_EQ(footer.row_groups[0].columns[0].meta->statistics->min_value, Plain<std::int64_t>(-6));
  }
}

parquet::LogicalKind KindOf(const Bytes& file) {
  return parquet::EffectiveLogicalType(FooterOf(file).schema.at(1)).kind;
}

/// The column without annotation.
Bytes Unannotated(const Bytes& file) {
  return WithFooter(file, [](parquet::FileMetaData& footer) {
    footer.schema[1].logical = {};
    footer.schema[1].converted_type.reset();
  });
}

Bytes Annotated(const Bytes& file, parquet::LogicalKind kind) {
  return WithFooter(Unannotated(file), [&](parquet::FileMetaData& footer) { footer.schema[1].logical.kind = kind; });
}

/// A column of texts of which the last one is no UTF-8.
Bytes BrokenText() {
  FileChoice choice;
  choice.codec = parquet::Codec::kUncompressed;
  Bytes file = WriteFile(JsonTable({{"t", "string", "[\"a\", null, \"\u00fc\"]"}}), choice);
  std::ranges::replace(file, std::uint8_t{0xc3}, std::uint8_t{0xff});
  return file;
}

TEST(SpliceSchema, TextAndBytes_BecomeBytesInWhicheverOrder) {
  using parquet::LogicalKind;
  const Bytes text = WriteFile(JsonTable({{"t", "string", "[\"x\", \"y\"]"}}));
  const Bytes broken = Unannotated(BrokenText()), bytes = Unannotated(text);
  const TablePtr tables[] = {ReadFile(bytes), ReadFile(broken), ReadFile(bytes)};
  for (const LogicalKind kind : {LogicalKind::kString, LogicalKind::kJson, LogicalKind::kBson, LogicalKind::kEnum}) {
    const Bytes said = Annotated(text, kind);
    const Result<Spliced> last = SpliceFiles({InputOf("s", said), InputOf("b", broken), InputOf("s", said)});
    ASSERT_TRUE(last) << ToString(last.error());
    EXPECT_EQ(KindOf(last->file), LogicalKind::kNone);
    EXPECT_EQ(DifferenceOf({tables[0], tables[1], tables[2]}, last->file), "");
    EXPECT_EQ(ChunksOf(last->report, Tier::kDecode), 0);
    ASSERT_EQ(last->report.notes.size(), 1U);
    EXPECT_NE(last->report.notes[0].find(" is byte array in some inputs and byte array ("), std::string::npos)
        << last->report.notes[0];
    const Result<Spliced> first = SpliceFiles({InputOf("b", broken), InputOf("s", said)});
    ASSERT_TRUE(first) << ToString(first.error());
    EXPECT_EQ(KindOf(first->file), LogicalKind::kNone);
    EXPECT_EQ(DifferenceOf({tables[1], tables[0]}, first->file), "");
  }
  for (const bool turned : {false, true}) {
    std::vector<Input> inputs = {InputOf("j", Annotated(text, LogicalKind::kJson)), InputOf("s", text)};
    if (turned) std::swap(inputs[0], inputs[1]);
    EXPECT_EQ(KindOf(SpliceFiles(inputs).value().file), LogicalKind::kString);
    inputs = {InputOf("x", Annotated(text, LogicalKind::kBson)), InputOf("s", text)};
    if (turned) std::swap(inputs[0], inputs[1]);
    EXPECT_EQ(KindOf(SpliceFiles(inputs).value().file), LogicalKind::kNone);
  }
  const Result<Spliced> same = SpliceFiles({InputOf("s", text), InputOf("s", text)});
  EXPECT_EQ(KindOf(same->file), LogicalKind::kString);
  EXPECT_TRUE(same->report.notes.empty());
}

TEST(SpliceSchema, UuidsAndBytes_BecomeBytesInWhicheverOrder) {
  const Bytes bytes = WriteFile(JsonTable({{"u", "fixed16", "[\"0123456789abcdef\"]"}}));
  const Bytes uuid = Annotated(bytes, parquet::LogicalKind::kUuid);
  for (const auto& [a, b] : {std::pair(bytes, uuid), std::pair(uuid, bytes)}) {
    const Result<Spliced> spliced = SpliceFiles({InputOf("a", a), InputOf("b", b)});
    ASSERT_TRUE(spliced) << ToString(spliced.error());
    EXPECT_EQ(KindOf(spliced->file), parquet::LogicalKind::kNone);
  }
  EXPECT_EQ(KindOf(SpliceFiles({InputOf("a", uuid)}).value().file), parquet::LogicalKind::kUuid);
}

TEST(SpliceSchema, BytesForWantedText_AreLookedAt) {
  const TablePtr table = JsonTable({{"t", "string", "[\"x\", null, \"\u00fc\"]"}});
  const Bytes text = WriteFile(table);
  for (const Kind kind : {Kind::kCopy, Kind::kConvert}) {
    Input good = InputOf("good", Unannotated(text)), bad = InputOf("bad", Unannotated(BrokenText()));
    good.columns = bad.columns = {From(0, kind)};
    const Result<Spliced> spliced = SpliceFiles({good, good}, WithSchemaOf(table));
    ASSERT_TRUE(spliced) << ToString(spliced.error());
    EXPECT_EQ(KindOf(spliced->file), parquet::LogicalKind::kString);
    EXPECT_EQ(DifferenceOf({table, table}, spliced->file), "");
    EXPECT_EQ(ChunksOf(spliced->report, Tier::kDecode), 2);
    const Result<Spliced> refused = SpliceFiles({good, bad}, WithSchemaOf(table));
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, Code::kCorrupt);
    EXPECT_NE(refused.error().message.find("bad"), std::string::npos) << refused.error().message;
    EXPECT_NE(refused.error().message.find("no UTF-8"), std::string::npos) << refused.error().message;
  }
}

TEST(SpliceSchema, VariantsAndStructs_AreNotOneColumn) {
  const TablePtr table = JsonTable({{"v", "variant", "[]"}});
  const std::vector<parquet::SchemaElement> plain = FooterOf(WriteFile(table)).schema;
  std::vector<parquet::SchemaElement> variant = plain;
  variant[1].logical.kind = parquet::LogicalKind::kVariant;
  std::vector<parquet::SchemaElement> shredded = variant;
  shredded.back().logical.kind = parquet::LogicalKind::kString;
  const auto matches = [](const auto& a, const auto& b) {
    return MatchSchema(ColumnsOf(a).value(), ColumnsOf(b).value(), {}).has_value();
  };
  EXPECT_TRUE(matches(plain, plain));
  EXPECT_TRUE(matches(variant, variant));
  EXPECT_FALSE(matches(variant, plain));
  EXPECT_FALSE(matches(plain, variant));
  EXPECT_FALSE(matches(variant, shredded));
}

TEST(SpliceSchema, DecodedColumns_OfSeveralRowGroups_MeetTheirRows) {
  Random random(3);
  TableChoice choice;
  choice.types = {"int32", "string"};
  choice.rows = 1000;
  const TablePtr table = RandomTable(choice, random);
  FileChoice file;
  file.row_group_rows = 300;
  Input input = InputOf("a", WriteFile(table, file));
  input.columns = {From(0, Kind::kConvert), From(1)};
  Options options = WithSchemaOf(table);
  options.row_group_row_count_max = 500;
  const Result<Spliced> spliced = SpliceFiles({input, input}, options);
  ASSERT_TRUE(spliced) << ToString(spliced.error());
  EXPECT_EQ(DifferenceOf({table, table}, spliced->file), "");
  EXPECT_EQ(ChunksOf(spliced->report, Tier::kDecode), 8);
}

TEST(SpliceSchema, MissingLeafInAStruct_IsDecoded) {
  const TablePtr whole = JsonTable({{"s", "struct", "[{\"a\": 1, \"b\": \"x\"}, null, {\"a\": null, \"b\": null}]"}});
  const TablePtr expected = JsonTable({{"s", "struct", "[{\"a\": 1, \"b\": null}, null, {\"a\": null, \"b\": null}]"}});
  const Result<Spliced> spliced = SpliceFiles(
      {InputOf("whole", WriteFile(whole)), With("part", whole, {From(0), Constant()})}, WithSchemaOf(whole));
  ASSERT_TRUE(spliced) << ToString(spliced.error());
  EXPECT_EQ(DifferenceOf({whole, expected}, spliced->file), "");
}

TEST(SpliceSchema, FilesWithoutRows_AddNothing) {
  const TablePtr none = JsonTable({{"a", "int32", "[]"}, {"l", "list<string>", "[]"}});
  const TablePtr some = JsonTable({{"a", "int32", "[1]"}, {"l", "list<string>", "[[\"x\"]]"}});
  const Result<Spliced> both = SpliceFiles(
      {InputOf("none", WriteFile(none)), InputOf("some", WriteFile(some)), InputOf("none", WriteFile(none))});
  ASSERT_TRUE(both) << ToString(both.error());
  EXPECT_EQ(DifferenceOf({some}, both->file), "");
  const Result<Spliced> nothing = SpliceFiles({InputOf("none", WriteFile(none)), InputOf("none", WriteFile(none))});
  ASSERT_TRUE(nothing) << ToString(nothing.error());
  EXPECT_EQ(RowsOf(ReadFile(nothing->file)), 0);
  EXPECT_EQ(nothing->report.row_groups, 0);
}

TEST(SpliceSchema, FieldIdsAndMetadata_AreThoseOfTheOptions) {
  const TablePtr table = JsonTable({{"a", "int32", "[1]"}});
  Options options = WithSchemaOf(table);
  options.schema[1].field_id = 42;
  options.schema[1].name = "renamed";
  options.key_value_metadata = {{"k", "v"}};
  const Result<Spliced> spliced = SpliceFiles({With("a", table, {From(0)})}, options);
  ASSERT_TRUE(spliced) << ToString(spliced.error());
  const parquet::FileMetaData footer = FooterOf(spliced->file);
  EXPECT_EQ(footer.schema[1].field_id, 42);
  EXPECT_EQ(footer.row_groups[0].columns[0].meta->path_in_schema, std::vector<std::string>{"renamed"});
  ASSERT_EQ(footer.key_value_metadata.size(), 1U);
  EXPECT_EQ(footer.key_value_metadata[0].value, "v");
  EXPECT_EQ(footer.created_by, std::string("firn version ") + kVersion);
}

struct BadCase {
  std::string what;
  Code code;
  std::vector<Input> inputs;
  Options options;
};

TEST(SpliceSchema, NamesInsideOfLists_AreEachWritersOwn) {
  const auto match = [](const std::vector<parquet::SchemaElement>& output,
                        const std::vector<parquet::SchemaElement>& input) {
    const Result<std::vector<OutputColumn>> to = ColumnsOf(output), from = ColumnsOf(input);
    return to && from && MatchSchema(*to, *from, {}).has_value();
  };
  const TablePtr table = JsonTable({{"c", "list<int32>", "[[1, 2], null, []]"}});
  const std::vector<parquet::SchemaElement> schema = FooterOf(WriteFile(table)).schema;
  ASSERT_EQ(schema.size(), 4U);
  std::vector<parquet::SchemaElement> other = schema;
  other[2].name = "bag";
  other[3].name = "array_element";
  EXPECT_TRUE(match(schema, other));
  EXPECT_TRUE(match(other, schema));
  other[2].name = "array";  // a struct of one field is repeated
  EXPECT_FALSE(match(schema, other));
  other = schema;
  other[1].name = "d";
  EXPECT_FALSE(match(schema, other));
}

TEST(SpliceSchema, BadRequests_AreRefusedWithTheReason) {
  const TablePtr table = JsonTable({{"a", "int32", "[1, null]"}});
  const TablePtr other = JsonTable({{"b", "int32", "[1]"}});
  const TablePtr date = JsonTable({{"a", "date", "[1]"}});
  const TablePtr required = JsonTable({{"a", "int32!", "[1]"}});
  const Bytes file = WriteFile(table);
  Input counted = InputOf("counted", file);
  counted.expected_rows = 3;
  Options no_rows;
  no_rows.row_group_row_count_max = 0;
  const std::vector<BadCase> cases = {
      {"no inputs", Code::kInvalidArgument, {}, {}},
      {"row groups of no rows", Code::kInvalidArgument, {InputOf("a", file)}, no_rows},
      {"another name", Code::kUnsupported, {InputOf("a", file), InputOf("b", WriteFile(other))}, {}},
      {"another meaning", Code::kUnsupported, {InputOf("a", file), InputOf("b", WriteFile(date))}, {}},
      {"optional into required", Code::kUnsupported, {InputOf("r", WriteFile(required)), InputOf("a", file)}, {}},
      {"too few sources", Code::kInvalidArgument, {With("a", table, {From(0), From(0)})}, WithSchemaOf(table)},
      {"no such leaf", Code::kInvalidArgument, {With("a", table, {From(5)})}, WithSchemaOf(table)},
      {"missing required", Code::kInvalidArgument, {With("a", table, {Constant()})}, WithSchemaOf(required)},
      {"rows of the manifest", Code::kCorrupt, {counted}, {}},
      {"not Parquet", Code::kCorrupt, {InputOf("a", Text("PAR1 this is no footer PAR1"))}, {}},
      {"empty file", Code::kCorrupt, {InputOf("a", Bytes())}, {}},
  };
  for (const BadCase& bad : cases) {
    const Result<Spliced> spliced = SpliceFiles(bad.inputs, bad.options);
    ASSERT_FALSE(spliced) << bad.what;
    EXPECT_EQ(spliced.error().code, bad.code) << bad.what << ": " << ToString(spliced.error());
  }
}

}  // namespace
}  // namespace firn::splice::testing
