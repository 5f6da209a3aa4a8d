// SPDX-License-Identifier: Apache-2.0
#include "service/sample_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "base/human_text.h"
#include "observe/resolve.h"

namespace firn::service {
namespace {

bool IsPlain(const observe::DataFileFacts& file, std::int64_t file_bytes_max) {
  return (file.flags & ~observe::kHasRowLineage) == 0 && file.size_bytes > 0 && file.size_bytes < file_bytes_max;
}

/// Usable files of each partition that has at least two.
std::vector<std::vector<std::uint32_t>> UsableFiles(const observe::Facts& facts, std::int64_t file_bytes_max) {
  std::vector<std::vector<std::uint32_t>> partitions(facts.partitions.size());
  for (std::uint32_t i = 0; i < facts.files.size(); ++i) {
    if (IsPlain(facts.files[i], file_bytes_max)) partitions[facts.files[i].partition].push_back(i);
  }
  std::erase_if(partitions, [](const auto& files) { return files.size() < 2; });
  return partitions;
}

observe::Facts WithoutFiles(const observe::Facts& facts) {
  observe::Facts empty;
  empty.table = facts.table;
  empty.table_uuid = facts.table_uuid;
  empty.location = facts.location;
  empty.ref = facts.ref;
  empty.format_version = facts.format_version;
  empty.snapshot_id = facts.snapshot_id;
  empty.sequence_number = facts.sequence_number;
  empty.observed_at = facts.observed_at;
  empty.manifests = facts.manifests;
  empty.partitions = facts.partitions;
  return empty;
}

}  // namespace

FileSample TakeSample(const observe::Facts& facts, std::int64_t bytes_max, std::size_t files_max,
                      std::int64_t file_bytes_max, Random random) {
  auto partitions = UsableFiles(facts, file_bytes_max);
  for (std::size_t i = partitions.size(); i > 1; --i) std::swap(partitions[i - 1], partitions[random.Below(i)]);
  FileSample sample;
  std::vector<std::uint32_t> chosen;
  for (const auto& files : partitions) {
    std::vector<std::uint32_t> fitting;
    std::int64_t bytes = sample.bytes;
    for (const std::uint32_t file : files) {
      if (chosen.size() + fitting.size() >= files_max) break;
      if (bytes + facts.files[file].size_bytes > bytes_max) continue;
      bytes += facts.files[file].size_bytes;
      fitting.push_back(file);
    }
    if (fitting.size() < 2) continue;
    chosen.insert(chosen.end(), fitting.begin(), fitting.end());
    sample.bytes = bytes;
    ++sample.partitions;
  }
  if (partitions.empty()) {
    sample.reason = "no partition has two files that could be merged";
  } else if (chosen.empty()) {
    sample.reason = fmt::format("no two files of a partition fit into a sample of {}", HumanBytes(bytes_max));
  }
  std::ranges::sort(chosen);
  sample.facts = WithoutFiles(facts);
  for (auto& partition : sample.facts.partitions) {
    partition.file_count = partition.size_bytes = partition.record_count = 0;
  }
  for (const std::uint32_t file : chosen) {
    const auto& row = facts.files[file];
    sample.facts.files.push_back(row);
    auto& partition = sample.facts.partitions[row.partition];
    ++partition.file_count;
    partition.size_bytes += row.size_bytes;
    partition.record_count += row.record_count;
  }
  return sample;
}

Status LocateFiles(FileSample& sample, const iceberg::TableMetadata& metadata, ports::FileIO& io) {
  sample.locations.assign(sample.facts.files.size(), "");
  std::vector<std::uint32_t> all(sample.facts.files.size());
  std::iota(all.begin(), all.end(), 0U);
  const auto visit = [&](std::size_t place, const iceberg::ManifestEntry& entry) -> Status {
    sample.locations[place] = entry.file.file_path;
    return Ok();
  };
  return observe::ForEachFile(sample.facts, all, io, metadata, iceberg::Wanted::planning(), visit);
}

}  // namespace firn::service
