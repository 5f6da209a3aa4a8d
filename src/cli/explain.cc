// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <iterator>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "base/human_number.h"
#include "base/human_text.h"
#include "cli/commands.h"
#include "cli/exit_codes.h"
#include "cli/service_options.h"
#include "cli/text_table.h"
#include "decide/decision_json.h"
#include "service/state_store.h"
#include "service/table_name.h"

namespace firn::cli {
namespace {

constexpr std::size_t kLineWidth = 110;

struct ExplainOptions {
  CommonOptions common;
  std::string table, partition, kind, state;
  int limit = 20;
};

/// "2026-11-30 06:31:05Z"
std::string TimeText(TimestampMs at) {
  const std::chrono::sys_time<std::chrono::milliseconds> time{std::chrono::milliseconds(at.value)};
  const auto day = std::chrono::floor<std::chrono::days>(time);
  const std::chrono::year_month_day date(day);
  const std::chrono::hh_mm_ss clock(std::chrono::floor<std::chrono::seconds>(time - day));
  return fmt::format("{:04}-{:02}-{:02} {:02}:{:02}:{:02}Z", static_cast<int>(date.year()),
                     static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()), clock.hours().count(),
                     clock.minutes().count(), clock.seconds().count());
}

std::string EffectText(const decide::Effect& effect) {
  return fmt::format("{} less, {} rewritten, {} of delete files less a read, {} read, {}",
                     HumanCount(effect.files_removed, "file"), HumanCount(effect.delete_files_removed, "delete file"),
                     HumanCount(effect.delete_reads_saved, "open"), HumanBytes(effect.bytes),
                     HumanSeconds(effect.seconds));
}

std::string DecisionText(const decide::Decision& decision, bool verbose) {
  std::string head = fmt::format("{}  {}", TimeText(decision.at), DecisionKindName(decision.kind));
  if (!decision.action.empty()) head += " " + decision.action;
  if (!decision.partition.empty()) head += " " + Printable(decision.partition);
  if (decision.shadow) head += " (shadow)";
  std::string text = head + "\n" + Wrap("    " + Printable(decision.reason), kLineWidth, 4) + "\n";
  if (decision.prediction) text += "    predicted: " + EffectText(*decision.prediction) + "\n";
  if (decision.outcome) text += "    measured:  " + EffectText(*decision.outcome) + "\n";
  if (decision.not_before) text += "    not before: " + TimeText(*decision.not_before) + "\n";
  if (!verbose) return text;
  for (const auto& [name, value] : decision.inputs) text += fmt::format("    {} = {}\n", name, HumanNumber(value));
  for (const decide::Alternative& other : decision.alternatives) {
    const std::string line = fmt::format("    not: {} ({}): {}", other.text, HumanNumber(other.value), other.why_not);
    text += Wrap(Printable(line), kLineWidth, 8) + "\n";
  }
  if (!decision.plan_id.empty()) text += "    plan " + decision.plan_id + "\n";
  return text;
}

Result<std::string> TableIdOf(service::StateStore& store, const std::string& given) {
  FIRN_ASSIGN(const auto rows, store.TableRows());
  std::vector<service::TableName> tables;
  for (const service::TableRow& row : rows) tables.push_back({row.id, row.catalog, row.name});
  return service::FindTableId(given, tables);
}

/// With the partitions that there are decisions about, where one was named: it may be misspelt.
Result<std::string> NoDecisionText(service::StateStore& store, const service::DecisionFilter& filter) {
  std::string text = "No decision is on record.\n";
  if (filter.partition.empty()) return text;
  constexpr int kLookedAt = 500;
  constexpr std::size_t kNamedMax = 5;
  FIRN_ASSIGN(const auto page, store.Decisions({filter.table, "", ""}, {.after = "", .limit = kLookedAt}));
  std::set<std::string> names;
  for (const auto& row : page.items) {
    FIRN_ASSIGN(const json::Value value, json::Parse(row.json));
    FIRN_ASSIGN(const decide::Decision decision, decide::ParseDecision(value));
    if (!decision.partition.empty()) names.insert(Printable(decision.partition));
    if (decision.partition == filter.partition) return text;  // of other kinds
  }
  if (names.empty()) return text + "The decisions about this table name no partition.\n";
  const std::size_t named = std::min(names.size(), kNamedMax);
  const std::vector<std::string> shown(names.begin(), std::next(names.begin(), static_cast<std::ptrdiff_t>(named)));
  return text +
         fmt::format(
             "Decisions about several partitions, as jobs are, name none of them: leave --partition out to see them.\n"
             "There are decisions about {}{}: is the partition written as `firn health` shows it?\n",
             fmt::join(shown, ", "), named < names.size() ? " and others" : "");
}

Result<int> RunExplain(Environment& environment, ExplainOptions& options) {
  if (options.state.empty()) {
    FIRN_ASSIGN(options.state, DefaultStateFile());
  }
  auto store_or_error = service::StateStore::OpenToRead(options.state);
  if (!store_or_error && store_or_error.error().code == Code::kNotFound) {
    store_or_error.error().message +=
        ". `firn serve` makes it: has it run? --state names the file that it was given, if it was";
  }
  FIRN_ASSIGN(const auto store, std::move(store_or_error));
  FIRN_ASSIGN(const std::string table, TableIdOf(*store, options.table));
  const service::DecisionFilter filter{table, options.partition, options.kind};
  FIRN_ASSIGN(const auto page, store->Decisions(filter, {.after = "", .limit = options.limit}));
  if (options.common.json) {
    std::string text = "[";
    for (const auto& row : page.items) text += (text.size() > 1 ? ",\n" : "\n") + row.json;
    environment.terminal.Out(text + "\n]\n");
    return kExitOk;
  }
  if (page.items.empty()) {
    FIRN_ASSIGN(const std::string text, NoDecisionText(*store, filter));
    environment.terminal.Out(text);
  }
  for (const auto& row : page.items) {
    FIRN_ASSIGN(const json::Value value, json::Parse(row.json));
    FIRN_ASSIGN(const decide::Decision decision, decide::ParseDecision(value));
    environment.terminal.Out(DecisionText(decision, options.common.verbosity > 0));
  }
  return kExitOk;
}

}  // namespace

void AddExplain(CLI::App& app, CommandContext& context) {
  auto options = std::make_shared<ExplainOptions>();
  CLI::App* command = app.add_subcommand("explain", "Why the service did, or did not do, something: newest first");
  command
      ->add_option("TABLE", options->table,
                   "A table that the service watches: db.table, catalog.db.table, catalog/db.table")
      ->required();
  command->add_option("--partition", options->partition, "Only decisions about this partition, as health shows it");
  const auto kinds = decide::DecisionKindNames();
  command->add_option("--kind", options->kind, fmt::format("Only these: {}", fmt::join(kinds, ", ")))
      ->check(CLI::IsMember(std::vector<std::string>(kinds.begin(), kinds.end())));
  command->add_option("--limit", options->limit, "At most so many")->check(CLI::Range(1, 500))->capture_default_str();
  command->add_option("--state", options->state, "State file of the service")
      ->default_str("~/.local/state/firn/state.db");
  AddCommonOptions(*command, options->common);
  command->callback([options, &context] {
    RunCommand(context, options->common, [&] { return RunExplain(context.environment, *options); });
  });
}

}  // namespace firn::cli
