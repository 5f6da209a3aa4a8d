// SPDX-License-Identifier: Apache-2.0
#include "service/fleet_policy.h"

#include <fmt/format.h>

namespace firn::service {
namespace {

constexpr std::string_view kPrefix = "firn.";
constexpr std::string_view kTarget = "target-file-size-bytes";
constexpr std::string_view kAnalyzeApply = "analyze.apply";
constexpr std::string_view kTableProperty = "table property";
constexpr std::string_view kWriteTarget = "write.target-file-size-bytes";

/// The error with the places of the keys that it names; only what stands in the table's properties is called one.
Error WithPlaces(Error error, const PolicyValues& values) {
  std::string places;
  for (const auto& [key, value] : values) {
    const std::string quoted = fmt::format("`{}{}`", kPrefix, key);
    if (error.message.find(quoted) == std::string::npos) continue;
    if (value.place != kTableProperty && error.message.starts_with(fmt::format("{} {}", kTableProperty, quoted))) {
      error.message.erase(0, kTableProperty.size() + 1);
    }
    places += fmt::format("{}`{}`: {}", places.empty() ? "" : ", ", key, value.place);
  }
  if (!places.empty()) error.message += fmt::format(" ({})", places);
  return error;
}

/// Keys of `values` as table properties.
Result<TableSettings> MakeSettings(PolicyValues values, orient::Properties properties) {
  TableSettings settings;
  for (const auto& [key, value] : values) {
    if (orient::IsServicePolicyKey(key)) {
      const Status set = orient::SetServicePolicy(settings.service, key, value.text);
      if (!set) return WithPlaces(set.error(), values);
    } else {
      properties.insert_or_assign(std::string(kPrefix) + key, value.text);
    }
  }
  auto policy = orient::PolicyFromProperties(properties);
  if (!policy) return WithPlaces(std::move(policy.error()), values);
  settings.policy = std::move(*policy);
  settings.origins = std::move(values);
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

Status CheckPolicyValues(const PolicyValues& values) {
  FIRN_TRY(MakeSettings(values, {}));
  return Ok();
}

}  // namespace firn::service
