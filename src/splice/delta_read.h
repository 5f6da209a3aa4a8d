// SPDX-License-Identifier: Apache-2.0
//
// Reads DELTA_BINARY_PACKED integers piece by piece.
//
// Guarantees: block and miniblock sizes are checked; sums wrap around as the format asks; reading stays inside the
// bytes and
//   is bounded by the values that are asked for, whatever count the stream claims.
// Cost: about 1 ns a value; no memory.
// Errors: kCorrupt without a place.
// Threads: one owner.
// Source: Encodings.md "Delta Encoding".
#pragma once

#include <cstdint>

#include "base/bytes.h"
#include "base/result.h"

namespace firn::splice {

class DeltaReader {
 public:
  Status Open(ByteView bytes);
  /// Values in the stream, as its header says.
  std::uint64_t count() const { return count_; }
  /// Of them, those that were not read yet.
  std::uint64_t left() const { return count_ - produced_; }
  Status Read(std::int64_t* out, std::size_t count);
  /// The bytes of the whole stream, found without decoding. `bytes` begins with it.
  static Result<std::size_t> SizeOf(ByteView bytes);

 private:
  bool Varint(std::uint64_t& value);
  Status OpenBlock();
  Status LoadGroup();
  std::size_t Available() const { return static_cast<std::size_t>(end_ - at_); }

  static constexpr std::size_t kGroup = 32;  // miniblocks are multiples of it

  const std::uint8_t* at_ = nullptr;
  const std::uint8_t* end_ = nullptr;
  std::uint64_t count_ = 0, produced_ = 0;
  std::size_t miniblock_values_ = 0, miniblocks_ = 0;
  std::uint64_t last_ = 0, min_delta_ = 0;
  const std::uint8_t* widths_ = nullptr;
  std::size_t miniblock_ = 0, in_miniblock_ = 0;  // where the next group is
  std::int64_t group_[kGroup] = {};
  std::size_t group_at_ = kGroup;
};

}  // namespace firn::splice
