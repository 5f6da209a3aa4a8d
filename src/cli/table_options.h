// SPDX-License-Identifier: Apache-2.0
//
// The options by which commands name a table, a part of it, and sizes; and what stands for them in the configuration.
//
// Guarantees: sizes are in bytes. Flags win over the configuration.
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

/// --catalog, --config, --property, --map.
void AddPlaceOptions(CLI::App& command, TableRequest& request);
/// TABLE and --branch besides.
void AddTableOptions(CLI::App& command, TableOptions& options);
/// --where, --partition.
void AddPartitionOptions(CLI::App& command, SelectionOptions& options);
/// Those, --target-file-size and --min-input-files.
void AddSelectionOptions(CLI::App& command, SelectionOptions& options);

/// Threads that read manifests, where nothing else is done.
inline constexpr int kReadThreads = 2;
void AddReadThreadsOption(CLI::App& command, std::optional<int>& threads);

/// Options that a setting of firn's own section of the configuration stands for when they were not given.
struct SettingTargets {
  std::optional<int>* threads = nullptr;
  std::string* memory = nullptr;
  std::string* target_file_size = nullptr;
};
/// Checks all settings, also those that this command does not know. The log level is set at once.
Status ApplySettings(const Environment& environment, const CommonOptions& common, const TableRequest& request,
                     const SettingTargets& targets);

/// The table's properties, changed by the options.
Result<orient::Policy> PolicyOf(const iceberg::TableMetadata& metadata, const SelectionOptions& options);
Result<decide::PartitionSelection> SelectionOf(const iceberg::MetadataPtr& metadata, const SelectionOptions& options);
/// For people: that what follows is about a part of the table; empty when it is about all of it.
/// `table_words`: the table in the command that is proposed where nothing is selected.
std::string SelectionLine(const decide::PartitionSelection& selection, const observe::Facts& facts,
                          const std::string& table_words);
/// "128MB" of `option`; nullopt for empty text.
Result<std::optional<std::int64_t>> ParseBytesOption(std::string_view option, const std::string& text);

}  // namespace firn::cli
