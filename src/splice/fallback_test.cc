// SPDX-License-Identifier: Apache-2.0
#include "splice/fallback.h"

#include <arrow/api.h>
#include <arrow/io/memory.h>
#include <arrow/json/from_string.h>
#include <gtest/gtest.h>
#include <parquet/arrow/reader.h>
#include <parquet/arrow/writer.h>
#include <parquet/types.h>

#include "base/random.h"
#include "format/parquet/footer.h"
#include "splice/fallback_arrow.h"

namespace firn::splice {
namespace {

using Kind = ColumnSource::Kind;

std::shared_ptr<arrow::Array> Json(const std::shared_ptr<arrow::DataType>& type, const std::string& json) {
  return arrow::json::ArrayFromJSONString(type, json).ValueOrDie();
}

Bytes Written(const std::shared_ptr<arrow::Table>& table, std::int64_t rows_per_group = 1 << 20) {
  auto sink = arrow::io::BufferOutputStream::Create().ValueOrDie();
  const auto properties = ::parquet::WriterProperties::Builder().enable_store_decimal_as_integer()->build();
  EXPECT_TRUE(
      ::parquet::arrow::WriteTable(*table, arrow::default_memory_pool(), sink, rows_per_group, properties).ok());
  const auto buffer = sink->Finish().ValueOrDie();
  return {buffer->data(), buffer->data() + buffer->size()};
}

Bytes WrittenColumn(const std::shared_ptr<arrow::Field>& field, const std::string& json,
                    std::int64_t rows_per_group = 1 << 20) {
  return Written(arrow::Table::Make(arrow::schema({field}), {Json(field->type(), json)}), rows_per_group);
}

/// The Parquet schema that Arrow gives such fields.
std::vector<parquet::SchemaElement> SchemaOf(const arrow::FieldVector& fields) {
  MemorySource source("schema", Written(arrow::Table::MakeEmpty(arrow::schema(fields)).ValueOrDie()));
  return parquet::ReadFooter(source).value().schema;
}

std::shared_ptr<arrow::Table> TableOf(const Bytes& file) {
  auto reader = ::parquet::arrow::OpenFile(std::make_shared<arrow::io::BufferReader>(std::make_shared<arrow::Buffer>(
                                               file.data(), static_cast<std::int64_t>(file.size()))),
                                           arrow::default_memory_pool())
                    .ValueOrDie();
  return reader->ReadTable().ValueOrDie();
}

ColumnSource From(std::int32_t leaf, Kind kind = Kind::kConvert) {
  ColumnSource source;
  source.kind = kind;
  source.leaf = leaf;
  return source;
}

ColumnSource Missing(std::optional<Bytes> constant = std::nullopt) {
  ColumnSource source;
  source.kind = Kind::kConstant;
  source.constant = std::move(constant);
  return source;
}

Result<FallbackResult> Decode(Bytes file, const std::vector<parquet::SchemaElement>& schema,
                              const std::vector<ColumnSource>& columns, std::vector<std::int32_t> fields = {0},
                              std::int64_t memory_bytes = 64 << 20) {
  MemorySource source("in.parquet", std::move(file));
  FallbackRequest request;
  request.output_schema = &schema;
  request.output_fields = std::move(fields);
  request.columns = &columns;
  request.memory_bytes = memory_bytes;
  return DecodeThroughArrow(source, request);
}

void ExpectColumn(const Bytes& file, int column, const std::shared_ptr<arrow::DataType>& type,
                  const std::string& json) {
  const auto table = TableOf(file);
  ASSERT_TRUE(table->ValidateFull().ok());
  const auto chunked = table->column(column);
  const auto combined = arrow::Concatenate(chunked->chunks()).ValueOrDie();
  const auto expected = Json(type, json);
  EXPECT_TRUE(combined->Equals(expected))
      << combined->type()->ToString() << " " << combined->ToString() << "\nexpected\n"
      << expected->ToString();
}

std::shared_ptr<arrow::DataType> ListOf(const std::shared_ptr<arrow::DataType>& type) {
  return arrow::list(arrow::field("element", type));
}

TEST(Fallback, FlatPromotions_GiveThePromotedValues) {
  struct Case {
    std::shared_ptr<arrow::DataType> from, to;
    const char* in;
    const char* out;
  };
  const Case cases[] = {
      {arrow::int32(), arrow::int64(), "[1, null, -2147483648]", "[1, null, -2147483648]"},
      {arrow::float32(), arrow::float64(), "[0.5, null, -0.0]", "[0.5, null, -0.0]"},
      {arrow::date32(), arrow::timestamp(arrow::TimeUnit::MICRO), "[0, null, -1]", "[0, null, -86400000000]"},
      {arrow::decimal128(9, 2), arrow::decimal128(18, 2), R"(["1.23", null, "-9999999.99"])",
       R"(["1.23", null, "-9999999.99"])"},
      {arrow::decimal128(9, 2), arrow::decimal128(38, 2), R"(["1.23", null, "-0.01"])", R"(["1.23", null, "-0.01"])"},
      {arrow::decimal128(18, 0), arrow::decimal128(38, 0), R"(["999999999999999999", "-128"])",
       R"(["999999999999999999", "-128"])"},
      {arrow::decimal128(20, 2), arrow::decimal128(38, 2), R"(["-123456789012345678.90", null])",
       R"(["-123456789012345678.90", null])"},
      {arrow::utf8(), arrow::utf8(), R"(["a", null, ""])", R"(["a", null, ""])"},
      {arrow::boolean(), arrow::boolean(), "[true, null, false]", "[true, null, false]"},
      {arrow::fixed_size_binary(3), arrow::fixed_size_binary(3), R"(["abc", null])", R"(["abc", null])"},
  };
  for (const Case& item : cases) {
    SCOPED_TRACE(item.from->ToString() + " to " + item.to->ToString());
    const Bytes in = WrittenColumn(arrow::field("a", item.from), item.in);
    const Result<FallbackResult> out = Decode(in, SchemaOf({arrow::field("b", item.to)}), {From(0)});
    ASSERT_TRUE(out) << out.error().message;
    EXPECT_EQ(out->output_leaves, std::vector<std::int32_t>{0});
    ExpectColumn(out->file, 0, item.to, item.out);
  }
}

TEST(Fallback, ForbiddenPromotion_NamesColumnAndReason) {
  const Bytes in = WrittenColumn(arrow::field("a", arrow::int64()), "[1]");
  const Result<FallbackResult> out = Decode(in, SchemaOf({arrow::field("b", arrow::int32())}), {From(0)});
  ASSERT_FALSE(out);
  EXPECT_EQ(out.error().code, Code::kUnsupported);
  EXPECT_NE(out.error().message.find("column b"), std::string::npos) << out.error().message;
}

TEST(Fallback, Int96_BecomesMicros) {
  parquet::SchemaElement root, leaf;
  root.name = "schema";
  root.num_children = 1;
  leaf.name = "t";
  leaf.type = parquet::PhysicalType::kInt96;
  leaf.repetition = parquet::Repetition::kOptional;
  Result<std::unique_ptr<EncodedFile>> file = EncodedFile::Open({root, leaf}, {});
  ASSERT_TRUE(file);
  ASSERT_TRUE((*file)->BeginRowGroup());
  ASSERT_TRUE((*file)->BeginLeaf());
  ::parquet::Int96 values[2];
  const std::int64_t nanos[2] = {86'399'999'999'999, 1'500};
  for (int i = 0; i < 2; ++i) {
    std::memcpy(values[i].value.data(), &nanos[i], 8);
    values[i].value[2] = i == 0 ? 2440587 : 2440588;
  }
  const std::int16_t definition[3] = {1, 0, 1}, repetition[3] = {0, 0, 0};
  ASSERT_TRUE((*file)->Write(definition, repetition, values));
  const Result<Bytes> in = (*file)->Finish();
  ASSERT_TRUE(in);
  const auto utc = arrow::timestamp(arrow::TimeUnit::MICRO, "UTC");
  const Result<FallbackResult> out = Decode(*in, SchemaOf({arrow::field("t", utc)}), {From(0)});
  ASSERT_TRUE(out) << out.error().message;
  ExpectColumn(out->file, 0, utc, "[-1, null, 1]");
}

TEST(Fallback, NullAndEmptyLists_StayWhatTheyAre) {
  const Bytes in = WrittenColumn(arrow::field("a", arrow::list(arrow::int32())), "[[1, null], [], null, [2]]", 2);
  const auto type = ListOf(arrow::int64());
  const Result<FallbackResult> out = Decode(in, SchemaOf({arrow::field("a", type)}), {From(0)});
  ASSERT_TRUE(out) << out.error().message;
  ExpectColumn(out->file, 0, type, "[[1, null], [], null, [2]]");
}

TEST(Fallback, StructWithRenamedDroppedAndAddedFields_IsMatchedByLeaf) {
  const auto from = arrow::struct_(
      {arrow::field("x", arrow::int32()), arrow::field("gone", arrow::utf8()), arrow::field("y", arrow::utf8())});
  const auto to = arrow::struct_({arrow::field("z", arrow::utf8()), arrow::field("added", arrow::float64()),
                                  arrow::field("x", arrow::int64()), arrow::field("seven", arrow::int32())});
  const Bytes in = WrittenColumn(arrow::field("s", from),
                                 R"([{"x": 1, "gone": "g", "y": "a"}, null, {"x": null, "gone": null, "y": null}])");
  const Result<FallbackResult> out =
      Decode(in, SchemaOf({arrow::field("s", to)}), {From(2), Missing(), From(0), Missing(Bytes{7, 0, 0, 0})});
  ASSERT_TRUE(out) << out.error().message;
  ExpectColumn(
      out->file, 0, to,
      R"([{"z": "a", "added": null, "x": 1, "seven": 7}, null, {"z": null, "added": null, "x": null, "seven": 7}])");
}

TEST(Fallback, FieldAddedToStructInListInMap_FollowsTheStruct) {
  const auto from = arrow::map(arrow::utf8(), ListOf(arrow::struct_({arrow::field("l", ListOf(arrow::int32()))})));
  const auto to =
      arrow::map(arrow::utf8(),
                 ListOf(arrow::struct_({arrow::field("l", ListOf(arrow::int64())), arrow::field("new", arrow::utf8()),
                                        arrow::field("news", ListOf(arrow::int32()))})));
  const Bytes in = WrittenColumn(arrow::field("m", from), R"([
      [["k", [{"l": [1, 2, 3]}, null, {"l": []}, {"l": null}]], ["e", []], ["n", null]], [], null])");
  const Result<FallbackResult> out =
      Decode(in, SchemaOf({arrow::field("m", to)}), {From(0, Kind::kCopy), From(1), Missing(Bytes{'v'}), Missing()});
  ASSERT_TRUE(out) << out.error().message;
  ExpectColumn(out->file, 0, to, R"([
      [["k", [{"l": [1, 2, 3], "new": "v", "news": null}, null, {"l": [], "new": "v", "news": null},
              {"l": null, "new": "v", "news": null}]], ["e", []], ["n", null]], [], null])");
}

TEST(Fallback, TwoLevelList_BecomesThreeLevels) {
  parquet::SchemaElement root, group, leaf;
  root.name = "schema";
  root.num_children = 1;
  group.name = "a";
  group.num_children = 1;
  group.repetition = parquet::Repetition::kOptional;
  group.converted_type = 3;
  leaf.name = "array";
  leaf.type = parquet::PhysicalType::kInt32;
  leaf.repetition = parquet::Repetition::kRepeated;
  Result<std::unique_ptr<EncodedFile>> file = EncodedFile::Open({root, group, leaf}, {});
  ASSERT_TRUE(file) << file.error().message;
  ASSERT_TRUE((*file)->BeginRowGroup());
  ASSERT_TRUE((*file)->BeginLeaf());
  const std::int16_t definition[] = {2, 2, 0, 1}, repetition[] = {0, 1, 0, 0};
  const std::int32_t values[] = {5, 6};
  ASSERT_TRUE((*file)->Write(definition, repetition, values));
  const Result<Bytes> in = (*file)->Finish();
  ASSERT_TRUE(in);
  const auto type = ListOf(arrow::int64());
  const Result<FallbackResult> out = Decode(*in, SchemaOf({arrow::field("a", type)}), {From(0)});
  ASSERT_TRUE(out) << out.error().message;
  ExpectColumn(out->file, 0, type, "[[5, 6], null, []]");
}

TEST(Fallback, RequiredBecomesOptional_AndNullsInRequiredAreRefused) {
  const auto required = arrow::field("a", arrow::int32(), false), optional = arrow::field("a", arrow::int32());
  const Result<FallbackResult> out = Decode(WrittenColumn(required, "[1, 2]"), SchemaOf({optional}), {From(0)});
  ASSERT_TRUE(out) << out.error().message;
  ExpectColumn(out->file, 0, arrow::int32(), "[1, 2]");
  const Result<FallbackResult> fits = Decode(WrittenColumn(optional, "[1, 2]"), SchemaOf({required}), {From(0)});
  ASSERT_TRUE(fits) << fits.error().message;
  const Result<FallbackResult> refused = Decode(WrittenColumn(optional, "[1, null]"), SchemaOf({required}), {From(0)});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::kCorrupt);
}

