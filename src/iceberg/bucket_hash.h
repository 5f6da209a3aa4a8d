// SPDX-License-Identifier: Apache-2.0
//
// The hash of the bucket transform.
//
// Guarantees: an int and a long of the same value have the same hash; so have decimals of any precision and scale
//   with the same unscaled value, and timestamps of either unit.
// Threads: pure. Cost: O(bytes). Errors: nullopt for null and for types that cannot be bucketed.
// Source: Iceberg table spec, Appendix B; MurmurHash3 x86 32-bit (A. Appleby, public domain).
#pragma once

#include <cstdint>
#include <optional>

#include "base/bytes.h"
#include "iceberg/literal.h"

namespace firn::iceberg {

/// MurmurHash3, x86, 32 bits, seed 0.
std::uint32_t Murmur3(ByteView bytes);
/// Hash of a value as Appendix B defines it.
std::optional<std::int32_t> BucketHash(const Type& type, const Literal& value);

}  // namespace firn::iceberg
