// SPDX-License-Identifier: Apache-2.0
//
// Small texts about facts that several commands show.
//
// Guarantees: every text is made from its arguments alone.
// Threads: pure.
#pragma once

#include <string>

#include "base/time.h"
#include "observe/facts.h"

namespace firn::cli {

/// "2026-11-29 22:50:11 UTC".
std::string UtcText(TimestampMs time);
/// "db.t, branch main, snapshot 7 of 2026-11-29 22:50:11 UTC".
std::string TableLine(const observe::Facts& facts);
/// The partition's text; "(unpartitioned)" if it has none; with the spec where a table has files of several.
std::string PartitionName(const observe::Facts& facts, std::uint32_t partition);

}  // namespace firn::cli
