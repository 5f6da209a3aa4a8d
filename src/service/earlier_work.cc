// SPDX-License-Identifier: Apache-2.0
#include "service/earlier_work.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "format/json/json.h"

namespace firn::service {
namespace {

constexpr double kDayMs = 86'400'000;
constexpr const char* kReads = "reads";

bool IsMerge(const JobRow& job) {
  const auto action = decide::ParseAction(job.action);
  const bool is_merge = action && (*action == decide::Action::kMerge || *action == decide::Action::kFold);
  return is_merge && job.state == JobRow::State::kDone;
}

void AddReads(const ReadRate& reads, std::int64_t files, TimestampMs now, decide::EarlierRuns& sum) {
  const double gone_ms = std::max(0.0, static_cast<double>(now.value) - static_cast<double>(reads.last_ms));
  if (reads.last_ms == 0 || gone_ms > kReadsDays * kDayMs) return;
  sum.reads_a_day = reads.scans_a_day * std::exp(-gone_ms / kDayMs);
  if (files > 0) sum.read_share = std::min(1.0, reads.files_a_scan / static_cast<double>(files));
}

double NumberOf(const json::Value& object, std::string_view name) {
  const json::Value* member = object.Find(name);
  const double number = member == nullptr ? 0 : member->AsDouble().value_or(0);
  return std::isfinite(number) && number > 0 ? number : 0;
}

}  // namespace

Result<decide::EarlierRuns> EarlierWorkOf(StateStore& store, const std::string& table, TimestampMs now) {
  FIRN_ASSIGN(const auto jobs, store.EndedJobs(table, {.after = "", .limit = kEarlierJobsMax}));
  std::vector<decide::MergeRun> runs;
  for (const JobRow& job : jobs.items) {
    const bool is_old = static_cast<double>(now.value) - static_cast<double>(job.ended_ms) > kEarlierDays * kDayMs;
    if (is_old || !IsMerge(job)) continue;
    runs.push_back(
        {TimestampMs{job.ended_ms}, job.measured->bytes, job.measured->seconds, job.predicted.seconds, job.partitions});
  }
  decide::EarlierRuns sum = decide::SumUp(runs);
  FIRN_ASSIGN(const TableMemory memory, store.Memory(table));
  AddReads(ReadsOf(memory.learned), memory.row.files, now, sum);
  return sum;
}

Result<std::string> TableIdOfUuid(StateStore& store, std::string_view uuid) {
  FIRN_ASSIGN(const auto rows, store.TableRows());
  const auto found = std::ranges::find(rows, uuid, &TableRow::uuid);
  if (found == rows.end() || uuid.empty()) {
    return Error{Code::kNotFound, "the service of this state has never seen the table"};
  }
  return found->id;
}

std::string WithReads(std::string_view learned, const ReadRate& reads) {
  if (reads.last_ms == 0) return std::string(learned);
  auto value = json::Parse(learned);
  json::Value object = value && value->is_object() ? std::move(*value) : json::Value::Object();
  json::Value rate = json::Value::Object();
  rate.Set("scans_a_day", reads.scans_a_day);
  rate.Set("files_a_scan", reads.files_a_scan);
  rate.Set("last_ms", reads.last_ms);
  object.Set(kReads, std::move(rate));
  return json::Write(object);
}

ReadRate ReadsOf(std::string_view learned) {
  const auto value = json::Parse(learned);
  const json::Value* rate = value ? value->Find(kReads) : nullptr;
  ReadRate reads;
  if (rate == nullptr) return reads;
  reads.scans_a_day = NumberOf(*rate, "scans_a_day");
  reads.files_a_scan = NumberOf(*rate, "files_a_scan");
  const json::Value* last = rate->Find("last_ms");
  reads.last_ms = last == nullptr ? 0 : std::max<std::int64_t>(0, last->AsInt64().value_or(0));
  return reads;
}

}  // namespace firn::service