TEST(Fallback, WholeFieldMissing_IsNullOrTheConstant) {
  const Bytes in = WrittenColumn(arrow::field("a", arrow::int32()), "[1, 2, 3]", 2);
  const arrow::FieldVector fields = {arrow::field("a", arrow::int32()), arrow::field("n", ListOf(arrow::int32())),
                                     arrow::field("c", arrow::utf8(), false)};
  const auto schema = SchemaOf(fields);
  const Result<FallbackResult> out = Decode(in, schema, {From(0), Missing(), Missing(Bytes{'x'})}, {2, 1});
  ASSERT_TRUE(out) << out.error().message;
  EXPECT_EQ(out->output_leaves, (std::vector<std::int32_t>{1, 2}));
  ExpectColumn(out->file, 0, ListOf(arrow::int32()), "[null, null, null]");
  ExpectColumn(out->file, 1, arrow::utf8(), R"(["x", "x", "x"])");
  const Result<FallbackResult> refused = Decode(in, schema, {From(0), Missing(), Missing()}, {2});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::kUnsupported);
}

/// Random nested values, larger than a batch of levels and a page, against Arrow's own reading of the input.
TEST(Fallback, LongNestedColumns_SurviveBatchesAndPages) {
  Random random(42);
  std::string json = "[";
  for (int row = 0; row < 4000; ++row) {
    if (row > 0) json += ",";
    if (random.Below(10) == 0) {
      json += "null";
      continue;
    }
    json += "[";
    const std::uint64_t count = random.Below(20);
    for (std::uint64_t i = 0; i < count; ++i) {
      if (i > 0) json += ",";
      const std::string text = std::to_string(random.Below(1000));
      json += random.Below(8) == 0
                  ? "null"
                  : "{\"x\": " + text + ", \"s\": " + (random.Below(3) == 0 ? "null" : "\"" + text + "\"") + "}";
    }
    json += "]";
  }
  json += "]";
  const auto from = ListOf(arrow::struct_({arrow::field("x", arrow::int32()), arrow::field("s", arrow::utf8())}));
  const auto to = ListOf(arrow::struct_({arrow::field("s", arrow::utf8()), arrow::field("x", arrow::int64())}));
  const Result<FallbackResult> out =
      Decode(WrittenColumn(arrow::field("a", from), json, 1500), SchemaOf({arrow::field("a", to)}), {From(1), From(0)});
  ASSERT_TRUE(out) << out.error().message;
  ExpectColumn(out->file, 0, to, json);
}

