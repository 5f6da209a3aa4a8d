// SPDX-License-Identifier: Apache-2.0
//
// Shows how the bytes of a merge were handled, tier by tier.
//
// Guarantees: tiers without chunks are left out; shares add up to the whole.
// Threads: pure.
#pragma once

#include <array>
#include <string>

#include "format/json/json.h"
#include "splice/splice.h"

namespace firn::cli {

using TierCounts = std::array<splice::TierCount, splice::kTierCount>;

/// A title and a table; empty when nothing was counted.
std::string TierTable(const TierCounts& tiers);
json::Value TiersToJson(const TierCounts& tiers);

}  // namespace firn::cli
