// SPDX-License-Identifier: Apache-2.0
#include "decide/ledger_json.h"

#include <algorithm>

#include "decide/json_members.h"

namespace firn::decide {
namespace {

constexpr std::array<Action, 3> kActions = {Action::kMerge, Action::kFold, Action::kRewriteDeletes};

Result<const json::Value*> GetObject(const json::Value& object, std::string_view name) {
  const json::Value* member = object.Find(name);
  if (!member || !member->is_object()) return Wrong(name, "an object");
  return member;
}

json::Value ToJson(const std::optional<TokenBucket>& bucket) {
  if (!bucket) return {};
  json::Value value = json::Value::Object();
  value.Set("level", bucket->level());
  value.Set("at_ms", bucket->at().value);
  return value;
}

json::Value ToJson(const Account& account) {
  json::Value value = json::Value::Object();
  value.Set("bytes", ToJson(account.budget.bytes()));
  value.Set("seconds", ToJson(account.budget.seconds()));
  return value;
}

json::Value ToJson(const std::unordered_map<std::string, Account>& accounts) {
  json::Value value = json::Value::Object();
  for (const auto& [name, account] : accounts) {
    if (account.budget.bytes() || account.budget.seconds()) value.Set(name, ToJson(account));
  }
  return value;
}

Status Restore(const json::Value& account, std::string_view name, std::optional<TokenBucket>& bucket) {
  const json::Value* saved = account.Find(name);
  if (!saved || saved->is_null()) return Ok();
  FIRN_ASSIGN(const double level, GetDouble(*saved, "level"));
  FIRN_ASSIGN(const std::int64_t at_ms, json::GetInt64(*saved, "at_ms"));
  // A limit that was not there before has not been spent, and one that is no more has no level.
  if (bucket) bucket->Restore(level, TimestampMs{at_ms});
  return Ok();
}

Status Restore(const json::Value& value, Account& account) {
  if (!value.is_object()) return Wrong("account", "an object");
  FIRN_TRY(Restore(value, "bytes", account.budget.bytes()));
  return Restore(value, "seconds", account.budget.seconds());
}

Status Restore(const json::Value& ledger, std::string_view name, std::unordered_map<std::string, Account>& accounts) {
  FIRN_ASSIGN(const json::Value* saved, GetObject(ledger, name));
  for (const auto& [key, value] : saved->members()) {
    const auto found = accounts.find(key);
    if (found != accounts.end()) FIRN_TRY(Restore(value, found->second));
  }
  return Ok();
}

double Clamped(double credit) { return std::clamp(credit, -kCreditMaxSeconds, kCreditMaxSeconds); }

}  // namespace

json::Value ToJson(const Ledger& ledger) {
  json::Value value = json::Value::Object();
  value.Set("everything", ToJson(ledger.everything));
  value.Set("databases", ToJson(ledger.databases));
  value.Set("tables", ToJson(ledger.tables));
  json::Value credits = json::Value::Object();
  for (const auto& [name, credit] : ledger.credits) credits.Set(name, credit);
  value.Set("credits", std::move(credits));
  json::Value lanes = json::Value::Object();
  for (const Lane lane : {Lane::kRequest, Lane::kAutomatic}) {
    lanes.Set(LaneName(lane), ledger.lane_credits[static_cast<std::size_t>(lane)]);
  }
  value.Set("lanes", std::move(lanes));
  return value;
}

Status RestoreLedger(const json::Value& value, Ledger& ledger) {
  Ledger restored = ledger;
  FIRN_ASSIGN(const json::Value* everything, GetObject(value, "everything"));
  FIRN_TRY(Restore(*everything, restored.everything));
  FIRN_TRY(Restore(value, "databases", restored.databases));
  FIRN_TRY(Restore(value, "tables", restored.tables));
  FIRN_ASSIGN(const json::Value* credits, GetObject(value, "credits"));
  for (const auto& member : credits->members()) {
    FIRN_ASSIGN(const double credit, GetDouble(*credits, member.first));
    restored.credits[member.first] = Clamped(credit);
  }
  FIRN_ASSIGN(const json::Value* lanes, GetObject(value, "lanes"));
  for (const Lane lane : {Lane::kRequest, Lane::kAutomatic}) {
    FIRN_ASSIGN(const double credit, GetDouble(*lanes, LaneName(lane)));
    restored.lane_credits[static_cast<std::size_t>(lane)] = Clamped(credit);
  }
  ledger = std::move(restored);
  return Ok();
}

json::Value ToJson(const CircuitBreaker& breaker) {
  json::Value value = json::Value::Object();
  value.Set("bad_in_a_row", breaker.bad_in_a_row);
  value.Set("opened_ms", breaker.opened_at.value);
  value.Set("wait_ms", breaker.wait_ms);
  value.Set("reason", breaker.reason);
  return value;
}

Result<CircuitBreaker> ParseCircuitBreaker(const json::Value& value) {
  CircuitBreaker breaker;
  FIRN_ASSIGN(breaker.bad_in_a_row, json::GetInt32(value, "bad_in_a_row"));
  FIRN_ASSIGN(const std::int64_t opened_ms, json::GetInt64(value, "opened_ms"));
  FIRN_ASSIGN(breaker.wait_ms, json::GetInt64(value, "wait_ms"));
  FIRN_ASSIGN(breaker.reason, json::GetString(value, "reason"));
  breaker.bad_in_a_row = std::max(0, breaker.bad_in_a_row);
  breaker.wait_ms = std::clamp<std::int64_t>(breaker.wait_ms, 0, kLookAgainMs);
  breaker.opened_at = TimestampMs{std::max<std::int64_t>(0, opened_ms)};
  return breaker;
}

json::Value ToJson(const CostCorrection& correction) {
  json::Value value = json::Value::Object();
  for (const Action action : kActions) {
    json::Value line = json::Value::Object();
    line.Set("factor", correction.factor(action));
    line.Set("outcomes", correction.outcomes(action));
    value.Set(ActionName(action), std::move(line));
  }
  return value;
}

Result<CostCorrection> ParseCostCorrection(const json::Value& value) {
  CostCorrection correction;
  for (const Action action : kActions) {
    FIRN_ASSIGN(const json::Value* line, GetObject(value, ActionName(action)));
    FIRN_ASSIGN(const double factor, GetDouble(*line, "factor"));
    FIRN_ASSIGN(const std::int32_t outcomes, json::GetInt32(*line, "outcomes"));
    correction.Restore(action, factor, outcomes);
  }
  return correction;
}

}  // namespace firn::decide
