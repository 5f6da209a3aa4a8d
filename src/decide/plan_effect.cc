// SPDX-License-Identifier: Apache-2.0
#include "decide/plan_effect.h"

#include <algorithm>
#include <vector>

#include "decide/cost.h"
#include "orient/delete_debt.h"

namespace firn::decide {
namespace {

/// Opens of deletes that go, less the one of what stands for them afterwards.
std::int64_t ReadsSaved(const observe::DeleteFacts& facts, const DeletePlan& plan) {
  const auto entries = static_cast<std::int64_t>(facts.deletes.entries().size());
  std::vector<bool> goes(static_cast<std::size_t>(entries));
  for (const std::uint32_t index : plan.deletes) goes[index] = true;
  const bool all_go = static_cast<std::int64_t>(plan.deletes.size()) == entries;
  std::int64_t saved = 0;
  for (const std::uint32_t index : plan.targets) {
    const observe::DeleteTarget& target = facts.targets[index];
    const iceberg::DataFile file = DataFileOf(facts, target);
    std::int64_t opens = 0;
    if (all_go) {
      opens = facts.deletes.Count(file, target.sequence_number, target.file_sequence_number).delete_files;
    } else {
      // A vector that is there already is read into the new one.
      for (const std::uint32_t i : facts.deletes.Find(file, target.sequence_number)) {
        opens += goes[i] || (plan.writes_vectors &&
                             iceberg::KindOf(facts.deletes.entries()[i].file) == iceberg::DeleteKind::kVector)
                     ? 1
                     : 0;
      }
    }
    saved += std::max<std::int64_t>(0, opens - 1);
  }
  return saved;
}

}  // namespace

Effect EffectOf(const MergeGroup& group) {
  const auto inputs = static_cast<std::int64_t>(group.files.size());
  return {.files_removed = inputs - group.predicted_outputs,
          .files_replaced = inputs,
          .delete_reads_saved = group.delete_files,
          .bytes = group.input_bytes,
          .seconds = group.predicted_seconds};
}

Effect EffectOf(const observe::DeleteFacts& facts, const DeletePlan& plan) {
  Effect effect;
  effect.delete_files_removed = static_cast<std::int64_t>(plan.deletes.size());
  for (const std::uint32_t index : plan.deletes) {
    effect.bytes += facts.deletes.entries()[index].file.file_size_bytes;
  }
  effect.delete_reads_saved = ReadsSaved(facts, plan);
  effect.seconds = PredictSeconds(plan);
  return effect;
}

double PredictSeconds(const DeletePlan& plan) {
  const CostModel cost;
  return static_cast<double>(plan.scanned_rows) / cost.key_rows_per_second +
         static_cast<double>(plan.deletes.size() + plan.targets.size()) * cost.seconds_per_delete_file +
         cost.seconds_per_delete_commit;
}

bool Pays(const DeletePlan& plan, const Effect& effect) {
  if (plan.scanned_files == 0) return true;
  const CostModel cost;
  const double merged_bytes = static_cast<double>(plan.scanned_rows) / cost.key_rows_per_second *
                              cost.input_bytes_per_second;  // in the same time, and each is written as well
  const double opens = 2 * merged_bytes / static_cast<double>(orient::kOpenCostBytes);
  const auto many = static_cast<double>(orient::kManyDeleteFiles * plan.scanned_files);
  return static_cast<double>(effect.delete_reads_saved) >= std::min(opens, many);
}

}  // namespace firn::decide
