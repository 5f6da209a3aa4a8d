// SPDX-License-Identifier: Apache-2.0
#include "format/roaring/position_set.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "base/random.h"

namespace firn::roaring {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// "0a 0b | 0c": bytes in hexadecimal; other characters only divide.
Bytes Hex(std::string_view text) {
  Bytes bytes;
  std::string digits;
  for (const char c : text) {
    if (std::isxdigit(static_cast<unsigned char>(c)) != 0) digits += c;
  }
  for (std::size_t i = 0; i + 1 < digits.size(); i += 2) {
    bytes.push_back(static_cast<std::uint8_t>(std::stoi(digits.substr(i, 2), nullptr, 16)));
  }
  return bytes;
}

PositionSet SetOf(const std::vector<std::int64_t>& positions) {
  PositionSet set;
  for (const std::int64_t position : positions) set.Add(position);
  return set;
}

std::vector<PositionRange> Ranges(const PositionSet& set, PositionRange within) {
  std::vector<PositionRange> ranges;
  RangeCursor cursor(set, within);
  for (PositionRange range; cursor.Next(range);) ranges.push_back(range);
  return ranges;
}

constexpr std::int64_t kFar = std::int64_t{5} << 32;

TEST(Decode, GoldenBytes_AreReadAndWritten) {
  const struct {
    const char* name;
    const char* hex;
    std::vector<PositionRange> ranges;
  } cases[] = {
      {"empty", "0000000000000000", {}},
      {"one array",
       "0100000000000000 | 00000000 3a300000 01000000 0000 0200 10000000 | 0100 0500 ffff",
       {{1, 2}, {5, 6}, {65535, 65536}}},
      {"runs and an array, no offsets",
       "0100000000000000 | 00000000 3b300100 02 0000 0000 0100 0f27 | 0700 | 0100 0a00 0f27",
       {{7, 8}, {65546, 75546}}},
      {"a high key",
       "0100000000000000 | 05000000 3a300000 01000000 0200 0000 10000000 | 0300",
       {{kFar + 2 * 65536 + 3, kFar + 2 * 65536 + 4}}},
      {"two bitmaps",
       "0200000000000000 | 00000000 3a300000 01000000 0000 0000 10000000 0000 |"
       "01000000 3a300000 01000000 0000 0000 10000000 0100",
       {{0, 1}, {(std::int64_t{1} << 32) + 1, (std::int64_t{1} << 32) + 2}}},
      {"four containers with runs have offsets",
       "0100000000000000 | 00000000 3b300300 0f 0000 0900 0100 0900 0200 0900 0300 0900 |"
       "25000000 2b000000 31000000 37000000 | 0100 0000 0900 | 0100 0000 0900 | 0100 0000 0900 | 0100 0000 0900",
       {{0, 10}, {65536, 65546}, {131072, 131082}, {196608, 196618}}},
  };
  for (const auto& c : cases) {
    const Bytes bytes = Hex(c.hex);
    const auto set = PositionSet::Decode(bytes);
    ASSERT_TRUE(set.has_value()) << c.name << ": " << ToString(set.error());
    EXPECT_EQ(Ranges(*set, {0, INT64_MAX}), c.ranges) << c.name;
    EXPECT_EQ(set->Encode(), bytes) << c.name;
    std::int64_t cardinality = 0;
    for (const PositionRange& range : c.ranges) cardinality += range.size();
    EXPECT_EQ(set->cardinality(), cardinality) << c.name;
  }
}

TEST(Decode, BitmapContainer_IsReadAndWritten) {
  PositionSet set;
  for (std::int64_t position = 0; position < 65536; position += 3) set.Add(position);
  const Bytes bytes = set.Encode();
  EXPECT_EQ(bytes.size(), 8u + 4 + 8 + 4 + 4 + 8192);
  EXPECT_EQ(Bytes(bytes.begin(), bytes.begin() + 32),
            Hex("0100000000000000 00000000 3a300000 01000000 0000 5555 10000000 49922449"));
  const auto read = PositionSet::Decode(bytes);
  ASSERT_TRUE(read.has_value()) << ToString(read.error());
  EXPECT_EQ(*read, set);
  EXPECT_EQ(read->cardinality(), 21846);
}

TEST(Decode, EmptyBitmaps_AreGaps) {
  const auto set = PositionSet::Decode(
      Hex("0200000000000000 | 00000000 3a300000 00000000 | 01000000 3a300000 01000000 0000 0000 10000000 0100"));
  ASSERT_TRUE(set.has_value()) << ToString(set.error());
  EXPECT_THAT(set->ToVector(), ElementsAre((std::int64_t{1} << 32) + 1));
}

TEST(Decode, TouchingRuns_AreJoined) {
  const auto set = PositionSet::Decode(
      Hex("0100000000000000 | 00000000 3b300000 01 0000 1300 | 0300 0000 0400 0500 0400 1400 0900"));
  ASSERT_TRUE(set.has_value()) << ToString(set.error());
  EXPECT_EQ(Ranges(*set, {0, 100}), (std::vector<PositionRange>{{0, 10}, {20, 30}}));
}

TEST(Decode, BadBytes_AreAnErrorWithAnOffset) {
  const struct {
    const char* hex;
    const char* text;
  } cases[] = {
      {"", "ends too early"},
      {"01000000000000", "ends too early"},
      {"0100000000000000", "ends too early"},
      {"ffffffffffffffff", "ends too early"},
      {"0000000000000000 00", "1 bytes follow"},
      {"0100000000000000 00000000 3c300000", "unknown cookie"},
      {"0100000000000000 00000000 3a300000 01000100", "too many containers"},
      {"0100000000000000 00000000 3a300000 00000100", "ends too early"},
      {"0100000000000000 00000080 3a300000 00000000", "highest bit"},
      {"0200000000000000 01000000 3a300000 00000000 01000000 3a300000 00000000", "keys of bitmaps"},
      {"0100000000000000 00000000 3a300000 02000000 0000 0000 0000 0000 18000000 1a000000 0000 0000", "keys of cont"},
      {"0100000000000000 00000000 3a300000 01000000 0000 0100 10000000 0500 0500", "not ascending"},
      {"0100000000000000 00000000 3a300000 01000000 0000 0100 10000000 0600 0500", "not ascending"},
      {"0100000000000000 00000000 3b300000 01 0000 0900 0100 0000 0800", "as many values"},
      {"0100000000000000 00000000 3b300000 01 0000 0900 0000", "as many values"},
      {"0100000000000000 00000000 3b300000 01 0000 0900 0200 0000 0500 0400 0300", "overlap"},
      {"0100000000000000 00000000 3b300000 01 0000 0900 0100 ffff 0900", "overlap"},
  };
  for (const auto& c : cases) {
    const auto set = PositionSet::Decode(Hex(c.hex));
    ASSERT_FALSE(set.has_value()) << c.hex;
    EXPECT_EQ(set.error().code, Code::kCorrupt);
    EXPECT_THAT(set.error().message, HasSubstr(c.text)) << c.hex;
    EXPECT_THAT(set.error().message, HasSubstr("offset"));
  }
}

TEST(Decode, EveryCut_IsAnError) {
  PositionSet set;
  set.AddRange({100, 70000});
  for (std::int64_t position = 200000; position < 260000; position += 2) set.Add(position);
  set.Add(kFar);
  const Bytes bytes = set.Encode();
  for (std::size_t size = 0; size < bytes.size(); size += size < 64 ? 1 : 97) {
    EXPECT_FALSE(PositionSet::Decode(ByteView(bytes).first(size)).has_value()) << size;
  }
}

TEST(Encode, RunsOnlyIfSmaller) {
  // An array of 2n bytes against runs of 2 + 4r bytes.
  EXPECT_EQ(SetOf({4, 5, 6}).Encode().size(), 8u + 4 + 8 + 4 + 4 + 6);         // 6 and 6: array
  EXPECT_EQ(SetOf({4, 5, 6, 7}).Encode().size(), 8u + 4 + 4 + 1 + 4 + 2 + 4);  // 8 and 6: runs
  PositionSet full;
  full.AddRange({0, 1 << 20});
  EXPECT_EQ(full.Encode().size(), 8u + 4 + 4 + 2 + 16 * 4 + 16 * 4 + 16 * 6);
  EXPECT_LT(full.memory_bytes(), 2000u);
}

TEST(Add, UnsortedAndTwice_CountsOnce) {
  PositionSet set = SetOf({70000, 3, 70000, 1, kFar, 3, 0, 65535, 65536});
  EXPECT_THAT(set.ToVector(), ElementsAre(0, 1, 3, 65535, 65536, 70000, kFar));
  EXPECT_EQ(set.cardinality(), 7);
  EXPECT_EQ(set.first(), 0);
  EXPECT_EQ(set.last(), kFar);
  EXPECT_TRUE(set.Contains(65535));
  EXPECT_FALSE(set.Contains(65537));
  EXPECT_FALSE(set.Contains(-1));
}

TEST(RangeCursor, RangesAcrossContainers_AreJoined) {
  PositionSet set;
  set.AddRange({65530, 3 * 65536 + 2});
  set.Add(4 * 65536 - 1);
  set.Add(4 * 65536 + 1);
  EXPECT_EQ(
      Ranges(set, {0, INT64_MAX}),
      (std::vector<PositionRange>{{65530, 3 * 65536 + 2}, {4 * 65536 - 1, 4 * 65536}, {4 * 65536 + 1, 4 * 65536 + 2}}));
  EXPECT_EQ(Ranges(set, {65536, 65540}), (std::vector<PositionRange>{{65536, 65540}}));
  EXPECT_THAT(Ranges(set, {5 * 65536, 6 * 65536}), IsEmpty());
  EXPECT_THAT(Ranges(set, {7, 7}), IsEmpty());
  EXPECT_THAT(Ranges(PositionSet(), {0, INT64_MAX}), IsEmpty());
}

/// A set and what it must be.
struct Pair {
  PositionSet set;
  std::set<std::int64_t> model;

