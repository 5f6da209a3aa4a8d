// SPDX-License-Identifier: Apache-2.0
// The delta encodings and split streams: written, read again, and read when broken.
#include <gtest/gtest.h>

#include <limits>

#include "base/random.h"
#include "splice/delta_feed.h"
#include "splice/plain_encode.h"

namespace firn::splice {
namespace {

using parquet::Encoding;
using parquet::PhysicalType;

OutputColumn ColumnOf(PhysicalType type, std::size_t width) {
  OutputColumn column;
  column.type = type;
  column.width = width;
  return column;
}

template <class T>
RawBuffer PlainOf(const std::vector<T>& values) {
  RawBuffer plain;
  for (const T value : values) {
    StoreLittle(plain.Room(sizeof value), value);
    plain.Advance(sizeof value);
  }
  return plain;
}

RawBuffer PlainOf(const std::vector<std::string>& values, bool with_length) {
  RawBuffer plain;
  for (const std::string& value : values) {
    if (with_length) {
      StoreLittle(plain.Room(4), static_cast<std::uint32_t>(value.size()));
      plain.Advance(4);
    }
    plain.Append(AsBytes(value));
  }
  return plain;
}

Bytes Copy(ByteView view) { return {view.begin(), view.end()}; }

/// What a feed gives when it is asked for `count` values in steps.
Result<Bytes> TakeAll(ValueFeed& feed, std::size_t count, std::size_t step) {
  PageValues values;
  values.Reset(ValueMode::kPlain, 0);
  while (count > 0) {
    const std::size_t take = std::min(count, step);
    FIRN_TRY(feed.Take(take, values));
    count -= take;
  }
  return Copy(values.plain_values());
}

template <class T>
void ExpectIntegers(PhysicalType type, const std::vector<T>& values) {
  const RawBuffer plain = PlainOf(values);
  RawBuffer encoded;
  ASSERT_TRUE(
      EncodePlainAs(Encoding::kDeltaBinaryPacked, ColumnOf(type, sizeof(T)), plain.view(), values.size(), encoded));
  EXPECT_EQ(*DeltaReader::SizeOf(encoded.view()), encoded.size());
  for (const std::size_t step : {1UL, 31UL, 1000UL}) {
    DeltaIntegerFeed feed;
    ASSERT_TRUE(feed.Open(encoded.view(), sizeof(T)));
    const Result<Bytes> taken = TakeAll(feed, values.size(), step);
    ASSERT_TRUE(taken) << ToString(taken.error());
    EXPECT_EQ(*taken, Copy(plain.view()));
  }
  DeltaIntegerFeed feed;
  ASSERT_TRUE(feed.Open(encoded.view(), sizeof(T)));
  EXPECT_FALSE(TakeAll(feed, values.size() + 1, 64));
}

TEST(DeltaIntegers, AllRanges_SurviveTheRoundTrip) {
  Random random(1);
  for (const std::size_t count : {0UL, 1UL, 2UL, 32UL, 33UL, 128UL, 129UL, 130UL, 1000UL}) {
    for (unsigned bits = 1; bits <= 64; bits += 7) {
      std::vector<std::int64_t> longs(count);
      std::vector<std::int32_t> ints(count);
      for (std::size_t i = 0; i < count; ++i) {
        longs[i] = static_cast<std::int64_t>(random.Next() >> (64 - bits));
        ints[i] = static_cast<std::int32_t>(random.Next() >> (64 - std::min(bits, 32U)));
      }
      ExpectIntegers(PhysicalType::kInt64, longs);
      ExpectIntegers(PhysicalType::kInt32, ints);
    }
  }
  constexpr auto kMin = std::numeric_limits<std::int64_t>::min(), kMax = std::numeric_limits<std::int64_t>::max();
  ExpectIntegers<std::int64_t>(PhysicalType::kInt64, {kMin, kMax, kMin, 0, kMax, -1, kMin, kMin});
  ExpectIntegers<std::int32_t>(PhysicalType::kInt32, {std::numeric_limits<std::int32_t>::min(),
                                                      std::numeric_limits<std::int32_t>::max(), 0, -1});
}

TEST(DeltaIntegers, ExampleOfTheSpecification) {
  // 1 to 5 in blocks of 128: header 128, 4, 5, 1 (zigzag 2); block: minimum 1 (zigzag 2), widths 0.
  const RawBuffer plain = PlainOf(std::vector<std::int32_t>{1, 2, 3, 4, 5});
  RawBuffer encoded;
  ASSERT_TRUE(EncodePlainAs(Encoding::kDeltaBinaryPacked, ColumnOf(PhysicalType::kInt32, 4), plain.view(), 5, encoded));
  EXPECT_EQ(Copy(encoded.view()), (Bytes{0x80, 0x01, 0x04, 0x05, 0x02, 0x02, 0, 0, 0, 0}));
}

TEST(DeltaIntegers, BrokenHeaders_AreRefused) {
  const std::vector<Bytes> broken = {
      {0x80},
      {0x00, 0x04, 0x05, 0x02},
      {0x80, 0x01, 0x00, 0x05, 0x02},
      {0x80, 0x01, 0x05, 0x05, 0x02},
      {0x10, 0x02, 0x05, 0x02},
      {0x80, 0x01, 0x04, 0xff},
  };
  for (const Bytes& one : broken) {
    RawBuffer bytes;
    bytes.Append(one);
    DeltaIntegerFeed feed;
    EXPECT_FALSE(feed.Open(bytes.view(), 8));
  }
  RawBuffer wide;  // a miniblock of 65 bits
  wide.Append(Bytes{0x80, 0x01, 0x04, 0x05, 0x02, 0x02, 65, 0, 0, 0});
  DeltaIntegerFeed feed;
  ASSERT_TRUE(feed.Open(wide.view(), 8));
  EXPECT_FALSE(TakeAll(feed, 5, 5));
}

std::vector<std::string> Strings(std::uint64_t seed, std::size_t count) {
  Random random(seed);
  std::vector<std::string> values;
  for (std::size_t i = 0; i < count; ++i) {
    values.push_back(random.Below(9) == 0
                         ? ""
                         : "shared/prefix/" + std::to_string(random.Below(50)) + std::string(random.Below(20), 'x'));
  }
  return values;
}

TEST(DeltaStrings, BothKinds_SurviveTheRoundTrip) {
  const OutputColumn column = ColumnOf(PhysicalType::kByteArray, 0);
  for (const std::size_t count : {0UL, 1UL, 5UL, 700UL}) {
    const RawBuffer plain = PlainOf(Strings(count, count), true);
    RawBuffer lengths, strings;
    ASSERT_TRUE(EncodePlainAs(Encoding::kDeltaLengthByteArray, column, plain.view(), count, lengths));
    ASSERT_TRUE(EncodePlainAs(Encoding::kDeltaByteArray, column, plain.view(), count, strings));
    DeltaLengthFeed length_feed;
    ASSERT_TRUE(length_feed.Open(lengths.view()));
    EXPECT_EQ(*TakeAll(length_feed, count, 100), Copy(plain.view()));
    DeltaStringFeed string_feed;
    ASSERT_TRUE(string_feed.Open(strings.view(), 0, 1 << 20, false));
    EXPECT_EQ(*TakeAll(string_feed, count, 100), Copy(plain.view()));
    EXPECT_FALSE(TakeAll(string_feed, 1, 1));
  }
}

TEST(DeltaStrings, FixedLength_SurvivesTheRoundTripAndIsChecked) {
  const std::vector<std::string> values = {"abcd", "abce", "abce", "xbce", "xyzz"};
  const RawBuffer plain = PlainOf(values, false);
  RawBuffer encoded;
  ASSERT_TRUE(EncodePlainAs(Encoding::kDeltaByteArray, ColumnOf(PhysicalType::kFixedLenByteArray, 4), plain.view(),
                            values.size(), encoded));
  DeltaStringFeed feed;
  ASSERT_TRUE(feed.Open(encoded.view(), 4, 1 << 20, false));
  EXPECT_EQ(*TakeAll(feed, values.size(), 2), Copy(plain.view()));
  ASSERT_TRUE(feed.Open(encoded.view(), 5, 1 << 20, false));
  EXPECT_FALSE(TakeAll(feed, 1, 1));
}

TEST(DeltaStrings, ValuesThatGrowWithoutEnd_AreStopped) {
  // Every value repeats the whole of the one before.
  const std::vector<std::string> values(5000, std::string(1000, 'y'));
  const RawBuffer plain = PlainOf(values, true);
  RawBuffer encoded;
  ASSERT_TRUE(EncodePlainAs(Encoding::kDeltaByteArray, ColumnOf(PhysicalType::kByteArray, 0), plain.view(),
                            values.size(), encoded));
  EXPECT_LT(encoded.size(), 3000U);
  DeltaStringFeed feed;
  ASSERT_TRUE(feed.Open(encoded.view(), 0, 1 << 20, false));
  const Result<Bytes> taken = TakeAll(feed, values.size(), 100);
  ASSERT_FALSE(taken);
  EXPECT_EQ(taken.error().code, Code::kLimit);
}

TEST(DeltaStrings, OldWriters_GoOnFromThePageBefore) {
  const RawBuffer first = PlainOf(std::vector<std::string>{"prefix-1"}, true);
  const RawBuffer second = PlainOf(std::vector<std::string>{"prefix-1", "prefix-2"}, true);
  const OutputColumn column = ColumnOf(PhysicalType::kByteArray, 0);
  RawBuffer page, both;
  ASSERT_TRUE(EncodePlainAs(Encoding::kDeltaByteArray, column, first.view(), 1, page));
  DeltaStringFeed feed;
  ASSERT_TRUE(feed.Open(page.view(), 0, 1 << 20, false));
  ASSERT_TRUE(TakeAll(feed, 1, 1));
  // One value with a prefix of 7 and the suffix "2".
  both.Append(Bytes{0x80, 0x01, 0x04, 0x01, 0x0e, 0x80, 0x01, 0x04, 0x01, 0x02, '2'});
  ASSERT_TRUE(feed.Open(both.view(), 0, 1 << 20, true));
  EXPECT_EQ(*TakeAll(feed, 1, 1), Copy(PlainOf(std::vector<std::string>{"prefix-2"}, true).view()));
  ASSERT_TRUE(feed.Open(both.view(), 0, 1 << 20, false));
  EXPECT_FALSE(TakeAll(feed, 1, 1));
}

TEST(StreamSplit, AnyWidth_SurvivesTheRoundTrip) {
  Random random(5);
  for (const std::size_t width : {2UL, 4UL, 8UL, 16UL}) {
    RawBuffer plain, encoded;
    for (std::size_t i = 0; i < width * 333; ++i) plain.AppendByte(static_cast<std::uint8_t>(random.Next()));
    ASSERT_TRUE(EncodePlainAs(Encoding::kByteStreamSplit, ColumnOf(PhysicalType::kFixedLenByteArray, width),
                              plain.view(), 333, encoded));
    StreamSplitFeed feed;
    ASSERT_TRUE(feed.Open(encoded.view(), width));
    EXPECT_EQ(*TakeAll(feed, 333, 50), Copy(plain.view()));
    EXPECT_FALSE(TakeAll(feed, 1, 1));
  }
  StreamSplitFeed feed;
  EXPECT_FALSE(feed.Open(Bytes(7), 4));
}

}  // namespace
}  // namespace firn::splice
