// SPDX-License-Identifier: Apache-2.0
#include "iceberg/deletion_vector.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace firn::iceberg {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Positions 2, 4 and 2^32 + 1, checksum from zlib.
const Bytes kBlob{0x00, 0x00, 0x00, 0x3a, 0xd1, 0xd3, 0x39, 0x64, 0x02, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
                  0x00, 0x00, 0x00, 0x3a, 0x30, 0x00, 0x00, 0x01, 0x00, 0x00, 0x00, 0x00, 0x00, 0x01, 0x00, 0x10, 0x00,
                  0x00, 0x00, 0x02, 0x00, 0x04, 0x00, 0x01, 0x00, 0x00, 0x00, 0x3a, 0x30, 0x00, 0x00, 0x01, 0x00, 0x00,
                  0x00, 0x00, 0x00, 0x00, 0x00, 0x10, 0x00, 0x00, 0x00, 0x01, 0x00, 0x0e, 0xa3, 0xa2, 0xec};

TEST(DeletionVector, GoldenBytes_AreReadAndWritten) {
  const auto positions = DecodeDeletionVector(kBlob);
  ASSERT_TRUE(positions.has_value()) << ToString(positions.error());
  EXPECT_THAT(positions->ToVector(), ElementsAre(2, 4, (std::int64_t{1} << 32) + 1));
  const auto blob = EncodeDeletionVector(*positions);
  ASSERT_TRUE(blob.has_value());
  EXPECT_EQ(*blob, kBlob);
}

TEST(DeletionVector, Empty_IsRead) {
  const auto blob = EncodeDeletionVector({});
  ASSERT_TRUE(blob.has_value());
  EXPECT_EQ(blob->size(), 20u);
  const auto positions = DecodeDeletionVector(*blob);
  ASSERT_TRUE(positions.has_value()) << ToString(positions.error());
  EXPECT_TRUE(positions->empty());
}

TEST(DeletionVector, EveryFlippedBit_IsAnError) {
  for (std::size_t byte = 0; byte < kBlob.size(); ++byte) {
    for (int bit = 0; bit < 8; ++bit) {
      Bytes blob = kBlob;
      blob[byte] = static_cast<std::uint8_t>(blob[byte] ^ 1 << bit);
      EXPECT_FALSE(DecodeDeletionVector(blob).has_value()) << byte << " " << bit;
    }
  }
}

TEST(DeletionVector, EveryCutAndMore_IsAnError) {
  for (std::size_t size = 0; size < kBlob.size(); ++size) {
    EXPECT_EQ(DecodeDeletionVector(ByteView(kBlob).first(size)).error().code, Code::kCorrupt) << size;
  }
  Bytes longer = kBlob;
  longer.push_back(0);
  EXPECT_THAT(DecodeDeletionVector(longer).error().message, HasSubstr("it says that it has"));
}

TEST(DeletionVectorMetadata, FollowsTheSpecification) {
  const puffin::BlobMetadata metadata = DeletionVectorMetadata("s3://b/f.parquet", 3);
  EXPECT_EQ(metadata.type, "deletion-vector-v1");
  EXPECT_THAT(metadata.fields, ElementsAre(2147483645));
  EXPECT_EQ(metadata.snapshot_id, -1);
  EXPECT_EQ(metadata.sequence_number, -1);
  EXPECT_EQ(*metadata.FindProperty("referenced-data-file"), "s3://b/f.parquet");
  EXPECT_EQ(*metadata.FindProperty("cardinality"), "3");
  EXPECT_TRUE(metadata.compression_codec.empty());
}

}  // namespace
}  // namespace firn::iceberg
