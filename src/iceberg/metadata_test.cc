// SPDX-License-Identifier: Apache-2.0
#include "iceberg/metadata.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include <algorithm>

namespace firn::iceberg {
namespace {

constexpr const char* kSchema =
    R"json({"type":"struct","schema-id":0,"fields":[{"id":1,"name":"id","required":true,"type":"long"},)json"
    R"json({"id":2,"name":"d","required":false,"type":"decimal(9, 2)","x-note":{"kept":true}}]})json";

/// Version 2, two snapshots, a tag; members that no specification knows among the others.
json::Value Base(std::int32_t format_version = 2) {
  const std::string text = fmt::format(
      R"json({{"format-version":{},"table-uuid":"9c12d441-03fe-4693-9a96-a0705ddf69c1","location":"s3://b/t",
      "last-sequence-number":34,"last-updated-ms":1602638573590,"last-column-id":2,
      "x-future":[1,{{"big":9007199254740993}}],
      "current-schema-id":0,"schemas":[{}],
      "default-spec-id":0,"partition-specs":[{{"spec-id":0,"fields":[
        {{"name":"id_b","transform":"bucket[4]","source-id":1,"field-id":1000}}]}}],"last-partition-id":1000,
      "default-sort-order-id":3,"sort-orders":[{{"order-id":3,"fields":[
        {{"transform":"zorder","source-id":1,"direction":"desc","null-order":"nulls-last"}}]}}],
      "properties":{{"a":"1","write.metadata.previous-versions-max":"2"}},
      "current-snapshot-id":2,"snapshots":[
        {{"snapshot-id":1,"timestamp-ms":1515100955770,"sequence-number":0,"summary":{{"operation":"append"}},
          "manifest-list":"s3://b/t/1.avro"}},
        {{"snapshot-id":2,"parent-snapshot-id":1,"timestamp-ms":1555100955770,"sequence-number":1,
          "summary":{{"added-records":"3"}},"manifest-list":"s3://b/t/2.avro","schema-id":0}}],
      "snapshot-log":[{{"snapshot-id":1,"timestamp-ms":1515100955770}},
        {{"snapshot-id":2,"timestamp-ms":1555100955770}}],
      "metadata-log":[{{"timestamp-ms":1,"metadata-file":"s3://b/t/m1.json"}}],
      "refs":{{"main":{{"snapshot-id":2,"type":"branch"}},
        "old":{{"snapshot-id":1,"type":"tag","max-ref-age-ms":10000000}}}},
      "statistics":[{{"snapshot-id":1,"statistics-path":"s3://b/t/s.puffin","file-size-in-bytes":413,
        "file-footer-size-in-bytes":42,"blob-metadata":[]}}],
      "partition-statistics":[{{"snapshot-id":2,"statistics-path":"s3://b/t/p.parquet","file-size-in-bytes":43}}],
      "next-row-id":100}})json",
      format_version, kSchema);
  return *json::Parse(text);
}

json::Value Version1() {
  return *json::Parse(R"({"format-version":1,"location":"s3://b/t","last-updated-ms":5,"last-column-id":1,
      "schema":{"type":"struct","fields":[{"id":1,"name":"x","required":true,"type":"long"}]},
      "partition-spec":[{"name":"x","transform":"identity","source-id":1}],"properties":{},
      "current-snapshot-id":7,"snapshots":[
        {"snapshot-id":7,"timestamp-ms":4,"manifests":["s3://b/t/m0.avro","s3://b/t/m1.avro"]}]})");
}

TableMetadata MustRead(json::Value tree) {
  auto metadata = TableMetadata::FromTree(std::move(tree));
  EXPECT_TRUE(metadata.has_value()) << ToString(metadata.error());
  return metadata ? std::move(*metadata) : TableMetadata();
}