  void AddRange(PositionRange range) {
    set.AddRange(range);
    for (std::int64_t position = range.begin; position < range.end; ++position) model.insert(position);
  }
  void Add(std::int64_t position) {
    set.Add(position);
    model.insert(position);
  }
};

void Fill(Pair& pair, Random& random) {
  const std::int64_t base = random.Below(4) == 0 ? kFar : 0;
  for (std::uint64_t step = random.Below(30); step > 0; --step) {
    const auto begin = base + static_cast<std::int64_t>(random.Below(4 * 65536));
    switch (random.Below(4)) {
      case 0: pair.AddRange({begin, begin + static_cast<std::int64_t>(random.Below(80))}); break;
      case 1: pair.AddRange({begin, begin + static_cast<std::int64_t>(random.Below(100000))}); break;
      case 2:
        for (std::int64_t i = 0; i < 5000; ++i) pair.Add(begin + 3 * i);
        break;
      default: pair.Add(begin); break;
    }
    if (random.Below(8) == 0) pair.set.Compact();
  }
}

void ExpectSame(const Pair& pair, Random& random) {
  const std::vector<std::int64_t> wanted(pair.model.begin(), pair.model.end());
  ASSERT_EQ(pair.set.cardinality(), static_cast<std::int64_t>(wanted.size()));
  ASSERT_EQ(pair.set.ToVector(), wanted);
  const PositionRanks ranks(pair.set);
  for (int i = 0; i < 50; ++i) {
    const auto position = static_cast<std::int64_t>(random.Below(6 * 65536)) + (random.Below(2) == 0 ? kFar : 0);
    ASSERT_EQ(pair.set.Contains(position), pair.model.contains(position)) << position;
    const auto rank = std::ranges::lower_bound(wanted, position) - wanted.begin();
    ASSERT_EQ(pair.set.CountBefore(position), rank) << position;
    ASSERT_EQ(ranks.CountBefore(position), rank) << position;
  }
  const auto begin = static_cast<std::int64_t>(random.Below(65536)), end = kFar + 65536;
  std::vector<std::int64_t> walked;
  PositionRange before{-1, -1};
  for (const PositionRange& range : Ranges(pair.set, {begin, end})) {
    ASSERT_LT(before.end, range.begin);
    ASSERT_LT(range.begin, range.end);
    for (std::int64_t position = range.begin; position < range.end; ++position) walked.push_back(position);
    before = range;
  }
  ASSERT_EQ(walked, std::vector<std::int64_t>(pair.model.lower_bound(begin), pair.model.lower_bound(end)));
}

TEST(PositionSet, RandomOperations_EqualTheModel) {
  Random random(7);
  for (int round = 0; round < 12; ++round) {
    Pair a, b;
    Fill(a, random);
    Fill(b, random);
    ExpectSame(a, random);
    a.set.Union(b.set);
    a.model.insert(b.model.begin(), b.model.end());
    ExpectSame(a, random);
    const Bytes bytes = a.set.Encode();
    const auto read = PositionSet::Decode(bytes);
    ASSERT_TRUE(read.has_value()) << ToString(read.error());
    ASSERT_EQ(*read, a.set);
    EXPECT_EQ(a.set == b.set, a.model == b.model);
    ASSERT_EQ(read->Encode(), bytes);
    ExpectSame({*read, a.model}, random);
    const std::int64_t end = (random.Below(2) == 0 ? kFar : 0) + static_cast<std::int64_t>(random.Below(5 * 65536));
    a.set.Truncate(end);
    a.model.erase(a.model.lower_bound(end), a.model.end());
    ExpectSame(a, random);
  }
}

TEST(PositionSet, Difference_EqualsTheModel) {
  Random random(11);
  for (int round = 0; round < 50; ++round) {
    PositionSet a, b;
    std::set<std::int64_t> wanted;
    for (int i = 0; i < 20; ++i) {
      const auto begin = static_cast<std::int64_t>(random.Below(200'000));
      const auto end = begin + static_cast<std::int64_t>(1 + random.Below(i % 2 == 0 ? 3 : 9'000));
      a.AddRange({begin, end});
      const auto hole = static_cast<std::int64_t>(random.Below(200'000));
      b.AddRange({hole, hole + static_cast<std::int64_t>(1 + random.Below(i % 3 == 0 ? 2 : 7'000))});
    }
    for (const std::int64_t position : a.ToVector()) {
      if (!b.Contains(position)) wanted.insert(position);
    }
    const PositionSet left = Difference(a, b);
    EXPECT_EQ(left.ToVector(), std::vector<std::int64_t>(wanted.begin(), wanted.end()));
    EXPECT_EQ(left.cardinality(), static_cast<std::int64_t>(wanted.size()));
  }
  EXPECT_TRUE(Difference(PositionSet(), PositionSet()).empty());
}

}  // namespace
}  // namespace firn::roaring
