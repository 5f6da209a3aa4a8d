// SPDX-License-Identifier: Apache-2.0
//
// Whether another service works on a table too, and which of the two goes on.
//
// In: a table's metadata, the id of this service, what was seen before. Out: the id of another service that has
//   committed since.
// Guarantees: commits of people (`firn optimize`) name no service and are never meant. Commits from before the first
//   look of this run are not either: they may be of an earlier run of the same service. A commit counts once, whatever
//   time it bears: the order is that of sequence numbers; in v1 tables, which have none, it is that of times, and those
//   more than an hour in the future are left out. Of two services that both
//   commit exactly one goes on, whichever looks first: the one whose id sorts first.
// Cost: one walk over the snapshots. Threads: pure. Errors: none.
// Source: docs/service.md ("Two services").
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/ids.h"
#include "base/time.h"
#include "iceberg/metadata.h"

namespace firn::service {

/// So long the other one leaves a table alone after each commit of the first.
inline constexpr std::int64_t kLeaveAloneMs = 15 * 60 * 1000;

/// How far the commits of others have been seen.
struct OtherService {
  bool has_looked = false;
  std::string table_uuid;
  SequenceNumber sequence_number{0};
  TimestampMs committed_at = {};  // v1
};

/// The id of a service other than `own_id` that has committed since the last look, on any branch.
std::optional<std::string> FindOtherService(const iceberg::TableMetadata& metadata, std::string_view own_id,
                                            TimestampMs now, OtherService& seen);

/// Whether this service goes on beside the other one.
inline bool GoesOn(std::string_view own_id, std::string_view other_id) { return own_id < other_id; }

}  // namespace firn::service