TEST(Fallback, OutputPages_AreV1AndOfOneKindAChunk) {
  std::string json = "[0";
  for (int i = 1; i < 300000; ++i) json += "," + std::to_string(i * 3);
  const Result<FallbackResult> out = Decode(WrittenColumn(arrow::field("a", arrow::int32()), json + "]"),
                                            SchemaOf({arrow::field("a", arrow::int64())}), {From(0)});
  ASSERT_TRUE(out) << out.error().message;
  MemorySource source("out", out->file);
  const Result<parquet::FileMetaData> footer = parquet::ReadFooter(source);
  ASSERT_TRUE(footer);
  const parquet::ColumnMetaData& meta = *footer->row_groups[0].columns[0].meta;
  EXPECT_EQ(meta.codec, parquet::Codec::kZstd);
  for (const parquet::PageEncodingStats& stats : meta.encoding_stats) {
    EXPECT_EQ(stats.page_type, parquet::PageType::kData);  // this input fell back to PLAIN: no dictionary
    EXPECT_EQ(stats.encoding, parquet::Encoding::kPlain);
  }
  EXPECT_TRUE(footer->row_groups[0].columns[0].offset_index_offset);
}

TEST(Fallback, MoreThanTheMemoryLimit_IsLimit) {
  Random random(1);
  std::string json = "[\"a\"";
  for (int i = 0; i < 60000; ++i) json += ",\"" + random.NewUuid() + "\"";
  const auto schema = SchemaOf({arrow::field("a", arrow::utf8())});
  const Result<FallbackResult> out =
      Decode(WrittenColumn(arrow::field("a", arrow::utf8()), json + "]"), schema, {From(0)}, {0}, 1 << 20);
  ASSERT_FALSE(out);
  EXPECT_EQ(out.error().code, Code::kLimit) << out.error().message;
}

