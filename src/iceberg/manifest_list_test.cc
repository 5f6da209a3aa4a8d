// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "format/avro/container_writer.h"
#include "iceberg/manifest_fixture.h"

namespace firn::iceberg {
namespace {

using ::testing::HasSubstr;
using namespace fixture;

constexpr SnapshotId kSnapshot{77};

ManifestFile NewLine(std::int64_t rows) {
  ManifestFile line;
  line.manifest_path = "s3://b/t/metadata/new.avro";
  line.manifest_length = 5000;
  line.sequence_number = line.min_sequence_number = SequenceNumber(-1);
  line.added_snapshot_id = kSnapshot;
  line.added_files_count = 1;
  line.existing_files_count = line.deleted_files_count = 0;
  line.added_rows_count = rows;
  line.existing_rows_count = line.deleted_rows_count = 0;
  line.partitions.emplace();
  return line;
}

ManifestFile OldLine() {
  ManifestFile line = NewLine(100);
  line.manifest_path = "s3://b/t/metadata/old.avro";
  line.sequence_number = SequenceNumber(4);
  line.min_sequence_number = SequenceNumber(2);
  line.added_snapshot_id = SnapshotId(5);
  line.partitions = {{.contains_null = true, .contains_nan = false, .lower_bound = Bytes{1}, .upper_bound = Bytes{2}},
                     {.contains_null = false, .contains_nan = {}, .lower_bound = {}, .upper_bound = {}}};
  return line;
}

Snapshot Current() {
  Snapshot snapshot;
  snapshot.id = kSnapshot;
  return snapshot;
}

Result<std::vector<ManifestFile>> ReadList(const TableMetadata& metadata, Bytes bytes,
                                           const Snapshot& snapshot = Current()) {
  MemorySource source("snap.avro", std::move(bytes));
  SourceStream stream(source);
  return ReadManifestList(stream, snapshot, metadata);
}

struct WrittenList {
  Result<std::int64_t> next_row_id;
  Bytes bytes;
};

WrittenList WriteList(const TableMetadata& metadata, std::vector<ManifestFile>& lines, std::int64_t first_row_id = 0,
                      const std::string& codec = "deflate") {
  MemorySink sink("snap.avro");
  auto next =
      WriteManifestList(sink, metadata, kSnapshot, SnapshotId(5), SequenceNumber(9), first_row_id, codec, lines);
  return {std::move(next), std::move(sink.bytes())};
}

class ManifestListVersion : public ::testing::TestWithParam<int> {};

TEST_P(ManifestListVersion, RoundTrip) {
  const TableMetadata metadata = PlainTable(GetParam());
  std::vector<ManifestFile> lines{OldLine(), NewLine(30)};
  if (GetParam() >= 2) lines[1].content = ManifestContent::kDeletes;
  lines[1].spec_id = SpecId(1);
  lines[1].key_metadata = Bytes{7};
  for (const std::string codec : {"null", "deflate", "zstd", "snappy"}) {
    const WrittenList written = WriteList(metadata, lines, 0, codec);
    ASSERT_TRUE(written.next_row_id.has_value()) << ToString(written.next_row_id.error());
    const auto read = ReadList(metadata, written.bytes);
    ASSERT_TRUE(read.has_value()) << ToString(read.error());
    ASSERT_EQ(read->size(), 2u);
    const ManifestFile& old_line = read->at(0);
    EXPECT_EQ(old_line.manifest_path, lines[0].manifest_path);
    EXPECT_EQ(old_line.manifest_length, 5000);
    EXPECT_EQ(old_line.added_snapshot_id, SnapshotId(5));
    EXPECT_EQ(old_line.sequence_number, SequenceNumber(GetParam() == 1 ? 0 : 4));
    EXPECT_EQ(old_line.min_sequence_number, SequenceNumber(GetParam() == 1 ? 0 : 2));
    EXPECT_EQ(old_line.added_rows_count, 100);
    ASSERT_EQ(old_line.partitions->size(), 2u);
    EXPECT_TRUE(old_line.partitions->at(0).contains_null);
    EXPECT_EQ(old_line.partitions->at(0).upper_bound, Bytes{2});
    EXPECT_FALSE(old_line.partitions->at(1).contains_nan.has_value());
    const ManifestFile& new_line = read->at(1);
    EXPECT_EQ(new_line.sequence_number, SequenceNumber(GetParam() == 1 ? 0 : 9));
    EXPECT_EQ(new_line.content, lines[1].content);
    EXPECT_EQ(new_line.spec_id, SpecId(1));
    EXPECT_EQ(new_line.key_metadata, Bytes{7});
    EXPECT_TRUE(new_line.partitions.has_value() && new_line.partitions->empty());
    EXPECT_EQ(new_line.first_row_id, std::nullopt);
  }
}

INSTANTIATE_TEST_SUITE_P(All, ManifestListVersion, ::testing::Values(1, 2, 3));

TEST(ManifestList, V3_AssignsRowIdsToDataManifestsWithoutOne) {
  const TableMetadata metadata = PlainTable(3);
  ManifestFile with_id = OldLine(), deletes = NewLine(5), mixed = NewLine(50);
  with_id.first_row_id = 925;
  deletes.content = ManifestContent::kDeletes;
  mixed.existing_rows_count = 25;
  std::vector<ManifestFile> lines{with_id, deletes, mixed, NewLine(8)};
  const WrittenList written = WriteList(metadata, lines, 1000);
  ASSERT_TRUE(written.next_row_id.has_value()) << ToString(written.next_row_id.error());
  EXPECT_EQ(*written.next_row_id, 1083);
  const auto read = ReadList(metadata, written.bytes);
  ASSERT_TRUE(read.has_value());
  EXPECT_EQ(read->at(0).first_row_id, 925);
  EXPECT_EQ(read->at(1).first_row_id, std::nullopt);
  EXPECT_EQ(read->at(2).first_row_id, 1000);
  EXPECT_EQ(read->at(3).first_row_id, 1075);
  EXPECT_EQ(lines[3].first_row_id, 1075);
}

TEST(ManifestList, V1WithoutCounts_GivesUnknownNotZero) {
  const TableMetadata metadata = PlainTable(1);
  ManifestFile line = OldLine();
  line.added_files_count.reset();
  line.existing_files_count.reset();
  line.deleted_files_count.reset();
  line.added_rows_count.reset();
  line.existing_rows_count.reset();
  line.deleted_rows_count.reset();
  line.partitions.reset();
  std::vector<ManifestFile> lines{line};
  const auto read = ReadList(metadata, WriteList(metadata, lines).bytes);
  ASSERT_TRUE(read.has_value()) << ToString(read.error());
  EXPECT_FALSE(read->at(0).added_files_count.has_value());
  EXPECT_FALSE(read->at(0).deleted_rows_count.has_value());
  EXPECT_FALSE(read->at(0).partitions.has_value());
  EXPECT_TRUE(MayHaveLiveFiles(read->at(0)));
}

TEST(ManifestList, OldNamesWithoutIds_AreKnown) {
  MemorySink sink("snap.avro");
  const auto file = Must(avro::ContainerWriter::Open(
      sink,
      R"({"type":"record","name":"manifest_file","fields":[{"name":"manifest_path","type":"string"},
          {"name":"manifest_length","type":"long"},{"name":"partition_spec_id","type":"int"},
          {"name":"added_snapshot_id","type":["null","long"]},{"name":"added_data_files_count","type":["null","int"]},
          {"name":"whatever","type":{"type":"array","items":"string"}}]})",
      {}, avro::Codec::kNull, {}));
  file->encoder().WriteString("s3://b/t/m.avro");
  file->encoder().WriteLong(44);
  file->encoder().WriteLong(0);
  file->encoder().WriteLong(0);
  file->encoder().WriteLong(1);
  file->encoder().WriteLong(6);
  file->encoder().WriteLong(0);
  ASSERT_TRUE(file->EndObject().has_value());
  ASSERT_TRUE(file->Finish().has_value());
  const auto read = ReadList(PlainTable(1), sink.bytes());
  ASSERT_TRUE(read.has_value()) << ToString(read.error());
  EXPECT_EQ(read->at(0).added_files_count, 6);
  EXPECT_EQ(read->at(0).added_snapshot_id, kSnapshot);
}

