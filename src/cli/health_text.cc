// SPDX-License-Identifier: Apache-2.0
#include "cli/health_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/human_text.h"
#include "cli/facts_text.h"
#include "cli/merge_outlook.h"
#include "cli/text_table.h"

namespace firn::cli {
namespace {

constexpr auto kRight = TextTable::Align::kRight;

std::string PartsTable(const orient::Diagnosis& diagnosis) {
  TextTable table({{"part"}, {"score", kRight}, {"weight", kRight}, {"why"}});
  for (const auto& part : diagnosis.parts) {
    table.AddRow({part.name, fmt::format("{:.0f}", part.score), fmt::format("{:.0f} %", part.weight), part.reason});
  }
  return table.Print();
}

std::string Figures(const observe::Facts& facts, const orient::Diagnosis& d) {
  std::string text = fmt::format("{}, {}, {}, {}, {}, {}", HumanCount(d.file_count, "file"), HumanBytes(d.size_bytes),
                                 HumanCount(d.record_count, "row"),
                                 HumanCount(static_cast<std::int64_t>(d.partitions.size()), "partition"),
                                 HumanCount(static_cast<std::int64_t>(facts.manifests.size()), "manifest"),
                                 HumanCount(static_cast<std::int64_t>(facts.snapshots.size()), "snapshot"));
  return text + fmt::format("; small means below {}", HumanBytes(d.healthy_size_bytes));
}

std::string PartitionsTable(const observe::Facts& facts, const orient::Diagnosis& diagnosis, std::size_t shown) {
  TextTable table({{"partition"},
                   {"files", kRight},
                   {"size", kRight},
                   {"small", kRight},
                   {"removable", kRight},
                   {"blocked", kRight},
                   {"entropy", kRight},
                   {"delete files", kRight}});
  for (std::size_t i = 0; i < shown; ++i) {
    const auto& d = diagnosis.partitions[i];
    const auto& partition = facts.partitions[d.partition];
    table.AddRow(
        {PartitionName(facts, d.partition), HumanCount(d.file_count), HumanBytes(partition.size_bytes),
         HumanCount(d.small_files), HumanCount(d.removable_files), HumanCount(d.blocked_files),
         fmt::format("{:.2f}", std::sqrt(d.size_mse) / static_cast<double>(diagnosis.target_size_bytes)),
         HumanCount(partition.position_delete_files + partition.equality_delete_files + partition.deletion_vectors)});
  }
  return table.Print();
}

}  // namespace

std::string HealthText(const service::Assessment& found, const std::string& table_words, std::size_t partitions_max) {
  const observe::Facts& facts = found.facts;
  const orient::Diagnosis& diagnosis = found.diagnosis;
  std::string text = TableLine(facts) + "\n\n";
  text += fmt::format("Health {:.0f} of 100\n\n", std::floor(diagnosis.score));
  text += PartsTable(diagnosis);
  text += "\n" + Figures(facts, diagnosis) + "\n";
  const std::size_t shown = std::min(partitions_max, diagnosis.partitions.size());
  if (shown > 0 && diagnosis.partitions.size() > 1) {
    text += "\nWorst partitions\n" + PartitionsTable(facts, diagnosis, shown);
    if (shown < diagnosis.partitions.size()) {
      text += fmt::format("  ... and {} (--partitions N shows more)\n",
                          HumanCount(static_cast<std::int64_t>(diagnosis.partitions.size() - shown), "more partition"));
    }
  }
  return text + "\n" + MergeOutlookText(diagnosis, found.plan, table_words);
}

}  // namespace firn::cli
