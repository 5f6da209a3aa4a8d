// SPDX-License-Identifier: Apache-2.0
// Manifests as other writers make them: other field orders, unions, extra fields, types from before a promotion.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "format/avro/container_writer.h"
#include "iceberg/manifest_fixture.h"

namespace firn::iceberg {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;
using namespace fixture;

Bytes Container(std::string_view schema, const std::vector<std::pair<std::string, std::string>>& header,
                const std::function<void(avro::Encoder&)>& encode, int objects = 1) {
  MemorySink sink("foreign.avro");
  const auto file = Must(avro::ContainerWriter::Open(sink, schema, header, avro::Codec::kNull, {}));
  for (int i = 0; i < objects; ++i) {
    encode(file->encoder());
    EXPECT_TRUE(file->EndObject().has_value());
  }
  EXPECT_TRUE(file->Finish().has_value());
  return std::move(sink.bytes());
}

/// The schema of a manifest whose partition record has the given fields.
std::string Schema(const std::string& partition_fields, const std::string& more_file_fields = "") {
  return R"({"type":"record","name":"manifest_entry","fields":[
      {"name":"status","type":"int","field-id":0},
      {"name":"snapshot_id","type":["null","long"],"field-id":1},
      {"name":"data_file","field-id":2,"type":{"type":"record","name":"r2","fields":[
        {"name":"file_path","type":"string","field-id":100},
        {"name":"file_format","type":"string","field-id":101},
        {"name":"partition","field-id":102,"type":{"type":"record","name":"r102","fields":[)" +
         partition_fields + R"(]}},
        {"name":"record_count","type":"long","field-id":103},
        {"name":"file_size_in_bytes","type":"long","field-id":104})" +
         more_file_fields + "]}}]}";
}

void EncodeEntry(avro::Encoder& out, const std::function<void(avro::Encoder&)>& partition) {
  out.WriteLong(1);
  out.WriteLong(0);
  out.WriteString("s3://b/t/f");
  out.WriteString("parquet");
  partition(out);
  out.WriteLong(10);
  out.WriteLong(1000);
}

ManifestFile Line() {
  ManifestFile line;
  line.manifest_path = "foreign.avro";
  line.added_snapshot_id = SnapshotId(3);
  return line;
}

/// Field ids in an order, in unions and next to fields that no specification knows.
Bytes OddManifest() {
  return Container(
      R"({"type":"record","name":"e","fields":[
          {"name":"extra","type":{"type":"map","values":["null",{"type":"array","items":"double"}]},"field-id":900},
          {"name":"f","field-id":2,"type":["null",{"type":"record","name":"d","fields":[
            {"name":"size","type":["long","null"],"field-id":104},
            {"name":"p","field-id":102,"type":[{"type":"record","name":"t","fields":[
              {"name":"second","type":"string","field-id":1001},
              {"name":"dropped","type":["int","null"],"field-id":1007},
              {"name":"first","type":["int","null"],"field-id":1000}]},"null"]},
            {"name":"sizes","field-id":108,"type":[{"type":"array","items":{"type":"record","name":"k","fields":[
              {"name":"key","type":"int"},{"name":"value","type":["null","int"]}]}},"null"]},
            {"name":"splits","field-id":132,"type":{"type":"array","items":["null","long"]}},
            {"name":"format","type":"bytes","field-id":101},
            {"name":"path","type":["null","string"],"field-id":100},
            {"name":"count","type":"int","field-id":103},
            {"name":"no_id","type":"boolean"}]}]},
          {"name":"s","type":["int","null"],"field-id":0}]})",
      {{"format-version", "2"}, {"content", "data"}}, [](avro::Encoder& out) {
        out.WriteLong(1);
        out.WriteString("k");
        out.WriteLong(0);
        out.WriteLong(0);
        out.WriteLong(1);  // data_file
        out.WriteLong(0);
        out.WriteLong(12345);  // size
        out.WriteLong(0);      // partition
        out.WriteString("name");
        out.WriteLong(0);
        out.WriteLong(7);
        out.WriteLong(1);  // first: null
        out.WriteLong(0);  // sizes, unsorted, in two runs, the first with its size in bytes
        out.WriteLong(-1);
        out.WriteLong(4);
        out.WriteLong(5);
        out.WriteLong(1);
        out.WriteLong(500);
        out.WriteLong(2);
        out.WriteLong(2);
        out.WriteLong(1);
        out.WriteLong(20);
        out.WriteLong(3);
        out.WriteLong(0);
        out.WriteLong(0);
        out.WriteLong(1);  // splits
        out.WriteLong(1);
        out.WriteLong(4);
        out.WriteLong(0);
        out.WriteString("ORC");
        out.WriteLong(1);
        out.WriteString("s3://b/t/x");
        out.WriteLong(99);
        out.WriteBoolean(true);
        out.WriteLong(0);  // status
        out.WriteLong(0);
      });
}

TEST(ForeignManifest, OtherOrderUnionsAndUnknownFields_AreResolvedByFieldId) {
  const TableMetadata metadata = PlainTable(2);
  const Bytes bytes = OddManifest();
  for (const Wanted wanted : {Wanted::everything(), Wanted::planning()}) {
    const auto entries = Read(metadata, bytes, Line(), wanted);
    ASSERT_TRUE(entries.has_value()) << ToString(entries.error());
    const ManifestEntry& entry = entries->at(0);
    EXPECT_EQ(entry.status, EntryStatus::kExisting);
    EXPECT_EQ(entry.file.file_path, "s3://b/t/x");
    EXPECT_EQ(entry.file.format, FileFormat::kOrc);
    EXPECT_EQ(entry.file.record_count, 99);
    EXPECT_EQ(entry.file.file_size_bytes, 12345);
    EXPECT_TRUE(IsNull(entry.file.partition.values.at(0)));
    EXPECT_EQ(entry.file.partition.values.at(1), Literal(std::string("name")));
    EXPECT_EQ(entry.snapshot_id, SnapshotId(3));
    if (wanted.metrics) {
      EXPECT_THAT(entry.file.column_sizes, ElementsAre(Pair(2, 20), Pair(5, 500)));
      EXPECT_THAT(entry.file.split_offsets, ElementsAre(4));
    }
  }
}

TEST(ForeignManifest, SchemaWithoutIds_IsResolvedByName) {
  const TableMetadata metadata = PlainTable(1);
  const Bytes bytes = Container(
      R"({"type":"record","name":"manifest_entry","fields":[{"name":"status","type":"int"},
          {"name":"snapshot_id","type":"long"},{"name":"data_file","type":{"type":"record","name":"data_file",
          "fields":[{"name":"file_path","type":"string"},{"name":"file_format","type":"string"},
          {"name":"partition","type":{"type":"record","name":"partition","fields":[
            {"name":"name","type":["null","string"]},{"name":"day","type":["null","int"]}]}},
          {"name":"record_count","type":"long"},{"name":"file_size_in_bytes","type":"long"},
          {"name":"block_size_in_bytes","type":"long"}]}}]})",
      {}, [](avro::Encoder& out) {
        out.WriteLong(1);
        out.WriteLong(42);
        out.WriteString("f");
        out.WriteString("AVRO");
        out.WriteLong(0);
        out.WriteLong(1);
        out.WriteLong(19000);
        for (const int value : {7, 8, 9}) out.WriteLong(value);
      });
  const auto entries = Read(metadata, bytes, Line());
  ASSERT_TRUE(entries.has_value()) << ToString(entries.error());
  EXPECT_EQ(entries->at(0).snapshot_id, SnapshotId(42));
  EXPECT_EQ(entries->at(0).file.format, FileFormat::kAvro);
  EXPECT_EQ(entries->at(0).file.partition.values.at(0), Literal(std::int32_t{19000}));
  EXPECT_EQ(entries->at(0).file.block_size_bytes, 9);
  EXPECT_EQ(entries->at(0).sequence_number, SequenceNumber(0));
}

