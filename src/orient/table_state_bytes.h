// SPDX-License-Identifier: Apache-2.0
//
// The checksum at the end of a saved table state.
//
// Guarantees: a change of one 8-byte word, of the length, or of the order of words that differ gives another checksum
//   (the last with a probability of 1 - 2^-64). Not against forgery.
// Cost: about a second for 5 GB. Threads: pure.
#pragma once

#include <cstdint>

#include "base/bytes.h"

namespace firn::orient {

std::uint64_t StateChecksum(ByteView bytes);

}  // namespace firn::orient
