// SPDX-License-Identifier: Apache-2.0
//
// zstd pages through the copy of the library that Arrow brings.
//
// In: frames, or bytes and a level. Out: bytes; frames.
// Guarantees: a damaged frame that Arrow refuses is refused here, and one that it reads gives the same bytes here. Only
//   whole frames are accepted, with nothing behind the last one.
// Why: frames in Parquet have no checksum, so the decoder's own checks are all there is. Decoders before 1.5.6 ignore
//   reserved bits and turn impossible offsets into possible ones; compressors before 1.5.5 write wrong frames, in rare
//   cases, at the levels of the optimal parser.
// Cost: that of the library. Contexts are kept between calls, unless a frame wants a large window.
// Threads: one owner.
// Source: RFC 8878; zstd issues 3821 and 3517 (their public descriptions).
#pragma once

#include <memory>
#include <span>

#include "base/bytes.h"
#include "base/result.h"

namespace firn::parquet {

class ArrowZstd {
 public:
  ArrowZstd();
  ~ArrowZstd();
  ArrowZstd(ArrowZstd&&) noexcept;
  ArrowZstd& operator=(ArrowZstd&&) noexcept;

  /// Whether `in` decompresses to exactly `out`.
  bool Decompress(ByteView in, std::span<std::uint8_t> out);
  /// The size of the frame; 0: it does not fit into `out`.
  std::size_t Compress(int level, ByteView in, std::span<std::uint8_t> out);

 private:
  struct Library;
  std::unique_ptr<Library> library_;
};

}  // namespace firn::parquet
