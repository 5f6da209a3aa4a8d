// SPDX-License-Identifier: Apache-2.0
#include "decide/target_size.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/human_text.h"
#include "decide/column_overlap.h"
#include "orient/orient.h"

namespace firn::decide {
namespace {

constexpr std::int64_t kMiB = 1 << 20;
constexpr std::int64_t kTargets[] = {32 * kMiB, 64 * kMiB, 128 * kMiB, 256 * kMiB, 512 * kMiB};

std::int64_t LargestPartition(const observe::Facts& facts) {
  std::int64_t largest = 0;
  for (const auto& partition : facts.partitions) largest = std::max(largest, partition.size_bytes);
  return largest;
}

/// Of the partition that a byte taken by chance lies in.
double TypicalPartition(const observe::Facts& facts) {
  double squares = 0, sum = 0;
  for (const auto& partition : facts.partitions) {
    const auto bytes = static_cast<double>(partition.size_bytes);
    squares += bytes * bytes;
    sum += bytes;
  }
  return sum > 0 ? squares / sum : 0;
}

ReadSeconds Read(const ReadCosts& read, std::int64_t files, std::int64_t bytes) {
  const auto f = static_cast<double>(files), b = static_cast<double>(bytes);
  return {read.all.Seconds(f, b), read.two.Seconds(f, b)};
}

double Saved(double before, double after) { return before > 0 ? 1 - after / before : 0; }
std::string Percent(double share) { return fmt::format("{:.0f} %", share * 100); }

/// Rewrites that differ by less are the same.
bool LessRewriting(const TargetCandidate& a, const TargetCandidate& b, double gain_min) {
  return a.rewrites_per_byte < b.rewrites_per_byte * (1 - gain_min);
}

const TargetCandidate& Choose(const std::vector<TargetCandidate>& candidates, const AdviceLimits& limits) {
  double fastest = HUGE_VAL;
  for (const auto& candidate : candidates) fastest = std::min(fastest, candidate.lasting_read.two);
  const TargetCandidate* chosen = nullptr;
  for (const auto& candidate : candidates) {  // ascending: the smallest of equals
    if (candidate.lasting_read.two > fastest * (1 + limits.near)) continue;
    if (chosen == nullptr || LessRewriting(candidate, *chosen, limits.gain_min)) chosen = &candidate;
  }
  return *chosen;
}

void AdviseTarget(const TargetCandidate& current, const TargetCandidate& best, const AdviceLimits& limits,
                  Advice& advice) {
  const double gain = Saved(current.lasting_read.two, best.lasting_read.two);
  const double seconds = current.lasting_read.two - best.lasting_read.two;
  const bool faster = gain >= limits.gain_min && seconds >= limits.seconds_min;
  const bool as_fast = best.lasting_read.two <= current.lasting_read.two * (1 + limits.near);
  const bool cheaper = as_fast && best.rewrites_per_byte + 1 <= current.rewrites_per_byte;
  advice.target_size_bytes = current.target_size_bytes;
  const std::string now = HumanBytes(current.target_size_bytes), other = HumanBytes(best.target_size_bytes);
  if (&current == &best) {
    advice.target_reason = fmt::format("{} is right: no other size reads faster for less rewriting", now);
  } else if (faster) {
    advice.change_target = true;
    advice.target_size_bytes = best.target_size_bytes;
    advice.target_reason =
        fmt::format("at {} a read of two columns takes {} less than at {} ({} instead of {})", other, Percent(gain),
                    now, HumanSeconds(best.lasting_read.two), HumanSeconds(current.lasting_read.two));
  } else if (cheaper) {
    advice.change_target = true;
    advice.target_size_bytes = best.target_size_bytes;
    advice.target_reason =
        fmt::format("at {} a byte is rewritten {:.1f} times instead of {:.1f}, and reads take as long as at {}", other,
                    best.rewrites_per_byte, current.rewrites_per_byte, now);
  } else {
    advice.target_reason = fmt::format("{} can stay: {}, the best other size, changes a read by {} ({})", now, other,
                                       Percent(std::abs(gain)), HumanSeconds(std::abs(seconds)));
  }
}

double SecondsADay(const TargetCandidate& candidate, const Weighing& weighing) {
  return weighing.SecondsADay(candidate.lasting_read.two, candidate.rewrites_per_byte);
}

/// By what a day costs.
void AdviseTargetByDay(const std::vector<TargetCandidate>& candidates, const TargetCandidate& current,
                       const Weighing& weighing, const AdviceLimits& limits, Advice& advice) {
  const auto cost = [&](const TargetCandidate& candidate) { return SecondsADay(candidate, weighing); };
  const double least = cost(*std::ranges::min_element(candidates, {}, cost));
  // Ascending: the smallest of those that cost nearly the least.
  const auto best = std::ranges::find_if(
      candidates, [&](const TargetCandidate& candidate) { return cost(candidate) <= least * (1 + limits.near); });
  const double before = cost(current), after = cost(*best);
  const std::string now = HumanBytes(current.target_size_bytes), other = HumanBytes(best->target_size_bytes);
  const std::string parts =
      fmt::format("{} of reading and {} of rewriting", HumanSeconds(weighing.reads() * best->lasting_read.two),
                  HumanSeconds(after - weighing.reads() * best->lasting_read.two));
  advice.target_size_bytes = current.target_size_bytes;
  if (&current == &*best) {
    advice.target_reason = fmt::format("{} is right: no other size costs less a day ({})", now, parts);
  } else if (Saved(before, after) >= limits.gain_min && before - after >= limits.day_seconds_min) {
    advice.change_target = true;
    advice.target_size_bytes = best->target_size_bytes;
    advice.target_reason =
        fmt::format("at {} a day costs {} less than at {} ({} instead of {}: {})", other, Percent(Saved(before, after)),
                    now, HumanSeconds(after), HumanSeconds(before), parts);
  } else {
    advice.target_reason = fmt::format("{} can stay: {}, the best other size, changes what a day costs by {} ({})", now,
                                       other, Percent(std::abs(Saved(before, after))), HumanSeconds(before - after));
  }
}

/// A merge that would have to be done again before it has paid for itself.
void WeighMerge(const TargetCandidate& chosen, const Weighing& weighing, Advice& advice) {
  const double gained = advice.seconds_saved * weighing.reads_of_a_merge();
  const std::string lasts = weighing.is_lasting_known ? fmt::format("until they are merged again, after {} as a rule",
                                                                    HumanSeconds(weighing.lasting_days * 86'400))
                                                      : fmt::format("in {:.0f} days", weighing.lasting_days);
  const std::string reads = fmt::format("{} {} a day", RateText(weighing.reads()),
                                        weighing.are_reads_known ? "whole reads" : "reads (taken, none is reported)");
  if (gained < chosen.merge_seconds) {
    advice.merge = false;
    advice.merge_reason =
        fmt::format("merging {} takes {} and saves {} of reading {}, at {}", HumanCount(chosen.files_replaced, "file"),
                    HumanSeconds(chosen.merge_seconds), HumanSeconds(gained), lasts, reads);
  } else {
    advice.merge_reason += fmt::format("; {} {}, at {}", HumanSeconds(gained), lasts, reads);
  }
}

void AdviseMerge(const TargetCandidate& chosen, const ReadSeconds& now, std::int64_t files_now,
                 const AdviceLimits& limits, Advice& advice) {
  advice.read_saved = Saved(now.two, chosen.read_after.two);
  advice.seconds_saved = now.two - chosen.read_after.two;
  const std::string size = HumanBytes(chosen.target_size_bytes);
  if (files_now == 0) {
    advice.merge_reason = "there are no data files";
  } else if (chosen.files_replaced == 0) {
    advice.merge_reason =
        fmt::format("at {} no merge of its {} is worth its cost", size, HumanCount(files_now, "file"));
  } else if (advice.read_saved < limits.gain_min) {
    advice.merge_reason =
        fmt::format("merging {} would save {} of a read, less than {}", HumanCount(chosen.files_replaced, "file"),
                    Percent(std::max(advice.read_saved, 0.0)), Percent(limits.gain_min));
  } else if (advice.seconds_saved < limits.seconds_min) {
    advice.merge_reason = fmt::format("merging {} would save {} a read: the table is small",
                                      HumanCount(chosen.files_replaced, "file"), HumanSeconds(advice.seconds_saved));
  } else {
    advice.merge = true;
    advice.merge_reason =
        fmt::format("{} become {}, which saves {} of a read of two columns ({} instead of {}) for {} of work",
                    HumanCount(files_now, "file"), HumanCount(chosen.files_after), Percent(advice.read_saved),
                    HumanSeconds(chosen.read_after.two), HumanSeconds(now.two), HumanSeconds(chosen.merge_seconds));
  }
}

}  // namespace

std::vector<std::int64_t> CandidateTargets(const observe::Facts& facts, std::int64_t current_target_bytes) {
  const std::int64_t largest = LargestPartition(facts);
  std::vector<std::int64_t> targets = {current_target_bytes};
  for (const std::int64_t target : kTargets) {
    if (target != current_target_bytes) targets.push_back(target);
    if (target >= largest) break;
  }
  std::ranges::sort(targets);
  return targets;
}

Result<TargetCandidate> EvaluateTarget(const observe::Facts& facts, const orient::Policy& policy,
                                       std::int64_t target_size_bytes, const TargetOptions& options) {
  orient::Policy changed = policy;
  changed.target_size_bytes = target_size_bytes;
  changed.enabled = true;  // this only asks what would be
  DecideOptions decide_options;
  decide_options.key_ranges = options.key_ranges;
  decide_options.cost = options.cost;
  decide_options.refusals_max = 1;
  FIRN_ASSIGN(const Plan plan, Decide(facts, orient::Diagnose(facts, changed), changed, decide_options));
  TargetCandidate candidate;
  candidate.target_size_bytes = target_size_bytes;
  candidate.is_current = target_size_bytes == policy.target_size_bytes;
  candidate.files_after = plan.files_after;
  candidate.files_replaced = plan.files_replaced;
  candidate.bytes_rewritten = plan.bytes_rewritten;
  candidate.merge_seconds = plan.predicted_seconds;
  std::int64_t bytes = 0;
  for (const auto& file : facts.files) bytes += file.size_bytes;
  candidate.bytes_after = bytes;
  for (const auto& group : plan.groups) candidate.bytes_after += group.predicted_output_bytes - group.input_bytes;
  candidate.read_after = Read(options.read, candidate.files_after, candidate.bytes_after);
  const double kept = bytes > 0 ? static_cast<double>(candidate.bytes_after) / static_cast<double>(bytes) : 1;
  for (const auto& partition : facts.partitions) {
    if (partition.file_count == 0) continue;
    candidate.lasting_files += LastingFiles(static_cast<double>(partition.size_bytes) * kept, target_size_bytes);
  }
  candidate.lasting_read = Read(options.read, candidate.lasting_files, candidate.bytes_after);
  FIRN_ASSIGN(candidate.rewrites_per_byte, RewritesPerByte(options.ingest, changed, options.cost,
                                                           static_cast<std::int64_t>(TypicalPartition(facts))));
  return candidate;
}

ReadSeconds ReadNow(const observe::Facts& facts, const ReadCosts& read) {
  std::int64_t bytes = 0;
  for (const auto& file : facts.files) bytes += file.size_bytes;
  return Read(read, static_cast<std::int64_t>(facts.files.size()), bytes);
}

std::string_view AdviceWord(const Advice& advice) {
  if (advice.change_target) return advice.merge ? "change-target-and-merge" : "change-target";
  return advice.merge ? "merge" : "leave";
}

Advice Advise(const std::vector<TargetCandidate>& candidates, const ReadSeconds& now, std::int64_t files_now,
              const AdviceLimits& limits, const std::optional<Weighing>& weighing) {
  Advice advice;
  const auto current = std::ranges::find_if(candidates, &TargetCandidate::is_current);
  if (current == candidates.end()) return advice;
  if (weighing && weighing->bytes_a_day > 0 && weighing->seconds_per_byte > 0) {
    AdviseTargetByDay(candidates, *current, *weighing, limits, advice);
  } else {
    AdviseTarget(*current, Choose(candidates, limits), limits, advice);
  }
  const auto chosen = std::ranges::find(candidates, advice.target_size_bytes, &TargetCandidate::target_size_bytes);
  if (files_now == 0) advice.target_reason = "there are no data files to go by";
  AdviseMerge(*chosen, now, files_now, limits, advice);
  if (weighing && advice.merge) WeighMerge(*chosen, *weighing, advice);
  return advice;
}

}  // namespace firn::decide
