// SPDX-License-Identifier: Apache-2.0
#include "cli/outcome_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/human_text.h"
#include "cli/exit_codes.h"
#include "cli/text_table.h"
#include "cli/tier_table.h"

namespace firn::cli {
namespace {

constexpr auto kRight = TextTable::Align::kRight;

std::string CommitTable(const act::Outcome& outcome, std::size_t lines_max) {
  TextTable table({{"snapshot"},
                   {"groups", kRight},
                   {"files removed", kRight},
                   {"added", kRight},
                   {"size before", kRight},
                   {"after", kRight},
                   {"attempts", kRight}});
  const std::size_t shown = std::min(lines_max, outcome.commits.size());
  for (std::size_t i = 0; i < shown; ++i) {
    const auto& commit = outcome.commits[i];
    table.AddRow({fmt::format("{}", commit.snapshot_id.value), HumanCount(commit.groups),
                  HumanCount(commit.files_removed), HumanCount(commit.files_added), HumanBytes(commit.bytes_removed),
                  HumanBytes(commit.bytes_added), HumanCount(commit.attempts)});
  }
  std::string text = "\nCommits\n" + table.Print();
  if (shown < outcome.commits.size()) {
    text += fmt::format("  ... and {}\n",
                        HumanCount(static_cast<std::int64_t>(outcome.commits.size() - shown), "more commit"));
  }
  return text;
}

std::string FailureTable(const std::vector<act::GroupFailure>& failures) {
  TextTable table({{"partition"}, {"files", kRight}, {"code"}, {"reason"}});
  for (const auto& failure : failures) {
    table.AddRow({failure.partition.empty() ? "(all)" : failure.partition, HumanCount(failure.files),
                  std::string(CodeName(failure.error.code)), failure.error.message});
  }
  return "\nNot done\n" + table.Print();
}

bool IsUnknown(const std::vector<act::GroupFailure>& failures) {
  return std::ranges::any_of(failures,
                             [](const act::GroupFailure& f) { return f.error.code == Code::kOutcomeUnknown; });
}

}  // namespace

std::string FailureText(const std::vector<act::GroupFailure>& failures, const std::vector<std::string>& leftovers) {
  std::string text;
  if (!failures.empty()) text += FailureTable(failures);
  if (!leftovers.empty()) {
    text += "\nFiles that firn wrote and that may not be needed\n";
    for (const auto& file : leftovers) text += "  " + Printable(file) + "\n";
  }
  return text;
}

std::string TidiedText(std::int64_t removed) {
  if (removed == 0) return "";
  return fmt::format("\nRemoved {} that an earlier run of firn had written and nothing names.\n",
                     HumanCount(removed, "file"));
}

std::string NotesText(const std::vector<std::string>& notes) {
  std::string text;
  for (const std::string& note : notes) text += "\nNote: " + Printable(note) + ".\n";
  return text;
}

std::string NothingText(const std::vector<act::GroupFailure>& failures) {
  if (IsUnknown(failures))
    return "It is not known whether anything was committed; nothing that the table may need was deleted.\n";
  return "Nothing was committed: the table is as it was.\n";
}

std::string FailureStep(const std::vector<act::GroupFailure>& failures, const std::string& table_words) {
  if (IsUnknown(failures)) {
    return fmt::format("Next: `firn inspect snapshots {}` shows whether the commit arrived; then run this again.",
                       table_words);
  }
  if (failures.empty()) return "";
  const auto stays = [](const act::GroupFailure& f) {
    return f.is_refusal || f.error.code == Code::kCorrupt || f.error.code == Code::kUnsupported ||
           f.error.code == Code::kInvalidArgument;
  };
  const auto is_missing = [](const act::GroupFailure& f) { return f.error.code == Code::kNotFound; };
  if (std::ranges::all_of(failures, is_missing)) {
    return "Next: run this again: others may have replaced the files. What is missing then, too, has to be restored or "
           "taken out of the table.";
  }
  if (!std::ranges::all_of(failures, [&](const auto& f) { return stays(f) || is_missing(f); })) {
    return "Next: run this again for what was not done.";
  }
  const bool refused = std::ranges::all_of(failures, &act::GroupFailure::is_refusal);
  return refused ? "Next: nothing. Files that firn does not rewrite stay as they are."
                 : "Next: repair what is named. Until then it is left as it is.";
}

std::string OutcomeText(const act::Outcome& outcome, const OutcomeWords& words, std::size_t lines_max) {
  std::string text;
  if (outcome.commits.empty()) {
    text = NothingText(outcome.failures);
  } else {
    text = fmt::format("Merged {} into {} ({} into {}, {}) in {}.\n", HumanCount(outcome.files_removed, "file"),
                       HumanCount(outcome.files_added), HumanBytes(outcome.bytes_removed),
                       HumanBytes(outcome.bytes_added), HumanCount(outcome.rows, "row"), HumanSeconds(outcome.seconds));
    if (outcome.deleted_rows > 0) {
      text += fmt::format("{} dropped: they are in no data file any more.\n",
                          HumanCount(outcome.deleted_rows, "deleted row"));
    }
    text += CommitTable(outcome, lines_max) + TierTable(outcome.tiers, outcome.bytes_removed) +
            StorageCopiesText(outcome.storage_copied_bytes);
  }
  text += NotesText(outcome.notes) + TidiedText(outcome.leftovers_removed);
  text += FailureText(outcome.failures, outcome.leftover_files);
  std::string next = FailureStep(outcome.failures, words.table);
  if (next.empty()) next = fmt::format("Next: `firn health {}` shows the difference.", words.selected);
  return text + "\n" + next + "\n";
}

int ExitOf(const act::Outcome& outcome) { return ExitOf(outcome.failures, !outcome.commits.empty()); }

int ExitOf(const std::vector<act::GroupFailure>& failures, bool is_committed) {
  if (failures.empty()) return kExitOk;
  // These two say what to do next, whatever else was done.
  for (const Code code : {Code::kOutcomeUnknown, Code::kCancelled}) {
    const auto has_code = [&](const act::GroupFailure& failure) { return failure.error.code == code; };
    if (std::ranges::any_of(failures, has_code)) return ExitNumber(code);
  }
  const auto failed = std::ranges::find(failures, false, &act::GroupFailure::is_refusal);
  if (failed == failures.end()) return kExitOk;
  return is_committed ? kExitPartlyDone : ExitNumber(failed->error.code);
}

}  // namespace firn::cli
