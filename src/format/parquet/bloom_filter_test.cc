// SPDX-License-Identifier: Apache-2.0
#include "format/parquet/bloom_filter.h"

#include <gtest/gtest.h>

#include <string_view>

#include "base/random.h"

namespace firn::parquet {
namespace {

std::vector<std::uint64_t> Hashes(std::size_t count, std::uint64_t seed) {
  Random random(seed);
  std::vector<std::uint64_t> hashes(count);
  for (std::uint64_t& hash : hashes) hash = random.Next();
  return hashes;
}

bool HasAll(const BloomFilter& filter, const std::vector<std::uint64_t>& hashes) {
  for (const std::uint64_t hash : hashes) {
    if (!filter.MayContain(hash)) return false;
  }
  return true;
}

double FoundShare(const BloomFilter& filter, const std::vector<std::uint64_t>& hashes) {
  std::size_t found = 0;
  for (const std::uint64_t hash : hashes) found += filter.MayContain(hash) ? 1 : 0;
  return static_cast<double>(found) / static_cast<double>(hashes.size());
}

Bytes Written(const BloomFilter& filter) {
  Bytes bytes;
  filter.Write(bytes);
  return bytes;
}

TEST(BloomHash, IsXxh64WithSeedZero) {
  // Published values of the algorithm.
  EXPECT_EQ(BloomHash({}), 0xef46db3751d8e999ULL);
  EXPECT_EQ(BloomHash(AsBytes(std::string_view("abc"))), 0x44bc2cf5ad770999ULL);
}

TEST(BloomFilter, HeaderIsThatOfOtherWriters) {
  // numBytes = 32, BLOCK, XXHASH, UNCOMPRESSED as parquet-java writes them.
  const Bytes header = {0x15, 0x40, 0x1c, 0x1c, 0x00, 0x00, 0x1c, 0x1c, 0x00, 0x00, 0x1c, 0x1c, 0x00, 0x00, 0x00};
  const Bytes written = Written(BloomFilter(1));
  ASSERT_EQ(written.size(), header.size() + 32);
  EXPECT_TRUE(std::equal(header.begin(), header.end(), written.begin()));
}

TEST(BloomFilter, FindsWhatWasInserted_AndRarelyMore) {
  BloomFilter filter(32 << 10);
  const auto in = Hashes(26214, 1), out = Hashes(100000, 2);
  for (const std::uint64_t hash : in) filter.Insert(hash);
  EXPECT_TRUE(HasAll(filter, in));
  EXPECT_NEAR(FoundShare(filter, out), 0.0126, 0.003);  // the example of BloomFilter.md
  EXPECT_NEAR(filter.FalsePositiveShare(), 0.0126, 0.001);
  const Result<BloomFilter> read = BloomFilter::Parse(Written(filter));
  ASSERT_TRUE(read);
  EXPECT_TRUE(HasAll(*read, in));
  EXPECT_EQ(Written(*read), Written(filter));
}

TEST(BloomFilter, Folded_IsTheSmallerFilter) {
  BloomFilter large(1 << 20), small(64 << 10);
  const auto in = Hashes(20000, 3);
  for (const std::uint64_t hash : in) large.Insert(hash), small.Insert(hash);
  large.Fold(small.FalsePositiveShare());
  EXPECT_EQ(Written(large), Written(small));
  small.Fold(1e-9);  // does not shrink
  EXPECT_EQ(small.size_bytes(), 64U << 10);
  small.Fold(1);
  EXPECT_EQ(small.size_bytes(), BloomFilter::kBytesMin);
  EXPECT_TRUE(HasAll(small, in));
}

TEST(BloomFilter, Absorbed_AnySizesInAnyOrder_DenyNothing) {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    Random random(seed);
    BloomFilter all(std::size_t{32} << random.Below(8));
    std::vector<std::uint64_t> in;
    for (int part = 0; part < 6; ++part) {
      BloomFilter one(std::size_t{32} << random.Below(10));
      for (const std::uint64_t hash : Hashes(random.Below(300), seed * 100 + static_cast<std::uint64_t>(part))) {
        one.Insert(hash);
        in.push_back(hash);
      }
      ASSERT_TRUE(all.Absorb(one));
      if (random.Below(2) == 0) all.Fold(0.05);
    }
    EXPECT_TRUE(HasAll(all, in)) << seed;
  }
}

TEST(BloomFilter, OfEqualSize_AbsorbingIsExact) {
  BloomFilter a(4096), b(4096), both(4096);
  for (const std::uint64_t hash : Hashes(500, 4)) a.Insert(hash), both.Insert(hash);
  for (const std::uint64_t hash : Hashes(500, 5)) b.Insert(hash), both.Insert(hash);
  ASSERT_TRUE(a.Absorb(b));
  EXPECT_EQ(Written(a), Written(both));
}

TEST(BloomFilter, SizesThatDoNotFit_AreNotAbsorbed) {
  Bytes bytes = Written(BloomFilter(128));
  bytes.resize(bytes.size() - 32);
  bytes[2] = 0x01;  // 128 bytes are c0 (80 02): 96 are c0 01
  bytes[1] = 0xc0;
  Result<BloomFilter> odd = BloomFilter::Parse(bytes);
  ASSERT_TRUE(odd) << ToString(odd.error());
  EXPECT_EQ(odd->size_bytes(), 96U);
  BloomFilter even(64);
  EXPECT_FALSE(even.Absorb(*odd));
  EXPECT_EQ(even.size_bytes(), 64U);
  odd->Insert(7);
  odd->Fold(1);  // three blocks have no halves
  EXPECT_EQ(odd->size_bytes(), 96U);
  EXPECT_TRUE(odd->MayContain(7));
}

TEST(BloomFilter, BytesFor_AreThoseOfParquetJava) {
  EXPECT_EQ(BloomFilter::BytesFor(1, 0.01), 32U);
  EXPECT_EQ(BloomFilter::BytesFor(1'000'000, 0.01), 2U << 20);
  EXPECT_EQ(BloomFilter::BytesFor(256, 0.01), 512U);
  EXPECT_EQ(BloomFilter::BytesFor(std::int64_t{1} << 60, 0.01), BloomFilter::kBytesMax);
  EXPECT_EQ(BloomFilter::BytesFor(1000, 1e-300), BloomFilter::kBytesMax);
}

TEST(BloomFilter, Hostile_IsRefused) {
  const Bytes good = Written(BloomFilter(64));
  ASSERT_TRUE(BloomFilter::Parse(good));
  const auto code = [&](std::size_t at, std::uint8_t byte) {
    Bytes bytes = good;
    bytes[at] = byte;
    const Result<BloomFilter> parsed = BloomFilter::Parse(bytes);
    return parsed ? Code::kInternal : parsed.error().code;
  };
  EXPECT_EQ(code(1, 0x40), Code::kCorrupt);  // half of the bitset
  EXPECT_EQ(code(1, 0x01), Code::kCorrupt);
  // The length takes two bytes from 64 on: the unions begin one byte later than with 32.
  for (const std::size_t at : {4U, 8U, 12U}) EXPECT_EQ(code(at, 0x2c), Code::kUnsupported) << at;
  for (std::size_t size = 0; size < good.size(); ++size) {
    const Result<BloomFilter> cut = BloomFilter::Parse(ByteView(good).first(size));
    ASSERT_FALSE(cut) << size;
    EXPECT_EQ(cut.error().code, Code::kCorrupt) << size;
  }
  const Bytes huge = {0x15, 0xfe, 0xff, 0xff, 0xff, 0x0f, 0x1c, 0x1c, 0, 0, 0x1c, 0x1c, 0, 0, 0x1c, 0x1c, 0, 0, 0};
  EXPECT_FALSE(BloomFilter::Parse(huge));
  const Bytes lacks_hash = {0x15, 0x40, 0x1c, 0x1c, 0x00, 0x00, 0x2c, 0x1c, 0x00, 0x00, 0x00};
  EXPECT_EQ(ParseBloomFilterHeader(lacks_hash).error().code, Code::kCorrupt);
}

}  // namespace
}  // namespace firn::parquet
