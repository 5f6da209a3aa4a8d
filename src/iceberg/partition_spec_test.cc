// SPDX-License-Identifier: Apache-2.0
#include "iceberg/partition_spec.h"

#include <gtest/gtest.h>

#include <limits>

#include "base/random.h"
#include "iceberg/partition_spec_json.h"

namespace firn::iceberg {
namespace {

Schema TestSchema() {
  return *Schema::Make(SchemaId(0),
                       {{.id = 1, .name = "a/b", .type = Type{.kind = TypeKind::kString}},
                        {.id = 2, .name = "ts", .type = Type{.kind = TypeKind::kTimestampTz}},
                        {.id = 3, .name = "n", .type = Type{.kind = TypeKind::kDouble}}},
                       {});
}

PartitionSpec Spec(std::vector<std::tuple<FieldId, const char*, const char*>> fields) {
  PartitionSpec spec;
  for (const auto& [source, name, transform] : fields) {
    spec.fields.push_back({source, static_cast<FieldId>(1000 + spec.fields.size()), name, ParseTransform(transform)});
  }
  return spec;
}

TEST(PartitionSpec, Unpartitioned_WithoutFieldsOrWithVoidOnly) {
  EXPECT_TRUE(Spec({}).is_unpartitioned());
  EXPECT_TRUE(Spec({{1, "a", "void"}, {2, "b", "void"}}).is_unpartitioned());
  EXPECT_FALSE(Spec({{1, "a", "void"}, {2, "b", "day"}}).is_unpartitioned());
  EXPECT_FALSE(Spec({{1, "a", "zorder"}}).is_unpartitioned());
}

TEST(PartitionPath, NastyValues_EncodedAsJavaDoes) {
  const Schema schema = TestSchema();
  const PartitionSpec spec = Spec({{1, "a/b", "identity"}});
  const struct {
    Literal value;
    const char* path;
  } cases[] = {
      {std::string("plain-1_2.3*"), "a%2Fb=plain-1_2.3*"},
      {std::string("a b"), "a%2Fb=a+b"},
      {std::string("a+b"), "a%2Fb=a%2Bb"},
      {std::string("/=%:?#&~"), "a%2Fb=%2F%3D%25%3A%3F%23%26%7E"},
      {std::string("äö€😀"), "a%2Fb=%C3%A4%C3%B6%E2%82%AC%F0%9F%98%80"},
      {std::string(""), "a%2Fb="},
      {std::string("null"), "a%2Fb=null"},
      {Literal(), "a%2Fb=null"},
      {std::string("\n\0", 2), "a%2Fb=%0A%00"},
      {std::string(".."), "a%2Fb=.."},
  };
  for (const auto& [value, path] : cases) EXPECT_EQ(PartitionPath(spec, schema, {{value}}), path);
}

TEST(PartitionPath, SeveralFields_JoinedInOrder) {
  const PartitionSpec spec =
      Spec({{1, "a_trunc", "truncate[2]"}, {2, "ts_hour", "hour"}, {3, "n", "void"}, {9, "gone", "bucket[4]"}});
  const PartitionTuple tuple{{std::string("x y"), 420034, Literal(), 3}};
  EXPECT_EQ(PartitionPath(spec, TestSchema(), tuple), "a_trunc=x+y/ts_hour=2017-12-01-10/n=null/gone=3");
  EXPECT_EQ(PartitionText(spec, TestSchema(), tuple), "a_trunc=x y/ts_hour=2017-12-01-10/n=null/gone=3");
  EXPECT_EQ(PartitionPath(Spec({}), TestSchema(), {}), "");
  EXPECT_EQ(PartitionPath(Spec({{1, "a", "void"}}), TestSchema(), {{Literal()}}), "");
}

TEST(PartitionTypes, DroppedSource_GivesWhatTheTransformFixes) {
  const auto types = PartitionTypes(Spec({{1, "a", "identity"},
                                          {2, "d", "day"},
                                          {9, "gone", "identity"},
                                          {9, "gone_day", "day"},
                                          {9, "gone_bucket", "bucket[4]"},
                                          {3, "v", "void"}}),
                                    TestSchema());
  const TypeKind kinds[] = {TypeKind::kString, TypeKind::kDate, TypeKind::kUnknown,
                            TypeKind::kDate,   TypeKind::kInt,  TypeKind::kDouble};
  ASSERT_EQ(types.size(), std::size(kinds));
  for (std::size_t i = 0; i < types.size(); ++i) EXPECT_EQ(types[i].kind, kinds[i]) << i;
}

TEST(TupleKey, RandomTuples_EqualExactlyWhenTuplesAre) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const std::vector<Literal> pool = {Literal(),
                                     false,
                                     true,
                                     std::int32_t{0},
                                     std::int32_t{1},
                                     std::int64_t{0},
                                     std::int64_t{1},
                                     0.0f,
                                     -0.0f,
                                     std::numeric_limits<float>::quiet_NaN(),
                                     0.0,
                                     -0.0,
                                     nan,
                                     -nan,
                                     std::string(),
                                     std::string("\0", 1),
                                     std::string("null"),
                                     Bytes{},
                                     Bytes{0},
                                     Bytes{'n', 'u', 'l', 'l'},
                                     Decimal{0},
                                     Decimal{-1}};
  Random random(31);
  std::vector<PartitionTuple> tuples;
  for (int i = 0; i < 400; ++i) {
    PartitionTuple tuple;
    for (std::uint64_t n = random.Below(3); n > 0; --n) tuple.values.push_back(pool[random.Below(pool.size())]);
    tuples.push_back(std::move(tuple));
  }
  for (const auto& a : tuples) {
    for (const auto& b : tuples) ASSERT_EQ(TupleKey(a) == TupleKey(b), SameTuple(a, b));
  }
}

TEST(PartitionSpecJson, Written_ReadsBackEqual) {
  const char* text = R"({"spec-id":3,"fields":[{"name":"ts_day","transform":"day","source-id":4,"field-id":1000},)"
                     R"({"name":"b","transform":"bucket[16]","source-id":1,"field-id":1001}]})";
  const auto spec = PartitionSpecFromJson(*json::Parse(text));
  ASSERT_TRUE(spec.has_value()) << ToString(spec.error());
  EXPECT_EQ(spec->id.value, 3);
  EXPECT_EQ(json::Write(PartitionFieldsToJson(spec->fields)), json::Write(*json::Parse(text)->Find("fields")));
  EXPECT_EQ(spec->fields[1].transform.parameter, 16);
}

TEST(PartitionSpecJson, MissingFieldIds_CountFrom1000) {
  const auto fields = PartitionFieldsFromJson(
      *json::Parse(R"([{"name":"a","transform":"day","source-id":4},{"name":"b","transform":"x","source-id":5}])"));
  ASSERT_TRUE(fields.has_value());
  EXPECT_EQ((*fields)[0].field_id, 1000);
  EXPECT_EQ((*fields)[1].field_id, 1001);
  EXPECT_EQ((*fields)[1].transform.kind, TransformKind::kUnknown);
}

TEST(PartitionSpecJson, SeveralSources_ReadAsUnknownTransform) {
  const auto one = PartitionFieldsFromJson(
      *json::Parse(R"([{"name":"a","transform":"bucket[4]","source-ids":[4],"field-id":1000}])"));
  EXPECT_EQ((*one)[0].source_id, 4);
  EXPECT_EQ((*one)[0].transform.kind, TransformKind::kBucket);
  const auto two = PartitionFieldsFromJson(
      *json::Parse(R"([{"name":"a","transform":"bucket[4]","source-ids":[4,5],"field-id":1000}])"));
  ASSERT_TRUE(two.has_value());
  EXPECT_EQ((*two)[0].transform.kind, TransformKind::kUnknown);
  EXPECT_EQ((*two)[0].transform.text, "bucket[4]");
}

TEST(PartitionSpecJson, WrongMembers_Corrupt) {
  for (const char* text : {"{}", "[]", R"({"spec-id":0})", R"({"spec-id":0,"fields":{}})", R"({"fields":[]})",
                           R"({"spec-id":0,"fields":[{"transform":"day","source-id":4}]})",
                           R"({"spec-id":0,"fields":[{"name":"a","source-id":4}]})",
                           R"({"spec-id":0,"fields":[{"name":"a","transform":"day"}]})",
                           R"({"spec-id":0,"fields":[{"name":"a","transform":"day","source-ids":[]}]})",
                           R"({"spec-id":0,"fields":[{"name":"a","transform":"day","source-ids":["x"]}]})"}) {
    const auto spec = PartitionSpecFromJson(*json::Parse(text));
    ASSERT_FALSE(spec.has_value()) << text;
    EXPECT_EQ(spec.error().code, Code::kCorrupt) << text;
  }
}

}  // namespace
}  // namespace firn::iceberg
