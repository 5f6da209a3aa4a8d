// SPDX-License-Identifier: Apache-2.0
//
// Compresses and decompresses page bodies with the codecs of Parquet.
//
// In: a codec, bytes, and for decompression the size that the page header promises. Out: bytes.
// Guarantees: decompression fills exactly the promised size or fails; it writes nowhere else. Compressed pages are one
//   frame or stream each. Contexts and buffers are kept between calls.
// Cost: that of the libraries; one scratch buffer of the largest compressed page.
// Errors: kCorrupt for bytes that do not decompress to the promised size; kUnsupported for LZO, unknown codecs, and
//   writing the deprecated LZ4; kLimit for pages beyond a codec's own limit.
// Threads: one owner; give each thread its own.
// Source: Compression.md.
#pragma once

#include <limits>
#include <memory>
#include <span>
#include <string_view>

#include "base/bytes.h"
#include "base/result.h"
#include "format/parquet/metadata.h"

namespace firn::parquet {

std::string_view CodecName(Codec codec);  // "zstd", as in write.parquet.compression-codec; "lz4_raw" for kLz4Raw
/// The level that Compress takes for `kDefaultLevel`.
inline constexpr int kDefaultLevel = std::numeric_limits<int>::min();

class PageCodecs {
 public:
  PageCodecs();
  ~PageCodecs();
  PageCodecs(PageCodecs&&) noexcept;
  PageCodecs& operator=(PageCodecs&&) noexcept;

  Status Decompress(Codec codec, ByteView in, std::span<std::uint8_t> out);
  /// The compressed bytes, valid until the next call; for kUncompressed they are `in` itself. Levels beyond what a
  /// codec knows are brought into its range; codecs without levels ignore them.
  Result<ByteView> Compress(Codec codec, int level, ByteView in);

 private:
  struct Contexts;
  std::unique_ptr<Contexts> contexts_;
};

}  // namespace firn::parquet
