// SPDX-License-Identifier: Apache-2.0
#include "iceberg/bucket_hash.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "base/byte_text.h"
#include "base/random.h"

namespace firn::iceberg {
namespace {

Type Plain(TypeKind kind) { return Type{.kind = kind}; }

TEST(BucketHash, Vectors_OfAppendixB_Agree) {
  const std::int64_t instant = 1'510'871'468'000'000;  // 2017-11-16T22:31:08
  const struct {
    Type type;
    Literal value;
    std::int32_t hash;
  } cases[] = {
      {Plain(TypeKind::kInt), std::int32_t{34}, 2017239379},
      {Plain(TypeKind::kLong), std::int64_t{34}, 2017239379},
      {Type{.kind = TypeKind::kDecimal, .precision = 9, .scale = 2}, Decimal{1420}, -500754589},
      {Type{.kind = TypeKind::kDecimal, .precision = 38, .scale = 2}, Decimal{1420}, -500754589},
      {Plain(TypeKind::kDate), std::int32_t{17486}, -653330422},
      {Plain(TypeKind::kTime), std::int64_t{81'068'000'000}, -662762989},
      {Plain(TypeKind::kTimestamp), instant, -2047944441},
      {Plain(TypeKind::kTimestamp), instant + 1, -1207196810},
      {Plain(TypeKind::kTimestampTz), instant, -2047944441},
      {Plain(TypeKind::kTimestampTz), instant + 1, -1207196810},
      {Plain(TypeKind::kTimestampNs), instant * 1000, -2047944441},
      {Plain(TypeKind::kTimestampNs), instant * 1000 + 1001, -1207196810},
      {Plain(TypeKind::kTimestampTzNs), instant * 1000, -2047944441},
      {Plain(TypeKind::kTimestampTzNs), instant * 1000 + 1001, -1207196810},
      {Plain(TypeKind::kString), std::string("iceberg"), 1210000089},
      {Plain(TypeKind::kUuid), *ParseUuid("f79c3e09-677c-4bbd-a479-3f349cb785e7"), 1488055340},
      {Type{.kind = TypeKind::kFixed, .length = 4}, Bytes{0, 1, 2, 3}, -188683207},
      {Plain(TypeKind::kBinary), Bytes{0, 1, 2, 3}, -188683207},
      {Plain(TypeKind::kBoolean), true, 1392991556},
      {Plain(TypeKind::kFloat), 1.0f, -142385009},
      {Plain(TypeKind::kFloat), 0.0f, 1669671676},
      {Plain(TypeKind::kFloat), -0.0f, 1669671676},
      {Plain(TypeKind::kDouble), 1.0, -142385009},
      {Plain(TypeKind::kDouble), 0.0, 1669671676},
      {Plain(TypeKind::kDouble), -0.0, 1669671676},
  };
  for (const auto& [type, value, hash] : cases) {
    EXPECT_EQ(BucketHash(type, value), hash) << ToString(type) << " " << ToText(type, value);
  }
  EXPECT_FALSE(BucketHash(Plain(TypeKind::kInt), Literal()));
}

TEST(BucketHash, NegativeNanoseconds_RoundDownToMicroseconds) {
  EXPECT_EQ(BucketHash(Plain(TypeKind::kTimestampNs), Literal(std::int64_t{-1})),
            BucketHash(Plain(TypeKind::kTimestamp), Literal(std::int64_t{-1})));
  EXPECT_EQ(BucketHash(Plain(TypeKind::kTimestampNs), Literal(std::int64_t{-1001})),
            BucketHash(Plain(TypeKind::kTimestamp), Literal(std::int64_t{-2})));
}

TEST(BucketHash, AnyNaN_HashesAsTheCanonicalOne) {
  const double quiet = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(BucketHash(Plain(TypeKind::kDouble), quiet), BucketHash(Plain(TypeKind::kDouble), -quiet));
  EXPECT_EQ(BucketHash(Plain(TypeKind::kDouble), quiet),
            BucketHash(Plain(TypeKind::kFloat), std::numeric_limits<float>::quiet_NaN()));
}

/// The algorithm as its description reads: 64-bit arithmetic reduced by hand, one byte at a time.
std::uint32_t SlowMurmur3(const Bytes& bytes) {
  constexpr std::uint64_t kModulus = std::uint64_t{1} << 32;
  const auto times = [](std::uint64_t a, std::uint64_t b) { return a * b % kModulus; };
  const auto turn = [](std::uint64_t a, int by) { return (a << by) % kModulus + (a >> (32 - by)); };
  std::uint64_t hash = 0;
  std::uint64_t block = 0;
  std::uint64_t weight = 1;
  std::size_t in_block = 0;
  for (const std::uint8_t byte : bytes) {
    block += byte * weight;
    weight *= 256;
    if (++in_block < 4) continue;
    hash ^= times(turn(times(block, 0xcc9e2d51), 15), 0x1b873593);
    hash = (times(turn(hash, 13), 5) + 0xe6546b64) % kModulus;
    block = 0;
    weight = 1;
    in_block = 0;
  }
  if (in_block > 0) hash ^= times(turn(times(block, 0xcc9e2d51), 15), 0x1b873593);
  hash ^= bytes.size() % kModulus;
  hash ^= hash / 65536;
  hash = times(hash, 0x85ebca6b);
  hash ^= hash / 8192;
  hash = times(hash, 0xc2b2ae35);
  hash ^= hash / 65536;
  return static_cast<std::uint32_t>(hash);
}

TEST(Murmur3, RandomBytes_AgreeWithSlowVersion) {
  Random random(3);
  for (int i = 0; i < 5'000; ++i) {
    Bytes bytes(random.Below(40));
    for (auto& byte : bytes) byte = static_cast<std::uint8_t>(random.Next());
    ASSERT_EQ(Murmur3(bytes), SlowMurmur3(bytes)) << HexText(bytes);
  }
}

}  // namespace
}  // namespace firn::iceberg
