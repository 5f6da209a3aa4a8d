// SPDX-License-Identifier: Apache-2.0
//
// The commands that a result proposes, as the user can paste them, and whether the table may be changed at all.
//
// In: options as they were typed, before settings of the configuration stand for those that are missing. Out: words of
//   a shell; a sentence.
// Guarantees: every option that shapes a plan is repeated, quoted where a shell would read it otherwise. Values of
//   properties are left out, because they can be secret.
// Threads: one owner.
#pragma once

#include <string>

#include "cli/environment.h"
#include "cli/table_options.h"

namespace firn::cli {

/// TABLE with the options that say where it is: "db.t --catalog c".
std::string TableWords(const TableOptions& options);
/// The same, with what is looked at: "db.t --partition day=2024-01-01 --target-file-size 64MB".
std::string SelectedWords(const TableOptions& table, const SelectionOptions& selection);
/// " --max-bytes 1GB"; empty for no limit.
std::string MaxBytesWords(const std::string& max_bytes);

/// Why no command could change the table; empty if nothing is known that forbids it. Nothing is written to find out.
std::string WhyReadOnly(const OpenedTable& opened, const std::string& ref);
/// "Read only: ...\n" of that; empty for empty.
std::string ReadOnlyLine(const std::string& reason);

}  // namespace firn::cli
