// SPDX-License-Identifier: Apache-2.0
#include "decide/decision_json.h"

#include <fmt/format.h>

#include "decide/json_members.h"

namespace firn::decide {
namespace {

Error TooLarge(std::string_view member) { return {Code::kLimit, fmt::format("`{}` is too large", member)}; }

/// What other parsers say about an argument is damage in a stored record.
template <class T>
Result<T> Stored(Result<T> parsed) {
  if (!parsed) return Error{Code::kCorrupt, std::move(parsed.error().message)};
  return parsed;
}

Result<std::string> GetText(const json::Value& object, std::string_view name, std::size_t bytes_max) {
  FIRN_ASSIGN(std::string text, json::GetString(object, name));
  if (text.size() > bytes_max) return TooLarge(name);
  return text;
}

Result<const json::Value*> GetArray(const json::Value& object, std::string_view name, std::size_t count_max) {
  const json::Value* member = object.Find(name);
  if (!member || !member->is_array()) return Wrong(name, "a list");
  if (member->elements().size() > count_max) return TooLarge(name);
  return member;
}

Result<TimestampMs> GetTime(const json::Value& object, std::string_view name) {
  FIRN_ASSIGN(const std::int64_t ms, json::GetInt64(object, name));
  return TimestampMs{ms};
}

Result<std::optional<TimestampMs>> FindTime(const json::Value& object, std::string_view name) {
  FIRN_ASSIGN(const auto ms, json::FindInt64(object, name));
  return ms ? std::optional(TimestampMs{*ms}) : std::nullopt;
}

json::Value ToJson(const std::optional<TimestampMs>& time) { return time ? json::Value(time->value) : json::Value(); }
json::Value ToJson(const std::optional<Effect>& effect) { return effect ? ToJson(*effect) : json::Value(); }

Result<std::optional<Effect>> FindEffect(const json::Value& object, std::string_view name) {
  const json::Value* member = object.Find(name);
  if (!member || member->is_null()) return std::optional<Effect>();
  FIRN_ASSIGN(const Effect effect, ParseEffect(*member).In(name));
  return std::optional(effect);
}

Status ParseInputs(const json::Value& value, Decision& decision) {
  const json::Value* inputs = value.Find("inputs");
  if (!inputs || !inputs->is_object()) return Wrong("inputs", "an object");
  if (inputs->members().size() > kDecisionInputsMax) return TooLarge("inputs");
  for (const auto& [name, number] : inputs->members()) {
    if (name.size() > kDecisionNameBytesMax) return TooLarge("inputs");
    FIRN_ASSIGN(const double input, GetDouble(*inputs, name));
    decision.inputs.emplace_back(name, input);
  }
  return Ok();
}

Status ParseAlternatives(const json::Value& value, Decision& decision) {
  FIRN_ASSIGN(const json::Value* list, GetArray(value, "alternatives", kDecisionAlternativesMax));
  for (const json::Value& element : list->elements()) {
    Alternative alternative;
    FIRN_ASSIGN(alternative.text, GetText(element, "text", kDecisionNameBytesMax));
    FIRN_ASSIGN(alternative.value, GetDouble(element, "value"));
    FIRN_ASSIGN(alternative.why_not, GetText(element, "why_not", kDecisionNameBytesMax));
    decision.alternatives.push_back(std::move(alternative));
  }
  return Ok();
}

}  // namespace

json::Value ToJson(const Effect& effect) {
  json::Value value = json::Value::Object();
  value.Set("files_removed", effect.files_removed);
  value.Set("files_replaced", effect.files_replaced);
  value.Set("delete_files_removed", effect.delete_files_removed);
  value.Set("delete_reads_saved", effect.delete_reads_saved);
  value.Set("bytes", effect.bytes);
  value.Set("seconds", effect.seconds);
  value.Set("reads_saved", effect.reads_saved);
  return value;
}

Result<Effect> ParseEffect(const json::Value& value) {
  Effect effect;
  FIRN_ASSIGN(effect.files_removed, json::GetInt64(value, "files_removed"));
  FIRN_ASSIGN(effect.files_replaced, json::GetInt64(value, "files_replaced"));
  FIRN_ASSIGN(effect.delete_files_removed, json::GetInt64(value, "delete_files_removed"));
  // Records of versions before have no such member.
  if (value.Find("delete_reads_saved") != nullptr) {
    FIRN_ASSIGN(effect.delete_reads_saved, json::GetInt64(value, "delete_reads_saved"));
  }
  FIRN_ASSIGN(effect.bytes, json::GetInt64(value, "bytes"));
  FIRN_ASSIGN(effect.seconds, GetDouble(value, "seconds"));
  FIRN_ASSIGN(effect.reads_saved, GetDouble(value, "reads_saved"));
  return effect;
}

json::Value ToJson(const Decision& decision) {
  json::Value value = json::Value::Object();
  value.Set("id", decision.id);
  value.Set("at_ms", decision.at.value);
  value.Set("table", decision.table);
  value.Set("partition", decision.partition);
  value.Set("kind", DecisionKindName(decision.kind));
  value.Set("action", decision.action);
  value.Set("code", decision.code);
  value.Set("reason", decision.reason);
  json::Value inputs = json::Value::Object();
  for (const auto& [name, number] : decision.inputs) inputs.Set(name, number);
  value.Set("inputs", std::move(inputs));
  json::Value alternatives = json::Value::Array();
  for (const Alternative& alternative : decision.alternatives) {
    json::Value line = json::Value::Object();
    line.Set("text", alternative.text);
    line.Set("value", alternative.value);
    line.Set("why_not", alternative.why_not);
    alternatives.Append(std::move(line));
  }
  value.Set("alternatives", std::move(alternatives));
  value.Set("not_before_ms", ToJson(decision.not_before));
  value.Set("prediction", ToJson(decision.prediction));
  value.Set("outcome", ToJson(decision.outcome));
  value.Set("plan_id", decision.plan_id);
  value.Set("job_id", decision.job_id);
  value.Set("shadow", decision.shadow);
  return value;
}

Result<Decision> ParseDecision(const json::Value& value) {
  Decision decision;
  FIRN_ASSIGN(decision.id, json::GetInt64(value, "id"));
  FIRN_ASSIGN(decision.at, GetTime(value, "at_ms"));
  FIRN_ASSIGN(decision.table, GetText(value, "table", kDecisionNameBytesMax));
  FIRN_ASSIGN(decision.partition, GetText(value, "partition", kDecisionNameBytesMax));
  FIRN_ASSIGN(const std::string kind, json::GetString(value, "kind"));
  FIRN_ASSIGN(decision.kind, Stored(ParseDecisionKind(kind)));
  FIRN_ASSIGN(decision.action, GetText(value, "action", kDecisionNameBytesMax));
  FIRN_ASSIGN(decision.code, GetText(value, "code", kDecisionNameBytesMax));
  FIRN_ASSIGN(decision.reason, GetText(value, "reason", kDecisionReasonBytesMax));
  FIRN_TRY(ParseInputs(value, decision));
  FIRN_TRY(ParseAlternatives(value, decision));
  FIRN_ASSIGN(decision.not_before, FindTime(value, "not_before_ms"));
  FIRN_ASSIGN(decision.prediction, FindEffect(value, "prediction"));
  FIRN_ASSIGN(decision.outcome, FindEffect(value, "outcome"));
  FIRN_ASSIGN(decision.plan_id, GetText(value, "plan_id", kDecisionNameBytesMax));
  FIRN_ASSIGN(decision.job_id, GetText(value, "job_id", kDecisionNameBytesMax));
  FIRN_ASSIGN(decision.shadow, json::GetBool(value, "shadow"));
  return decision;
}

}  // namespace firn::decide
