// SPDX-License-Identifier: Apache-2.0
//
// The newest analysis of each table, for those who decide: when the next one is due, and which file size it proposes.
//
// In: analyses as they are made, or as the state has them. Out: a setting for tables that have firn.analyze.apply.
// Guarantees: a proposal holds for the table that was analysed, by its uuid, and for nothing else that has its name.
//   What failed is tried by the clock again after a day at the earliest.
// Cost: O(log tables) a call; some 100 bytes a table. Threads: any.
// Errors: none. Source: docs/analyze.md.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "decide/candidate.h"
#include "decide/decision.h"
#include "service/fleet_policy.h"
#include "service/fleet_rows.h"

namespace firn::service {

/// The place that a setting is said to come from.
inline constexpr std::string_view kAnalyzePlace = "analyze";
/// Bytes of data files that an analysis of the service takes as its sample.
inline constexpr std::int64_t kServiceSampleBytes = std::int64_t{64} << 20;

class Analyses {
 public:
  /// Only what is needed here is kept of it.
  void Put(const AnalysisRow& row);
  void NoteFailure(const std::string& table, std::int64_t now_ms);
  void Remove(const std::string& table);

  /// 0: never.
  std::int64_t MadeMs(std::string_view table) const;
  std::optional<PolicyValue> ProposedTarget(std::string_view table, std::string_view uuid) const;
  /// `every_days` 0: never.
  bool IsDue(std::string_view table, std::string_view uuid, std::int32_t every_days, std::int64_t now_ms) const;

 private:
  struct Known {
    std::string uuid;
    std::int64_t made_ms = 0, failed_ms = 0;
    std::int64_t proposed_target_bytes = 0;
  };
  mutable std::mutex mutex_;
  std::map<std::string, Known, std::less<>> known_;
};

/// The file size that an analysis has put into force; empty: none.
std::string AppliedTarget(const TableSettings& settings);

/// A file size that nobody but an analysis has set is on record when it comes and when it goes. `before`: null where it
/// is not known what was in force.
void NoteApplied(const TableSettings* before, const TableSettings& now, const std::string& table, TimestampMs at,
                 std::vector<decide::Decision>& decisions);

/// Work of an analysis for the queue. `table`: files and bytes as last seen.
decide::Candidate AnalysisCandidate(const TableRow& table, std::string database, decide::Cause cause, TimestampMs now,
                                    std::string id);

}  // namespace firn::service
