// SPDX-License-Identifier: Apache-2.0
#include "cli/analysis_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/human_text.h"
#include "cli/facts_text.h"
#include "cli/next_step.h"
#include "cli/text_table.h"

namespace firn::cli {
namespace {

constexpr auto kRight = TextTable::Align::kRight;

std::string Percent(double share) { return fmt::format("{:.{}f} %", share * 100, share > 0 && share < 0.01 ? 1 : 0); }

/// "2.4 ms", where HumanSeconds has whole milliseconds.
std::string Short(double seconds) {
  return seconds < 0.1 ? fmt::format("{:.1f} ms", seconds * 1e3) : HumanSeconds(seconds);
}

std::string Headline(const service::Analysis& analysis) {
  const auto& advice = analysis.advice;
  const std::string size = HumanBytes(advice.target_size_bytes);
  if (advice.change_target && advice.merge) return fmt::format("set the target file size to {} and merge", size);
  if (advice.change_target) return fmt::format("set the target file size to {}", size);
  if (advice.merge) return "merge";
  return analysis.sort ? "leave the files' sizes as they are" : "leave it as it is";
}

std::string Recommendation(const service::Analysis& analysis) {
  const auto& advice = analysis.advice;
  std::string text = fmt::format("Recommendation: {}{}.\n", Headline(analysis), analysis.sort ? ", and sort" : "");
  text += fmt::format("  merging    {}: {}\n", advice.merge ? "yes" : "no", advice.merge_reason);
  text += fmt::format("  file size  {}: {}\n", advice.change_target ? "change" : "keep", advice.target_reason);
  text += fmt::format("  sorting    {}: {}\n", analysis.sort ? "yes" : "no", Printable(analysis.sort_reason));
  return text;
}

std::string Next(const service::Analysis& analysis, const AnalysisSteps& steps) {
  if (!steps.read_only.empty()) return "\n" + ReadOnlyLine(steps.read_only);
  std::string text;
  if (!steps.is_applied) {
    for (const auto& change : steps.changes) {
      text += fmt::format("Next: set the table property {} to {}.\n", change.key, change.after);
    }
  }
  if (analysis.advice.merge && analysis.policy.enabled) {
    text += fmt::format("Next: `firn optimize {}` merges.\n", steps.table_words);
  } else if (analysis.advice.merge) {
    text += "Next: firn may not merge it: the table property firn.enabled is false.\n";
  }
  if (analysis.sort) {
    text +=
        "Next: firn does not sort. An engine that rewrites the table in the column's order does, and a sort order of "
        "the\n      table makes writers keep it; merges keep it then.\n";
  }
  return text.empty() ? text : "\n" + text;
}

std::string TargetTable(const service::Analysis& analysis) {
  TextTable table({{"target"},
                   {"files", kRight},
                   {"rewrites", kRight},
                   {"takes", kRight},
                   {"read all", kRight},
                   {"read two", kRight},
                   {"files later", kRight},
                   {"read two later", kRight},
                   {"rewritten a byte", kRight},
                   {"measured", kRight}});
  const auto files = static_cast<std::int64_t>(analysis.facts.files.size());
  table.AddRow({"(as it is)", HumanCount(files), "", "", Short(analysis.read_now.all), Short(analysis.read_now.two), "",
                "", "", ""});
  for (const auto& candidate : analysis.candidates) {
    const auto run = std::ranges::find(analysis.experiment.runs, candidate.target_size_bytes,
                                       &service::SampleRun::target_size_bytes);
    const bool measured = run != analysis.experiment.runs.end() && !analysis.experiment.runs.empty();
    const auto& first = measured ? analysis.experiment.runs.front() : service::SampleRun();
    table.AddRow({HumanBytes(candidate.target_size_bytes) + (candidate.is_current ? " (now)" : ""),
                  HumanCount(candidate.files_after), HumanBytes(candidate.bytes_rewritten),
                  HumanSeconds(candidate.merge_seconds), Short(candidate.read_after.all),
                  Short(candidate.read_after.two), HumanCount(candidate.lasting_files),
                  Short(candidate.lasting_read.two),
                  analysis.ingest.files > 0 ? fmt::format("{:.1f}", candidate.rewrites_per_byte) : "not known",
                  measured && first.two.cpu_seconds > 0
                      ? fmt::format("{} less", Percent(1 - run->two.cpu_seconds / first.two.cpu_seconds))
                      : "-"});
  }
  return table.Print();
}

std::string CostLine(std::string_view what, const decide::ReadCost& cost) {
  return fmt::format("  {}: {} a file and {} a GiB\n", what, Short(cost.seconds_per_file),
                     Short(cost.seconds_per_byte * static_cast<double>(1 << 30)));
}

std::string ExperimentText(const service::Analysis& analysis) {
  const service::Experiment& experiment = analysis.experiment;
  if (!experiment.done) return fmt::format("\nNothing was measured: {}.\n", Printable(experiment.reason));
  std::string text = fmt::format("\nMeasured on {} ({}, {}) of {}, merged in a scratch folder, read by Arrow\n",
                                 HumanCount(experiment.files, "file"), HumanBytes(experiment.bytes),
                                 HumanCount(experiment.rows, "row"), HumanCount(experiment.partitions, "partition"));
  TextTable table({{"target"},
                   {"files", kRight},
                   {"size", kRight},
                   {"merge", kRight},
                   {"read all: CPU", kRight},
                   {"wall", kRight},
                   {"read two: CPU", kRight},
                   {"wall", kRight}});
  for (const auto& run : experiment.runs) {
    table.AddRow({run.target_size_bytes == 0 ? "(as they are)" : HumanBytes(run.target_size_bytes),
                  HumanCount(run.files), HumanBytes(run.bytes),
                  run.target_size_bytes == 0 ? "" : HumanSeconds(run.merge_seconds), Short(run.all.cpu_seconds),
                  Short(run.all.wall_seconds), Short(run.two.cpu_seconds), Short(run.two.wall_seconds)});
  }
  return text + table.Print();
}

std::string SortTable(const service::Analysis& analysis, std::size_t lines_max) {
  if (analysis.sort_candidates.empty()) return "";
  TextTable table({{"column"}, {"type"}, {"opened now", kRight}, {"if sorted", kRight}, {"pays"}, {"why"}});
  for (std::size_t i = 0; i < std::min(lines_max, analysis.sort_candidates.size()); ++i) {
    const auto& candidate = analysis.sort_candidates[i];
    table.AddRow({candidate.column + (candidate.is_sort_column ? " (sort order)" : ""), candidate.type,
                  Percent(candidate.point_share_now), Percent(candidate.point_share_sorted),
                  candidate.pays ? "yes" : "no", candidate.reason});
  }
  std::string text = "\nSorting: the share of a partition's bytes that a lookup of one value opens\n" + table.Print();
  if (analysis.sort_candidates.size() > lines_max) {
    text += fmt::format(
        "  ({})\n", HumanCount(static_cast<std::int64_t>(analysis.sort_candidates.size() - lines_max), "more column"));
  }
  return text;
}

}  // namespace

std::string AnalysisText(const service::Analysis& analysis, const AnalysisSteps& steps, std::size_t lines_max) {
  std::int64_t partitions = 0;
  for (const auto& partition : analysis.facts.partitions) partitions += partition.file_count > 0 ? 1 : 0;
  std::string text = fmt::format("{}\n{}, {}, {}\n\n", TableLine(analysis.facts),
                                 HumanCount(static_cast<std::int64_t>(analysis.facts.files.size()), "file"),
                                 HumanBytes(analysis.bytes), HumanCount(partitions, "partition"));
  text += Recommendation(analysis) + Next(analysis, steps);
  if (analysis.facts.files.empty()) return text;
  text += "\nTarget file sizes: if the files were merged now, and if the table were kept at this size\n";
  text += TargetTable(analysis) + ExperimentText(analysis);
  text += "\nReading takes\n" + CostLine("all columns", analysis.read.all) + CostLine("two columns", analysis.read.two);
  text += SortTable(analysis, lines_max);
  const auto add = [&text](std::string_view title, const std::vector<std::string>& lines) {
    text += fmt::format("\n{}\n", title);
    for (const auto& line : lines) text += "  " + Wrap(Printable(line), 110, 2) + "\n";
  };
  add("What it stands on", analysis.inputs);
  add("Assumptions", analysis.assumptions);
  return text;
}

}  // namespace firn::cli
