// SPDX-License-Identifier: Apache-2.0
#include "service/fleet_policy.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace firn::service {
namespace {

using orient::PolicyFault;

constexpr std::string_view kPrefix = "firn.";
constexpr std::string_view kTarget = "target-file-size-bytes";
constexpr std::string_view kAnalyzeApply = "analyze.apply";
constexpr std::string_view kTableProperty = "table property";
constexpr std::string_view kWriteTarget = "write.target-file-size-bytes";

/// The fault with the places of the keys that it is about, and without those that `values` does not have.
PolicyFault WithPlaces(PolicyFault fault, const PolicyValues& values) {
  PolicyFault placed;
  std::string places;
  for (const std::string& whole : fault.keys) {
    const auto found = values.find(std::string_view(whole).substr(std::min(kPrefix.size(), whole.size())));
    if (!whole.starts_with(kPrefix) || found == values.end()) continue;
    placed.keys.push_back(found->first);
    places += fmt::format("{}`{}`: {}", places.empty() ? "" : ", ", found->first, found->second.place);
  }
  placed.text = std::move(fault.text) + (places.empty() ? "" : fmt::format(" ({})", places));
  return placed;
}

/// Keys of `values` as table properties.
std::optional<PolicyFault> ReadSettings(PolicyValues values, orient::Properties properties, TableSettings& settings) {
  for (const auto& [key, value] : values) {
    if (orient::IsServicePolicyKey(key)) {
      auto fault = orient::SetServicePolicy(settings.service, key, value.text);
      if (fault) return WithPlaces(std::move(*fault), values);
    } else {
      properties.insert_or_assign(std::string(kPrefix) + key, value.text);
    }
  }
  auto fault = orient::ReadPolicy(properties, settings.policy);
  if (fault) return WithPlaces(std::move(*fault), values);
  settings.origins = std::move(values);
  return std::nullopt;
}

Result<TableSettings> MakeSettings(PolicyValues values, orient::Properties properties) {
  TableSettings settings;
  auto fault = ReadSettings(std::move(values), std::move(properties), settings);
  if (fault) return std::move(*fault).ToError();
  return settings;
}

void Over(PolicyValues& below, const PolicyValues& above) {
  for (const auto& [key, value] : above) below.insert_or_assign(key, value);
}

/// Of all rules that match, the first that has a key.
PolicyValues Matching(const std::vector<PolicyRule>& rules, std::string_view id, PolicyValues PolicyRule::* member) {
  const std::string name = DottedName(id);
  PolicyValues values;
  for (const PolicyRule& rule : rules) {
    if (rule.glob.Matches(name)) values.insert((rule.*member).begin(), (rule.*member).end());
  }
  return values;
}

bool IsOn(const PolicyValues& values, std::string_view key) {
  const auto found = values.find(key);
  return found != values.end() && found->second.text == "true";
}

Result<decide::ScopeSettings> MakeScope(const PolicyValues& values) {
  FIRN_ASSIGN(const TableSettings settings, MakeSettings(values, {}));
  decide::ScopeSettings scope = TableScope(settings);
  scope.weight = settings.service.priority;
  return scope;
}

}  // namespace

Result<TableSettings> ResolveTable(const FleetPolicy& fleet, std::string_view id, const orient::Properties& properties,
                                   const PolicyValues& catalog_policies,
                                   const std::optional<PolicyValue>& proposed_target) {
  PolicyValues values = Matching(fleet.tables, id, &PolicyRule::values);
  Over(values, catalog_policies);
  orient::Properties others;
  for (const auto& [key, text] : properties) {
    if (key.starts_with(kPrefix)) {
      values.insert_or_assign(key.substr(kPrefix.size()), PolicyValue{text, std::string(kTableProperty)});
    } else if (key == kWriteTarget) {
      others.emplace(key, text);
    }
  }
  // A size that the table itself names is nearer to it than one of a rule.
  if (others.contains(std::string(kWriteTarget)) && !properties.contains(std::string(kPrefix) + std::string(kTarget))) {
    values.erase(std::string(kTarget));
  }
  const PolicyValues forced = Matching(fleet.tables, id, &PolicyRule::forced);
  Over(values, forced);
  const bool is_pinned = forced.contains(kTarget) || properties.contains(std::string(kPrefix) + std::string(kTarget));
  if (proposed_target && !is_pinned && IsOn(values, kAnalyzeApply)) {
    values.insert_or_assign(std::string(kTarget), *proposed_target);
  }
  return MakeSettings(std::move(values), std::move(others)).In(id);
}

Result<decide::ScopeSettings> ResolveDatabase(const FleetPolicy& fleet, std::string_view id) {
  return MakeScope(Matching(fleet.databases, id, &PolicyRule::values)).In(id);
}

Result<decide::ScopeSettings> ResolveEverything(const FleetPolicy& fleet) { return MakeScope(fleet.everything); }

std::string WhyDisabled(const TableSettings& settings) {
  const auto found = settings.origins.find("enabled");
  return found == settings.origins.end() ? "firn.enabled is false"
                                         : fmt::format("firn.enabled is false ({})", found->second.place);
}

decide::ScopeSettings TableScope(const TableSettings& settings) {
  return {.budget = settings.service.budget,
          .quiet_hours = settings.service.quiet_hours,
          .max_deferrals = settings.service.max_deferrals};
}

std::optional<PolicyFault> FindFault(const PolicyValues& values) {
  TableSettings settings;
  return ReadSettings(values, {}, settings);
}

}  // namespace firn::service
