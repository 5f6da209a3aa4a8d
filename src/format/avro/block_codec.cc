// SPDX-License-Identifier: Apache-2.0
#include "format/avro/block_codec.h"

#include <libdeflate.h>
#include <snappy.h>
#include <zstd.h>

#include <algorithm>
#include <string>

namespace firn::avro {
namespace {

constexpr int kDeflateLevel = 6;
constexpr int kZstdLevel = 3;
constexpr std::uint64_t kFirstGuessBytes = 256 << 10;

Error TooLarge(std::uint64_t size_max_bytes) {
  return {Code::kLimit, "block expands to more than " + std::to_string(size_max_bytes) + " bytes"};
}

/// Memory that grows without being cleared.
class Scratch {
 public:
  /// At least `size` bytes; old contents are kept when asked to.
  std::uint8_t* Reserve(std::uint64_t size, std::uint64_t kept = 0) {
    if (size > capacity_) {
      auto larger = std::make_unique_for_overwrite<std::uint8_t[]>(size);
      std::copy_n(bytes_.get(), kept, larger.get());
      bytes_ = std::move(larger);
      capacity_ = size;
    }
    return bytes_.get();
  }
  std::uint64_t capacity() const { return capacity_; }
  const std::uint8_t* data() const { return bytes_.get(); }

 private:
  std::unique_ptr<std::uint8_t[]> bytes_;
  std::uint64_t capacity_ = 0;
};

class NullExpander final : public BlockExpander {
 public:
  Result<ByteView> Expand(ByteView block, std::uint64_t) override { return block; }
};

class DeflateExpander final : public BlockExpander {
 public:
  DeflateExpander() : state_(libdeflate_alloc_decompressor()) {}
  ~DeflateExpander() override { libdeflate_free_decompressor(state_); }
  DeflateExpander(const DeflateExpander&) = delete;
  DeflateExpander& operator=(const DeflateExpander&) = delete;

  Result<ByteView> Expand(ByteView block, std::uint64_t size_max_bytes) override {
    if (state_ == nullptr) return Error{Code::kLimit, "out of memory"};
    // Deflate cannot expand more than this, so small blocks never get large buffers.
    const std::uint64_t bound = std::min(size_max_bytes, block.size() * std::uint64_t{1032} + 64);
    std::uint64_t room = std::min(bound, std::max(out_.capacity(), kFirstGuessBytes));
    while (true) {
      std::size_t size = 0;
      const libdeflate_result result =
          libdeflate_deflate_decompress(state_, block.data(), block.size(), out_.Reserve(room), room, &size);
      if (result == LIBDEFLATE_SUCCESS) return ByteView{out_.data(), size};
      if (result != LIBDEFLATE_INSUFFICIENT_SPACE) return Error{Code::kCorrupt, "bad deflate block"};
      if (room == bound) return TooLarge(size_max_bytes);
      room = std::min(bound, room * 4);
    }
  }

 private:
  libdeflate_decompressor* state_;
  Scratch out_;
};

class ZstdExpander final : public BlockExpander {
 public:
  ZstdExpander() : state_(ZSTD_createDCtx()) {}
  ~ZstdExpander() override { ZSTD_freeDCtx(state_); }
  ZstdExpander(const ZstdExpander&) = delete;
  ZstdExpander& operator=(const ZstdExpander&) = delete;

  Result<ByteView> Expand(ByteView block, std::uint64_t size_max_bytes) override {
    if (state_ == nullptr) return Error{Code::kLimit, "out of memory"};
    ZSTD_DCtx_reset(state_, ZSTD_reset_session_only);
    ZSTD_inBuffer in{block.data(), block.size(), 0};
    ZSTD_outBuffer out{out_.Reserve(std::min(size_max_bytes, kFirstGuessBytes)),
                       std::min(size_max_bytes, std::max(out_.capacity(), kFirstGuessBytes)), 0};
    std::size_t hint = 0;
    while (in.pos < in.size || hint != 0) {
      if (out.pos == out.size) {
        if (out.size == size_max_bytes) return TooLarge(size_max_bytes);
        const std::uint64_t room = std::min<std::uint64_t>(size_max_bytes, out.size * 2);
        out.dst = out_.Reserve(room, out.pos);
        out.size = room;
      }
      const std::size_t in_before = in.pos, out_before = out.pos;
      hint = ZSTD_decompressStream(state_, &out, &in);
      if (ZSTD_isError(hint)) {
        return Error{Code::kCorrupt, std::string("bad zstd block: ") + ZSTD_getErrorName(hint)};
      }
      if (hint != 0 && in.pos == in_before && out.pos == out_before) {
        return Error{Code::kCorrupt, "zstd block ends too early"};
      }
    }
    return ByteView{out_.data(), out.pos};
  }

