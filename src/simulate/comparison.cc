// SPDX-License-Identifier: Apache-2.0
#include "simulate/comparison.h"

namespace firn::simulate {
namespace {

std::optional<double> Saved(double ours, double other) {
  if (other <= 0) return std::nullopt;
  return 1 - ours / other;
}

std::optional<double> Saved(std::int64_t ours, std::int64_t other) {
  return Saved(static_cast<double>(ours), static_cast<double>(other));
}

json::Value OrNull(const std::optional<double>& value) { return value ? json::Value(*value) : json::Value(); }

json::Value ToJson(const Funnel& f) {
  json::Value value = json::Value::Object();
  value.Set("commits", f.commits);
  value.Set("changed_partitions", f.changed);
  value.Set("noisy_partitions", f.noisy);
  value.Set("partition_scans", f.scans);
  value.Set("rechecks", f.rechecks);
  value.Set("scan_entries", f.scan_entries);
  value.Set("partition_merges", f.partition_merges);
  value.Set("merge_groups", f.merges);
  value.Set("delete_conversions", f.conversions);
  value.Set("deletes_converted", f.deletes_converted);
  value.Set("overtaken", f.overtaken);
  value.Set("files_in_merged_partitions", f.files_in_merged);
  value.Set("files_replaced", f.files_replaced);
  value.Set("files_made", f.files_made);
  value.Set("bytes_read", f.bytes_read);
  value.Set("bytes_written", f.bytes_written);
  return value;
}

json::Value ToJson(const Sample& sample) {
  json::Value value = json::Value::Object();
  value.Set("ms", sample.at.value);
  value.Set("files", sample.totals.files);
  value.Set("small_files", sample.totals.small_files);
  value.Set("bytes", sample.totals.bytes);
  value.Set("delete_reads", sample.totals.delete_reads);
  value.Set("read_cost_bytes", ReadCost(sample.totals));
  value.Set("bytes_written", sample.bytes_written);
  value.Set("worker_seconds", sample.worker_seconds);
  return value;
}

}  // namespace

Savings Compare(const RunResult& ours, const RunResult& other) {
  return {Saved(ours.funnel.scans + ours.funnel.rechecks, other.funnel.scans + other.funnel.rechecks),
          Saved(ours.funnel.partition_merges, other.funnel.partition_merges),
          Saved(ours.funnel.files_replaced, other.funnel.files_replaced), Saved(ours.mean_files, other.mean_files),
          Saved(ours.mean_workers, other.mean_workers)};
}

OwnFunnel OwnFunnelOf(const RunResult& result) {
  const Funnel& f = result.funnel;
  return {Saved(f.scans, f.changed), Saved(f.partition_merges, f.scans), Saved(f.files_replaced, f.files_in_merged)};
}

json::Value ToJson(const RunResult& result) {
  json::Value value = json::Value::Object();
  value.Set("policy", result.policy);
  value.Set("what", result.what);
  value.Set("funnel", ToJson(result.funnel));
  const OwnFunnel own = OwnFunnelOf(result);
  value.Set("changed_not_scanned", OrNull(own.not_scanned));
  value.Set("scanned_not_merged", OrNull(own.not_merged));
  value.Set("files_not_replaced", OrNull(own.not_replaced));
  value.Set("mean_files", result.mean_files);
  value.Set("peak_files", result.peak_files);
  value.Set("end_files", result.end.files);
  value.Set("end_small_files", result.end.small_files);
  value.Set("end_bytes", result.end.bytes);
  value.Set("end_rows", result.end.rows);
  value.Set("mean_delete_reads", result.mean_delete_reads);
  value.Set("mean_read_cost_bytes", result.mean_read_cost);
  value.Set("bytes_ingested", result.bytes_ingested);
  value.Set("removals_redirected", result.removals_redirected);
  value.Set("worker_seconds", result.worker_seconds);
  value.Set("mean_workers", result.mean_workers);
  value.Set("peak_workers", result.peak_workers);
  json::Value samples = json::Value::Array();
  for (const Sample& sample : result.samples) samples.Append(ToJson(sample));
  value.Set("samples", std::move(samples));
  return value;
}

json::Value ToJson(std::span<const RunResult> results) {
  json::Value value = json::Value::Object();
  json::Value policies = json::Value::Array();
  for (const RunResult& result : results) policies.Append(ToJson(result));
  value.Set("policies", std::move(policies));
  json::Value savings = json::Value::Object();
  for (std::size_t i = 1; i < results.size(); ++i) {
    const Savings saved = Compare(results[0], results[i]);
    json::Value line = json::Value::Object();
    for (std::size_t s = 0; s < saved.size(); ++s) line.Set(kPublishedSteps[s].name, OrNull(saved[s]));
    savings.Set(results[i].policy, std::move(line));
  }
  value.Set("savings", std::move(savings));
  return value;
}

}  // namespace firn::simulate
