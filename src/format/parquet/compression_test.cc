// SPDX-License-Identifier: Apache-2.0
#include "format/parquet/compression.h"

#include <arrow/result.h>
#include <arrow/util/compression.h>
#include <gtest/gtest.h>
#include <lz4.h>

#include <string>

#include "base/random.h"

namespace firn::parquet {
namespace {

constexpr Codec kWritable[] = {Codec::kUncompressed, Codec::kSnappy, Codec::kGzip,
                               Codec::kBrotli,       Codec::kZstd,   Codec::kLz4Raw};

Bytes Sample(std::size_t size, std::uint64_t seed) {
  Random random(seed);
  Bytes bytes(size);
  for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(random.Below(7));
  return bytes;
}

void AppendBig32(Bytes& out, std::size_t value) {
  for (int shift = 24; shift >= 0; shift -= 8) out.push_back(static_cast<std::uint8_t>(value >> shift));
}

Bytes Lz4Block(ByteView in) {
  Bytes out(static_cast<std::size_t>(LZ4_compressBound(static_cast<int>(in.size()))));
  const int size = LZ4_compress_default(reinterpret_cast<const char*>(in.data()), reinterpret_cast<char*>(out.data()),
                                        static_cast<int>(in.size()), static_cast<int>(out.size()));
  out.resize(static_cast<std::size_t>(size));
  return out;
}

TEST(PageCodecs, EveryCodec_RoundTrip_GivesTheSameBytes) {
  PageCodecs codecs;
  for (const Codec codec : kWritable) {
    for (const std::size_t size : {std::size_t{0}, std::size_t{1}, std::size_t{1000}, std::size_t{300000}}) {
      for (const int level : {kDefaultLevel, 1, 9, 1000}) {
        const Bytes in = Sample(size, size + 1);
        Result<ByteView> packed = codecs.Compress(codec, level, in);
        ASSERT_TRUE(packed) << CodecName(codec) << ": " << packed.error().message;
        const Bytes kept(packed->begin(), packed->end());
        Bytes out(size, 0xee);
        ASSERT_TRUE(codecs.Decompress(codec, kept, out)) << CodecName(codec) << " " << size;
        EXPECT_EQ(out, in);
      }
    }
  }
}

TEST(PageCodecs, WrongPromisedSize_IsCorrupt) {
  PageCodecs codecs;
  for (const Codec codec : kWritable) {
    const Bytes in = Sample(5000, 3);
    Result<ByteView> packed = codecs.Compress(codec, kDefaultLevel, in);
    ASSERT_TRUE(packed);
    const Bytes kept(packed->begin(), packed->end());
    for (const std::size_t size : {std::size_t{0}, std::size_t{4999}, std::size_t{5001}}) {
      Bytes out(size);
      const Status status = codecs.Decompress(codec, kept, out);
      ASSERT_FALSE(status) << CodecName(codec) << " " << size;
      EXPECT_EQ(status.error().code, Code::kCorrupt);
    }
    if (codec == Codec::kUncompressed) continue;
    Bytes out(5000);
    EXPECT_FALSE(codecs.Decompress(codec, ByteView(kept).first(kept.size() / 2), out)) << CodecName(codec);
  }
}

/// Frames have no checksum: what a damaged one gives must be what readers get, or nothing.
TEST(PageCodecs, DamagedZstd_IsReadAsArrowReadsIt) {
  PageCodecs codecs;
  const auto arrow_codec = *arrow::util::Codec::Create(arrow::Compression::ZSTD);
  std::size_t refused = 0, read = 0;
  for (const int level : {1, 3, 12}) {
    Bytes in = Sample(900, 4);
    const Bytes again(in.begin() + 100, in.begin() + 700);
    in.insert(in.end(), again.begin(), again.end());
    const Result<ByteView> packed = codecs.Compress(Codec::kZstd, level, in);
    ASSERT_TRUE(packed);
    const Bytes good(packed->begin(), packed->end());
    for (std::size_t bit = 0; bit < good.size() * 8; ++bit) {
      Bytes bad = good;
      bad[bit / 8] ^= static_cast<std::uint8_t>(1 << bit % 8);
      Bytes out(in.size()), expected(in.size());
      const auto size = arrow_codec->Decompress(static_cast<std::int64_t>(bad.size()), bad.data(),
                                                static_cast<std::int64_t>(expected.size()), expected.data());
      const bool arrow_reads = size.ok() && *size == static_cast<std::int64_t>(expected.size());
      ASSERT_EQ(codecs.Decompress(Codec::kZstd, bad, out).has_value(), arrow_reads) << "bit " << bit;
      if (arrow_reads) {
        ASSERT_EQ(out, expected) << "bit " << bit;
      }
      ++(arrow_reads ? read : refused);
    }
  }
  EXPECT_GT(refused, 0U);
  EXPECT_GT(read, 0U);
}

TEST(PageCodecs, ZstdFrames_OfAnyKind_AreRead) {
  PageCodecs codecs;
  const Bytes first = Sample(70000, 1), second = Sample(90, 2);
  Bytes whole = first, packed;
  whole.insert(whole.end(), second.begin(), second.end());
  for (const Bytes* part : {&first, &second}) {
    const Result<ByteView> frame = codecs.Compress(Codec::kZstd, 3, *part);
    ASSERT_TRUE(frame);
    packed.insert(packed.end(), frame->begin(), frame->end());
  }
  Bytes out(whole.size());
  ASSERT_TRUE(codecs.Decompress(Codec::kZstd, packed, out));
  EXPECT_EQ(out, whole);
  packed.push_back(0);
  EXPECT_FALSE(codecs.Decompress(Codec::kZstd, packed, out)) << "a byte behind the frames";
  // A frame that wants a window of 64 MiB, made of one raw block: header without sizes, descriptor, block, content.
  const Bytes wide = {0x28, 0xb5, 0x2f, 0xfd, 0x00, 0x80, 0x19, 0x00, 0x00, 'a', 'b', 'c'};
  Bytes three(3);
  ASSERT_TRUE(codecs.Decompress(Codec::kZstd, wide, three));
  EXPECT_EQ(AsText(three), "abc");
}

TEST(PageCodecs, GzipOfSeveralMembers_IsOneStream) {
  PageCodecs codecs;
  const Bytes first = Sample(700, 1), second = Sample(90, 2);
  Bytes packed;
  for (const Bytes* part : {&first, &second}) {
    Result<ByteView> member = codecs.Compress(Codec::kGzip, 6, *part);
    ASSERT_TRUE(member);
    packed.insert(packed.end(), member->begin(), member->end());
  }
  Bytes whole = first;
  whole.insert(whole.end(), second.begin(), second.end());
  Bytes out(whole.size());
  ASSERT_TRUE(codecs.Decompress(Codec::kGzip, packed, out));
  EXPECT_EQ(out, whole);
}

TEST(PageCodecs, DeprecatedLz4_BothFramings_AreRecognised) {
  PageCodecs codecs;
  const Bytes in = Sample(3000, 9);
  Bytes framed;  // one group of two blocks, one group of one
  AppendBig32(framed, 2000);
  for (const std::size_t start : {std::size_t{0}, std::size_t{1000}}) {
    const Bytes block = Lz4Block(ByteView(in).subspan(start, 1000));
    AppendBig32(framed, block.size());
    framed.insert(framed.end(), block.begin(), block.end());
  }
  const Bytes last = Lz4Block(ByteView(in).subspan(2000));
  AppendBig32(framed, 1000);
  AppendBig32(framed, last.size());
  framed.insert(framed.end(), last.begin(), last.end());
  Bytes out(in.size());
  ASSERT_TRUE(codecs.Decompress(Codec::kLz4, framed, out));
  EXPECT_EQ(out, in);
  std::fill(out.begin(), out.end(), std::uint8_t{0});
  ASSERT_TRUE(codecs.Decompress(Codec::kLz4, Lz4Block(in), out));
  EXPECT_EQ(out, in);
}

TEST(PageCodecs, CodecsThatAreNotWritten_AreUnsupported) {
  PageCodecs codecs;
  const Bytes in = Sample(10, 1);
  for (const Codec codec : {Codec::kLzo, Codec::kLz4, static_cast<Codec>(99)}) {
    const Result<ByteView> packed = codecs.Compress(codec, kDefaultLevel, in);
    ASSERT_FALSE(packed);
    EXPECT_EQ(packed.error().code, Code::kUnsupported);
  }
  Bytes out(10);
  const Status status = codecs.Decompress(Codec::kLzo, in, out);
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, Code::kUnsupported);
}

}  // namespace
}  // namespace firn::parquet
