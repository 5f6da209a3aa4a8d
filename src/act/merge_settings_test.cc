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

TEST(UnusedSettings, AreNamed) {
  EXPECT_TRUE(UnusedSettings(TableWith("/wh/t", R"("write.parquet.page-row-limit":"5000")")).empty());
  const std::vector<std::string> notes =
      UnusedSettings(TableWith("/wh/t", R"("write.parquet.bloom-filter-enabled.column.a":"true",)"
                                        R"("write.parquet.bloom-filter-enabled.column.b":"false",)"
                                        R"("write.parquet.page-version":"v2")"));
  ASSERT_EQ(notes.size(), 2U);
  EXPECT_TRUE(notes[0].starts_with("write.parquet.bloom-filter-enabled.column.a has no effect")) << notes[0];
  EXPECT_TRUE(notes[1].starts_with("write.parquet.page-version has no effect")) << notes[1];
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
