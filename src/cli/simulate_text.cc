// SPDX-License-Identifier: Apache-2.0
#include "cli/simulate_text.h"

#include <fmt/format.h>

#include <optional>
#include <vector>

#include "base/human_text.h"
#include "cli/text_table.h"
#include "simulate/comparison.h"

namespace firn::cli {
namespace {

using simulate::RunResult;
constexpr auto kLeft = TextTable::Align::kLeft;
constexpr auto kRight = TextTable::Align::kRight;

std::string Percent(const std::optional<double>& part) { return part ? fmt::format("{:.0f} %", 100 * *part) : "-"; }

/// What is saved, as the published figures are put: "72 % fewer", "15 % more".
std::string Saving(const std::optional<double>& saved) {
  if (!saved) return "-";
  const double percent = 100 * *saved;
  if (percent < -999) return fmt::format("{:.3g} x", 1 - *saved);
  return fmt::format("{:.0f} % {}", percent < 0 ? -percent : percent, percent < 0 ? "more" : "fewer");
}

std::string PolicyTable(std::span<const RunResult> results) {
  TextTable table({{"policy", kLeft}, {"what it does", kLeft}});
  for (const RunResult& result : results) table.AddRow({result.policy, result.what});
  return "Policies\n" + table.Print();
}

std::string FunnelTable(std::span<const RunResult> results) {
  TextTable table({{"policy", kLeft},
                   {"commits", kRight},
                   {"changed", kRight},
                   {"noisy", kRight},
                   {"scans", kRight},
                   {"rechecks", kRight},
                   {"merges", kRight},
                   {"conversions", kRight},
                   {"replaced", kRight},
                   {"made", kRight},
                   {"not scanned", kRight},
                   {"not merged", kRight},
                   {"not replaced", kRight}});
  for (const RunResult& result : results) {
    const simulate::Funnel& f = result.funnel;
    const simulate::OwnFunnel own = simulate::OwnFunnelOf(result);
    table.AddRow({result.policy, HumanCount(f.commits), HumanCount(f.changed), HumanCount(f.noisy), HumanCount(f.scans),
                  HumanCount(f.rechecks), HumanCount(f.partition_merges), HumanCount(f.conversions),
                  HumanCount(f.files_replaced), HumanCount(f.files_made), Percent(own.not_scanned),
                  Percent(own.not_merged), Percent(own.not_replaced)});
  }
  return "Funnel: partitions changed by commits, above the trigger, read, merged; deletes converted; files replaced "
         "and made; what each "
         "step leaves out\n" +
         table.Print();
}

std::string EffectTable(std::span<const RunResult> results) {
  TextTable table({{"policy", kLeft},
                   {"mean files", kRight},
                   {"end files", kRight},
                   {"delete reads", kRight},
                   {"read cost", kRight},
                   {"rewritten", kRight},
                   {"per ingested", kRight},
                   {"worker time", kRight},
                   {"mean workers", kRight},
                   {"peak", kRight}});
  for (const RunResult& r : results) {
    const double share =
        r.bytes_ingested > 0 ? static_cast<double>(r.funnel.bytes_written) / static_cast<double>(r.bytes_ingested) : 0;
    table.AddRow({r.policy, HumanCount(static_cast<std::int64_t>(r.mean_files)), HumanCount(r.end.files),
                  HumanCount(static_cast<std::int64_t>(r.mean_delete_reads)),
                  HumanBytes(static_cast<std::int64_t>(r.mean_read_cost)), HumanBytes(r.funnel.bytes_written),
                  fmt::format("{:.2f}", share), HumanSeconds(r.worker_seconds), fmt::format("{:.3g}", r.mean_workers),
                  fmt::format("{}", r.peak_workers)});
  }
  return "Effect and cost: files and the cost of reading all tables once, mean over time; merges\n" + table.Print();
}

std::string SavingsTable(std::span<const RunResult> results) {
  std::vector<TextTable::Column> columns = {{"step", kLeft}, {"published", kRight}};
  std::vector<simulate::Savings> savings;
  for (const RunResult& other : results.subspan(1)) {
    columns.push_back({"against " + other.policy, kRight});
    savings.push_back(simulate::Compare(results[0], other));
  }
  TextTable table(std::move(columns));
  for (std::size_t s = 0; s < simulate::kPublishedSteps.size(); ++s) {
    const simulate::Step& step = simulate::kPublishedSteps[s];
    std::vector<std::string> row = {std::string(step.name), Saving(step.published)};
    for (const auto& saved : savings) row.push_back(Saving(saved[s]));
    table.AddRow(std::move(row));
  }
  return fmt::format(
             "What {} saves, beside what was published of another optimizer on its own tables\n"
             "(docs/simulator.md, \"The published funnel\", says what each means)\n",
             results[0].policy) +
         table.Print();
}

}  // namespace

std::string SimulationText(std::span<const RunResult> results) {
  std::string text = PolicyTable(results) + "\n" + FunnelTable(results) + "\n" + EffectTable(results);
  if (results.size() > 1) text += "\n" + SavingsTable(results);
  return text;
}

}  // namespace firn::cli
