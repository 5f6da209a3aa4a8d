// SPDX-License-Identifier: Apache-2.0
#include "cli/table_options.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <utility>

#include "base/human_text.h"
#include "base/log.h"
#include "cli/event_options.h"
#include "cli/text_table.h"

namespace firn::cli {

namespace {

constexpr int kThreadsMax = 1024;

Status ApplyLogLevel(const std::string& text, const CommonOptions& common) {
  static constexpr std::pair<std::string_view, LogLevel> kLevels[] = {{"debug", LogLevel::kDebug},
                                                                      {"info", LogLevel::kInfo},
                                                                      {"warn", LogLevel::kWarn},
                                                                      {"error", LogLevel::kError},
                                                                      {"off", LogLevel::kOff}};
  const auto found = std::ranges::find(kLevels, text, &std::pair<std::string_view, LogLevel>::first);
  if (found == std::end(kLevels)) {
    return Error{Code::kInvalidArgument,
                 fmt::format("firn.log-level: \"{}\" is not debug, info, warn, error or off", text)};
  }
  if (!common.quiet && common.verbosity == 0) SetLogLevel(found->second);
  return Ok();
}

}  // namespace

void AddPlaceOptions(CLI::App& command, TableRequest& request) {
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
}

void AddTableOptions(CLI::App& command, TableOptions& options) {
  command
      .add_option(
          "TABLE", options.request.table,
          "A table of a catalog (db.table, catalog.db.table), a table's directory, or a metadata file (read only)")
      ->required();
  AddPlaceOptions(command, options.request);
  command.add_option("--branch,--ref", options.ref, "Branch (or tag, for reading)")
      ->capture_default_str()
      ->group("Where the table is");
}

void AddReadThreadsOption(CLI::App& command, std::optional<int>& threads) {
  command.add_option("--threads", threads, "Threads that read manifests")
      ->check(CLI::Range(1, 1024))
      ->default_str(std::to_string(kReadThreads));
}

void AddPartitionOptions(CLI::App& command, SelectionOptions& options) {
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
}

void AddSelectionOptions(CLI::App& command, SelectionOptions& options) {
  AddPartitionOptions(command, options);
  command
      .add_option("--target-file-size", options.target_file_size,
                  "Wanted size of data files, such as 128MB (powers of 1024); otherwise the table's property")
      ->group("What to look at");
  command
      .add_option("--min-input-files", options.min_input_files,
                  "Fewest files of a merge whose output stays small; otherwise the table's property, or 5")
      ->group("What to look at");
}

Status ApplySettings(const Environment& environment, const CommonOptions& common, const TableRequest& request,
                     const SettingTargets& targets) {
  if (!environment.settings) return Ok();
  FIRN_ASSIGN(const ports::Properties settings, environment.settings(request));
  if (const auto* level = ports::FindFirstProperty(settings, {"log-level"})) FIRN_TRY(ApplyLogLevel(*level, common));
  if (ports::FindFirstProperty(settings, {"threads"}) != nullptr) {
    FIRN_ASSIGN(const std::int64_t threads, ports::IntProperty(settings, "threads", 1, 1, kThreadsMax).In("firn"));
    if (targets.threads != nullptr && !*targets.threads) *targets.threads = static_cast<int>(threads);
  }
  FIRN_TRY(CheckEventTopicSettings(settings));
  const std::pair<std::string_view, std::string*> sizes[] = {{"memory", targets.memory},
                                                             {"target-file-size", targets.target_file_size}};
  for (const auto& [key, target] : sizes) {
    const std::string text = ports::PropertyOr(settings, key, "");
    FIRN_ASSIGN(const auto bytes, ParseBytesOption(fmt::format("firn.{}", key), text));
    if (bytes && target != nullptr && target->empty()) *target = text;
  }
  return Ok();
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

std::string SelectionLine(const decide::PartitionSelection& selection, const observe::Facts& facts,
                          const std::string& table_words) {
  if (selection.selects_everything()) return "";
  if (facts.partitions.empty()) {
    return fmt::format(
        "Nothing is in the partitions that were selected: `firn inspect partitions {}` lists those that there are.\n",
        table_words);
  }
  return fmt::format("About the {} selected, each as a whole.\n",
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