TEST(TableMetadata, Version2_AllViews_AreThere) {
  const TableMetadata metadata = MustRead(Base());
  EXPECT_EQ(metadata.format_version(), 2);
  EXPECT_EQ(metadata.table_uuid(), "9c12d441-03fe-4693-9a96-a0705ddf69c1");
  EXPECT_EQ(metadata.location(), "s3://b/t");
  EXPECT_EQ(metadata.last_sequence_number(), SequenceNumber(34));
  EXPECT_EQ(metadata.last_updated().value, 1602638573590);
  EXPECT_EQ(metadata.next_row_id(), 0);  // the member has no meaning before version 3
  EXPECT_EQ(ToString(metadata.current_schema().FindField(2)->type), "decimal(9,2)");
  EXPECT_EQ(metadata.default_spec().fields[0].transform.parameter, 4);
  EXPECT_EQ(metadata.FindSpec(SpecId(1)), nullptr);
  EXPECT_EQ(metadata.FindSchema(SchemaId(1)), nullptr);
  EXPECT_EQ(metadata.default_sort_order_id(), SortOrderId(3));
  const SortField& sorted = metadata.FindSortOrder(SortOrderId(3))->fields[0];
  EXPECT_TRUE(sorted.transform.kind == TransformKind::kUnknown && !sorted.ascending && !sorted.nulls_first);
  ASSERT_EQ(metadata.snapshots().size(), 2u);
  EXPECT_EQ(metadata.snapshots()[0].operation(), "append");
  EXPECT_EQ(metadata.current_snapshot()->id, SnapshotId(2));
  EXPECT_EQ(metadata.current_snapshot()->operation(), "overwrite");
  EXPECT_EQ(*metadata.current_snapshot()->FindSummary("added-records"), "3");
  EXPECT_EQ(metadata.current_snapshot()->schema_id, SchemaId(0));
  EXPECT_EQ(metadata.refs().size(), 2u);
  EXPECT_EQ(metadata.RefSnapshot("old")->id, SnapshotId(1));
  EXPECT_EQ(metadata.FindRef("old")->max_ref_age_ms, 10000000);
  EXPECT_FALSE(metadata.FindRef("old")->is_branch);
  EXPECT_EQ(metadata.RefSnapshot("none"), nullptr);
  ASSERT_EQ(metadata.statistics().size(), 2u);
  EXPECT_EQ(metadata.statistics()[0].footer_size_bytes, 42);
  EXPECT_TRUE(metadata.statistics()[1].is_partition_statistics);
  EXPECT_EQ(metadata.metadata_log(), std::vector<std::string>{"s3://b/t/m1.json"});
}

TEST(TableMetadata, Ancestry_FollowsParents) {
  const TableMetadata metadata = MustRead(Base());
  EXPECT_TRUE(metadata.IsAncestor(SnapshotId(1), SnapshotId(2)));
  EXPECT_TRUE(metadata.IsAncestor(SnapshotId(2), SnapshotId(2)));
  EXPECT_FALSE(metadata.IsAncestor(SnapshotId(2), SnapshotId(1)));
  EXPECT_FALSE(metadata.IsAncestor(SnapshotId(9), SnapshotId(2)));
  json::Value circle = Base();
  circle.Find("snapshots")->elements()[0].Set("parent-snapshot-id", 2);
  EXPECT_FALSE(MustRead(circle).IsAncestor(SnapshotId(9), SnapshotId(2)));
}

TEST(TableMetadata, Properties_IntegersChecked) {
  const TableMetadata metadata = MustRead(Base());
  EXPECT_EQ(metadata.Property("a", "x"), "1");
  EXPECT_EQ(metadata.Property("b", "x"), "x");
  EXPECT_EQ(*metadata.IntProperty("a", 9), 1);
  EXPECT_EQ(*metadata.IntProperty("b", 9), 9);
  json::Value tree = Base();
  tree.Find("properties")->Set("a", "ten");
  EXPECT_EQ(MustRead(tree).IntProperty("a", 9).error().code, Code::kInvalidArgument);
}

