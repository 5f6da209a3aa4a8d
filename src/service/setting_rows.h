// SPDX-License-Identifier: Apache-2.0
//
// Shows policies as rows of keys, values and the places that they come from.
//
// In: settings of a table, a policy file's rules. Out: rows.
// Guarantees: the keys are those of table properties without "firn.". No secrets are policies.
// Threads: pure. Errors: none.
#pragma once

#include <vector>

#include "service/fleet_policy.h"
#include "service/fleet_rows.h"

namespace firn::service {

/// The keys that somebody has set, and the target size, priority and noise threshold in any case.
std::vector<SettingRow> SettingRowsOf(const TableSettings& settings);
std::vector<PolicyRow> PolicyRowsOf(const FleetPolicy& policy);

}  // namespace firn::service
