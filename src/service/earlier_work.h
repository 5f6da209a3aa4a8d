// SPDX-License-Identifier: Apache-2.0
//
// What the service remembers of a table's merges and scans, for those who decide about the table as a whole.
//
// In: a state store, the table's id or uuid, the time. Out: sums of its ended merges and folds of the last
//   kEarlierDays days (at most kEarlierJobsMax, the newest), and the rate of scans that readers have reported.
// Guarantees: only reads. Reports that are older than kReadsDays say nothing any more.
// Cost: the rows of those jobs. Threads: any.
// Errors: those of the store; kNotFound for a uuid that it does not know.
// Source: docs/analyze.md.
#pragma once

#include <string>
#include <string_view>

#include "decide/earlier_runs.h"
#include "service/fleet_tables.h"
#include "service/state_store.h"

namespace firn::service {

inline constexpr int kEarlierJobsMax = 500;
inline constexpr double kEarlierDays = 90;
inline constexpr double kReadsDays = 7;

Result<decide::EarlierRuns> EarlierWorkOf(StateStore& store, const std::string& table, TimestampMs now);
/// Whatever name the service has for it.
Result<std::string> TableIdOfUuid(StateStore& store, std::string_view uuid);

/// `learned`, the JSON text of a table record, with the rate of its reads, and back.
std::string WithReads(std::string_view learned, const ReadRate& reads);
ReadRate ReadsOf(std::string_view learned);

}  // namespace firn::service
