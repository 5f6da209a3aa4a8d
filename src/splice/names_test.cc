// SPDX-License-Identifier: Apache-2.0
#include "splice/names.h"

#include <gtest/gtest.h>

#include "format/parquet/compression.h"

namespace firn::splice {
namespace {

TEST(ParseEffort, Words) {
  EXPECT_EQ(*ParseEffort("fast"), Effort::kFast);
  EXPECT_EQ(*ParseEffort("Balanced"), Effort::kBalanced);
  EXPECT_EQ(*ParseEffort("DENSE"), Effort::kDense);
  for (const char* text : {"", "most", "fast "}) {
    EXPECT_EQ(ParseEffort(text).error().code, Code::kInvalidArgument) << text;
  }
}

TEST(ParseCodec, NamesOfPropertiesAndOfParquet) {
  using parquet::Codec;
  for (const Codec codec :
       {Codec::kUncompressed, Codec::kSnappy, Codec::kGzip, Codec::kBrotli, Codec::kZstd, Codec::kLz4Raw}) {
    EXPECT_EQ(*ParseCodec(parquet::CodecName(codec)), codec);
  }
  EXPECT_EQ(*ParseCodec("ZSTD"), Codec::kZstd);
  EXPECT_EQ(*ParseCodec("none"), Codec::kUncompressed);
  EXPECT_EQ(*ParseCodec("lz4"), Codec::kLz4Raw) << "the old framing of this name is not written";
  for (const char* text : {"", "lzo", "zst"}) EXPECT_EQ(ParseCodec(text).error().code, Code::kUnsupported) << text;
}

}  // namespace
}  // namespace firn::splice