 private:
  ZSTD_DCtx* state_;
  Scratch out_;
};

class SnappyExpander final : public BlockExpander {
 public:
  Result<ByteView> Expand(ByteView block, std::uint64_t size_max_bytes) override {
    if (block.size() < 4) return Error{Code::kCorrupt, "snappy block without checksum"};
    const char* body = reinterpret_cast<const char*>(block.data());
    const std::size_t body_size = block.size() - 4;
    std::size_t size = 0;
    if (!snappy::GetUncompressedLength(body, body_size, &size)) {
      return Error{Code::kCorrupt, "bad snappy block"};
    }
    if (size > size_max_bytes) return TooLarge(size_max_bytes);
    // A copy makes at most 64 bytes out of 2.
    if (size / 64 > body_size) return Error{Code::kCorrupt, "bad snappy block: length is impossible"};
    std::uint8_t* out = out_.Reserve(std::max<std::size_t>(size, 1));
    if (!snappy::RawUncompress(body, body_size, reinterpret_cast<char*>(out))) {
      return Error{Code::kCorrupt, "bad snappy block"};
    }
    if (libdeflate_crc32(0, out, size) != LoadBig32(block.data() + body_size)) {
      return Error{Code::kCorrupt, "checksum of a snappy block differs"};
    }
    return ByteView{out, size};
  }

 private:
  Scratch out_;
};

class NullCompressor final : public BlockCompressor {
 public:
  Result<ByteView> Compress(ByteView block) override { return block; }
};

class DeflateCompressor final : public BlockCompressor {
 public:
  DeflateCompressor() : state_(libdeflate_alloc_compressor(kDeflateLevel)) {}
  ~DeflateCompressor() override { libdeflate_free_compressor(state_); }
  DeflateCompressor(const DeflateCompressor&) = delete;
  DeflateCompressor& operator=(const DeflateCompressor&) = delete;

  Result<ByteView> Compress(ByteView block) override {
    if (state_ == nullptr) return Error{Code::kLimit, "out of memory"};
    const std::size_t room = libdeflate_deflate_compress_bound(state_, block.size());
    std::uint8_t* out = out_.Reserve(room);
    const std::size_t size = libdeflate_deflate_compress(state_, block.data(), block.size(), out, room);
    if (size == 0) return Error{Code::kInternal, "deflate: block does not fit its bound"};
    return ByteView{out, size};
  }

 private:
  libdeflate_compressor* state_;
  Scratch out_;
};

class ZstdCompressor final : public BlockCompressor {
 public:
  Result<ByteView> Compress(ByteView block) override {
    const std::size_t room = ZSTD_compressBound(block.size());
    const std::size_t size = ZSTD_compress(out_.Reserve(room), room, block.data(), block.size(), kZstdLevel);
    if (ZSTD_isError(size)) {
      return Error{Code::kInternal, std::string("zstd: ") + ZSTD_getErrorName(size)};
    }
    return ByteView{out_.data(), size};
  }

 private:
  Scratch out_;
};

class SnappyCompressor final : public BlockCompressor {
 public:
  Result<ByteView> Compress(ByteView block) override {
    std::uint8_t* out = out_.Reserve(snappy::MaxCompressedLength(block.size()) + 4);
    std::size_t size = 0;
    snappy::RawCompress(reinterpret_cast<const char*>(block.data()), block.size(), reinterpret_cast<char*>(out), &size);
    StoreLittle(out + size, __builtin_bswap32(libdeflate_crc32(0, block.data(), block.size())));
    return ByteView{out, size + 4};
  }

 private:
  Scratch out_;
};

}  // namespace

Result<Codec> ParseCodec(std::string_view name) {
  if (name.empty()) return Codec::kNull;
  for (const Codec codec : {Codec::kNull, Codec::kDeflate, Codec::kZstd, Codec::kSnappy}) {
    if (name == CodecName(codec)) return codec;
  }
  return Error{Code::kUnsupported, "Avro codec `" + std::string(name.substr(0, 40)) + "`"};
}

std::string_view CodecName(Codec codec) {
  switch (codec) {
    case Codec::kNull: return "null";
    case Codec::kDeflate: return "deflate";
    case Codec::kZstd: return "zstandard";
    case Codec::kSnappy: return "snappy";
  }
  return "";
}

std::unique_ptr<BlockExpander> MakeExpander(Codec codec) {
  switch (codec) {
    case Codec::kNull: return std::make_unique<NullExpander>();
    case Codec::kDeflate: return std::make_unique<DeflateExpander>();
    case Codec::kZstd: return std::make_unique<ZstdExpander>();
    case Codec::kSnappy: return std::make_unique<SnappyExpander>();
  }
  return nullptr;
}

std::unique_ptr<BlockCompressor> MakeCompressor(Codec codec) {
  switch (codec) {
    case Codec::kNull: return std::make_unique<NullCompressor>();
    case Codec::kDeflate: return std::make_unique<DeflateCompressor>();
    case Codec::kZstd: return std::make_unique<ZstdCompressor>();
    case Codec::kSnappy: return std::make_unique<SnappyCompressor>();
  }
  return nullptr;
}

}  // namespace firn::avro
