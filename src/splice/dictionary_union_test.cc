// SPDX-License-Identifier: Apache-2.0
#include "splice/dictionary_union.h"

#include <gtest/gtest.h>

#include <map>

#include "base/random.h"

namespace firn::splice {
namespace {

using parquet::PhysicalType;

template <class T>
Bytes Plain(const std::vector<T>& values) {
  Bytes plain(values.size() * sizeof(T));
  for (std::size_t i = 0; i < values.size(); ++i) StoreLittle(plain.data() + i * sizeof(T), values[i]);
  return plain;
}

Bytes Texts(const std::vector<std::string>& values) {
  Bytes plain;
  for (const std::string& value : values) {
    const std::size_t at = plain.size();
    plain.resize(at + 4);
    StoreLittle(plain.data() + at, static_cast<std::uint32_t>(value.size()));
    plain.insert(plain.end(), value.begin(), value.end());
  }
  return plain;
}

Bytes Copy(ByteView view) { return {view.begin(), view.end()}; }

TEST(DictionaryUnion, FirstDictionary_IsAPrefix) {
  DictionaryUnion united(PhysicalType::kByteArray, 0);
  std::vector<std::uint32_t> mapping;
  ASSERT_TRUE(united.Add(Texts({"b", "a", ""}), 3, mapping));
  EXPECT_EQ(mapping, (std::vector<std::uint32_t>{0, 1, 2}));
  ASSERT_TRUE(united.Add(Texts({"c", "a", "b"}), 3, mapping));
  EXPECT_EQ(mapping, (std::vector<std::uint32_t>{3, 1, 0}));
  EXPECT_EQ(Copy(united.plain()), Texts({"b", "a", "", "c"}));
  EXPECT_EQ(united.AddValue(AsBytes("c")), 3U);
  EXPECT_EQ(united.AddValue(AsBytes("d")), 4U);
  united.Reset();
  EXPECT_EQ(united.count(), 0U);
}

TEST(DictionaryUnion, Duplicates_MapToOne) {
  DictionaryUnion united(PhysicalType::kInt32, 0);
  std::vector<std::uint32_t> mapping;
  ASSERT_TRUE(united.Add(Plain<std::int32_t>({5, 5, 6, 5}), 4, mapping));
  EXPECT_EQ(mapping, (std::vector<std::uint32_t>{0, 0, 1, 0}));
}

TEST(DictionaryUnion, ValuesThatDifferInBits_StayApart) {
  DictionaryUnion united(PhysicalType::kDouble, 0);
  std::vector<std::uint32_t> mapping;
  ASSERT_TRUE(united.Add(Plain<double>({0.0, -0.0}), 2, mapping));
  EXPECT_EQ(united.count(), 2U);
}

template <class T>
void ExpectAsMap(PhysicalType type, bool expect_range, std::int64_t range_min, std::int64_t range_max) {
  Random random(7);
  DictionaryUnion united(type, 0);
  if (expect_range) united.ExpectRange(range_min, range_max);
  std::map<T, std::uint32_t> expected;
  for (int round = 0; round < 20; ++round) {
    std::vector<T> values(500);
    for (T& value : values) value = static_cast<T>(static_cast<std::int64_t>(random.Below(4000)) - 2000);
    std::vector<std::uint32_t> mapping;
    ASSERT_TRUE(united.Add(Plain(values), values.size(), mapping));
    for (std::size_t i = 0; i < values.size(); ++i) {
      const auto [entry, added] = expected.emplace(values[i], static_cast<std::uint32_t>(expected.size()));
      ASSERT_EQ(mapping[i], entry->second);
    }
  }
  EXPECT_EQ(united.count(), expected.size());
  for (const auto& [value, entry] : expected) {
    EXPECT_EQ(LoadLittle<T>(united.plain().data() + entry * sizeof(T)), value);
  }
}

TEST(DictionaryUnion, Integers_ByTableOrHash_AreTheSame) {
  for (const bool range : {false, true}) {
    ExpectAsMap<std::int32_t>(PhysicalType::kInt32, range, -2000, 2000);
    ExpectAsMap<std::int64_t>(PhysicalType::kInt64, range, -2000, 2000);
  }
  // Statistics that lie: values outside of the range change to the hash table.
  ExpectAsMap<std::int32_t>(PhysicalType::kInt32, true, 0, 100);
  ExpectAsMap<std::int64_t>(PhysicalType::kInt64, true, -100, 2000);
  // Ranges too large for a table.
  ExpectAsMap<std::int64_t>(PhysicalType::kInt64, true, std::numeric_limits<std::int64_t>::min(),
                            std::numeric_limits<std::int64_t>::max());
}

TEST(DictionaryUnion, OtherWidths_AreHashed) {
  DictionaryUnion united(PhysicalType::kFixedLenByteArray, 3);
  std::vector<std::uint32_t> mapping;
  ASSERT_TRUE(united.Add(Bytes{1, 2, 3, 4, 5, 6, 1, 2, 3}, 3, mapping));
  EXPECT_EQ(mapping, (std::vector<std::uint32_t>{0, 1, 0}));
}

TEST(DictionaryUnion, PagesThatEndEarly_AreRefused) {
  std::vector<std::uint32_t> mapping;
  EXPECT_FALSE(DictionaryUnion(PhysicalType::kInt64, 0).Add(Bytes(15), 2, mapping));
  EXPECT_FALSE(DictionaryUnion(PhysicalType::kByteArray, 0).Add(Texts({"abc"}), 2, mapping));
  Bytes cut = Texts({"abc", "defgh"});
  cut.pop_back();
  EXPECT_FALSE(DictionaryUnion(PhysicalType::kByteArray, 0).Add(cut, 2, mapping));
  EXPECT_FALSE(DictionaryUnion(PhysicalType::kByteArray, 0).Add(Bytes(3), 1 << 30, mapping));
}

}  // namespace
}  // namespace firn::splice
