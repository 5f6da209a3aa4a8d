// SPDX-License-Identifier: Apache-2.0
//
// What is wanted of each table of a fleet: rules by name, the tables' own properties, policies of the catalog.
//
// In: a parsed policy file, properties of a table, policies that the catalog has for it. Out: the settings in force,
//   and where each comes from.
// Order, from the weakest: defaults; the file's rules; the catalog's policies; the table's `firn.*` properties (and its
//   `write.target-file-size-bytes`); the file's `force`. Of the file's rules that match, the first that has a key
//   decides that key. A file size that an analysis proposes, where `analyze.apply` is on, goes over all of them but
//   `firn.target-file-size-bytes` of the table and `force`, which pin it.
// Guarantees: the same input gives the same settings. Settings that do not fit together are an error that names the
//   key and the places that set it: nothing is chosen silently.
// Cost: O(rules) a table. Threads: immutable once made. Errors: kInvalidArgument.
// Source: docs/deciding.md.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "decide/ledger.h"
#include "orient/policy.h"
#include "orient/service_policy.h"
#include "service/name_glob.h"

namespace firn::service {

/// A value with the place that it was written at: "policies.yaml:12", "table property", "Polaris policy `x`".
struct PolicyValue {
  std::string text;
  std::string place;
};
/// By key, without "firn." in front.
using PolicyValues = std::map<std::string, PolicyValue, std::less<>>;

struct PolicyRule {
  std::string match;
  NameGlob glob;
  PolicyValues values;
  PolicyValues forced;
};

struct FleetPolicy {
  PolicyValues everything;            // budget and quiet hours of all work together
  std::vector<PolicyRule> databases;  // priority, budget and quiet hours of a database's work together
  std::vector<PolicyRule> tables;
};

/// Settings of one table.
struct TableSettings {
  orient::Policy policy;
  orient::ServicePolicy service;
  PolicyValues origins;  // of each key that is not a default
};

/// `id` is "catalog/ns.name"; `catalog_policies` have been made by PolarisValues; `proposed_target`: of an analysis.
Result<TableSettings> ResolveTable(const FleetPolicy& fleet, std::string_view id, const orient::Properties& properties,
                                   const PolicyValues& catalog_policies,
                                   const std::optional<PolicyValue>& proposed_target = std::nullopt);

/// `id` is "catalog/ns".
Result<decide::ScopeSettings> ResolveDatabase(const FleetPolicy& fleet, std::string_view id);
Result<decide::ScopeSettings> ResolveEverything(const FleetPolicy& fleet);
/// Who has set firn.enabled to false, for people: "firn.enabled is false (p.yaml:12)".
std::string WhyDisabled(const TableSettings& settings);
/// What the ledger needs of a table.
decide::ScopeSettings TableScope(const TableSettings& settings);

/// What is wrong with the values of one rule, or of one source, for themselves. Its keys are those of `values`; its
/// text says where each was set.
std::optional<orient::PolicyFault> FindFault(const PolicyValues& values);

}  // namespace firn::service
