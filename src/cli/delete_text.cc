// SPDX-License-Identifier: Apache-2.0
#include "cli/delete_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/human_text.h"
#include "cli/outcome_text.h"
#include "cli/text_table.h"

namespace firn::cli {
namespace {

constexpr auto kRight = TextTable::Align::kRight;

std::string_view KindText(const iceberg::DataFile& file) {
  switch (iceberg::KindOf(file)) {
    case iceberg::DeleteKind::kPositions: return "position deletes";
    case iceberg::DeleteKind::kVector: return "deletion vector";
    case iceberg::DeleteKind::kEquality: return "equality deletes";
  }
  return "";
}

std::string GoingTable(const observe::DeleteFacts& facts, const decide::DeletePlan& plan, std::size_t lines_max) {
  TextTable table({{"kind"}, {"rows", kRight}, {"size", kRight}, {"sequence", kRight}, {"applies"}, {"file"}});
  const std::size_t shown = std::min(lines_max, plan.deletes.size());
  for (std::size_t i = 0; i < shown; ++i) {
    const iceberg::DeleteEntry& entry = facts.deletes.entries()[plan.deletes[i]];
    table.AddRow({std::string(KindText(entry.file)), HumanCount(entry.file.record_count),
                  HumanBytes(entry.file.content_size_bytes.value_or(entry.file.file_size_bytes)),
                  std::to_string(entry.sequence_number.value), facts.is_needed[plan.deletes[i]] ? "yes" : "to nothing",
                  entry.file.file_path});
  }
  std::string text = "\nDelete files that go\n" + table.Print();
  if (shown < plan.deletes.size()) {
    text += fmt::format("  ... and {}\n",
                        HumanCount(static_cast<std::int64_t>(plan.deletes.size() - shown), "more delete file"));
  }
  return text;
}

std::string StayingTable(const decide::DeletePlan& plan, std::size_t lines_max) {
  TextTable table({{"partition"}, {"files", kRight}, {"code"}, {"reason"}});
  for (std::size_t i = 0; i < std::min(lines_max, plan.refusals.size()); ++i) {
    const decide::Refusal& refusal = plan.refusals[i];
    table.AddRow({refusal.partition.empty() ? "(all)" : refusal.partition, HumanCount(refusal.files), refusal.code,
                  refusal.reason});
  }
  return "\nDelete files that stay\n" + table.Print();
}

/// "2 equality delete files and 3 deletion vectors"; empty without any.
std::string Sum(std::int64_t equality, std::int64_t positions, std::int64_t vectors) {
  std::vector<std::string> parts;
  if (equality > 0) parts.push_back(HumanCount(equality, "equality delete file"));
  if (positions > 0) parts.push_back(HumanCount(positions, "position delete file"));
  if (vectors > 0) parts.push_back(HumanCount(vectors, "deletion vector"));
  return fmt::format("{}", fmt::join(parts, ", "));
}

}  // namespace

std::string DeletePlanText(const observe::DeleteFacts& facts, const decide::DeletePlan& plan, std::size_t lines_max) {
  std::string text = plan.reason + "\n";
  if (!plan.deletes.empty()) text += GoingTable(facts, plan, lines_max);
  if (!plan.refusals.empty()) text += StayingTable(plan, lines_max);
  return text;
}

std::string DeleteOutcomeText(const act::DeleteOutcome& outcome, const std::string& table_words) {
  std::string text;
  if (!outcome.snapshot_id) {
    text = NothingText(outcome.failures);
  } else {
    const std::string removed =
        Sum(outcome.equality_files_removed, outcome.position_files_removed, outcome.vectors_removed);
    const std::string added = Sum(0, outcome.position_files_added, outcome.vectors_added);
    text = fmt::format("{} became {} in {} (snapshot {}, {}).\n", removed.empty() ? "No delete file" : removed,
                       added.empty() ? "nothing" : added, HumanSeconds(outcome.seconds), outcome.snapshot_id->value,
                       HumanCount(outcome.attempts, "attempt"));
  }
  if (outcome.rows_scanned > 0) {
    text += fmt::format("{} compared in {}; {} found that only equality deletes had deleted.\n",
                        HumanCount(outcome.rows_scanned, "row"), HumanCount(outcome.data_files_read, "data file"),
                        HumanCount(outcome.rows_converted, "row"));
  }
  if (outcome.files_kept > 0) {
    text += fmt::format("{} {}: data files that were not read still need {}.\n",
                        HumanCount(outcome.files_kept, "delete file"), outcome.files_kept == 1 ? "stays" : "stay",
                        outcome.files_kept == 1 ? "it" : "them");
  }
  text += NotesText(outcome.notes) + TidiedText(outcome.leftovers_removed);
  text += FailureText(outcome.failures, outcome.leftover_files);
  std::string next = FailureStep(outcome.failures, table_words);
  if (next.empty()) next = fmt::format("Next: `firn health {}` shows the difference.", table_words);
  return text + "\n" + next + "\n";
}

}  // namespace firn::cli
