// SPDX-License-Identifier: Apache-2.0
#include "service/key_ranges.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <optional>
#include <vector>

#include "iceberg/manifest_writer.h"
#include "ports/memory_file_io.h"

namespace firn::service {
namespace {

using iceberg::Literal;

/// Metrics of one file's sort column. Absent bounds, counts: not in the manifest.
struct FileSpec {
  std::optional<Literal> low, high;
  std::optional<std::int64_t> nulls = 0, nans = 0;
};

iceberg::TableMetadata MakeMetadata(const std::string& type, const std::string& sort_fields) {
  const std::string text = fmt::format(
      R"j({{"format-version":2,"table-uuid":"u","location":"/t","last-sequence-number":3,"last-updated-ms":0,
      "last-column-id":2,"current-schema-id":0,"schemas":[{{"type":"struct","schema-id":0,"fields":[
        {{"id":1,"name":"k","required":false,"type":"{}"}},{{"id":2,"name":"v","required":false,"type":"int"}}]}}],
      "default-spec-id":0,"partition-specs":[{{"spec-id":0,"fields":[]}}],"last-partition-id":999,
      "default-sort-order-id":1,"sort-orders":[{{"order-id":0,"fields":[]}},{{"order-id":1,"fields":[{}]}}]}})j",
      type, sort_fields);
  auto metadata = iceberg::TableMetadata::Parse(AsBytes(text));
  EXPECT_TRUE(metadata.has_value()) << metadata.error().message;
  return std::move(*metadata);
}

std::string SortField(int source, const std::string& transform = "identity", const std::string& direction = "asc",
                      const std::string& nulls = "nulls-first") {
  return fmt::format(R"({{"source-id":{},"transform":"{}","direction":"{}","null-order":"{}"}})", source, transform,
                     direction, nulls);
}

/// Writes one manifest with the files and asks for the ranges of all.
Result<std::vector<std::optional<decide::KeyRange>>> Ranges(const iceberg::TableMetadata& metadata,
                                                            const std::vector<FileSpec>& files) {
  ports::MemoryFileIO io;
  const auto& type = metadata.current_schema().FindField(1)->type;
  MemorySink sink("/t/m.avro");
  FIRN_ASSIGN(const auto writer, iceberg::ManifestWriter::Make(sink, metadata, {.snapshot_id = SnapshotId{5}}));
  observe::Facts facts;
  facts.partitions.emplace_back();
  std::vector<std::uint32_t> all;
  for (std::size_t i = 0; i < files.size(); ++i) {
    iceberg::ManifestEntry entry;
    entry.snapshot_id = SnapshotId{5};
    entry.file.file_path = fmt::format("/t/{}.parquet", i);
    entry.file.format_text = "PARQUET";
    entry.file.record_count = 10;
    entry.file.file_size_bytes = 100;
    if (files[i].nulls) entry.file.null_value_counts = {{1, *files[i].nulls}};
    if (files[i].nans) entry.file.nan_value_counts = {{1, *files[i].nans}};
    if (files[i].low) entry.file.lower_bounds = {{1, iceberg::EncodeBound(type, *files[i].low)}};
    if (files[i].high) entry.file.upper_bounds = {{1, iceberg::EncodeBound(type, *files[i].high)}};
    FIRN_TRY(writer->Add(entry));
    observe::DataFileFacts file;
    file.ordinal = static_cast<std::uint32_t>(i);
    file.size_bytes = entry.file.file_size_bytes;
    file.record_count = entry.file.record_count;
    file.data_sequence_number = 3;
    facts.files.push_back(file);
    all.push_back(static_cast<std::uint32_t>(i));
  }
  FIRN_ASSIGN(auto line, writer->Finish());
  line.manifest_path = "/t/m.avro";
  line.sequence_number = SequenceNumber{3};
  FIRN_TRY(ports::WriteFile(io, "/t/m.avro", sink.bytes()));
  facts.manifests.push_back({line, static_cast<std::int64_t>(files.size())});
  const auto lookup = MakeKeyRangeLookup(facts, metadata, io, 1);
  if (!lookup) return Error{Code::kNotFound, "no lookup"};
  return lookup(all);
}

/// Whether file a may stand before file b.
bool Before(const std::vector<std::optional<decide::KeyRange>>& ranges, std::size_t a, std::size_t b) {
  return ranges[a] && ranges[b] && ranges[a]->high <= ranges[b]->low;
}

FileSpec Ints(std::int32_t low, std::int32_t high, std::int64_t nulls = 0) {
  return {Literal(low), Literal(high), nulls};
}

TEST(KeyRanges, Ascending_OrdersByBounds) {
  const auto ranges =
      Ranges(MakeMetadata("int", SortField(1)), {Ints(20, 30), Ints(1, 10), Ints(10, 20), Ints(25, 26)});
  ASSERT_TRUE(ranges.has_value()) << ranges.error().message;
  EXPECT_TRUE(Before(*ranges, 1, 2)) << "a common end does not matter with one sort column";
  EXPECT_TRUE(Before(*ranges, 2, 0));
  EXPECT_FALSE(Before(*ranges, 0, 3));
  EXPECT_FALSE(Before(*ranges, 3, 0));
}

TEST(KeyRanges, Descending_OrdersTheOtherWay) {
  const auto ranges =
      Ranges(MakeMetadata("int", SortField(1, "identity", "desc", "nulls-last")), {Ints(20, 30), Ints(1, 10)});
  ASSERT_TRUE(ranges.has_value());
  EXPECT_TRUE(Before(*ranges, 0, 1));
  EXPECT_FALSE(Before(*ranges, 1, 0));
}

