// SPDX-License-Identifier: Apache-2.0
// What is written is read back; numbers are inherited; broken rules are refused.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "format/avro/container_reader.h"
#include "iceberg/manifest_fixture.h"

namespace firn::iceberg {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;
using namespace fixture;

DataFile FullFile() {
  DataFile file = PlainFile("s3://b/t/data/a.parquet");
  file.column_sizes = {{1, 100}, {2, 200}, {3, 70'000}};
  file.value_counts = {{1, 10}, {2, 10}};
  file.null_value_counts = {{1, 0}, {2, 3}};
  file.nan_value_counts = {{3, 1}};
  file.lower_bounds = {{1, {1, 0, 0, 0, 0, 0, 0, 0}}, {3, {}}};
  file.upper_bounds = {{1, {9, 0, 0, 0, 0, 0, 0, 0}}, {3, Bytes(300, 0xff)}};
  file.key_metadata = Bytes{1, 2, 3};
  file.split_offsets = {4, 5000, std::int64_t{1} << 40};
  file.sort_order_id = SortOrderId(3);
  return file;
}

void ExpectSameFile(const DataFile& a, const DataFile& b) {
  EXPECT_EQ(a.content, b.content);
  EXPECT_EQ(a.file_path, b.file_path);
  EXPECT_EQ(a.format, b.format);
  EXPECT_EQ(a.format_text, b.format_text);
  EXPECT_EQ(a.spec_id, b.spec_id);
  EXPECT_TRUE(SameTuple(a.partition, b.partition));
  EXPECT_EQ(a.record_count, b.record_count);
  EXPECT_EQ(a.file_size_bytes, b.file_size_bytes);
  EXPECT_EQ(a.column_sizes, b.column_sizes);
  EXPECT_EQ(a.value_counts, b.value_counts);
  EXPECT_EQ(a.null_value_counts, b.null_value_counts);
  EXPECT_EQ(a.nan_value_counts, b.nan_value_counts);
  EXPECT_EQ(a.lower_bounds, b.lower_bounds);
  EXPECT_EQ(a.upper_bounds, b.upper_bounds);
  EXPECT_EQ(a.key_metadata, b.key_metadata);
  EXPECT_EQ(a.split_offsets, b.split_offsets);
  EXPECT_EQ(a.equality_ids, b.equality_ids);
  EXPECT_EQ(a.sort_order_id, b.sort_order_id);
  EXPECT_EQ(a.first_row_id, b.first_row_id);
  EXPECT_EQ(a.referenced_data_file, b.referenced_data_file);
  EXPECT_EQ(a.content_offset, b.content_offset);
  EXPECT_EQ(a.content_size_bytes, b.content_size_bytes);
}

class ManifestVersion : public ::testing::TestWithParam<int> {};

TEST_P(ManifestVersion, DataManifest_RoundTrip) {
  const TableMetadata metadata = PlainTable(GetParam());
  const ManifestEntry added = Added(FullFile());
  const ManifestEntry existing = Carried(EntryStatus::kExisting, FullFile(), 5, 3);
  const ManifestEntry deleted = Carried(EntryStatus::kDeleted, PlainFile("s3://b/t/data/b.parquet"), 5, 3);
  for (const std::string codec : {"null", "deflate", "zstd", "snappy", "gzip", "UNCOMPRESSED"}) {
    WrittenManifest written = Write(metadata, {added, existing, deleted}, {.codec = codec});
    EXPECT_EQ(written.line.manifest_path, "m0.avro");
    EXPECT_EQ(written.line.manifest_length, static_cast<std::int64_t>(written.bytes.size()));
    EXPECT_EQ(written.line.added_files_count, 1);
    EXPECT_EQ(written.line.existing_files_count, 1);
    EXPECT_EQ(written.line.deleted_files_count, 1);
    EXPECT_EQ(written.line.added_rows_count, 10);
    EXPECT_EQ(written.line.sequence_number, SequenceNumber(-1));
    written.line.sequence_number = SequenceNumber(GetParam() == 1 ? 0 : 9);
    const auto entries = Read(metadata, written.bytes, written.line);
    ASSERT_TRUE(entries.has_value()) << ToString(entries.error());
    ASSERT_EQ(entries->size(), 3u);
    ExpectSameFile(entries->at(0).file, [&] {
      DataFile file = added.file;
      if (GetParam() == 1) file.block_size_bytes = 64 << 20;
      return file;
    }());
    EXPECT_EQ(entries->at(0).snapshot_id, SnapshotId(77));
    EXPECT_EQ(entries->at(0).sequence_number, written.line.sequence_number);
    EXPECT_EQ(entries->at(1).snapshot_id, SnapshotId(5));
    EXPECT_EQ(entries->at(1).sequence_number, SequenceNumber(GetParam() == 1 ? 0 : 3));
    EXPECT_EQ(entries->at(2).status, EntryStatus::kDeleted);
    EXPECT_EQ(entries->at(2).snapshot_id, SnapshotId(77));
  }
}

INSTANTIATE_TEST_SUITE_P(All, ManifestVersion, ::testing::Values(1, 2, 3));

TEST(Manifest, DeleteManifestV3_RoundTrip) {
  const TableMetadata metadata = PlainTable(3);
  DataFile vector = PlainFile("s3://b/t/data/d.puffin");
  vector.content = FileContent::kPositionDeletes;
  vector.format = FileFormat::kPuffin;
  vector.format_text = "PUFFIN";
  vector.referenced_data_file = "s3://b/t/data/a.parquet";
  vector.content_offset = 4;
  vector.content_size_bytes = 40;
  DataFile equality = PlainFile("s3://b/t/data/e.parquet");
  equality.content = FileContent::kEqualityDeletes;
  equality.equality_ids = {1, 3};
  WrittenManifest written = Write(metadata, {Added(vector), Added(equality)}, {.content = ManifestContent::kDeletes});
  written.line.sequence_number = SequenceNumber(4);
  written.line.first_row_id = 10;  // means nothing for deletes
  const auto entries = Read(metadata, written.bytes, written.line);
  ASSERT_TRUE(entries.has_value()) << ToString(entries.error());
  ExpectSameFile(entries->at(0).file, vector);
  ExpectSameFile(entries->at(1).file, equality);
}

TEST(Manifest, Planning_LeavesMetricsOut) {
  const TableMetadata metadata = PlainTable(2);
  const WrittenManifest written = Write(metadata, {Added(FullFile())});
  const auto entries = Read(metadata, written.bytes, written.line, Wanted::planning());
  ASSERT_TRUE(entries.has_value());
  const DataFile& file = entries->at(0).file;
  EXPECT_EQ(file.file_path, "s3://b/t/data/a.parquet");
  EXPECT_TRUE(file.column_sizes.empty() && file.lower_bounds.empty() && file.split_offsets.empty());
  EXPECT_EQ(file.sort_order_id, SortOrderId(3));
  EXPECT_TRUE(file.key_metadata.has_value());
}

TEST(Manifest, PositionPathBounds_AreReadAlone) {
  const TableMetadata metadata = PlainTable(2);
  DataFile file = PlainFile("s3://b/t/data/p.parquet");
  file.content = FileContent::kPositionDeletes;
  file.lower_bounds = {{1, {7}}, {2147483546, {'a'}}};
  file.upper_bounds = {{1, {8}}, {2147483546, {'b'}}};
  const WrittenManifest written = Write(metadata, {Added(file)}, {.content = ManifestContent::kDeletes});
  const auto entries = Read(metadata, written.bytes, written.line,
                            {.metrics = false, .split_offsets = false, .position_path_bounds = true});
  ASSERT_TRUE(entries.has_value()) << ToString(entries.error());
  EXPECT_THAT(entries->at(0).file.lower_bounds, ElementsAre(Pair(2147483546, Bytes{'a'})));
  EXPECT_THAT(entries->at(0).file.upper_bounds, ElementsAre(Pair(2147483546, Bytes{'b'})));
}

TEST(Manifest, SequenceNumbers_AreInheritedByAddedEntriesOnly) {
  const TableMetadata metadata = PlainTable(2);
  ManifestEntry older = Added(PlainFile("older"));
  older.sequence_number = SequenceNumber(2);
  WrittenManifest written =
      Write(metadata, {Added(PlainFile("new")), older, Carried(EntryStatus::kExisting, PlainFile("kept"), 5, 1)});
  EXPECT_EQ(written.line.min_sequence_number, SequenceNumber(1));
  written.line.sequence_number = SequenceNumber(8);
  const auto entries = Read(metadata, written.bytes, written.line);
  ASSERT_TRUE(entries.has_value());
  EXPECT_EQ(entries->at(0).sequence_number, SequenceNumber(8));
  EXPECT_EQ(entries->at(0).file_sequence_number, SequenceNumber(8));
  EXPECT_EQ(entries->at(1).sequence_number, SequenceNumber(2));
  EXPECT_EQ(entries->at(1).file_sequence_number, SequenceNumber(8));
  EXPECT_EQ(entries->at(2).sequence_number, SequenceNumber(1));
}

TEST(Manifest, V1ManifestInANewerTable_HasSequenceNumberZero) {
  const WrittenManifest written = Write(PlainTable(1), {Added(PlainFile("a"))});
  ManifestFile line = written.line;
  line.sequence_number = SequenceNumber(6);
  const auto entries = Read(PlainTable(2), written.bytes, line);
  ASSERT_TRUE(entries.has_value()) << ToString(entries.error());
  EXPECT_EQ(entries->at(0).sequence_number, SequenceNumber(0));
  EXPECT_EQ(entries->at(0).file_sequence_number, SequenceNumber(0));
}

TEST(Manifest, FirstRowIds_AreAssignedInOrderToLiveFilesWithoutOne) {
  const TableMetadata metadata = PlainTable(3);
  DataFile with_id = PlainFile("with");
  with_id.first_row_id = 800;
  WrittenManifest written =
      Write(metadata, {Carried(EntryStatus::kExisting, with_id, 5, 1), Added(PlainFile("a")),
                       Carried(EntryStatus::kDeleted, PlainFile("gone"), 5, 1),
                       Carried(EntryStatus::kExisting, PlainFile("upgraded"), 5, 1), Added(PlainFile("b"))});
  written.line.first_row_id = 1000;
  auto entries = Read(metadata, written.bytes, written.line);
  ASSERT_TRUE(entries.has_value());
  EXPECT_EQ(entries->at(0).file.first_row_id, 800);
  EXPECT_EQ(entries->at(1).file.first_row_id, 1000);
  EXPECT_EQ(entries->at(2).file.first_row_id, std::nullopt);
  EXPECT_EQ(entries->at(3).file.first_row_id, 1010);
  EXPECT_EQ(entries->at(4).file.first_row_id, 1020);
  written.line.first_row_id.reset();
  entries = Read(metadata, written.bytes, written.line);
  ASSERT_TRUE(entries.has_value());
  for (const ManifestEntry& entry : *entries) EXPECT_EQ(entry.file.first_row_id, std::nullopt);
  written.line.first_row_id = std::numeric_limits<std::int64_t>::max() - 15;
  EXPECT_EQ(Read(metadata, written.bytes, written.line).error().code, Code::kCorrupt);
}

TEST(Manifest, PartitionSummary_CoversAllEntries) {
  const TableMetadata metadata = PlainTable(2);
  DataFile null_name = PlainFile("c", 18000);
  null_name.partition.values[1] = std::monostate();
  const WrittenManifest written =
      Write(metadata, {Added(PlainFile("a", 19005)), Added(PlainFile("b", 19001)), Added(null_name)});
  const auto& summaries = *written.line.partitions;
  ASSERT_EQ(summaries.size(), 2u);
  EXPECT_FALSE(summaries[0].contains_null);
  EXPECT_EQ(summaries[0].contains_nan, false);
  EXPECT_EQ(*summaries[0].lower_bound, EncodeBound({.kind = TypeKind::kDate}, Literal(std::int32_t{18000})));
  EXPECT_EQ(*summaries[0].upper_bound, EncodeBound({.kind = TypeKind::kDate}, Literal(std::int32_t{19005})));
  EXPECT_TRUE(summaries[1].contains_null);
  EXPECT_EQ(*summaries[1].lower_bound, Bytes{'x'});
}

TEST(ManifestReader, DisagreementWithTheList_IsAnError) {
  const TableMetadata metadata = PlainTable(2);
  const WrittenManifest written = Write(metadata, {Added(PlainFile("a"))});
  ManifestFile other_spec = written.line, unknown_spec = written.line, deletes = written.line, key = written.line;
  other_spec.spec_id = SpecId(1);
  unknown_spec.spec_id = SpecId(5);
  deletes.content = ManifestContent::kDeletes;
  key.key_metadata = Bytes{1};
  EXPECT_EQ(Read(metadata, written.bytes, other_spec).error().code, Code::kCorrupt);
  EXPECT_EQ(Read(metadata, written.bytes, unknown_spec).error().code, Code::kCorrupt);
  EXPECT_EQ(Read(metadata, written.bytes, deletes).error().code, Code::kCorrupt);
  EXPECT_EQ(Read(metadata, written.bytes, key).error().code, Code::kUnsupported);
}

TEST(ManifestReader, EveryTruncation_IsAnErrorThatNamesTheFile) {
  const TableMetadata metadata = PlainTable(3);
  const WrittenManifest written = Write(metadata, {Added(FullFile()), Added(FullFile())}, {.codec = "null"});
  int accepted = 0;
  for (std::size_t size = 0; size < written.bytes.size(); ++size) {
    const auto entries =
        Read(metadata, Bytes(written.bytes.begin(), written.bytes.begin() + static_cast<std::ptrdiff_t>(size)),
             written.line);
    if (entries) {
      ++accepted;
      continue;
    }
    EXPECT_EQ(entries.error().code, Code::kCorrupt);
    EXPECT_THAT(entries.error().message, HasSubstr("m0.avro"));
  }
  EXPECT_EQ(accepted, 1);  // the header alone
}

TEST(ManifestReader, BitFlips_AreReadOrRefused) {
  const TableMetadata metadata = PlainTable(3);
  const WrittenManifest written = Write(metadata, {Added(FullFile())}, {.codec = "null"});
  for (std::size_t bit = 0; bit < written.bytes.size() * 8; bit += 7) {
    Bytes bytes = written.bytes;
    bytes[bit / 8] ^= static_cast<std::uint8_t>(1u << (bit % 8));
    (void)Read(metadata, std::move(bytes), written.line);
  }
}

struct BrokenRule {
  const char* name;
  int version;
  ManifestContent content;
  void (*change)(ManifestEntry&);
};

TEST(ManifestWriter, BrokenRules_AreInternalErrors) {
  constexpr auto kData = ManifestContent::kData;
  constexpr auto kDeletes = ManifestContent::kDeletes;
  const BrokenRule rules[] = {
      {"spec", 2, kData, [](ManifestEntry& e) { e.file.spec_id = SpecId(1); }},
      {"partition length", 2, kData, [](ManifestEntry& e) { e.file.partition.values.pop_back(); }},
      {"partition type", 2, kData, [](ManifestEntry& e) { e.file.partition.values[0] = std::string("x"); }},
      {"content", 2, kData, [](ManifestEntry& e) { e.file.content = FileContent::kEqualityDeletes; }},
      {"content", 2, kDeletes, [](ManifestEntry& e) { e.file.content = FileContent::kData; }},
      {"negative", 2, kData, [](ManifestEntry& e) { e.file.record_count = -1; }},
      {"added elsewhere", 2, kData, [](ManifestEntry& e) { e.snapshot_id = SnapshotId(1); }},
      {"added number", 2, kData, [](ManifestEntry& e) { e.file_sequence_number = SequenceNumber(1); }},
      {"added row id", 3, kData, [](ManifestEntry& e) { e.file.first_row_id = 1; }},
      {"existing id", 1, kData, [](ManifestEntry& e) { e.status = EntryStatus::kExisting; }},
      {"existing numbers", 2, kData,
       [](ManifestEntry& e) {
         e.status = EntryStatus::kExisting;
         e.snapshot_id = SnapshotId(1);
       }},
      {"deleted numbers", 2, kData, [](ManifestEntry& e) { e.status = EntryStatus::kDeleted; }},
      {"positions in v3", 3, kDeletes, [](ManifestEntry& e) { e.file.content = FileContent::kPositionDeletes; }},
      {"vector in v2", 2, kDeletes,
       [](ManifestEntry& e) {
         e.file.content = FileContent::kPositionDeletes;
         e.file.format = FileFormat::kPuffin;
       }},
  };
  for (const BrokenRule& rule : rules) {
    const TableMetadata metadata = PlainTable(rule.version);
    MemorySink sink("m0.avro");
    const auto writer = Must(ManifestWriter::Make(
        sink, metadata, {.format_version = rule.version, .content = rule.content, .snapshot_id = SnapshotId(77)}));
    ManifestEntry entry = Added(PlainFile("a"));
    rule.change(entry);
    const Status status = writer->Add(entry);
    ASSERT_FALSE(status.has_value()) << rule.name;
    EXPECT_EQ(status.error().code, Code::kInternal) << rule.name;
  }
}

TEST(ManifestWriter, Header_IsThatOfJava) {
  const TableMetadata metadata = PlainTable(2);
  MemorySource source("m0.avro", Write(metadata, {}, {.content = ManifestContent::kDeletes}).bytes);
  SourceStream stream(source);
  const auto file = Must(avro::ContainerReader::Open(stream));
  std::vector<std::string> keys;
  for (const auto& [key, value] : file->metadata()) keys.push_back(key);
  EXPECT_THAT(keys, ElementsAre("avro.schema", "avro.codec", "schema", "schema-id", "partition-spec",
                                "partition-spec-id", "format-version", "content"));
  EXPECT_THAT(*file->FindMetadata("schema"), HasSubstr(R"({"type":"struct","schema-id":0,"fields":[{"id":1,)"));
  EXPECT_EQ(file->FindMetadata("partition-spec")->front(), '[');
  EXPECT_EQ(*file->FindMetadata("content"), "deletes");
  EXPECT_EQ(*file->FindMetadata("avro.codec"), "deflate");
}

TEST(ManifestWriter, OtherRequests_AreErrors) {
  MemorySink sink("m0.avro");
  const TableMetadata metadata = PlainTable(2);
  EXPECT_EQ(ManifestWriter::Make(sink, metadata, {.format_version = 4}).error().code, Code::kUnsupported);
  EXPECT_EQ(ManifestWriter::Make(sink, metadata, {.spec_id = SpecId(9)}).error().code, Code::kInternal);
  EXPECT_EQ(ManifestWriter::Make(sink, metadata, {.codec = "lzo"}).error().code, Code::kUnsupported);
  EXPECT_EQ(
      ManifestWriter::Make(sink, metadata, {.format_version = 1, .content = ManifestContent::kDeletes}).error().code,
      Code::kInternal);
}

}  // namespace
}  // namespace firn::iceberg
