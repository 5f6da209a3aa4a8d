// SPDX-License-Identifier: Apache-2.0
#include "format/avro/cursor.h"

#include <gtest/gtest.h>

#include <limits>

#include "base/random.h"
#include "format/avro/encoder.h"

namespace firn::avro {
namespace {

TEST(Cursor_ReadLong, RoundTripsEveryWidth) {
  Encoder encoder;
  std::vector<std::int64_t> values{
      0, -1, 1, -64, 63, 64, std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::int64_t>::max()};
  for (int bits = 0; bits < 63; ++bits) {
    values.push_back(std::int64_t{1} << bits);
    values.push_back(-(std::int64_t{1} << bits) - 1);
  }
  for (const std::int64_t value : values) encoder.WriteLong(value);
  Cursor cursor(encoder.bytes());
  for (const std::int64_t value : values) EXPECT_EQ(cursor.ReadLong(), value);
  EXPECT_TRUE(cursor.ok());
  EXPECT_EQ(cursor.left(), 0u);
}

TEST(Cursor_ReadLong, SpecificationExamples) {
  // "Binary Encoding": 0, -1, 1, -2, 2, -64, 64.
  const Bytes bytes{0x00, 0x01, 0x02, 0x03, 0x04, 0x7f, 0x80, 0x01};
  Cursor cursor(bytes);
  for (const std::int64_t value : {0, -1, 1, -2, 2, -64, 64}) EXPECT_EQ(cursor.ReadLong(), value);
}

TEST(Cursor_ReadLong, BadInput_IsAFault) {
  const Bytes eleven(11, 0xff);
  const Bytes tenth_too_large{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x02};
  const Bytes cut{0x80, 0x80};
  for (const Bytes& bytes : {eleven, tenth_too_large, cut, Bytes{}}) {
    Cursor cursor(bytes);
    EXPECT_EQ(cursor.ReadLong(), 0);
    EXPECT_FALSE(cursor.ok());
    EXPECT_EQ(cursor.left(), 0u);
    EXPECT_EQ(cursor.offset(), 0u);
    EXPECT_TRUE(cursor.ReadBytes().empty());
  }
}

TEST(Cursor_ReadInt, ValueOf33Bits_IsAFault) {
  Encoder encoder;
  encoder.WriteLong(std::int64_t{1} << 31);
  Cursor cursor(encoder.bytes());
  EXPECT_EQ(cursor.ReadInt(), 0);
  EXPECT_STREQ(cursor.fault(), "integer does not fit in 32 bits");
}

TEST(Cursor_ReadBytes, LengthBeyondTheEnd_IsAFault) {
  for (const std::int64_t length : {std::int64_t{-1}, std::int64_t{4}, std::numeric_limits<std::int64_t>::max()}) {
    Encoder encoder;
    encoder.WriteLong(length);
    encoder.WriteFixed(AsBytes("abc"));
    Cursor cursor(encoder.bytes());
    EXPECT_TRUE(cursor.ReadBytes().empty());
    EXPECT_FALSE(cursor.ok());
  }
}

TEST(Cursor_ReadBoolean, OtherByte_IsAFault) {
  const Bytes bytes{1, 0, 2};
  Cursor cursor(bytes);
  EXPECT_TRUE(cursor.ReadBoolean());
  EXPECT_FALSE(cursor.ReadBoolean());
  EXPECT_TRUE(cursor.ok());
  EXPECT_FALSE(cursor.ReadBoolean());
  EXPECT_EQ(cursor.offset(), 2u);
}

TEST(Cursor_SkipLongs, AgreesWithReading) {
  Random random(7);
  for (int round = 0; round < 200; ++round) {
    Encoder encoder;
    std::vector<std::size_t> ends{0};
    const std::uint64_t count = random.Below(60);
    for (std::uint64_t i = 0; i < count; ++i) {
      encoder.WriteLong(static_cast<std::int64_t>(random.Next() >> random.Below(64)));
      ends.push_back(encoder.size());
    }
    for (std::uint64_t skipped = 0; skipped <= count; ++skipped) {
      Cursor cursor(encoder.bytes());
      cursor.SkipLongs(skipped);
      ASSERT_TRUE(cursor.ok());
      ASSERT_EQ(cursor.offset(), ends[skipped]);
    }
    Cursor cursor(encoder.bytes());
    cursor.SkipLongs(count + 1);
    EXPECT_FALSE(cursor.ok());
  }
}

TEST(Cursor_ReadItemBlock, CountIsBoundedByTheBytesLeft) {
  Encoder encoder;
  encoder.WriteLong(5);
  encoder.WriteFixed(Bytes(9));
  Cursor two_bytes_each(encoder.bytes());
  EXPECT_EQ(two_bytes_each.ReadItemBlock(2).count, 0u);
  EXPECT_FALSE(two_bytes_each.ok());
  Cursor one_byte_each(encoder.bytes());
  EXPECT_EQ(one_byte_each.ReadItemBlock(1).count, 5u);
  EXPECT_TRUE(one_byte_each.ok());
}

TEST(Cursor_ReadItemBlock, NegativeCount_HasASize) {
  Encoder encoder;
  encoder.WriteLong(-3);
  encoder.WriteLong(6);
  encoder.WriteFixed(Bytes(6));
  Cursor cursor(encoder.bytes());
  const Cursor::ItemBlock block = cursor.ReadItemBlock(2);
  EXPECT_EQ(block.count, 3u);
  EXPECT_EQ(block.size_bytes, 6u);
  Encoder lying;
  lying.WriteLong(std::numeric_limits<std::int64_t>::min());
  lying.WriteLong(1);
  Cursor too_long(lying.bytes());
  (void)too_long.ReadItemBlock(1);
  EXPECT_FALSE(too_long.ok());
}

}  // namespace
}  // namespace firn::avro
