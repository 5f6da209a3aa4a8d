// SPDX-License-Identifier: Apache-2.0
#include "cli/merge_outlook.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <cstdint>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "base/human_text.h"
#include "decide/decide.h"

namespace firn::cli {
namespace {

/// Codes of small files that may be merged and are not, with what follows their number.
constexpr std::array<std::pair<std::string_view, std::string_view>, 5> kStay = {{
    {decide::kCodeFew, "until more come"},
    {decide::kCodeNotWorth, "because it would rewrite too much for what it saves"},
    {decide::kCodeSingle, "alone in their partition"},
    {decide::kCodeOrder, "to keep the sort order"},
    {decide::kCodeTolerated, "within the tolerated entropy"},
}};

std::map<std::string_view, std::int64_t> FilesByCode(const decide::Plan& plan) {
  std::map<std::string_view, std::int64_t> files;
  for (const decide::Refusal& refusal : plan.refusals) files[refusal.code] += refusal.files;
  return files;
}

std::int64_t OutputsOf(const decide::Plan& plan) {
  std::int64_t outputs = 0;
  for (const decide::MergeGroup& group : plan.groups) outputs += group.predicted_outputs;
  return outputs;
}

/// "Small files stay: 11 until more come (few), ...". Empty: none does.
std::string StayText(const orient::Diagnosis& diagnosis, const decide::Plan& plan) {
  const auto files = FilesByCode(plan);
  std::vector<std::string> reasons;
  for (const auto& [code, why] : kStay) {
    const auto found = files.find(code);
    if (found != files.end() && found->second > 0) {
      reasons.push_back(fmt::format("{} {} ({})", HumanCount(found->second), why, code));
    }
  }
  if (diagnosis.blocked_files > 0) {
    reasons.push_back(fmt::format("{} that this version does not merge", HumanCount(diagnosis.blocked_files)));
  }
  if (reasons.empty()) return "";
  return fmt::format("Small files that stay: {}.", fmt::join(reasons, ", "));
}

}  // namespace

std::string MergeOutlookText(const orient::Diagnosis& diagnosis, const decide::Plan& plan,
                             const std::string& table_words) {
  if (FilesByCode(plan).contains(decide::kCodeDisabled)) return plan.reason + "\n";
  std::string stay = StayText(diagnosis, plan);
  if (!stay.empty()) stay += "\n";
  if (plan.groups.empty()) {
    if (diagnosis.file_count == 0) return plan.reason + "\n";
    std::string text = "Nothing to merge now.\n" + stay;
    if (!stay.empty()) text += fmt::format("`firn plan {}` lists them.\n", table_words);
    return text;
  }
  return fmt::format("A merge now would make {} of {}: {} fewer.\n", HumanCount(OutputsOf(plan)),
                     HumanCount(plan.files_replaced, "file"), HumanCount(plan.files_before - plan.files_after)) +
         stay + fmt::format("Next: `firn plan {}` shows what that takes.\n", table_words);
}

json::Value MergeOutlookToJson(const decide::Plan& plan) {
  json::Value value = json::Value::Object();
  value.Set("files_replaced", plan.files_replaced);
  value.Set("files_added", OutputsOf(plan));
  value.Set("files_removed", plan.files_before - plan.files_after);
  json::Value left = json::Value::Array();
  for (const auto& [code, files] : FilesByCode(plan)) {
    json::Value line = json::Value::Object();
    line.Set("code", code);
    line.Set("files", files);
    left.Append(std::move(line));
  }
  value.Set("left", std::move(left));
  return value;
}

}  // namespace firn::cli
