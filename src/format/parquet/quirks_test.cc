// SPDX-License-Identifier: Apache-2.0
#include "format/parquet/quirks.h"

#include <gtest/gtest.h>

namespace firn::parquet {
namespace {

TEST(CreatedBy, KnownForms_AreTakenApart) {
  struct Case {
    const char* text;
    const char* application;
    bool has_version;
    int major, minor, patch;
  };
  const Case cases[] = {
      {"parquet-mr version 1.8.1 (build 4aba4dae7bb0d4edbcf7923ae1339f28fd3f7fcf)", "parquet-mr", true, 1, 8, 1},
      {"parquet-mr version 1.13.0-SNAPSHOT (build x)", "parquet-mr", true, 1, 13, 0},
      {"parquet-mr version 1.5.0-cdh5.7.0 (build 2)", "parquet-mr", true, 1, 5, 0},
      {"parquet-cpp-arrow version 14.0.2", "parquet-cpp-arrow", true, 14, 0, 2},
      {"parquet-cpp version 1.3", "parquet-cpp", true, 1, 3, 0},
      {"parquet-mr", "parquet-mr", false, 0, 0, 0},
      {"parquet-mr (build 12)", "parquet-mr", false, 0, 0, 0},
      {"parquet-mr version x", "parquet-mr", false, 0, 0, 0},
      {"HVR 5.3.0/9 (linux_glibc2.5-x64-64bit)", "HVR 5.3.0/9", false, 0, 0, 0},
      {"Polars", "Polars", false, 0, 0, 0},
      {"", "", false, 0, 0, 0},
      {"parquet-mr version 99999999999999999999.1", "parquet-mr", false, 0, 0, 0},
  };
  for (const Case& item : cases) {
    const Writer writer = ParseCreatedBy(item.text);
    EXPECT_EQ(writer.application, item.application);
    EXPECT_EQ(writer.has_version, item.has_version) << item.text;
    if (!item.has_version) continue;
    EXPECT_EQ(writer.major, item.major);
    EXPECT_EQ(writer.minor, item.minor);
    EXPECT_EQ(writer.patch, item.patch);
  }
}

TEST(Quirks, DependOnWriterAndVersion) {
  EXPECT_TRUE(QuirksOf("parquet-mr version 1.7.0 (build x)").byte_array_statistics_wrong);
  EXPECT_TRUE(QuirksOf("parquet-mr version 1.7.0 (build x)").delta_byte_array_broken);
  EXPECT_FALSE(QuirksOf("parquet-mr version 1.8.0 (build x)").byte_array_statistics_wrong);
  EXPECT_FALSE(QuirksOf("parquet-mr version 1.8.0 (build x)").delta_byte_array_broken);
  EXPECT_TRUE(QuirksOf("").byte_array_statistics_wrong);
  EXPECT_TRUE(QuirksOf("parquet-mr").delta_byte_array_broken);
  EXPECT_TRUE(QuirksOf("parquet-mr version 1.2.8 (build x)").chunk_size_omits_dictionary_header);
  EXPECT_FALSE(QuirksOf("parquet-mr version 1.2.9 (build x)").chunk_size_omits_dictionary_header);
  EXPECT_TRUE(QuirksOf("parquet-cpp-arrow version 2.0.0").v2_is_compressed_flag_wrong);
  EXPECT_TRUE(QuirksOf("parquet-cpp version 1.5.1-SNAPSHOT").v2_is_compressed_flag_wrong);
  EXPECT_FALSE(QuirksOf("parquet-cpp-arrow version 3.0.0").v2_is_compressed_flag_wrong);
  EXPECT_FALSE(QuirksOf("parquet-rs version 0.1.0").v2_is_compressed_flag_wrong);
}

SchemaElement Element(PhysicalType type) {
  SchemaElement element;
  element.type = type;
  return element;
}

TEST(Bounds, AreReliableOnlyInADefinedOrder) {
  const Quirks none = QuirksOf("parquet-mr version 1.13.0 (build x)");
  const Quirks old = QuirksOf("parquet-mr version 1.6.0 (build x)");
  const SchemaElement number = Element(PhysicalType::kInt64), text = Element(PhysicalType::kByteArray);
  SchemaElement unsigned_number = Element(PhysicalType::kInt32);
  unsigned_number.converted_type = 13;
  SchemaElement geometry = Element(PhysicalType::kByteArray);
  geometry.logical.kind = LogicalKind::kGeometry;
  EXPECT_TRUE(HasReliableBounds(none, number, ColumnOrder::kTypeDefined, false));
  EXPECT_TRUE(HasReliableBounds(none, text, ColumnOrder::kTypeDefined, false));
  EXPECT_FALSE(HasReliableBounds(none, text, ColumnOrder::kUndefined, false));
  EXPECT_FALSE(HasReliableBounds(none, text, ColumnOrder::kOther, false));
  EXPECT_TRUE(HasReliableBounds(none, number, ColumnOrder::kUndefined, true));
  EXPECT_FALSE(HasReliableBounds(none, text, ColumnOrder::kUndefined, true));
  EXPECT_FALSE(HasReliableBounds(none, unsigned_number, ColumnOrder::kUndefined, true));
  EXPECT_TRUE(HasReliableBounds(none, unsigned_number, ColumnOrder::kTypeDefined, false));
  EXPECT_FALSE(HasReliableBounds(none, Element(PhysicalType::kInt96), ColumnOrder::kTypeDefined, false));
  EXPECT_FALSE(HasReliableBounds(none, geometry, ColumnOrder::kTypeDefined, false));
  EXPECT_FALSE(HasReliableBounds(old, text, ColumnOrder::kTypeDefined, false));
  EXPECT_TRUE(HasReliableBounds(old, number, ColumnOrder::kTypeDefined, false));
}

TEST(ChunkRange, StartsAtTheFirstPage) {
  ColumnMetaData chunk;
  chunk.data_page_offset = 100;
  chunk.total_compressed_size = 50;
  EXPECT_EQ(ChunkRange(chunk, {}, 1000).offset, 100U);
  chunk.dictionary_page_offset = 80;
  EXPECT_EQ(ChunkRange(chunk, {}, 1000).offset, 80U);
  chunk.dictionary_page_offset = 0;
  EXPECT_EQ(ChunkRange(chunk, {}, 1000).offset, 100U);
  chunk.dictionary_page_offset = 120;
  EXPECT_EQ(ChunkRange(chunk, {}, 1000).offset, 100U);
  chunk.data_page_offset = 0;
  EXPECT_EQ(ChunkRange(chunk, {}, 1000).offset, 120U);
  chunk.data_page_offset = 100;
  Quirks quirks;
  quirks.chunk_size_omits_dictionary_header = true;
  EXPECT_EQ(ChunkRange(chunk, quirks, 1000).size, 150U);
  EXPECT_EQ(ChunkRange(chunk, quirks, 170).size, 70U);
  EXPECT_EQ(ChunkRange(chunk, quirks, 150).size, 50U);
}

}  // namespace
}  // namespace firn::parquet
