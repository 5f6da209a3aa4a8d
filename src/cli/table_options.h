// SPDX-License-Identifier: Apache-2.0
//
// The options by which health, plan, optimize and inspect name a table, a part of it, and sizes.
//
// Guarantees: what Read* return was checked; sizes are in bytes.
// Errors: kInvalidArgument naming the option. Threads: one owner.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/commands.h"
#include "decide/partition_selection.h"
#include "observe/facts.h"
#include "orient/policy.h"

namespace firn::cli {

struct TableOptions {
  TableRequest request;
  std::string ref = "main";
};

struct SelectionOptions {
  std::string where;
  std::vector<std::string> partitions;
  std::string target_file_size;  // "128MB"
  std::optional<std::int32_t> min_input_files;
};

/// TABLE, --catalog, --config, --property, --map, --branch.
void AddTableOptions(CLI::App& command, TableOptions& options);
/// --where, --partition, --target-file-size, --min-input-files.
void AddSelectionOptions(CLI::App& command, SelectionOptions& options);

/// The table's properties, changed by the options.
Result<orient::Policy> PolicyOf(const iceberg::TableMetadata& metadata, const SelectionOptions& options);
Result<decide::PartitionSelection> SelectionOf(const iceberg::MetadataPtr& metadata, const SelectionOptions& options);
/// For people: that what follows is about a part of the table; empty when it is about all of it.
std::string SelectionLine(const decide::PartitionSelection& selection, const observe::Facts& facts);
/// "128MB" of `option`; nullopt for empty text.
Result<std::optional<std::int64_t>> ParseBytesOption(std::string_view option, const std::string& text);

}  // namespace firn::cli