TEST(ManifestList, BrokenRules_AreInternalErrors) {
  const auto code = [](int version, ManifestFile line) {
    std::vector<ManifestFile> lines{std::move(line)};
    const WrittenList written = WriteList(PlainTable(version), lines);
    EXPECT_FALSE(written.next_row_id.has_value());
    return written.next_row_id ? Code::kInvalidArgument : written.next_row_id.error().code;
  };
  ManifestFile other_snapshot = NewLine(1), no_counts = NewLine(1), deletes = NewLine(1), delete_ids = NewLine(1);
  other_snapshot.added_snapshot_id = SnapshotId(1);
  no_counts.deleted_rows_count.reset();
  deletes.content = delete_ids.content = ManifestContent::kDeletes;
  delete_ids.first_row_id = 3;
  EXPECT_EQ(code(2, other_snapshot), Code::kInternal);
  EXPECT_EQ(code(2, no_counts), Code::kInternal);
  EXPECT_EQ(code(1, deletes), Code::kInternal);
  EXPECT_EQ(code(3, delete_ids), Code::kInternal);
}

TEST(ManifestList, UnknownSpecOrEncryption_IsRefused) {
  const TableMetadata metadata = PlainTable(2);
  ManifestFile line = OldLine();
  line.spec_id = SpecId(8);
  std::vector<ManifestFile> lines{line};
  const Bytes bytes = WriteList(metadata, lines).bytes;
  const auto read = ReadList(metadata, bytes);
  ASSERT_FALSE(read.has_value());
  EXPECT_EQ(read.error().code, Code::kCorrupt);
  EXPECT_THAT(read.error().message, HasSubstr("old.avro"));
  Snapshot encrypted = Current();
  encrypted.key_id = "k";
  EXPECT_EQ(ReadList(metadata, bytes, encrypted).error().code, Code::kUnsupported);
}

TEST(ManifestList, TruncationsAndBitFlips_AreReadOrRefused) {
  const TableMetadata metadata = PlainTable(3);
  std::vector<ManifestFile> lines{OldLine(), NewLine(3)};
  const Bytes bytes = WriteList(metadata, lines, 0, "null").bytes;
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    const auto read = ReadList(metadata, Bytes(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(size)));
    EXPECT_TRUE(!read || read->empty());
  }
  for (std::size_t bit = 0; bit < bytes.size() * 8; bit += 5) {
    Bytes changed = bytes;
    changed[bit / 8] ^= static_cast<std::uint8_t>(1u << (bit % 8));
    (void)ReadList(metadata, std::move(changed));
  }
}

}  // namespace
}  // namespace firn::iceberg
