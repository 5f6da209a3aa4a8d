// SPDX-License-Identifier: Apache-2.0
#include "cli/facts_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "iceberg/calendar.h"

namespace firn::cli {
namespace {

constexpr std::int64_t kMicrosPerMs = 1000;
// A year that no table has; keeps the product in range.
constexpr std::int64_t kTimeMaxMs = std::int64_t{1} << 50;

bool HasSeveralSpecs(const observe::Facts& facts) {
  return std::any_of(facts.partitions.begin(), facts.partitions.end(), [&](const observe::PartitionFacts& partition) {
    return partition.spec_id != facts.partitions[0].spec_id;
  });
}

}  // namespace

std::string UtcText(TimestampMs time) {
  const std::int64_t seconds_ms = std::clamp(time.value, -kTimeMaxMs, kTimeMaxMs) / 1000 * 1000;
  std::string text = iceberg::IsoTimestampText(seconds_ms * kMicrosPerMs, iceberg::TimeUnit::kMicros);
  text = text.substr(0, text.find('.'));
  if (const auto at = text.find('T'); at != std::string::npos) text[at] = ' ';
  return text + " UTC";
}

std::string TableLine(const observe::Facts& facts) {
  std::string line = fmt::format("{}, branch {}", facts.table, facts.ref);
  if (!facts.snapshot_id) return line + ", no snapshot yet";
  line += fmt::format(", snapshot {}", facts.snapshot_id->value);
  for (const auto& snapshot : facts.snapshots) {
    if (snapshot.id == *facts.snapshot_id) line += fmt::format(" of {}", UtcText(snapshot.timestamp));
  }
  return line;
}

std::string PartitionName(const observe::Facts& facts, std::uint32_t partition) {
  const auto& found = facts.partitions[partition];
  std::string name = found.text.empty() ? "(unpartitioned)" : found.text;
  if (HasSeveralSpecs(facts)) name += fmt::format(" [spec {}]", found.spec_id.value);
  return name;
}

}  // namespace firn::cli
