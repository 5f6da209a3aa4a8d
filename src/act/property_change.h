// SPDX-License-Identifier: Apache-2.0
//
// Sets properties of a table.
//
// In: keys with the values that they had when somebody decided, and the new ones. Out: the table with those.
// Guarantees: nothing else of the table changes. A key that has another value by then than the one that was decided
//   upon is a conflict, and nothing is set.
// Cost: one commit without a snapshot.
// Errors: kConflict; those of a commit. Threads: one call a thread.
// Source: Iceberg REST OpenAPI, SetPropertiesUpdate.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "act/commit.h"

namespace firn::act {

struct PropertyChange {
  std::string key;
  std::optional<std::string> before;  // absent: it was not set
  std::string after;
};

CommitReport SetTableProperties(CommitEnvironment& environment, const CommitTarget& target,
                                const std::vector<PropertyChange>& changes);

}  // namespace firn::act