struct PromotionCase {
  const char* table_type;
  const char* avro_type;  // inside the union, or the whole type
  std::function<void(avro::Encoder&)> encode;
  std::optional<Literal> expected;  // absent: refused
};

TEST(ForeignManifest, PartitionValues_ArePromotedOrRefused) {
  const Bytes uuid{0xf7, 0x9c, 0x3e, 0x09, 0x67, 0x7c, 0x4b, 0xbd, 0xa4, 0x79, 0x3f, 0x34, 0x9c, 0xb7, 0x85, 0xe7};
  const auto number = [](std::int64_t value) { return [value](avro::Encoder& out) { out.WriteLong(value); }; };
  const auto raw = [](Bytes bytes) { return [bytes](avro::Encoder& out) { out.WriteFixed(bytes); }; };
  const auto text = [](std::string value) { return [value](avro::Encoder& out) { out.WriteString(value); }; };
  const PromotionCase cases[] = {
      {"long", R"("int")", number(-5), Literal(std::int64_t{-5})},
      {"int", R"("long")", number(-5), Literal(std::int32_t{-5})},
      {"int", R"("long")", number(std::int64_t{1} << 40), std::nullopt},
      {"date", R"("int")", number(19000), Literal(std::int32_t{19000})},
      {"date", R"({"type":"int","logicalType":"date"})", number(-1), Literal(std::int32_t{-1})},
      {"timestamp", R"({"type":"long","logicalType":"timestamp-micros"})", number(7), Literal(std::int64_t{7})},
      {"timestamp", R"({"type":"long","logicalType":"timestamp-millis"})", number(7), std::nullopt},
      {"timestamp", R"({"type":"int","logicalType":"date"})", number(2), Literal(std::int64_t{172'800'000'000})},
      {"timestamp_ns", R"({"type":"int","logicalType":"date"})", number(-1),
       Literal(std::int64_t{-86'400'000'000'000})},
      {"timestamp_ns", R"({"type":"int","logicalType":"date"})", number(2'000'000), std::nullopt},
      {"double", R"("float")", raw({0, 0, 0x80, 0x3f}), Literal(1.0)},
      {"float", R"("double")", raw(Bytes(8)), std::nullopt},
      {"decimal(9,2)", R"({"type":"fixed","name":"d","size":3,"logicalType":"decimal","precision":5,"scale":2})",
       raw({0xff, 0xff, 0x9c}), Literal(Decimal{-100})},
      {"decimal(9,2)", R"({"type":"bytes","logicalType":"decimal","precision":9,"scale":2})",
       text(std::string("\x01\x00", 2)), Literal(Decimal{256})},
      {"decimal(9,2)", R"({"type":"bytes","logicalType":"decimal","precision":9,"scale":3})", text("a"), std::nullopt},
      {"decimal(9,2)", R"({"type":"bytes","logicalType":"decimal","precision":9,"scale":2})", text(""), std::nullopt},
      {"uuid", R"({"type":"fixed","name":"u","size":16,"logicalType":"uuid"})", raw(uuid), Literal(uuid)},
      {"uuid", R"({"type":"string","logicalType":"uuid"})", text("f79c3e09-677c-4bbd-a479-3f349cb785e7"),
       Literal(uuid)},
      {"uuid", R"({"type":"string","logicalType":"uuid"})", text("f79c3e09-677c-4bbd-a479-3f349cb785eX"), std::nullopt},
      {"uuid", R"({"type":"fixed","name":"u","size":15})", raw(Bytes(15)), std::nullopt},
      {"fixed[2]", R"("bytes")", text("ab"), Literal(Bytes{'a', 'b'})},
      {"fixed[2]", R"("bytes")", text("abc"), std::nullopt},
      {"binary", R"({"type":"fixed","name":"x","size":1})", raw({9}), Literal(Bytes{9})},
      {"string", R"("bytes")", text("ab"), Literal(std::string("ab"))},
      {"string", R"("int")", number(1), std::nullopt},
      {"boolean", R"("boolean")", raw({1}), Literal(true)},
      {"string", R"("null")", raw({}), Literal()},
  };
  for (const PromotionCase& test : cases) {
    const TableMetadata metadata =
        Table(3, R"({"id":1,"name":"c","required":false,"type":")" + std::string(test.table_type) + R"("})",
              R"([{"spec-id":0,"fields":[{"source-id":1,"field-id":1000,"name":"c","transform":"identity"}]}])");
    const Bytes bytes =
        Container(Schema(R"({"name":"c","type":)" + std::string(test.avro_type) + R"(,"field-id":1000})"), {},
                  [&](avro::Encoder& out) { EncodeEntry(out, test.encode); });
    const auto entries = Read(metadata, bytes, Line());
    const std::string what = std::string(test.table_type) + " from " + test.avro_type;
    ASSERT_EQ(entries.has_value(), test.expected.has_value()) << what << (entries ? "" : ToString(entries.error()));
    if (!entries) continue;
    EXPECT_TRUE(SameValue(entries->at(0).file.partition.values.at(0), *test.expected)) << what;
  }
}

TEST(ForeignManifest, DroppedSourceAndUnknownTransform_KeepTheirValues) {
  const TableMetadata metadata =
      Table(2, R"({"id":1,"name":"c","required":false,"type":"int"})",
            R"([{"spec-id":0,"fields":[{"source-id":1,"field-id":1000,"name":"z","transform":"zorder[3]"},)"
            R"({"source-id":9,"field-id":1001,"name":"gone","transform":"identity"}]}])");
  const Bytes bytes = Container(Schema(R"({"name":"z","type":["null","long"],"field-id":1000},)"
                                       R"({"name":"gone","type":["null","string"],"field-id":1001})"),
                                {}, [](avro::Encoder& out) {
                                  EncodeEntry(out, [](avro::Encoder& tuple) {
                                    tuple.WriteLong(1);
                                    tuple.WriteLong(77);
                                    tuple.WriteLong(1);
                                    tuple.WriteString("v");
                                  });
                                });
  const auto entries = Read(metadata, bytes, Line());
  ASSERT_TRUE(entries.has_value()) << ToString(entries.error());
  EXPECT_EQ(entries->at(0).file.partition.values.at(0), Literal(std::int64_t{77}));
  EXPECT_EQ(entries->at(0).file.partition.values.at(1), Literal(std::string("v")));
  // What has no known type cannot be written again.
  MemorySink sink("m1.avro");
  const auto writer = Must(ManifestWriter::Make(sink, metadata, {.snapshot_id = SnapshotId(9)}));
  EXPECT_EQ(writer->Add(Added(entries->at(0).file)).error().code, Code::kUnsupported);
}

TEST(ForeignManifest, PartitionFieldMissingInTheFile_IsNull) {
  const TableMetadata metadata = PlainTable(2);
  const Bytes bytes =
      Container(Schema(R"({"name":"name","type":"string","field-id":1001})"), {},
                [](avro::Encoder& out) { EncodeEntry(out, [](avro::Encoder& tuple) { tuple.WriteString("n"); }); });
  const auto entries = Read(metadata, bytes, Line());
  ASSERT_TRUE(entries.has_value()) << ToString(entries.error());
  EXPECT_TRUE(IsNull(entries->at(0).file.partition.values.at(0)));
}

TEST(ForeignManifest, ImpossibleSchemas_AreRefused) {
  const TableMetadata metadata =
      Table(2, R"({"id":1,"name":"c","required":false,"type":"int"})", R"([{"spec-id":0,"fields":[]}])");
  const std::pair<std::string, Code> schemas[] = {
      {R"("int")", Code::kCorrupt},
      {R"({"type":"record","name":"e","fields":[{"name":"status","type":"int","field-id":0}]})", Code::kCorrupt},
      {R"({"type":"record","name":"e","fields":[{"name":"status","type":"string","field-id":0}]})", Code::kUnsupported},
      {R"({"type":"record","name":"e","fields":[{"name":"status","type":"int","field-id":0},
          {"name":"other","type":"int","field-id":0}]})",
       Code::kCorrupt},
      {R"({"type":"record","name":"e","fields":[{"name":"status","type":"int","field-id":0},
          {"name":"data_file","type":"long","field-id":2}]})",
       Code::kUnsupported},
      {Schema("", R"(,{"name":"column_sizes","type":{"type":"map","values":"long"},"field-id":108})"),
       Code::kUnsupported},
      {Schema("", R"(,{"name":"sort_order_id","type":["null","int","long"],"field-id":140})"), Code::kUnsupported},
  };
  for (const auto& [schema, code] : schemas) {
    const Bytes bytes = Container(schema, {}, [](avro::Encoder&) {}, 0);
    const auto entries = Read(metadata, bytes, Line());
    ASSERT_FALSE(entries.has_value()) << schema;
    EXPECT_EQ(entries.error().code, code) << schema << ": " << entries.error().message;
  }
}

