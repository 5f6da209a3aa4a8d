// SPDX-License-Identifier: Apache-2.0
#include "format/gzip/gzip.h"

#include <gtest/gtest.h>
#include <zlib.h>

namespace firn::gzip {
namespace {

Bytes Compress(ByteView bytes) {
  z_stream stream{};
  EXPECT_EQ(deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
  Bytes out(deflateBound(&stream, bytes.size()) + 64);
  stream.next_in = const_cast<Bytef*>(bytes.data());
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = out.data();
  stream.avail_out = static_cast<uInt>(out.size());
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

Bytes Pattern(std::size_t size) {
  Bytes bytes(size);
  for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<std::uint8_t>(i * i >> 8 ^ i);
  return bytes;
}

TEST(Gzip, Expand_AnySize_GivesTheBytesBack) {
  for (const std::size_t size : {0u, 1u, 1000u, 262'143u, 262'144u, 262'145u, 3'000'000u}) {
    const Bytes plain = Pattern(size);
    const auto expanded = Expand(Compress(plain), size);
    ASSERT_TRUE(expanded.has_value()) << size << ": " << ToString(expanded.error());
    EXPECT_EQ(*expanded, plain);
  }
}

TEST(Gzip, Expand_SeveralMembers_JoinsThemAndIgnoresPadding) {
  Bytes joined = Compress(Pattern(10));
  const Bytes second = Compress(Pattern(300'000));
  joined.insert(joined.end(), second.begin(), second.end());
  joined.insert(joined.end(), 5, 0);
  const auto expanded = Expand(joined, 1 << 20);
  ASSERT_TRUE(expanded.has_value()) << ToString(expanded.error());
  EXPECT_EQ(expanded->size(), 300'010u);
}

TEST(Gzip, Expand_AboveLimit_StopsEarly) {
  const auto bomb = Expand(Compress(Bytes(50'000'000)), 1'000'000);
  ASSERT_FALSE(bomb.has_value());
  EXPECT_EQ(bomb.error().code, Code::kLimit);
}

TEST(Gzip, Expand_Truncated_CorruptAtEveryCut) {
  const Bytes whole = Compress(Pattern(2000));
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const auto expanded = Expand(ByteView(whole).first(size), 1 << 20);
    ASSERT_FALSE(expanded.has_value()) << size;
    EXPECT_EQ(expanded.error().code, Code::kCorrupt) << size;
  }
}

TEST(Gzip, Expand_FlippedBits_NeverGivesOtherBytes) {
  const Bytes plain = Pattern(500);
  const Bytes whole = Compress(plain);
  for (std::size_t bit = 0; bit < whole.size() * 8; ++bit) {
    Bytes broken = whole;
    broken[bit / 8] = static_cast<std::uint8_t>(broken[bit / 8] ^ (1u << bit % 8));
    const auto expanded = Expand(broken, 1 << 20);
    if (!expanded) continue;
    EXPECT_EQ(*expanded, plain) << bit;  // flags and times in the header do not matter
  }
}

TEST(Gzip, Shrink_AnyBytes_ExpandToThemselves) {
  for (const std::size_t size : {0U, 1U, 500U, 70'000U}) {
    const Bytes plain = Pattern(size);
    const Bytes small = Shrink(plain);
    const auto expanded = Expand(small, 1 << 20);
    ASSERT_TRUE(expanded.has_value()) << size;
    EXPECT_EQ(*expanded, plain) << size;
    EXPECT_EQ(Shrink(plain), small);
  }
  EXPECT_LT(Shrink(Bytes(70'000, 7)).size(), 500U);
}

TEST(Gzip, IsGzip_FirstBytes_Decide) {
  EXPECT_TRUE(IsGzip(Compress({})));
  EXPECT_FALSE(IsGzip({}));
  EXPECT_FALSE(IsGzip(AsBytes("{")));
}

}  // namespace
}  // namespace firn::gzip
