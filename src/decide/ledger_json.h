// SPDX-License-Identifier: Apache-2.0
//
// Keeps what was spent, owed and learnt over a restart.
//
// In: ledgers, circuit breakers, corrections. Out: JSON, and back.
// Guarantees: settings are not written: they come from the policies, and levels are put into the accounts that these
// have
//   made. What is out of range is clamped. A damaged text changes nothing.
// Errors: kCorrupt naming the member. Threads: pure.
#pragma once

#include "decide/backlog.h"
#include "decide/cost_correction.h"
#include "format/json/json.h"

namespace firn::decide {

json::Value ToJson(const Ledger& ledger);
/// Into `ledger`, whose settings have been made. Accounts that it does not have are left out.
Status RestoreLedger(const json::Value& value, Ledger& ledger);

json::Value ToJson(const CircuitBreaker& breaker);
Result<CircuitBreaker> ParseCircuitBreaker(const json::Value& value);

json::Value ToJson(const CostCorrection& correction);
Result<CostCorrection> ParseCostCorrection(const json::Value& value);

}  // namespace firn::decide