TEST(ForeignManifest, BadValues_AreCorruptWithThePlace) {
  const TableMetadata metadata =
      Table(2, R"({"id":1,"name":"c","required":false,"type":"int"})", R"([{"spec-id":0,"fields":[]}])");
  for (const int changed : {0, 1, 2, 3}) {
    const Bytes bytes = Container(Schema(""), {}, [&](avro::Encoder& out) {
      out.WriteLong(changed == 0 ? 3 : 1);  // status
      out.WriteLong(changed == 1 ? 2 : 0);  // branch of the snapshot id
      out.WriteString("f");
      out.WriteString("parquet");
      out.WriteLong(changed == 2 ? -1 : 10);
      out.WriteLong(changed == 3 ? -1 : 10);
    });
    const auto entries = Read(metadata, bytes, Line());
    ASSERT_FALSE(entries.has_value()) << changed;
    EXPECT_EQ(entries.error().code, Code::kCorrupt);
    EXPECT_THAT(entries.error().message, HasSubstr("entry 0: "));
  }
}

TEST(ForeignManifest, HeaderOfAnotherVersion_IsRefused) {
  const TableMetadata metadata =
      Table(2, R"({"id":1,"name":"c","required":false,"type":"int"})", R"([{"spec-id":0,"fields":[]}])");
  const std::pair<std::vector<std::pair<std::string, std::string>>, Code> headers[] = {
      {{{"format-version", "4"}}, Code::kUnsupported}, {{{"format-version", "0"}}, Code::kCorrupt},
      {{{"format-version", "x"}}, Code::kCorrupt},     {{{"content", "both"}}, Code::kCorrupt},
      {{{"partition-spec-id", "3"}}, Code::kCorrupt},
  };
  for (const auto& [header, code] : headers) {
    const auto entries = Read(metadata, Container(Schema(""), header, [](avro::Encoder&) {}, 0), Line());
    ASSERT_FALSE(entries.has_value());
    EXPECT_EQ(entries.error().code, code);
  }
}

}  // namespace
}  // namespace firn::iceberg
