// SPDX-License-Identifier: Apache-2.0
//
// Raises a table's format version.
//
// In: a table of version 2. Out: the same table as version 3; snapshots and files stay as they are.
// Guarantees: nothing happens to a table that has the version already. Rows get their ids with the first snapshot after
//   it, whoever makes that.
// Cost: one commit without a snapshot.
// Errors: kUnsupported (other versions); those of a commit. Threads: one call a thread.
// Source: Iceberg table spec, Appendix E "Version 3".
#pragma once

#include "act/commit.h"

namespace firn::act {

CommitReport UpgradeFormat(CommitEnvironment& environment, const CommitTarget& target, std::int32_t format_version);

}  // namespace firn::act
