// SPDX-License-Identifier: Apache-2.0
#include "orient/partition_state_json.h"

namespace firn::orient {
namespace {

json::Value TimeJson(std::uint32_t seconds) {
  return seconds == 0 ? json::Value() : json::Value(std::int64_t{seconds} * 1000);
}

json::Value NoiseJson(const Noise& noise) {
  json::Value value = json::Value::Object();
  value.Set("files", noise.files);
  value.Set("bytes", noise.bytes);
  value.Set("commits", noise.commits);
  value.Set("age", noise.age);
  value.Set("age_seconds", noise.age_seconds);
  value.Set("threshold", noise.threshold);
  return value;
}

void SetVerdict(const Verdict& verdict, json::Value& value) {
  value.Set("noise", verdict.noise.total());
  value.Set("noise_parts", NoiseJson(verdict.noise));
  value.Set("is_estimate", verdict.is_estimate);
  value.Set("verdict", VerdictName(verdict.kind));
  value.Set("reason", verdict.reason);
}

}  // namespace

json::Value ToJson(const PartitionState& state, std::string_view text, const Verdict& verdict) {
  const auto known = [&state](json::Value number) { return state.has_numbers() ? std::move(number) : json::Value(); };
  json::Value value = json::Value::Object();
  value.Set("text", text);
  value.Set("files", known(std::int64_t{state.file_count}));
  value.Set("bytes", known(state.size_bytes));
  value.Set("small_files", known(verdict.small_files));
  value.Set("small_bytes", known(SmallBytesOf(state)));
  value.Set("removable_files", known(verdict.removable_files));
  value.Set("size_mse", known(MeanSquaredErrorOf(state)));
  value.Set("entropy", known(verdict.entropy));
  value.Set("delete_files", known(DeleteFilesOf(state)));
  value.Set("position_delete_files", known(std::int64_t{state.position_delete_files}));
  value.Set("equality_delete_files", known(std::int64_t{state.equality_delete_files}));
  value.Set("fold_files", known(std::int64_t{state.fold_files}));
  value.Set("files_at_scan", std::int64_t{state.files_at_scan});
  value.Set("files_changed", std::int64_t{state.files_changed});
  value.Set("bytes_changed", state.bytes_changed);
  value.Set("commits", std::int64_t{state.commits});
  value.Set("pending_since_ms", TimeJson(state.pending_since));
  value.Set("last_change_ms", TimeJson(state.last_change));
  value.Set("last_scan_ms", TimeJson(state.last_scan));
  SetVerdict(verdict, value);
  return value;
}

json::Value ToJson(const Verdict& verdict) {
  json::Value value = json::Value::Object();
  value.Set("files", verdict.file_count);
  value.Set("small_files", verdict.small_files);
  value.Set("removable_files", verdict.removable_files);
  value.Set("entropy", verdict.entropy);
  SetVerdict(verdict, value);
  return value;
}

}  // namespace firn::orient
