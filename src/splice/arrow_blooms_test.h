// SPDX-License-Identifier: Apache-2.0
//
// Asks the Bloom filters of a file for its values, with Arrow's hash and Arrow's filters.
//
// Guarantees: every value of every column chunk that has a filter is asked for.
// Threads: none.
#pragma once

#include <cstdint>
#include <string>

#include "base/bytes.h"

namespace firn::splice::testing {

/// Empty if no filter denies a value of its chunk; else which does.
std::string DeniedBy(const Bytes& file);

/// Share of `count` integers from `first` on that the filter of a chunk of 8-byte integers does not deny.
double ShareOfFound(const Bytes& file, int row_group, int leaf, std::int64_t first, std::int64_t count);

}  // namespace firn::splice::testing
