// SPDX-License-Identifier: Apache-2.0
#include "format/parquet/arrow_zstd.h"

#include <arrow/result.h>
#include <arrow/util/compression.h>

#include "base/check.h"

namespace firn::parquet {

namespace {

/// Frames with larger windows are decompressed without a kept context, which would keep a buffer of that size.
constexpr std::uint64_t kWindowBytesMax = 8 << 20;

/// Whether the frame at the start of `in` can be decompressed with at most kWindowBytesMax for its window.
bool HasSmallWindow(ByteView in) {
  constexpr std::size_t kMagicBytes = 4;
  constexpr unsigned kSingleSegment = 0x20;
  if (in.size() < kMagicBytes + 2) return false;
  if ((in[kMagicBytes] & kSingleSegment) != 0) return true;  // it is decompressed in place
  const unsigned descriptor = in[kMagicBytes + 1];
  const std::uint64_t base = std::uint64_t{1} << (10 + (descriptor >> 3));
  return base + base / 8 * (descriptor & 7) <= kWindowBytesMax;
}

std::unique_ptr<arrow::util::Codec> MakeCodec(int level) {
  auto codec = arrow::util::Codec::Create(arrow::Compression::ZSTD, level);
  FIRN_CHECK(codec.ok());
  return std::move(*codec);
}

}  // namespace

struct ArrowZstd::Library {
  std::unique_ptr<arrow::util::Codec> codec = MakeCodec(arrow::util::kUseDefaultCompressionLevel);
  std::shared_ptr<arrow::util::Decompressor> decompressor;
  std::unique_ptr<arrow::util::Codec> compressor;
  int level = 0;

  /// False says nothing: the frame may be one of several, or want a larger window.
  bool DecompressFrame(ByteView in, std::span<std::uint8_t> out) {
    if (!HasSmallWindow(in)) return false;
    if (decompressor == nullptr) {
      auto made = codec->MakeDecompressor();
      if (!made.ok()) return false;
      decompressor = std::move(*made);
    } else if (!decompressor->Reset().ok()) {
      return false;
    }
    const auto in_size = static_cast<std::int64_t>(in.size()), out_size = static_cast<std::int64_t>(out.size());
    const auto done = decompressor->Decompress(in_size, in.data(), out_size, out.data());
    return done.ok() && done->bytes_read == in_size && done->bytes_written == out_size && decompressor->IsFinished();
  }
};

ArrowZstd::ArrowZstd() : library_(std::make_unique<Library>()) {}
ArrowZstd::~ArrowZstd() = default;
ArrowZstd::ArrowZstd(ArrowZstd&&) noexcept = default;
ArrowZstd& ArrowZstd::operator=(ArrowZstd&&) noexcept = default;

bool ArrowZstd::Decompress(ByteView in, std::span<std::uint8_t> out) {
  if (library_->DecompressFrame(in, out)) return true;
  const auto size = library_->codec->Decompress(static_cast<std::int64_t>(in.size()), in.data(),
                                                static_cast<std::int64_t>(out.size()), out.data());
  return size.ok() && *size == static_cast<std::int64_t>(out.size());
}

std::size_t ArrowZstd::Compress(int level, ByteView in, std::span<std::uint8_t> out) {
  if (library_->compressor == nullptr || library_->level != level) {
    library_->compressor = MakeCodec(level);
    library_->level = level;
  }
  const auto size = library_->compressor->Compress(static_cast<std::int64_t>(in.size()), in.data(),
                                                   static_cast<std::int64_t>(out.size()), out.data());
  return size.ok() ? static_cast<std::size_t>(*size) : 0;
}

}  // namespace firn::parquet
