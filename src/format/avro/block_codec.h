// SPDX-License-Identifier: Apache-2.0
//
// Compresses and expands the blocks of an Avro file.
//
// In: the codec's name from a header; bytes of one block. Out: bytes.
// Guarantees: expanding allocates at most `size_max_bytes`, whatever the block claims; snappy's checksum is checked.
// Cost: buffers are kept between blocks.
// Threads: one owner.
// Errors: kUnsupported for other codecs (bzip2, xz); kCorrupt for bad blocks; kLimit above `size_max_bytes`.
// Source: Apache Avro 1.11 specification, "Required Codecs", "Optional Codecs".
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "base/bytes.h"
#include "base/result.h"

namespace firn::avro {

enum class Codec : std::uint8_t { kNull, kDeflate, kZstd, kSnappy };

/// "null", "deflate", "zstandard", "snappy": the names of avro.codec; "" is null.
Result<Codec> ParseCodec(std::string_view name);
std::string_view CodecName(Codec codec);

class BlockExpander {
 public:
  virtual ~BlockExpander() = default;
  /// The result lives until the next call, or as long as `block` for the null codec.
  virtual Result<ByteView> Expand(ByteView block, std::uint64_t size_max_bytes) = 0;
};
std::unique_ptr<BlockExpander> MakeExpander(Codec codec);

class BlockCompressor {
 public:
  virtual ~BlockCompressor() = default;
  /// The result lives until the next call, or as long as `block` for the null codec.
  virtual Result<ByteView> Compress(ByteView block) = 0;
};
std::unique_ptr<BlockCompressor> MakeCompressor(Codec codec);

}  // namespace firn::avro
