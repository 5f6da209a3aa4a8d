// SPDX-License-Identifier: Apache-2.0
#include "cli/plan_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <vector>

#include "base/human_text.h"
#include "cli/facts_text.h"
#include "cli/text_table.h"

namespace firn::cli {
namespace {

constexpr auto kRight = TextTable::Align::kRight;

/// The groups of one partition, or of all that are not shown.
struct Work {
  std::uint32_t partition = 0;
  std::int64_t files = 0, outputs = 0, input_bytes = 0, output_bytes = 0;
  std::int64_t deleted_rows = 0, delete_files = 0;
  bool may_delete_more = false;
  double seconds = 0;
  bool keeps_order = false;

  void Add(const decide::MergeGroup& group) {
    partition = group.partition;
    files += static_cast<std::int64_t>(group.files.size());
    outputs += group.predicted_outputs;
    deleted_rows += group.deleted_rows;
    delete_files += group.delete_files;
    may_delete_more |= group.may_delete_more;
    input_bytes += group.input_bytes;
    output_bytes += group.predicted_output_bytes;
    seconds += group.predicted_seconds;
    keeps_order = group.keeps_order;
  }
  void Add(const Work& other) {
    files += other.files;
    outputs += other.outputs;
    input_bytes += other.input_bytes;
    output_bytes += other.output_bytes;
    deleted_rows += other.deleted_rows;
    delete_files += other.delete_files;
    may_delete_more |= other.may_delete_more;
    seconds += other.seconds;
  }
  /// "12", "12 or more" where delete files would have to be read to know, "not known" where nothing is.
  std::string DeletedRows() const {
    if (deleted_rows == 0 && may_delete_more) return "not known";
    return HumanCount(deleted_rows) + (may_delete_more ? " or more" : "");
  }
};

/// One entry a partition, in the order in which the plan comes to them.
std::vector<Work> ByPartition(const decide::Plan& plan) {
  std::vector<Work> works;
  std::map<std::uint32_t, std::size_t> index;
  for (const auto& group : plan.groups) {
    const auto [place, added] = index.try_emplace(group.partition, works.size());
    if (added) works.emplace_back();
    works[place->second].Add(group);
  }
  return works;
}

void AddWork(TextTable& table, std::string name, const Work& work, bool with_deletes) {
  std::vector<std::string> row = {std::move(name), HumanCount(work.files), HumanCount(work.outputs)};
  if (with_deletes) row.insert(row.end(), {work.DeletedRows(), HumanCount(work.delete_files)});
  row.insert(row.end(), {HumanBytes(work.input_bytes), HumanBytes(work.output_bytes), HumanSeconds(work.seconds),
                         work.keeps_order ? "kept" : "free"});
  table.AddRow(std::move(row));
}

std::string WorkTable(const observe::Facts& facts, const decide::Plan& plan, std::size_t lines_max) {
  const auto works = ByPartition(plan);
  const bool with_deletes = std::ranges::any_of(works, [](const Work& work) { return work.delete_files > 0; });
  std::vector<TextTable::Column> columns = {{"partition"}, {"files", kRight}, {"into", kRight}};
  if (with_deletes) columns.insert(columns.end(), {{"deleted rows", kRight}, {"delete reads", kRight}});
  columns.insert(columns.end(), {{"read", kRight}, {"write about", kRight}, {"time", kRight}, {"row order"}});
  TextTable table(std::move(columns));
  Work rest;
  std::int64_t left_off = 0;
  for (std::size_t i = 0; i < works.size(); ++i) {
    if (i < lines_max) {
      AddWork(table, PartitionName(facts, works[i].partition), works[i], with_deletes);
      continue;
    }
    ++left_off;
    rest.Add(works[i]);
  }
  if (left_off > 0) AddWork(table, fmt::format("({})", HumanCount(left_off, "more partition")), rest, with_deletes);
  return table.Print();
}

/// How far the predicted size can be believed; empty: as far as always.
std::string SizeNote(const decide::Plan& plan) {
  constexpr std::int64_t kMostlyFooters = 128 << 10;
  std::int64_t files = 0, bytes = 0;
  for (const auto& group : plan.groups) {
    files += static_cast<std::int64_t>(group.files.size());
    bytes += group.input_bytes;
  }
  if (files == 0 || bytes / files >= kMostlyFooters) return "";
  return "  Files as small as these are to a large part footers and headers: less will be written than this says.\n";
}

std::string RefusalTable(const decide::Plan& plan, std::size_t lines_max) {
  struct Sum {
    std::int64_t files = 0, bytes = 0, partitions = 0;
    std::string reason, partition;
  };
  std::map<std::string, Sum> codes;
  for (const auto& refusal : plan.refusals) {
    Sum& sum = codes[refusal.code];
    sum.files += refusal.files;
    sum.bytes += refusal.bytes;
    sum.partitions += refusal.partitions;
    if (sum.reason.empty()) {
      sum.reason = refusal.reason;
      sum.partition = refusal.partition;
    }
  }
  TextTable table({{"code"}, {"files", kRight}, {"size", kRight}, {"reason"}});
  // Few lines: each as it is. Many: one a code, with the first as an example.
  if (plan.refusals.size() <= lines_max) {
    for (const auto& refusal : plan.refusals) {
      table.AddRow({refusal.code, HumanCount(refusal.files), HumanBytes(refusal.bytes),
                    refusal.partition.empty() ? refusal.reason : refusal.partition + ": " + refusal.reason});
    }
    return table.Print();
  }
  for (const auto& [code, sum] : codes) {
    std::string reason = sum.reason;
    if (sum.partitions > 1) {
      reason = fmt::format("{}, such as {}: {}", HumanCount(sum.partitions, "case"),
                           sum.partition.empty() ? "here" : sum.partition, sum.reason);
    }
    table.AddRow({code, HumanCount(sum.files), HumanBytes(sum.bytes), std::move(reason)});
  }
  return table.Print();
}

std::string Forecast(const observe::Facts& facts, const decide::Plan& plan) {
  std::int64_t size = 0, read = 0, written = 0;
  for (const auto& file : facts.files) size += file.size_bytes;
  for (const auto& group : plan.groups) {
    read += group.input_bytes;
    written += group.predicted_output_bytes;
  }
  const auto mean = [](std::int64_t bytes, std::int64_t files) { return files == 0 ? "-" : HumanBytes(bytes / files); };
  TextTable table({{""}, {"now", kRight}, {"afterwards, about", kRight}});
  table.AddRow({"files", HumanCount(plan.files_before), HumanCount(plan.files_after)});
  table.AddRow({"size", HumanBytes(size), HumanBytes(size - read + written)});
  table.AddRow({"mean file", mean(size, plan.files_before), mean(size - read + written, plan.files_after)});
  return table.Print();
}

}  // namespace

std::string PlanText(const observe::Facts& facts, const decide::Plan& plan, std::size_t lines_max) {
  std::string text = TableLine(facts) + "\n\n" + plan.reason + "\n";
  if (!plan.groups.empty()) {
    text += "\nWhat\n" + WorkTable(facts, plan, lines_max);
    text += SizeNote(plan);
    text += "\nEffect\n" + Forecast(facts, plan);
  }
  if (!plan.refusals.empty()) text += "\nWhy not more\n" + RefusalTable(plan, lines_max);
  for (const auto& note : plan.notes) text += "\nNote: " + Printable(note) + ".\n";
  return text;
}

}  // namespace firn::cli
