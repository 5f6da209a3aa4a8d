// SPDX-License-Identifier: Apache-2.0
#include "format/parquet/compression.h"

#include <brotli/decode.h>
#include <brotli/encode.h>
#include <libdeflate.h>
#include <lz4.h>
#include <lz4hc.h>
#include <snappy.h>
#include <zstd.h>

#include <algorithm>
#include <limits>
#include <string>

#include "base/check.h"
#include "format/parquet/arrow_zstd.h"

namespace firn::parquet {

namespace {

/// Levels above it may use the optimal parser (see arrow_zstd.h).
constexpr int kZstdLevelSafe = 9;

struct ZstdFree {
  void operator()(ZSTD_CCtx* context) const { ZSTD_freeCCtx(context); }
};
struct DeflateFree {
  void operator()(libdeflate_compressor* compressor) const { libdeflate_free_compressor(compressor); }
  void operator()(libdeflate_decompressor* decompressor) const { libdeflate_free_decompressor(decompressor); }
};

Error Corrupt(Codec codec, std::size_t promised) {
  return {Code::kCorrupt,
          std::string(CodecName(codec)) + " page does not decompress to " + std::to_string(promised) + " bytes"};
}

bool FitsInt(std::size_t size) { return size <= static_cast<std::size_t>(std::numeric_limits<int>::max()); }

bool DecompressSnappy(ByteView in, std::span<std::uint8_t> out) {
  const char* const data = reinterpret_cast<const char*>(in.data());
  std::size_t size = 0;
  if (!snappy::GetUncompressedLength(data, in.size(), &size) || size != out.size()) return false;
  return snappy::RawUncompress(data, in.size(), reinterpret_cast<char*>(out.data()));
}

bool DecompressLz4Block(ByteView in, std::span<std::uint8_t> out) {
  if (!FitsInt(in.size()) || !FitsInt(out.size())) return false;
  const int size = LZ4_decompress_safe(reinterpret_cast<const char*>(in.data()), reinterpret_cast<char*>(out.data()),
                                       static_cast<int>(in.size()), static_cast<int>(out.size()));
  return size >= 0 && static_cast<std::size_t>(size) == out.size();
}

/// Hadoop's framing: (size of what follows decompressed, then blocks of (compressed size, bytes) that fill it)*.
bool DecompressLz4Hadoop(ByteView in, std::span<std::uint8_t> out) {
  while (!in.empty()) {
    if (in.size() < 4) return false;
    std::size_t group = LoadBig32(in.data());
    in = in.subspan(4);
    if (group == 0) return in.empty() && out.empty();  // of nothing, such as the values of a page of nulls
    if (group > out.size()) return false;
    while (group > 0) {
      if (in.size() < 4) return false;
      const std::size_t block = LoadBig32(in.data());
      in = in.subspan(4);
      if (block > in.size() || !FitsInt(block) || !FitsInt(group)) return false;
      const int size =
          LZ4_decompress_safe(reinterpret_cast<const char*>(in.data()), reinterpret_cast<char*>(out.data()),
                              static_cast<int>(block), static_cast<int>(group));
      if (size <= 0) return false;
      in = in.subspan(block);
      out = out.subspan(static_cast<std::size_t>(size));
      group -= static_cast<std::size_t>(size);
    }
  }
  return out.empty();
}

bool DecompressBrotli(ByteView in, std::span<std::uint8_t> out) {
  std::size_t size = out.size();
  const BrotliDecoderResult result = BrotliDecoderDecompress(in.size(), in.data(), &size, out.data());
  return result == BROTLI_DECODER_RESULT_SUCCESS && size == out.size();
}

}  // namespace

struct PageCodecs::Contexts {
  std::unique_ptr<ZSTD_CCtx, ZstdFree> zstd_compress;
  ArrowZstd arrow_zstd;
  std::unique_ptr<libdeflate_compressor, DeflateFree> deflate_compress;
  std::unique_ptr<libdeflate_decompressor, DeflateFree> deflate_decompress;
  int deflate_level = 0;
  std::unique_ptr<std::uint8_t[]> scratch;  // not a vector: nothing has to be zeroed
  std::size_t scratch_bytes = 0;

  std::span<std::uint8_t> Scratch(std::size_t size) {
    if (scratch_bytes < size) {
      scratch = std::make_unique_for_overwrite<std::uint8_t[]>(size);
      scratch_bytes = size;
    }
    return {scratch.get(), scratch_bytes};
  }

  /// Several members after each other are one stream; some old writers left the gzip wrapper for zlib's.
  bool DecompressGzip(ByteView in, std::span<std::uint8_t> out) {
    if (!deflate_decompress) deflate_decompress.reset(libdeflate_alloc_decompressor());
    FIRN_CHECK(deflate_decompress != nullptr);
    const bool gzip = in.size() >= 2 && in[0] == 0x1f && in[1] == 0x8b;
    const auto decompress = gzip ? libdeflate_gzip_decompress_ex : libdeflate_zlib_decompress_ex;
    do {
      std::size_t used = 0, made = 0;
      const libdeflate_result result =
          decompress(deflate_decompress.get(), in.data(), in.size(), out.data(), out.size(), &used, &made);
      if (result != LIBDEFLATE_SUCCESS || used == 0) return false;
      in = in.subspan(used);
      out = out.subspan(made);
    } while (!in.empty());
    return out.empty();
  }

