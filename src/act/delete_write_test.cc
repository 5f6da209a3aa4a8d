// SPDX-License-Identifier: Apache-2.0
#include "act/delete_write.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "act/delete_load.h"
#include "act/position_delete_file.h"
#include "ports/memory_file_io.h"

namespace firn::act {
namespace {

iceberg::TableMetadata MetadataOf(std::int32_t version) {
  const std::string text = fmt::format(
      R"({{"format-version":{},"table-uuid":"9c12d441-03fe-4693-9a96-a0705ddf69c1","location":"mem://wh/t",)"
      R"("last-updated-ms":1,"last-sequence-number":0,"last-column-id":1,"current-schema-id":0,"schemas":[)"
      R"({{"type":"struct","schema-id":0,"fields":[{{"id":1,"name":"id","required":true,"type":"long"}}]}}],)"
      R"("default-spec-id":0,"partition-specs":[{{"spec-id":0,"fields":[]}}],"last-partition-id":999,"next-row-id":0,)"
      R"("default-sort-order-id":0,"sort-orders":[{{"order-id":0,"fields":[]}}],"properties":{{}},"snapshots":[],)"
      R"("refs":{{}}}})",
      version);
  Result<iceberg::TableMetadata> metadata = iceberg::TableMetadata::Parse(AsBytes(text));
  EXPECT_TRUE(metadata.has_value());
  return std::move(*metadata);
}

iceberg::DataFile DataFileOf(const std::string& path, std::int64_t rows) {
  iceberg::DataFile file;
  file.file_path = path;
  file.record_count = rows;
  return file;
}

class DeleteWriteTest : public testing::TestWithParam<std::int32_t> {
 protected:
  roaring::PositionSet Read(const iceberg::DataFile& data, const iceberg::DataFile& deletes) {
    const DeleteLoadContext context{metadata_, io_};
    DeleteCache cache(1 << 20);
    const iceberg::DeleteEntry entry{deletes, SequenceNumber(2)};
    const DataFileDeletes wanted{{&data, SequenceNumber(1)}, {&entry}};
    Result<std::vector<DeletedRows>> rows = LoadDeletedRows(context, cache, std::span(&wanted, 1));
    EXPECT_TRUE(rows.has_value()) << ToString(rows.error());
    return rows ? std::move(rows->front().positions) : roaring::PositionSet();
  }

  iceberg::TableMetadata metadata_ = MetadataOf(GetParam());
  ports::MemoryFileIO io_;
  MetadataFiles files_{io_, "uuid"};
};

TEST_P(DeleteWriteTest, SeveralFiles_ReadBackAsTheyWere) {
  const iceberg::DataFile a = DataFileOf("mem://wh/t/data/a.parquet", 3'000'000);
  const iceberg::DataFile b = DataFileOf("mem://wh/t/data/a long name, with a comma and ü.parquet", 5);
  const iceberg::DataFile c = DataFileOf("mem://wh/t/data/c.parquet", 5);
  roaring::PositionSet in_a, in_b, in_c;
  in_a.AddRange({1'000, 1'200'000});
  in_a.Add(2'999'999);
  in_b.Add(4);
  const auto written = WriteDeletes(metadata_, files_, {{&a, &in_a}, {&c, &in_c}, {&b, &in_b}});
  ASSERT_TRUE(written.has_value()) << ToString(written.error());
  ASSERT_EQ(written->size(), 2U);
  EXPECT_EQ(files_.created().size(), GetParam() >= 3 ? 1U : 2U);
  const iceberg::DataFile &first = (*written)[0], &second = (*written)[1];
  EXPECT_EQ(first.referenced_data_file, a.file_path);
  EXPECT_EQ(second.referenced_data_file, b.file_path);
  EXPECT_EQ(first.record_count, in_a.cardinality());
  EXPECT_EQ(first.content, iceberg::FileContent::kPositionDeletes);
  EXPECT_EQ(first.format_text, GetParam() >= 3 ? "PUFFIN" : "PARQUET");
  EXPECT_TRUE(Read(a, first) == in_a);
  EXPECT_TRUE(Read(b, second) == in_b);
  const bool is_vector = GetParam() >= 3;
  EXPECT_EQ(first.content_offset.has_value(), is_vector);
  if (is_vector) return;
  const auto bound = std::ranges::find(second.lower_bounds, kDeletePathField, &std::pair<FieldId, Bytes>::first);
  ASSERT_NE(bound, second.lower_bounds.end());
  EXPECT_EQ(AsText(bound->second), b.file_path);
  EXPECT_EQ(second.lower_bounds, second.upper_bounds);
  EXPECT_FALSE(second.sort_order_id.has_value());
}

TEST_P(DeleteWriteTest, NothingToDelete_NoFile) {
  const iceberg::DataFile a = DataFileOf("mem://wh/t/data/a.parquet", 3);
  const roaring::PositionSet none;
  const auto written = WriteDeletes(metadata_, files_, {{&a, &none}});
  ASSERT_TRUE(written.has_value());
  EXPECT_TRUE(written->empty());
  EXPECT_TRUE(files_.created().empty());
}

TEST_P(DeleteWriteTest, SharedFiles_AreOfOnePartitionAndSorted) {
  if (GetParam() >= 3) return;
  std::vector<iceberg::DataFile> data;
  for (const char* const name : {"a", "b", "c", "d"}) {
    data.push_back(DataFileOf(fmt::format("mem://wh/t/data/{}.parquet", name), 3'000'000));
  }
  std::vector<roaring::PositionSet> sets(data.size());
  sets[0].AddRange({5, 1'100'000});
  sets[1].Add(3);
  sets[3].Add(2'999'999);
  std::vector<NewDeletes> deletes;
  for (std::size_t i = 0; i < data.size(); ++i) deletes.push_back({&data[i], &sets[i]});
  const auto one = WriteSharedDeletes(metadata_, files_, deletes, 2'000'000);
  ASSERT_TRUE(one.has_value()) << ToString(one.error());
  ASSERT_EQ(one->size(), 1U);
  const iceberg::DataFile& file = one->front().file;
  EXPECT_EQ(one->front().inputs, (std::vector<std::size_t>{0, 1, 3}));
  EXPECT_FALSE(file.referenced_data_file.has_value());
  EXPECT_EQ(file.record_count, 1'100'000 - 5 + 2);
  EXPECT_EQ(AsText(file.lower_bounds[1].second), data[0].file_path);
  EXPECT_EQ(AsText(file.upper_bounds[1].second), data[3].file_path);
  for (std::size_t i = 0; i < data.size(); ++i) EXPECT_TRUE(Read(data[i], file) == sets[i]) << i;

  const auto two = WriteSharedDeletes(metadata_, files_, deletes, 1000);
  ASSERT_TRUE(two.has_value());
  ASSERT_EQ(two->size(), 2U);
  EXPECT_EQ((*two)[0].file.referenced_data_file, data[0].file_path);
  std::swap(deletes[0], deletes[1]);
  EXPECT_EQ(WriteSharedDeletes(metadata_, files_, deletes, 2'000'000).error().code, Code::kInvalidArgument);
}

INSTANTIATE_TEST_SUITE_P(Formats, DeleteWriteTest, testing::Values(2, 3),
                         [](const auto& param) { return "V" + std::to_string(param.param); });

}  // namespace
}  // namespace firn::act
