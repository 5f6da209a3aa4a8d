// SPDX-License-Identifier: Apache-2.0
#include "decide/decide.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <tuple>

#include "base/human_text.h"
#include "decide/partition_files.h"
#include "decide/refusal_list.h"
#include "orient/file_size_entropy.h"
#include "orient/orient.h"

namespace firn::decide {
namespace {

using observe::Facts;

/// A partition in which something can be merged.
struct Decision {
  PartitionFiles files;
  std::vector<MergeGroup> groups;
  bool ordered = false;
};

struct Totals {
  std::int64_t files = 0, bytes = 0;
  void Add(std::int64_t size_bytes) {
    ++files;
    bytes += size_bytes;
  }
};

PackingLimits LimitsOf(const orient::Policy& policy, const CostModel& cost) {
  PackingLimits limits;
  limits.target_size_bytes = policy.target_size_bytes;
  limits.healthy_size_bytes = policy.healthy_size_bytes();
  limits.size_max_bytes = policy.size_max_bytes();
  limits.min_input_files =
      static_cast<std::int32_t>(std::min<std::int64_t>(policy.min_input_files, limits.max_input_files));
  limits.size_exponent = cost.size_exponent;
  return limits;
}

/// Why small files of a partition are in no group.
Refusal ExplainRest(const Facts& facts, const orient::Policy& policy, const Decision& decision) {
  std::vector<std::uint32_t> used;
  for (const auto& group : decision.groups) used.insert(used.end(), group.files.begin(), group.files.end());
  std::sort(used.begin(), used.end());
  Totals rest;
  std::int64_t largest = 0;
  for (std::uint32_t i : decision.files.candidates) {
    if (std::binary_search(used.begin(), used.end(), i)) continue;
    rest.Add(facts.files[i].size_bytes);
    largest = std::max(largest, facts.files[i].size_bytes);
  }
  Refusal refusal{facts.partitions[decision.files.partition].text, "", "", rest.files, rest.bytes};
  const std::string healthy = HumanBytes(policy.healthy_size_bytes());
  if (rest.files == 0) {
    return refusal;
  } else if (decision.files.candidates.size() == 1) {
    refusal.code = kCodeSingle;
    refusal.reason = "the only small file: there is nothing to merge it with";
  } else if (policy.tolerated_entropy > 0 && decision.groups.empty()) {
    refusal.code = kCodeTolerated;
    refusal.reason =
        fmt::format("the entropy is within the tolerated {}, or merging is not worth it", policy.tolerated_entropy);
  } else if (decision.ordered) {
    refusal.code = kCodeOrder;
    refusal.reason = fmt::format("{} left beside files that stay: joining others would break the sort order",
                                 HumanCount(rest.files, "small file"));
  } else if (rest.files < policy.min_input_files && rest.bytes < policy.healthy_size_bytes()) {
    refusal.code = kCodeFew;
    refusal.reason =
        fmt::format("{} left, {} together: waiting for {} files or {}", HumanCount(rest.files, "small file"),
                    HumanBytes(rest.bytes), policy.min_input_files, healthy);
  } else {
    refusal.code = kCodeNotWorth;
    refusal.reason = fmt::format("{} left: rewriting {} would remove too few of them",
                                 HumanCount(rest.files, "small file"), HumanBytes(rest.bytes));
    const double needed = PackingLimits().growth_min * static_cast<double>(largest);
    if (rest.bytes < policy.healthy_size_bytes() && static_cast<double>(rest.bytes) < needed) {
      refusal.reason = fmt::format("{} left: waiting until the others together have the {} of the largest",
                                   HumanCount(rest.files, "small file"), HumanBytes(largest));
    }
  }
  return refusal;
}

/// Rows of a file that is rewritten alone stay in their order.
bool Merges(const Decision& decision) {
  return std::ranges::any_of(decision.groups, [](const MergeGroup& group) { return group.files.size() > 1; });
}

/// Asks once for the keys of all partitions that have groups, and groups anew where the order can be kept.
Status KeepOrder(const Facts& facts, const orient::Policy& policy, const PackingModel& model,
                 const DecideOptions& options, std::vector<Decision>& decisions, Plan& plan) {
  std::vector<std::uint32_t> files;
  for (const auto& decision : decisions) {
    if (Merges(decision)) files.insert(files.end(), decision.files.all.begin(), decision.files.all.end());
  }
  if (files.empty()) return Ok();
  FIRN_ASSIGN(const auto ranges, options.key_ranges(files));
  if (ranges.size() != files.size()) return Error{Code::kInternal, "key ranges do not match the files asked for"};
  const std::span<const std::optional<KeyRange>> all(ranges);
  std::size_t at = 0;
  std::int64_t unordered = 0;
  for (auto& decision : decisions) {
    if (!Merges(decision)) continue;
    const auto mine = all.subspan(at, decision.files.all.size());
    at += decision.files.all.size();
    if (auto groups = GroupOrdered(facts, policy, decision.files, mine, model, options.cost)) {
      decision.groups = std::move(*groups);
      decision.ordered = true;
    } else {
      ++unordered;
    }
  }
  if (unordered > 0) {
    plan.notes.push_back(
        fmt::format("in {} the key ranges of files overlap or are not known: merged files there are not sorted",
                    HumanCount(unordered, "partition")));
  }
  return Ok();
}

/// Whether the number of files ended the group before its size did. Parts of a divided bin have more than half of what
/// is allowed.
bool IsCut(const MergeGroup& group, const orient::Policy& policy) {
  return static_cast<std::int64_t>(group.files.size()) > kInputFilesMax / 2 && group.predicted_outputs > 0 &&
         group.predicted_output_bytes < policy.healthy_size_bytes();
}

/// Moves groups into the plan, best first, as far as the budget goes.
void Select(std::vector<Decision>& decisions, const orient::Policy& policy, const DecideOptions& options, Plan& plan,
            RefusalList& refusals) {
  std::vector<MergeGroup> groups;
  for (auto& decision : decisions) {
    for (auto& group : decision.groups) groups.push_back(std::move(group));
  }
  std::sort(groups.begin(), groups.end(), [](const MergeGroup& a, const MergeGroup& b) {
    return std::tuple(-a.value, a.partition, a.files[0]) < std::tuple(-b.value, b.partition, b.files[0]);
  });
  Totals over;
  std::int64_t groups_over = 0;
  for (auto& group : groups) {
    if (options.max_bytes && plan.bytes_rewritten + group.input_bytes > *options.max_bytes) {
      ++groups_over;
      over.files += static_cast<std::int64_t>(group.files.size());
      over.bytes += group.input_bytes;
      continue;
    }
    plan.files_replaced += static_cast<std::int64_t>(group.files.size());
    plan.bytes_rewritten += group.input_bytes;
    plan.deleted_rows += group.deleted_rows;
    plan.predicted_seconds += group.predicted_seconds;
    plan.is_divided |= IsCut(group, policy);
    plan.groups.push_back(std::move(group));
  }
  if (groups_over > 0) {
    refusals.Add({"",
                  fmt::format("{} would read more than the {} that are allowed",
                              HumanCount(groups_over, "more output file"), HumanBytes(*options.max_bytes)),
                  std::string(kCodeBudget), over.files, over.bytes});
  }
}

void FillForecast(const Facts& facts, Plan& plan) {
  orient::FileSizeEntropy entropy(plan.target_size_bytes);
  for (const auto& file : facts.files) entropy.Add(file.size_bytes);
  plan.files_before = entropy.file_count();
  plan.size_mse_before = entropy.mean_squared_error();
  for (const auto& group : plan.groups) {
    for (std::uint32_t i : group.files) entropy.Remove(facts.files[i].size_bytes);
    if (group.predicted_outputs > 0) entropy.Add(group.predicted_output_bytes);
  }
  plan.files_after = entropy.file_count();
  plan.size_mse_after = entropy.mean_squared_error();
}

std::string Summarize(const orient::Diagnosis& diagnosis, const orient::Policy& policy, bool is_selection,
                      const Plan& plan) {
  if (!policy.enabled) return "Nothing is planned: firn.enabled is false.";
  if (plan.groups.empty()) {
    if (diagnosis.file_count == 0) {
      return is_selection ? "Nothing to do: no partition that was asked for has files."
                          : "Nothing to do: the table has no files.";
    }
    if (diagnosis.small_files + diagnosis.blocked_files + diagnosis.fold_files == 0) {
      return fmt::format("Nothing to do: every file has at least {}.", HumanBytes(diagnosis.healthy_size_bytes));
    }
    if (diagnosis.removable_files + diagnosis.blocked_files + diagnosis.fold_files == 0) {
      return "Nothing to do: no partition has small files to merge with each other.";
    }
    return "Nothing to do: no small file can be merged at a gain; the reasons are listed.";
  }
  std::int64_t outputs = 0, delete_files = 0;
  for (const MergeGroup& group : plan.groups) {
    outputs += group.predicted_outputs;
    delete_files += group.delete_files;
  }
  std::string what = fmt::format("Merge {} into {}: {} fewer", HumanCount(plan.files_replaced, "small file"),
                                 HumanCount(outputs), HumanCount(plan.files_before - plan.files_after, "file"));
  if (delete_files > 0) {
    what = fmt::format("Rewrite {} into {}: {} fewer, {} less", HumanCount(plan.files_replaced, "file"),
                       HumanCount(outputs), HumanCount(plan.files_before - plan.files_after, "file"),
                       HumanCount(delete_files, "delete file read"));
    // A lower bound of none says nothing.
    if (plan.deleted_rows > 0) {
      const bool may_be_more = std::ranges::any_of(plan.groups, &MergeGroup::may_delete_more);
      what +=
          fmt::format(", {}{} dropped", HumanCount(plan.deleted_rows, "deleted row"), may_be_more ? " or more" : "");
    }
  }
  return fmt::format("{}, {} to read, about {} of work.", what, HumanBytes(plan.bytes_rewritten),
                     HumanSeconds(plan.predicted_seconds));
}

Plan StartPlan(const Facts& facts, const orient::Policy& policy, const DecideOptions& options) {
  Plan plan;
  plan.plan_id = options.plan_id;
  plan.table = facts.table;
  plan.ref = facts.ref;
  plan.base_snapshot_id = facts.snapshot_id;
  plan.base_sequence_number = facts.sequence_number;
  plan.target_size_bytes = policy.target_size_bytes;
  return plan;
}

}  // namespace

Result<Plan> Decide(const Facts& facts, const orient::Diagnosis& diagnosis, const orient::Policy& policy,
                    const DecideOptions& options) {
  Plan plan = StartPlan(facts, policy, options);
  RefusalList refusals(options.refusals_max);
  const PackingModel model(LimitsOf(policy, options.cost));
  const auto ranges = PartitionRanges(facts);
  std::vector<Decision> decisions;
  Totals healthy, excluded, small, deletes;
  for (const auto& seen : diagnosis.partitions) {
    const auto [first, end] = ranges[seen.partition];
    const bool wanted = !options.partition_filter || options.partition_filter(facts.partitions[seen.partition]);
    for (std::uint32_t i = first; i < end; ++i) {
      const observe::DataFileFacts& file = facts.files[i];
      const bool is_healthy = orient::Classify(file, policy) == orient::FileClass::kHealthy;
      (!wanted ? excluded : !is_healthy ? small : file.delete_files > 0 ? deletes : healthy).Add(file.size_bytes);
    }
    if (!wanted || !policy.enabled || seen.small_files + seen.blocked_files + seen.fold_files == 0) continue;
    Decision decision;
    decision.files = SortOut(facts, policy, seen.partition, {first, end});
    for (auto& refusal : RefuseBlocked(facts, policy, decision.files)) refusals.Add(std::move(refusal));
    decision.groups = GroupFree(facts, policy, decision.files, model, options.cost);
    if (!options.key_ranges || decision.groups.empty()) {
      if (auto rest = ExplainRest(facts, policy, decision); rest.files > 0) refusals.Add(std::move(rest));
    }
    if (!decision.groups.empty()) decisions.push_back(std::move(decision));
  }
  if (options.key_ranges) {
    FIRN_TRY(KeepOrder(facts, policy, model, options, decisions, plan));
    for (const auto& decision : decisions) {
      if (auto rest = ExplainRest(facts, policy, decision); rest.files > 0) refusals.Add(std::move(rest));
    }
  }
  Select(decisions, policy, options, plan, refusals);
  if (!policy.enabled) {
    refusals.Add({"", "firn.enabled is false", std::string(kCodeDisabled), small.files, small.bytes});
  }
  if (healthy.files > 0) {
    refusals.Add({"", fmt::format("at least {}: large enough", HumanBytes(diagnosis.healthy_size_bytes)),
                  std::string(kCodeHealthy), healthy.files, healthy.bytes});
  }
  if (deletes.files > 0) {
    const std::string few = policy.delete_file_threshold > 0
                                ? fmt::format("fewer than {}", HumanCount(policy.delete_file_threshold, "delete file"))
                                : "too few delete files to pay for a rewrite";
    refusals.Add(
        {"",
         fmt::format("deletes apply to them, but fewer than {:.4g} % of their rows are known to be deleted and "
                     "{} apply",
                     100 * policy.delete_ratio_threshold, few),
         std::string(kCodeDeletes), deletes.files, deletes.bytes});
  }
  if (excluded.files > 0) {
    refusals.Add(
        {"", "in partitions that were not asked for", std::string(kCodeExcluded), excluded.files, excluded.bytes});
  }
  if (plan.is_divided) {
    plan.notes.push_back(fmt::format("a merge has at most {}: the next plan joins what that leaves small",
                                     HumanCount(kInputFilesMax, "file")));
  }
  FillForecast(facts, plan);
  plan.refusals = std::move(refusals).Take();
  plan.reason = Summarize(diagnosis, policy, options.is_selection, plan);
  return plan;
}

}  // namespace firn::decide