  std::size_t CompressZstd(int level, ByteView in, std::span<std::uint8_t> out) {
    if (level > kZstdLevelSafe) return arrow_zstd.Compress(std::min(level, ZSTD_maxCLevel()), in, out);
    if (!zstd_compress) zstd_compress.reset(ZSTD_createCCtx());
    FIRN_CHECK(zstd_compress != nullptr);
    const std::size_t size =
        ZSTD_compressCCtx(zstd_compress.get(), out.data(), out.size(), in.data(), in.size(), level);
    return ZSTD_isError(size) ? 0 : size;
  }

  libdeflate_compressor* Deflater(int level) {
    if (!deflate_compress || deflate_level != level) {
      deflate_compress.reset(libdeflate_alloc_compressor(level));
      deflate_level = level;
    }
    FIRN_CHECK(deflate_compress != nullptr);
    return deflate_compress.get();
  }
};

PageCodecs::PageCodecs() : contexts_(std::make_unique<Contexts>()) {}
PageCodecs::~PageCodecs() = default;
PageCodecs::PageCodecs(PageCodecs&&) noexcept = default;
PageCodecs& PageCodecs::operator=(PageCodecs&&) noexcept = default;

std::string_view CodecName(Codec codec) {
  switch (codec) {
    case Codec::kUncompressed: return "uncompressed";
    case Codec::kSnappy: return "snappy";
    case Codec::kGzip: return "gzip";
    case Codec::kLzo: return "lzo";
    case Codec::kBrotli: return "brotli";
    case Codec::kLz4: return "lz4";
    case Codec::kZstd: return "zstd";
    case Codec::kLz4Raw: return "lz4_raw";
  }
  return "unknown codec";
}

Status PageCodecs::Decompress(Codec codec, ByteView in, std::span<std::uint8_t> out) {
  if (in.empty() && out.empty()) return Ok();  // written for pages of nulls
  if (in.empty()) return Corrupt(codec, out.size());
  bool done = false;
  switch (codec) {
    case Codec::kUncompressed:
      done = in.size() == out.size();
      if (done) std::copy(in.begin(), in.end(), out.begin());
      break;
    case Codec::kSnappy: done = DecompressSnappy(in, out); break;
    case Codec::kGzip: done = contexts_->DecompressGzip(in, out); break;
    case Codec::kBrotli: done = DecompressBrotli(in, out); break;
    case Codec::kZstd: done = contexts_->arrow_zstd.Decompress(in, out); break;
    case Codec::kLz4Raw: done = DecompressLz4Block(in, out); break;
    case Codec::kLz4: done = DecompressLz4Hadoop(in, out) || DecompressLz4Block(in, out); break;
    default: return Error{Code::kUnsupported, "pages compressed with " + std::string(CodecName(codec))};
  }
  if (!done) return Corrupt(codec, out.size());
  return Ok();
}

Result<ByteView> PageCodecs::Compress(Codec codec, int level, ByteView in) {
  constexpr std::uint8_t kNothing[1] = {0};
  if (in.data() == nullptr) in = ByteView(kNothing, 0);  // some libraries read the pointer before the size
  std::span<std::uint8_t> out;
  std::size_t size = 0;
  switch (codec) {
    case Codec::kUncompressed: return in;
    case Codec::kSnappy:
      out = contexts_->Scratch(snappy::MaxCompressedLength(in.size()));
      snappy::RawCompress(reinterpret_cast<const char*>(in.data()), in.size(), reinterpret_cast<char*>(out.data()),
                          &size);
      break;
    case Codec::kGzip: {
      libdeflate_compressor* const deflater = contexts_->Deflater(level < 0 ? 6 : std::min(level, 12));
      out = contexts_->Scratch(libdeflate_gzip_compress_bound(deflater, in.size()));
      size = libdeflate_gzip_compress(deflater, in.data(), in.size(), out.data(), out.size());
      break;
    }
    case Codec::kBrotli:
      out = contexts_->Scratch(BrotliEncoderMaxCompressedSize(in.size()));
      size = out.size();
      if (BrotliEncoderCompress(level < 0 ? 1 : std::min(level, BROTLI_MAX_QUALITY), BROTLI_DEFAULT_WINDOW,
                                BROTLI_MODE_GENERIC, in.size(), in.data(), &size, out.data()) == BROTLI_FALSE) {
        size = 0;
      }
      break;
    case Codec::kZstd:
      out = contexts_->Scratch(ZSTD_compressBound(in.size()));
      size = contexts_->CompressZstd(level == kDefaultLevel ? ZSTD_CLEVEL_DEFAULT : level, in, out);
      break;
    case Codec::kLz4Raw: {
      if (in.size() > LZ4_MAX_INPUT_SIZE) break;
      const int in_size = static_cast<int>(in.size());
      out = contexts_->Scratch(static_cast<std::size_t>(LZ4_compressBound(in_size)));
      const char* const from = reinterpret_cast<const char*>(in.data());
      char* const to = reinterpret_cast<char*>(out.data());
      const int room = LZ4_compressBound(in_size);
      size = static_cast<std::size_t>(level <= 1 ? LZ4_compress_default(from, to, in_size, room)
                                                 : LZ4_compress_HC(from, to, in_size, room, level));
      break;
    }
    default: return Error{Code::kUnsupported, "writing pages with " + std::string(CodecName(codec))};
  }
  if (size == 0) {
    return Error{Code::kLimit,
                 std::string(CodecName(codec)) + " cannot compress a page of " + std::to_string(in.size()) + " bytes"};
  }
  return ByteView(out.data(), size);
}

}  // namespace firn::parquet