TEST(KeyRanges, SeveralSortColumns_CommonEndsOverlap) {
  const auto ranges =
      Ranges(MakeMetadata("int", SortField(1) + "," + SortField(2)), {Ints(1, 10), Ints(10, 20), Ints(21, 22)});
  ASSERT_TRUE(ranges.has_value());
  EXPECT_FALSE(Before(*ranges, 0, 1));
  EXPECT_TRUE(Before(*ranges, 1, 2));
}

TEST(KeyRanges, Nulls_StandAtTheirEnd) {
  const FileSpec only_nulls{std::nullopt, std::nullopt, 10};
  auto ranges = Ranges(MakeMetadata("int", SortField(1)), {Ints(1, 10, 3), Ints(20, 30), only_nulls});
  ASSERT_TRUE(ranges.has_value());
  EXPECT_TRUE(Before(*ranges, 0, 1));
  EXPECT_TRUE(Before(*ranges, 2, 0));
  ranges = Ranges(MakeMetadata("int", SortField(1, "identity", "asc", "nulls-last")),
                  {Ints(1, 10, 3), Ints(20, 30), only_nulls});
  ASSERT_TRUE(ranges.has_value());
  EXPECT_FALSE(Before(*ranges, 0, 1)) << "its nulls come after the other file's values";
  EXPECT_TRUE(Before(*ranges, 1, 2));
}

TEST(KeyRanges, NaN_IsAboveEveryNumber) {
  const std::vector<FileSpec> files = {{Literal(1.0), Literal(2.0), 0, 1}, {Literal(3.0), Literal(4.0), 0, 0}};
  auto ranges = Ranges(MakeMetadata("double", SortField(1)), files);
  ASSERT_TRUE(ranges.has_value());
  EXPECT_FALSE(Before(*ranges, 0, 1));
  ranges = Ranges(MakeMetadata("double", SortField(1, "identity", "desc")), files);
  ASSERT_TRUE(ranges.has_value());
  EXPECT_FALSE(Before(*ranges, 1, 0)) << "NaN first, then the other file's numbers";
}

TEST(KeyRanges, MissingMetrics_AreUnknown) {
  FileSpec no_counts = Ints(1, 2);
  no_counts.nulls.reset();
  const FileSpec no_bounds{std::nullopt, std::nullopt, 3};
  FileSpec no_nans{Literal(1.0), Literal(2.0), 0, std::nullopt};
  auto ranges = Ranges(MakeMetadata("int", SortField(1)), {no_counts, no_bounds, Ints(1, 2)});
  ASSERT_TRUE(ranges.has_value());
  EXPECT_FALSE((*ranges)[0].has_value());
  EXPECT_FALSE((*ranges)[1].has_value());
  EXPECT_TRUE((*ranges)[2].has_value());
  ranges = Ranges(MakeMetadata("double", SortField(1)), {no_nans});
  ASSERT_TRUE(ranges.has_value());
  EXPECT_FALSE((*ranges)[0].has_value());
}

TEST(KeyRanges, Transforms_AreAppliedOrMakeItImpossible) {
  const auto ranges = Ranges(MakeMetadata("int", SortField(1, "truncate[10]")), {Ints(1, 12), Ints(15, 25)});
  ASSERT_TRUE(ranges.has_value());
  EXPECT_TRUE(Before(*ranges, 0, 1)) << "10 and 10 are equal keys";
  EXPECT_EQ(Ranges(MakeMetadata("int", SortField(1, "bucket[4]")), {Ints(1, 2)}).error().code, Code::kNotFound);
  EXPECT_EQ(Ranges(MakeMetadata("int", SortField(7)), {Ints(1, 2)}).error().code, Code::kNotFound);
}

TEST(KeyRanges, BrokenBound_IsAnErrorThatNamesTheFile) {
  const auto metadata = MakeMetadata("int", SortField(1));
  ports::MemoryFileIO io;
  iceberg::ManifestEntry entry;
  entry.snapshot_id = SnapshotId{5};
  entry.file.file_path = "/t/bad.parquet";
  entry.file.format_text = "PARQUET";
  entry.file.null_value_counts = {{1, 0}};
  entry.file.lower_bounds = entry.file.upper_bounds = {{1, Bytes{1, 2, 3}}};
  MemorySink sink("/t/m.avro");
  auto writer = iceberg::ManifestWriter::Make(sink, metadata, {.snapshot_id = SnapshotId{5}});
  ASSERT_TRUE(writer.has_value());
  ASSERT_TRUE((*writer)->Add(entry).has_value());
  auto line = (*writer)->Finish();
  ASSERT_TRUE(line.has_value());
  line->manifest_path = "/t/m.avro";
  ASSERT_TRUE(ports::WriteFile(io, "/t/m.avro", sink.bytes()).has_value());
  observe::Facts facts;
  facts.partitions.emplace_back();
  line->sequence_number = SequenceNumber{3};
  auto& file = facts.files.emplace_back();
  file.size_bytes = entry.file.file_size_bytes;
  file.record_count = entry.file.record_count;
  file.data_sequence_number = 3;
  facts.manifests.push_back({*line, 1});
  const auto ranges = MakeKeyRangeLookup(facts, metadata, io, 1)({0});
  ASSERT_FALSE(ranges.has_value());
  EXPECT_EQ(ranges.error().code, Code::kCorrupt);
  EXPECT_NE(ranges.error().message.find("/t/bad.parquet"), std::string::npos) << ranges.error().message;
}

}  // namespace
}  // namespace firn::service