TEST(Fallback, BrokenInput_IsAnErrorWithTheFilesName) {
  const Bytes good = WrittenColumn(arrow::field("a", ListOf(arrow::int32())), "[[1, 2, 3], null, [4]]");
  const auto schema = SchemaOf({arrow::field("a", ListOf(arrow::int64()))});
  Random random(3);
  int errors = 0;
  for (int i = 0; i < 2000; ++i) {
    Bytes broken = good;
    broken[4 + random.Below(broken.size() - 4)] ^= static_cast<std::uint8_t>(1U << random.Below(8));
    const Result<FallbackResult> out = Decode(broken, schema, {From(0)});
    if (out) continue;
    ++errors;
    EXPECT_NE(out.error().message.find("in.parquet"), std::string::npos) << out.error().message;
    EXPECT_NE(out.error().code, Code::kInternal);
  }
  EXPECT_GT(errors, 500);
}

TEST(Fallback, EntryBeforeTheFirstRow_IsCorrupt) {
  const auto schema = SchemaOf({arrow::field("a", ListOf(arrow::int32()))});
  Result<std::unique_ptr<EncodedFile>> file = EncodedFile::Open(schema, {});
  ASSERT_TRUE(file) << file.error().message;
  ASSERT_TRUE((*file)->BeginRowGroup());
  ASSERT_TRUE((*file)->BeginLeaf());
  const std::int16_t definition[] = {3, 3}, repetition[] = {1, 0};
  const std::int32_t values[] = {5, 6};
  ASSERT_TRUE((*file)->Write(definition, repetition, values));
  const Result<Bytes> in = (*file)->Finish();
  ASSERT_TRUE(in);
  EXPECT_EQ(Decode(*in, schema, {From(0)}).error().code, Code::kCorrupt);
}

