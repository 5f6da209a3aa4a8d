// SPDX-License-Identifier: Apache-2.0
#include "service/setting_rows.h"

#include <fmt/format.h>

namespace firn::service {
namespace {

void Append(const PolicyValues& values, std::string_view about, std::vector<SettingRow>& rows) {
  for (const auto& [key, value] : values) rows.push_back({key, value.text, value.place, std::string(about)});
}

PolicyRow RowOf(const PolicyRule& rule, std::string_view kind) {
  PolicyRow row{fmt::format("{} {}", kind, rule.match), "file", {}};
  Append(rule.values, "", row.settings);
  Append(rule.forced, "forced", row.settings);
  return row;
}

}  // namespace

std::vector<SettingRow> SettingRowsOf(const TableSettings& settings) {
  std::vector<SettingRow> rows;
  Append(settings.origins, "", rows);
  const auto add = [&](std::string_view key, std::string value) {
    if (!settings.origins.contains(key)) rows.push_back({std::string(key), std::move(value), "default", ""});
  };
  add("target-file-size-bytes", std::to_string(settings.policy.target_size_bytes));
  add("priority", fmt::format("{}", settings.service.priority));
  add("noise-threshold", fmt::format("{}", settings.policy.noise_threshold));
  return rows;
}

std::vector<PolicyRow> PolicyRowsOf(const FleetPolicy& policy) {
  std::vector<PolicyRow> rows;
  if (!policy.everything.empty()) {
    rows.push_back({"everything", "file", {}});
    Append(policy.everything, "", rows.back().settings);
  }
  for (const PolicyRule& rule : policy.databases) rows.push_back(RowOf(rule, "databases"));
  for (const PolicyRule& rule : policy.tables) rows.push_back(RowOf(rule, "tables"));
  return rows;
}

}  // namespace firn::service