TEST(TableMetadata, UnknownMembers_SurviveTheRoundTrip) {
  const json::Value tree = Base();
  const TableMetadata metadata = MustRead(tree);
  EXPECT_EQ(metadata.tree(), tree);
  EXPECT_EQ(metadata.ToJsonText(), json::Write(tree));
  EXPECT_NE(metadata.ToJsonText().find("\"x-future\":[1,{\"big\":9007199254740993}]"), std::string::npos);
  EXPECT_NE(metadata.ToJsonText().find("decimal(9, 2)"), std::string::npos);
}

TEST(TableMetadata, Version1_DefaultsFilledIn) {
  const TableMetadata metadata = MustRead(Version1());
  EXPECT_EQ(metadata.format_version(), 1);
  EXPECT_EQ(metadata.table_uuid(), "");
  EXPECT_EQ(metadata.last_sequence_number(), SequenceNumber(0));
  EXPECT_EQ(metadata.current_schema().id(), SchemaId(0));
  EXPECT_EQ(metadata.default_spec().id, SpecId(0));
  EXPECT_EQ(metadata.default_spec().fields[0].field_id, 1000);
  EXPECT_EQ(metadata.default_sort_order_id(), SortOrderId(0));
  ASSERT_NE(metadata.current_snapshot(), nullptr);
  EXPECT_EQ(metadata.current_snapshot()->manifest_list, "");
  EXPECT_EQ(metadata.current_snapshot()->manifests.size(), 2u);
  EXPECT_EQ(metadata.current_snapshot()->operation(), "");
  ASSERT_NE(metadata.FindRef("main"), nullptr);
  EXPECT_EQ(metadata.FindRef("main")->snapshot_id, SnapshotId(7));
}

TEST(TableMetadata, Version1_SchemasWithoutCurrentId_TakeTheDeprecatedMember) {
  json::Value tree = Version1();
  json::Value list = json::Value::Array();
  list.Append(*json::Parse(kSchema));
  tree.Set("schemas", std::move(list));
  EXPECT_EQ(MustRead(tree).current_schema().fields().size(), 2u);
  tree.Find("schema")->Set("schema-id", 5);
  EXPECT_FALSE(TableMetadata::FromTree(tree).has_value());
}

TEST(TableMetadata, NoCurrentSnapshot_MissingNullOrMinusOne) {
  for (const json::Value& none : {json::Value(), json::Value(-1)}) {
    json::Value tree = Base();
    tree.Set("current-snapshot-id", none);
    tree.Remove("refs");
    const TableMetadata metadata = MustRead(tree);
    EXPECT_EQ(metadata.current_snapshot(), nullptr);
    EXPECT_TRUE(metadata.refs().empty());
  }
  json::Value tree = Base();
  tree.Remove("refs");
  EXPECT_EQ(MustRead(tree).RefSnapshot("main")->id, SnapshotId(2));
  tree.Remove("current-snapshot-id");
  EXPECT_EQ(MustRead(tree).current_snapshot(), nullptr);
}

TEST(TableMetadata, UnlistedSortOrder0_IsUnsorted) {
  json::Value tree = Base();
  tree.Set("default-sort-order-id", 0);
  EXPECT_EQ(MustRead(tree).default_sort_order_id(), SortOrderId(0));
}

