// SPDX-License-Identifier: Apache-2.0
#include "cli/table_options.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "base/human_text.h"

namespace firn::cli {

void AddTableOptions(CLI::App& command, TableOptions& options) {
  TableRequest& request = options.request;
  command
      .add_option("TABLE", request.table,
                  "A table of a catalog (db.table), a table's directory, or a metadata file (read only)")
      ->required();
  command.add_option("--catalog", request.catalog, "Catalog in the configuration; the default one if not given")
      ->group("Where the table is");
  command.add_option("--config", request.config_file, "Configuration file instead of the usual ones")
      ->group("Where the table is");
  command.add_option("--property", request.properties, "Catalog or storage property key=value; may be repeated")
      ->allow_extra_args(false)
      ->group("Where the table is");
  command.add_option("--map", request.maps, "Read locations that begin with FROM at TO: FROM=TO; may be repeated")
      ->allow_extra_args(false)
      ->group("Where the table is");
  command.add_option("--branch,--ref", options.ref, "Branch (or tag, for reading)")
      ->capture_default_str()
      ->group("Where the table is");
}

void AddSelectionOptions(CLI::App& command, SelectionOptions& options) {
  command
      .add_option("--where", options.where,
                  "Only partitions that may hold matching rows, each as a whole: a condition such as\n"
                  "\"day >= '2024-01-01' AND region IN ('eu','us')\" on columns that partitions are made of")
      ->group("What to look at");
  command
      .add_option("--partition", options.partitions,
                  "Only this partition, as health shows it: 'day=2024-01-01' or 'a=1/b=2'; may be repeated")
      ->allow_extra_args(false)
      ->group("What to look at");
  command
      .add_option("--target-file-size", options.target_file_size,
                  "Wanted size of data files, such as 128MB (powers of 1024); otherwise the table's property")
      ->group("What to look at");
  command
      .add_option("--min-input-files", options.min_input_files,
                  "Fewest files of a merge whose output stays small; otherwise the table's property, or 5")
      ->group("What to look at");
}

Result<orient::Policy> PolicyOf(const iceberg::TableMetadata& metadata, const SelectionOptions& options) {
  FIRN_ASSIGN(orient::Policy policy, orient::PolicyFromProperties(metadata.properties()));
  FIRN_ASSIGN(const auto target, ParseBytesOption("--target-file-size", options.target_file_size));
  if (target) policy.target_size_bytes = *target;
  if (options.min_input_files) policy.min_input_files = *options.min_input_files;
  FIRN_TRY(orient::CheckPolicy(policy));
  return policy;
}

Result<decide::PartitionSelection> SelectionOf(const iceberg::MetadataPtr& metadata, const SelectionOptions& options) {
  if (options.where.empty()) return decide::PartitionSelection::Make(nullptr, options.partitions, metadata);
  FIRN_ASSIGN(const decide::Where where, decide::ParseWhere(options.where).In("--where"));
  return decide::PartitionSelection::Make(&where, options.partitions, metadata).In("--where");
}

std::string SelectionLine(const decide::PartitionSelection& selection, const observe::Facts& facts) {
  if (selection.selects_everything()) return "";
  return fmt::format("About the {} that --where and --partition select, each as a whole.\n",
                     HumanCount(static_cast<std::int64_t>(facts.partitions.size()), "partition"));
}

Result<std::optional<std::int64_t>> ParseBytesOption(std::string_view option, const std::string& text) {
  if (text.empty()) return std::optional<std::int64_t>();
  const auto bytes = ParseHumanBytes(text);
  if (!bytes) {
    return Error{Code::kInvalidArgument, fmt::format("{}: \"{}\" is not a size such as 128MB or 2GiB", option, text)};
  }
  return bytes;
}

}  // namespace firn::cli
