// SPDX-License-Identifier: Apache-2.0
//
// The record of one decision: what was decided about a table or a partition, from which numbers, what else was
// possible, what was expected, and later what came of it.
//
// In: triage, plans, the backlog, outcomes. Out: what `explain`, the API and the dashboard show.
// Guarantees: plain; bounded in every member once Bounded() has been applied (about 40 KB at the very most, 500 bytes
//   as a rule), so that a hostile table name cannot fill the state. "Nothing to do" and "not now" are decisions too.
// Threads: value type. Source: docs/deciding.md.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "decide/effect.h"

namespace firn::decide {

inline constexpr std::size_t kDecisionNameBytesMax = 1'024;    // table, partition, names, ids
inline constexpr std::size_t kDecisionReasonBytesMax = 2'048;  // sentences
inline constexpr std::size_t kDecisionInputsMax = 32;
inline constexpr std::size_t kDecisionAlternativesMax = 16;

enum class DecisionKind {
  kNothingToDo,  // looked at, and in shape
  kNotNow,       // worth doing, later: `code` and `not_before` say why and until when
  kScan,         // the partition is read fully
  kRun,          // a job starts
  kDone,         // a job has ended; `outcome` is set
  kFailed,       // a job has ended without a change; `reason` says why
  kRefused,      // will not be done: firn does not understand the table, or its owner has forbidden it
  kCancelled,    // asked to stop, or the table is gone
};
/// "nothing-to-do", "not-now", "scan", "run", "done", "failed", "refused", "cancelled".
std::string_view DecisionKindName(DecisionKind kind);
/// Of every kind, in their order.
std::span<const std::string_view> DecisionKindNames();
Result<DecisionKind> ParseDecisionKind(std::string_view text);

/// Something else that could have been done.
struct Alternative {
  std::string text;  // "merge day=2026-01-02"
  double value = 0;  // what the choice was made by, comparable within one decision
  std::string why_not;

  friend bool operator==(const Alternative&, const Alternative&) = default;
};

struct Decision {
  std::int64_t id = 0;  // given by the store, rising; 0: not stored yet
  TimestampMs at;
  std::string table;      // "catalog/ns.name"
  std::string partition;  // text; empty: the whole table
  DecisionKind kind = DecisionKind::kNothingToDo;
  std::string action;  // "merge", ...; empty where there is none
  std::string code;    // stable word for the reason: "quiet", "budget-bytes", ...
  std::string reason;  // a sentence
  std::vector<std::pair<std::string, double>> inputs;
  std::vector<Alternative> alternatives;
  std::optional<TimestampMs> not_before;
  std::optional<Effect> prediction;
  std::optional<Effect> outcome;
  std::string plan_id;
  std::string job_id;
  bool shadow = false;  // decided, and not acted upon

  friend bool operator==(const Decision&, const Decision&) = default;
};

/// The decision with long texts cut (at a whole character, with "..." at the end), lists cut to their limits, and
/// inputs that are no finite numbers, or have the name of an earlier one, left out.
Decision Bounded(Decision decision);

}  // namespace firn::decide
