// SPDX-License-Identifier: Apache-2.0
#include "act/merge_settings.h"

#include <gtest/gtest.h>

#include <string>

#include "act/commit.h"
#include "act/metadata_fixture.h"

namespace firn::act {
namespace {

TEST(SpliceOptionsOf, NoProperties_DefaultsOfIceberg) {
  const Result<splice::Options> options = SpliceOptionsOf(TableWith("/wh/t", ""), "balanced");
  ASSERT_TRUE(options.has_value());
  EXPECT_EQ(options->codec, parquet::Codec::kZstd);
  EXPECT_EQ(options->codec_level, std::nullopt);
  EXPECT_EQ(options->row_group_size_bytes, 128 << 20);
  EXPECT_EQ(options->page_size_bytes, 1 << 20);
  EXPECT_EQ(options->dictionary_size_bytes, 2 << 20);
  EXPECT_EQ(options->page_row_count_max, std::nullopt);
  EXPECT_EQ(options->effort, splice::Effort::kBalanced);
}

TEST(SpliceOptionsOf, FastWithoutCodec_KeepsThatOfTheInputs) {
  EXPECT_EQ(SpliceOptionsOf(TableWith("/wh/t", ""), "fast")->codec, std::nullopt);
  const auto metadata = TableWith("/wh/t", R"("write.parquet.compression-codec":"Snappy")");
  EXPECT_EQ(SpliceOptionsOf(metadata, "fast")->codec, parquet::Codec::kSnappy);
}

TEST(SpliceOptionsOf, Properties_AreTakenWithinLimits) {
  const auto metadata = TableWith("/wh/t", R"("write.parquet.compression-codec":"gzip",)"
                                           R"("write.parquet.compression-level":"9",)"
                                           R"("write.parquet.row-group-size-bytes":"1000000",)"
                                           R"("write.parquet.page-size-bytes":"1",)"
                                           R"("write.parquet.page-row-limit":"20000",)"
                                           R"("write.parquet.dict-size-bytes":"99999999999")");
  const Result<splice::Options> options = SpliceOptionsOf(metadata, "dense");
  ASSERT_TRUE(options.has_value());
  EXPECT_EQ(options->codec, parquet::Codec::kGzip);
  EXPECT_EQ(options->codec_level, 9);
  EXPECT_EQ(options->row_group_size_bytes, 1'000'000);
  EXPECT_EQ(options->page_size_bytes, 4096);
  EXPECT_EQ(options->page_row_count_max, 20'000);
  EXPECT_EQ(options->dictionary_size_bytes, 64 << 20);
}

TEST(SpliceOptionsOf, WrongValues_AreErrorsThatNameThem) {
  const std::pair<std::string, Code> kCases[] = {
      {R"("write.parquet.compression-codec":"lzo")", Code::kUnsupported},
      {R"("write.parquet.compression-level":"high")", Code::kInvalidArgument},
      {R"("write.parquet.compression-level":"99")", Code::kInvalidArgument},
      {R"("write.parquet.row-group-size-bytes":"0")", Code::kInvalidArgument},
      {R"("write.parquet.page-size-bytes":"1MB")", Code::kInvalidArgument},
      {R"("write.parquet.page-row-limit":"-5")", Code::kInvalidArgument},
      {R"("write.parquet.page-row-limit":"many")", Code::kInvalidArgument},
  };
  for (const auto& [properties, code] : kCases) {
    const Result<splice::Options> options = SpliceOptionsOf(TableWith("/wh/t", properties), "balanced");
    ASSERT_FALSE(options.has_value()) << properties;
    EXPECT_EQ(options.error().code, code) << properties;
    EXPECT_NE(options.error().message.find("write.parquet."), std::string::npos) << options.error().message;
  }
  EXPECT_EQ(SpliceOptionsOf(TableWith("/wh/t", ""), "lazy").error().code, Code::kInvalidArgument);
  const auto null_level = TableWith("/wh/t", R"("write.parquet.compression-level":"null")");
  EXPECT_EQ(SpliceOptionsOf(null_level, "balanced")->codec_level, std::nullopt);
}

TEST(SpliceOptionsOf, ColumnProperties_AreThoseOfTheirFields) {
  const auto metadata = TableWith("/wh/t", R"("write.parquet.bloom-filter-enabled.column.id":"TRUE",)"
                                           R"("write.parquet.bloom-filter-fpp.column.id":"0.05",)"
                                           R"("write.parquet.bloom-filter-ndv.column.id":"1000",)"
                                           R"("write.parquet.bloom-filter-max-bytes":"4096",)"
                                           R"("write.parquet.dict-encoding-enabled.column.id":"false",)"
                                           R"("write.parquet.stats-enabled.column.id":"false")");
  const Result<splice::Options> options = SpliceOptionsOf(metadata, "balanced");
  ASSERT_TRUE(options.has_value()) << options.error().message;
  EXPECT_EQ(options->bloom_filter_bytes_max, 4096);
  ASSERT_EQ(options->columns.size(), 1U);
  const splice::ColumnOptions& column = options->columns.at(1);
  EXPECT_EQ(column.bloom_filter, true);
  EXPECT_EQ(column.bloom_filter_fpp, 0.05);
  EXPECT_EQ(column.bloom_filter_distinct, 1000);
  EXPECT_FALSE(column.dictionary);
  EXPECT_FALSE(column.statistics);
  EXPECT_TRUE(UnusedSettings(metadata).empty());
  const auto refused = TableWith("/wh/t", R"("write.parquet.bloom-filter-enabled.column.id":"no")");
  EXPECT_EQ(SpliceOptionsOf(refused, "balanced")->columns.at(1).bloom_filter, false);
}

TEST(SpliceOptionsOf, WrongColumnProperties_AreErrorsThatNameThem) {
  for (const char* const property :
       {R"("write.parquet.bloom-filter-fpp.column.id":"1.0")", R"("write.parquet.bloom-filter-fpp.column.id":"0")",
        R"("write.parquet.bloom-filter-fpp.column.id":"nan")", R"("write.parquet.bloom-filter-fpp.column.id":"0.1x")",
        R"("write.parquet.bloom-filter-ndv.column.id":"0")", R"("write.parquet.bloom-filter-ndv.column.id":"many")",
        R"("write.parquet.bloom-filter-max-bytes":"-1")"}) {
    const Result<splice::Options> options = SpliceOptionsOf(TableWith("/wh/t", property), "balanced");
    ASSERT_FALSE(options.has_value()) << property;
    EXPECT_EQ(options.error().code, Code::kInvalidArgument);
    EXPECT_NE(options.error().message.find("write.parquet.bloom-filter-"), std::string::npos);
  }
}

TEST(UnusedSettings, AreNamed) {
  EXPECT_TRUE(UnusedSettings(TableWith("/wh/t", R"("write.parquet.page-row-limit":"5000")")).empty());
  const std::vector<std::string> notes =
      UnusedSettings(TableWith("/wh/t", R"("write.parquet.bloom-filter-enabled.column.gone":"true",)"
                                        R"("write.parquet.shred-variants":"true",)"
                                        R"("write.parquet.row-group-size-track-uncompressed":"true",)"
                                        R"("write.parquet.page-version":"v2")"));
  ASSERT_EQ(notes.size(), 4U);
  EXPECT_TRUE(notes[0].starts_with("write.parquet.bloom-filter-enabled.column.gone has no effect")) << notes[0];
  EXPECT_TRUE(notes[1].starts_with("write.parquet.page-version has no effect")) << notes[1];
  EXPECT_TRUE(notes[2].starts_with("write.parquet.shred-variants has no effect")) << notes[2];
  EXPECT_TRUE(notes[3].starts_with("write.parquet.row-group-size-track-uncompressed has no effect")) << notes[3];
}

TEST(RetryPolicyOf, TableProperties_GoBeforeThePolicy) {
  const RetryPolicy own;
  const Result<RetryPolicy> plain = RetryPolicyOf(TableWith("/wh/t", ""), own);
  ASSERT_TRUE(plain.has_value());
  EXPECT_EQ(plain->attempts_max, own.attempts_max);
  EXPECT_EQ(plain->wait_max_ms, own.wait_max_ms);
  const Result<RetryPolicy> set = RetryPolicyOf(TableWith("/wh/t", R"("commit.retry.num-retries":"2",)"
                                                                   R"("commit.retry.min-wait-ms":"7",)"
                                                                   R"("commit.retry.max-wait-ms":"-1",)"
                                                                   R"("commit.retry.total-timeout-ms":"60000")"),
                                                own);
  ASSERT_TRUE(set.has_value());
  EXPECT_EQ(set->attempts_max, 3);
  EXPECT_EQ(set->wait_min_ms, 7);
  EXPECT_EQ(set->wait_max_ms, 0);
  EXPECT_EQ(set->total_ms, 60'000);
  EXPECT_FALSE(RetryPolicyOf(TableWith("/wh/t", R"("commit.retry.num-retries":"many")"), own).has_value());
}

}  // namespace
}  // namespace firn::act
