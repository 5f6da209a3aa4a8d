// SPDX-License-Identifier: Apache-2.0
//
// Shows how the bytes of a merge were handled, tier by tier.
//
// Guarantees: tiers without chunks are left out; shares add up to the whole; what of the bytes that were read is in no
//   tier is said, and what it is.
// Threads: pure.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "format/json/json.h"
#include "splice/splice.h"

namespace firn::cli {

using TierCounts = std::array<splice::TierCount, splice::kTierCount>;

/// A title, a table and what explains it; empty when nothing was counted. `input_bytes`: size of the merged files.
std::string TierTable(const TierCounts& tiers, std::int64_t input_bytes);
/// A line about what the storage copied itself; empty if it did not.
std::string StorageCopiesText(std::int64_t size_bytes);
json::Value TiersToJson(const TierCounts& tiers);

}  // namespace firn::cli
