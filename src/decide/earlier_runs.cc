// SPDX-License-Identifier: Apache-2.0
#include "decide/earlier_runs.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string_view>

#include "base/human_text.h"
#include "decide/cost_correction.h"

namespace firn::decide {
namespace {

constexpr double kDayMs = 86'400'000;
/// A shorter time is the same merge, done in pieces.
constexpr double kPieceMs = 10 * 60'000;
/// A rate of less than an hour says nothing about a day.
constexpr double kDaysMin = 1.0 / 24;
constexpr std::string_view kWholeTable = "\n";  // no partition has that name

double DaysBetween(TimestampMs from, TimestampMs to) {
  return std::max(0.0, static_cast<double>(to.value) - static_cast<double>(from.value)) / kDayMs;
}

double MedianOf(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

}  // namespace

EarlierRuns SumUp(std::span<const MergeRun> runs) {
  EarlierRuns sum;
  std::map<std::string_view, std::vector<std::int64_t>> ends;  // by partition
  TimestampMs first{}, last{};
  std::int64_t first_bytes = 0;
  for (const MergeRun& run : runs) {
    if (run.bytes <= 0 || !(run.seconds >= 0)) continue;
    if (sum.runs == 0 || run.ended_at.value < first.value) {
      first = run.ended_at;
      first_bytes = run.bytes;
    }
    if (sum.runs == 0 || run.ended_at.value > last.value) last = run.ended_at;
    ++sum.runs;
    sum.bytes += run.bytes;
    sum.seconds += run.seconds;
    sum.predicted_seconds += run.predicted_seconds;
    for (const std::string& partition : run.partitions) ends[partition].push_back(run.ended_at.value);
    if (run.partitions.empty()) ends[kWholeTable].push_back(run.ended_at.value);
  }
  sum.later_bytes = sum.bytes - first_bytes;
  sum.days = DaysBetween(first, last);
  std::vector<double> gaps;
  for (auto& [partition, times] : ends) {
    std::ranges::sort(times);
    for (std::size_t i = 1; i < times.size(); ++i) {
      const double gap_ms = static_cast<double>(times[i]) - static_cast<double>(times[i - 1]);
      if (gap_ms >= kPieceMs) gaps.push_back(gap_ms / kDayMs);
    }
  }
  sum.merged_again = static_cast<std::int64_t>(gaps.size());
  if (sum.merged_again >= kRunsMin) sum.lasting_days = std::min(MedianOf(std::move(gaps)), kLastingDaysMax);
  return sum;
}

std::optional<Weighing> WeighingOf(const EarlierRuns& earlier, const IngestHistory& ingest, double bytes_per_second,
                                   std::optional<double> reads_a_day) {
  if (!earlier.says_cost() && !earlier.reads_a_day && !reads_a_day) return std::nullopt;
  Weighing weighing;
  weighing.are_reads_known = reads_a_day || earlier.reads_a_day;
  if (reads_a_day) {
    weighing.reads_a_day = *reads_a_day;
  } else if (earlier.reads_a_day) {
    weighing.reads_a_day = *earlier.reads_a_day;
    weighing.read_share = std::clamp(earlier.read_share, 0.0, 1.0);
  }
  if (ingest.days >= kDaysMin) weighing.bytes_a_day = static_cast<double>(ingest.bytes) / ingest.days;
  if (bytes_per_second > 0) weighing.seconds_per_byte = 1 / bytes_per_second;
  weighing.is_lasting_known = earlier.lasting_days.has_value();
  weighing.lasting_days = earlier.lasting_days.value_or(kLastingDaysMax);
  return weighing;
}

double RewriteCorrection(const EarlierRuns& earlier, const IngestHistory& ingest, double predicted_rewrites) {
  const bool is_known = earlier.says_cost() && earlier.days >= kDaysMin && ingest.days >= kDaysMin;
  if (!is_known || ingest.bytes <= 0 || !(predicted_rewrites > 0)) return 1;
  const double rewritten_a_day = static_cast<double>(earlier.later_bytes) / earlier.days;
  const double came_a_day = static_cast<double>(ingest.bytes) / ingest.days;
  return std::clamp(rewritten_a_day / came_a_day / predicted_rewrites, 1 / kCorrectionMax, kCorrectionMax);
}

std::string RateText(double rate) {
  if (rate > 0 && rate < 0.001) return "less than 0.001";
  return rate < 999.5 ? fmt::format("{:.3g}", rate) : HumanCount(std::llround(std::min(rate, 1e18)));
}

}  // namespace firn::decide