TEST(Fallback, PageWithWrongChecksum_IsCorrupt) {
  auto sink = arrow::io::BufferOutputStream::Create().ValueOrDie();
  const auto properties = ::parquet::WriterProperties::Builder().enable_page_checksum()->disable_dictionary()->build();
  const auto field = arrow::field("a", arrow::int32());
  const auto table = arrow::Table::Make(arrow::schema({field}), {Json(arrow::int32(), "[1, 2, 3, 4]")});
  ASSERT_TRUE(::parquet::arrow::WriteTable(*table, arrow::default_memory_pool(), sink, 10, properties).ok());
  const auto buffer = sink->Finish().ValueOrDie();
  Bytes in(buffer->data(), buffer->data() + buffer->size());
  ASSERT_TRUE(Decode(in, SchemaOf({field}), {From(0)}));
  const std::uint8_t three[] = {3, 0, 0, 0};
  const auto at = std::search(in.begin(), in.end(), std::begin(three), std::end(three));
  ASSERT_NE(at, in.end());
  *at = 7;
  EXPECT_EQ(Decode(in, SchemaOf({field}), {From(0)}).error().code, Code::kCorrupt);
}

TEST(Fallback, SpliceUsesIt_ForFieldsAddedToAStruct) {
  const auto from = arrow::struct_({arrow::field("x", arrow::int32())});
  const auto to = arrow::struct_(
      {arrow::field("x", arrow::int32()), arrow::field("seven", arrow::int32()), arrow::field("new", arrow::utf8())});
  const char* const json = R"([{"x": 1}, null, {"x": null}])";
  Input input;
  input.source = std::make_shared<MemorySource>("in.parquet", WrittenColumn(arrow::field("s", from, true), json));
  input.columns = {From(0, Kind::kCopy), Missing(Bytes{7, 0, 0, 0}), Missing()};
  Options options;
  options.schema = SchemaOf({arrow::field("s", to)});
  MemorySink sink("out.parquet");
  const Result<Report> report = Splice({input}, options, sink);
  ASSERT_TRUE(report) << report.error().message;
  ExpectColumn(sink.bytes(), 0, to,
               R"([{"x": 1, "seven": 7, "new": null}, null, {"x": null, "seven": 7, "new": null}])");
}

TEST(Fallback, WrongRequests_AreInvalidArguments) {
  const Bytes in = WrittenColumn(arrow::field("a", arrow::int32()), "[1]");
  const auto schema = SchemaOf({arrow::field("a", arrow::int32())});
  EXPECT_EQ(Decode(in, schema, {From(3)}).error().code, Code::kInvalidArgument);
  EXPECT_EQ(Decode(in, schema, {From(0), From(0)}).error().code, Code::kInvalidArgument);
  EXPECT_EQ(Decode(in, schema, {From(0)}, {1}).error().code, Code::kInvalidArgument);
  EXPECT_EQ(Decode(in, schema, {From(0)}, {}).error().code, Code::kInvalidArgument);
}

}  // namespace
}  // namespace firn::splice
