// SPDX-License-Identifier: Apache-2.0
//
// Levels of V1 pages in the deprecated BIT_PACKED encoding, as RLE hybrids.
//
// In: a page's decompressed body from its levels on. Out: the same levels as writers make them today.
// Guarantees: levels are taken from the most significant bit of each byte on, as the format says and parquet-java does.
// Why: Arrow reads such levels from the least significant bit on, and so finds other nulls than were written.
// Cost: a few ns a level.
// Errors: kCorrupt. Threads: pure.
// Source: Encodings.md, "Bit-packed (Deprecated) (BIT_PACKED = 4)".
#pragma once

#include <cstddef>

#include "base/bytes.h"
#include "base/result.h"

namespace firn::splice {

/// Takes `count` levels of 1 to 16 bits off the front of `body`. The hybrid has its 4-byte length before it.
Result<Bytes> LevelsAsRuns(ByteView& body, std::size_t count, unsigned width);

}  // namespace firn::splice
