// SPDX-License-Identifier: Apache-2.0
#include "service/analysis_json.h"

#include <utility>

namespace firn::service {
namespace {

json::Value ToJson(const decide::ReadSeconds& read) {
  json::Value value = json::Value::Object();
  value.Set("all_seconds", read.all);
  value.Set("two_seconds", read.two);
  return value;
}

json::Value ToJson(const decide::ReadCost& cost) {
  json::Value value = json::Value::Object();
  value.Set("seconds_per_file", cost.seconds_per_file);
  value.Set("seconds_per_byte", cost.seconds_per_byte);
  return value;
}

json::Value ToJson(const decide::TargetCandidate& candidate) {
  json::Value value = json::Value::Object();
  value.Set("target_size_bytes", candidate.target_size_bytes);
  value.Set("is_current", candidate.is_current);
  value.Set("files_after", candidate.files_after);
  value.Set("bytes_after", candidate.bytes_after);
  value.Set("files_replaced", candidate.files_replaced);
  value.Set("bytes_rewritten", candidate.bytes_rewritten);
  value.Set("merge_seconds", candidate.merge_seconds);
  value.Set("read_after", ToJson(candidate.read_after));
  value.Set("lasting_files", candidate.lasting_files);
  value.Set("lasting_read", ToJson(candidate.lasting_read));
  value.Set("rewrites_per_byte", candidate.rewrites_per_byte);
  return value;
}

json::Value ToJson(const decide::SortCandidate& candidate) {
  json::Value value = json::Value::Object();
  value.Set("column", candidate.column);
  value.Set("field_id", candidate.field_id);
  value.Set("type", candidate.type);
  value.Set("pays", candidate.pays);
  value.Set("reason", candidate.reason);
  value.Set("point_share_now", candidate.point_share_now);
  value.Set("point_share_sorted", candidate.point_share_sorted);
  value.Set("bounds_share", candidate.bounds_share);
  value.Set("is_sort_column", candidate.is_sort_column);
  value.Set("files", candidate.files);
  value.Set("partitions", candidate.partitions);
  return value;
}

json::Value ToJson(const ScanTime& time) {
  json::Value value = json::Value::Object();
  value.Set("cpu_seconds", time.cpu_seconds);
  value.Set("wall_seconds", time.wall_seconds);
  return value;
}

json::Value ToJson(const SampleRun& run) {
  json::Value value = json::Value::Object();
  value.Set("target_size_bytes", run.target_size_bytes);
  value.Set("files", run.files);
  value.Set("bytes", run.bytes);
  value.Set("merged_files", run.merged_files);
  value.Set("merged_bytes", run.merged_bytes);
  value.Set("merge_seconds", run.merge_seconds);
  value.Set("read_all", ToJson(run.all));
  value.Set("read_two", ToJson(run.two));
  return value;
}

template <class T>
json::Value List(const std::vector<T>& items) {
  json::Value list = json::Value::Array();
  for (const T& item : items) list.Append(ToJson(item));
  return list;
}

json::Value ToJson(const Experiment& experiment) {
  json::Value value = json::Value::Object();
  value.Set("done", experiment.done);
  value.Set("reason", experiment.reason);
  value.Set("files", experiment.files);
  value.Set("bytes", experiment.bytes);
  value.Set("rows", experiment.rows);
  value.Set("partitions", experiment.partitions);
  value.Set("runs", List(experiment.runs));
  return value;
}

json::Value AdviceJson(const Analysis& analysis) {
  const decide::Advice& advice = analysis.advice;
  json::Value merge = json::Value::Object();
  merge.Set("advised", advice.merge);
  merge.Set("reason", advice.merge_reason);
  merge.Set("read_saved", advice.read_saved);
  merge.Set("seconds_saved", advice.seconds_saved);
  json::Value target = json::Value::Object();
  target.Set("change", advice.change_target);
  target.Set("reason", advice.target_reason);
  target.Set("target_size_bytes", advice.target_size_bytes);
  target.Set("current_bytes", analysis.policy.target_size_bytes);
  json::Value sort = json::Value::Object();
  sort.Set("advised", analysis.sort);
  sort.Set("reason", analysis.sort_reason);
  json::Value value = json::Value::Object();
  value.Set("word", decide::AdviceWord(advice));
  value.Set("merge", std::move(merge));
  value.Set("file_size", std::move(target));
  value.Set("sort", std::move(sort));
  return value;
}

json::Value CostsJson(const Analysis& analysis) {
  json::Value value = json::Value::Object();
  value.Set("scheme", analysis.scheme);
  value.Set("request_seconds", analysis.request_seconds);
  value.Set("read_all", ToJson(analysis.read.all));
  value.Set("read_two", ToJson(analysis.read.two));
  value.Set("merge_bytes_per_second", analysis.cost.input_bytes_per_second);
  value.Set("size_exponent", analysis.cost.size_exponent);
  return value;
}

json::Value IngestJson(const decide::IngestHistory& ingest) {
  json::Value value = json::Value::Object();
  value.Set("commits", ingest.commits);
  value.Set("files", ingest.files);
  value.Set("bytes", ingest.bytes);
  value.Set("days", ingest.days);
  return value;
}

json::Value EarlierJson(const decide::EarlierRuns& earlier) {
  json::Value value = json::Value::Object();
  value.Set("runs", earlier.runs);
  value.Set("bytes", earlier.bytes);
  value.Set("seconds", earlier.seconds);
  value.Set("predicted_seconds", earlier.predicted_seconds);
  value.Set("days", earlier.days);
  value.Set("merged_again", earlier.merged_again);
  if (earlier.lasting_days) value.Set("lasting_days", *earlier.lasting_days);
  if (earlier.reads_a_day) value.Set("reads_a_day", *earlier.reads_a_day);
  value.Set("read_share", earlier.read_share);
  return value;
}

json::Value WeighingJson(const decide::Weighing& weighing) {
  json::Value value = json::Value::Object();
  value.Set("reads_a_day", weighing.reads());
  value.Set("are_reads_known", weighing.are_reads_known);
  value.Set("bytes_a_day", weighing.bytes_a_day);
  value.Set("seconds_per_byte", weighing.seconds_per_byte);
  value.Set("lasting_days", weighing.lasting_days);
  value.Set("is_lasting_known", weighing.is_lasting_known);
  return value;
}

json::Value Texts(const std::vector<std::string>& texts) {
  json::Value list = json::Value::Array();
  for (const auto& text : texts) list.Append(text);
  return list;
}

}  // namespace

json::Value ToJson(const Analysis& analysis) {
  json::Value value = json::Value::Object();
  value.Set("table", analysis.facts.table);
  if (analysis.facts.snapshot_id) value.Set("snapshot_id", analysis.facts.snapshot_id->value);
  value.Set("files", static_cast<std::int64_t>(analysis.facts.files.size()));
  value.Set("bytes", analysis.bytes);
  value.Set("advice", AdviceJson(analysis));
  value.Set("read_now", ToJson(analysis.read_now));
  value.Set("candidates", List(analysis.candidates));
  value.Set("experiment", ToJson(analysis.experiment));
  value.Set("costs", CostsJson(analysis));
  value.Set("ingest", IngestJson(analysis.ingest));
  value.Set("sort_candidates", List(analysis.sort_candidates));
  if (analysis.earlier) value.Set("earlier", EarlierJson(*analysis.earlier));
  if (analysis.weighing) value.Set("weighing", WeighingJson(*analysis.weighing));
  value.Set("rewrite_correction", analysis.rewrite_correction);
  value.Set("inputs", Texts(analysis.inputs));
  value.Set("assumptions", Texts(analysis.assumptions));
  return value;
}

}  // namespace firn::service