TEST(TableMetadata, Gzip_ToldByItsBytes) {
  const std::string text = json::Write(Base());
  Bytes packed(text.size() + 1000);
  z_stream stream{};
  ASSERT_EQ(deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = packed.data();
  stream.avail_out = static_cast<uInt>(packed.size());
  ASSERT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  EXPECT_EQ(TableMetadata::Parse(packed)->tree(), Base());
  EXPECT_EQ(TableMetadata::Parse(AsBytes(text))->tree(), Base());
  packed.pop_back();
  EXPECT_EQ(TableMetadata::Parse(packed).error().code, Code::kCorrupt);
}

/// The value at a path of names and positions, made null where it is missing: "snapshots.0.key-id".
json::Value& At(json::Value& tree, std::string_view path) {
  json::Value* at = &tree;
  while (!path.empty()) {
    const std::string name(path.substr(0, path.find('.')));
    path.remove_prefix(std::min(path.size(), name.size() + 1));
    if (at->is_array()) {
      const auto position = static_cast<std::size_t>(std::stoul(name));
      if (position == at->elements().size()) at->Append(json::Value());
      at = &at->elements()[position];
      continue;
    }
    if (at->Find(name) == nullptr) at->Set(name, json::Value());
    at = at->Find(name);
  }
  return *at;
}

struct Refusal {
  const char* path;
  const char* json;  // null counts as missing
  Code code;
  const char* message;
};

const Refusal kRefusals[] = {
    {"format-version", "4", Code::kUnsupported, "format version 4"},
    {"format-version", "0", Code::kCorrupt, "`format-version` is 0"},
    {"format-version", "\"2\"", Code::kCorrupt, "`format-version` is not"},
    {"format-version", "null", Code::kCorrupt, "`format-version` is missing"},
    {"encryption-keys", "[{}]", Code::kUnsupported, "encrypted"},
    {"properties", R"({"encryption.key-id":"k"})", Code::kUnsupported, "encrypted"},
    {"snapshots.0.key-id", "\"k\"", Code::kUnsupported, "snapshot 1: its manifest list is encrypted"},
    {"table-uuid", "null", Code::kCorrupt, "`table-uuid` is missing"},
    {"location", "null", Code::kCorrupt, "`location` is missing"},
    {"last-updated-ms", "null", Code::kCorrupt, "`last-updated-ms` is missing"},
    {"last-column-id", "null", Code::kCorrupt, "`last-column-id` is missing"},
    {"last-sequence-number", "null", Code::kCorrupt, "`last-sequence-number` is missing"},
    {"last-sequence-number", "-1", Code::kCorrupt, "`last-sequence-number` is negative"},
    {"schemas", "null", Code::kCorrupt, "`schemas` is missing"},
    {"current-schema-id", "null", Code::kCorrupt, "`current-schema-id` is missing"},
    {"current-schema-id", "5", Code::kCorrupt, "current schema is 5"},
    {"schemas.1", R"({"type":"struct","schema-id":0,"fields":[]})", Code::kCorrupt, "schema 0 appears twice"},
    {"schemas.0.fields.0.type", "\"interval\"", Code::kUnsupported, "`interval`"},
    {"schemas.0.fields.0.id", "2", Code::kCorrupt, "field id 2 is used twice"},
    {"partition-specs", "null", Code::kCorrupt, "`partition-specs` is missing"},
    {"default-spec-id", "null", Code::kCorrupt, "`default-spec-id` is missing"},
    {"default-spec-id", "5", Code::kCorrupt, "default partition spec is 5"},
    {"last-partition-id", "null", Code::kCorrupt, "`last-partition-id` is missing"},
    {"partition-specs.1", R"({"spec-id":0,"fields":[]})", Code::kCorrupt, "partition spec 0 appears twice"},
    {"partition-specs.0.fields.1", R"({"name":"x","transform":"void","source-id":1,"field-id":1000})", Code::kCorrupt,
     "field id 1000 is used twice"},
    {"sort-orders", "null", Code::kCorrupt, "`sort-orders` is missing"},
    {"default-sort-order-id", "null", Code::kCorrupt, "`default-sort-order-id` is missing"},
    {"default-sort-order-id", "1", Code::kCorrupt, "`default-sort-order-id` is 1"},
    {"sort-orders.0.fields.0.direction", "\"up\"", Code::kCorrupt, "`direction`"},
    {"sort-orders.0.fields.0.null-order", "\"up\"", Code::kCorrupt, "`null-order`"},
    {"snapshots", "5", Code::kCorrupt, "`snapshots` is no list"},
    {"snapshots.1.snapshot-id", "1", Code::kCorrupt, "snapshot 1 appears twice"},
    {"snapshots.1.snapshot-id", "9876543210123456789", Code::kCorrupt, "`snapshot-id` is not"},
    {"snapshots.0.sequence-number", "35", Code::kCorrupt, "above `last-sequence-number` 34"},
    {"snapshots.0.manifest-list", "null", Code::kCorrupt, "snapshot 1: neither `manifest-list`"},
    {"snapshots.0.timestamp-ms", "null", Code::kCorrupt, "snapshot 1: `timestamp-ms` is missing"},
    {"snapshots.0.summary.n", "1", Code::kCorrupt, "snapshot 1: `summary`: `n`"},
    {"current-snapshot-id", "1", Code::kCorrupt, "`current-snapshot-id` is 1, but ref `main` leads to 2"},
    {"current-snapshot-id", "-1", Code::kCorrupt, "`current-snapshot-id` is not set"},
    {"refs", "[]", Code::kCorrupt, "`refs` is no object"},
    {"refs.main.type", "\"tag\"", Code::kCorrupt, "`main` is a tag"},
    {"refs.old.snapshot-id", "9", Code::kCorrupt, "ref `old` leads to snapshot 9"},
    {"refs.old.type", "\"twig\"", Code::kUnsupported, "`twig`"},
    {"refs.old.max-ref-age-ms", "0", Code::kCorrupt, "`max-ref-age-ms` is not positive"},
    {"properties.n", "1", Code::kCorrupt, "`properties`: `n`"},
    {"statistics.0.statistics-path", "null", Code::kCorrupt, "`statistics`: `statistics-path`"},
    {"metadata-log.0.metadata-file", "null", Code::kCorrupt, "`metadata-log`: `metadata-file`"},
};

TEST(TableMetadata, ContradictoryMetadata_RefusedWithTheReason) {
  for (const Refusal& refusal : kRefusals) {
    json::Value tree = Base();
    At(tree, refusal.path) = *json::Parse(refusal.json);
    const auto metadata = TableMetadata::FromTree(std::move(tree));
    ASSERT_FALSE(metadata.has_value()) << refusal.path << " = " << refusal.json;
    EXPECT_EQ(metadata.error().code, refusal.code) << refusal.path << ": " << metadata.error().message;
    EXPECT_NE(metadata.error().message.find(refusal.message), std::string::npos)
        << refusal.path << ": " << metadata.error().message;
  }
  EXPECT_EQ(TableMetadata::FromTree(json::Value::Array()).error().code, Code::kCorrupt);
  json::Value without_refs = Base();
  without_refs.Remove("refs");
  without_refs.Set("current-snapshot-id", 9);
  EXPECT_EQ(TableMetadata::FromTree(without_refs).error().code, Code::kCorrupt);
}

TEST(TableMetadata, Version3_RowIdsChecked) {
  EXPECT_EQ(MustRead(Base(3)).next_row_id(), 100);
  json::Value tree = Base(3);
  At(tree, "snapshots.1.first-row-id") = json::Value(60);
  At(tree, "snapshots.1.added-rows") = json::Value(40);
  EXPECT_EQ(MustRead(tree).current_snapshot()->added_rows, 40);
  At(tree, "snapshots.1.added-rows") = json::Value(41);
  EXPECT_NE(TableMetadata::FromTree(tree).error().message.find("above `next-row-id` 100"), std::string::npos);
  At(tree, "snapshots.1").Remove("added-rows");
  EXPECT_EQ(TableMetadata::FromTree(tree).error().code, Code::kCorrupt);
  tree = Base(3);
  tree.Remove("next-row-id");
  EXPECT_EQ(TableMetadata::FromTree(tree).error().message, "`next-row-id` is missing");
}

}  // namespace
}  // namespace firn::iceberg
