// SPDX-License-Identifier: Apache-2.0
#include "observe/partition_table.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <tuple>

namespace firn::observe {
namespace {

void AddSums(const PartitionFacts& from, PartitionFacts& to) {
  to.file_count += from.file_count;
  to.size_bytes += from.size_bytes;
  to.record_count += from.record_count;
  to.position_delete_files += from.position_delete_files;
  to.equality_delete_files += from.equality_delete_files;
  to.deletion_vectors += from.deletion_vectors;
  to.deleted_rows_max += from.deleted_rows_max;
}

std::string TextOf(const iceberg::TableMetadata& metadata, const PartitionFacts& partition) {
  const iceberg::PartitionSpec* spec = metadata.FindSpec(partition.spec_id);
  return spec == nullptr ? std::string() : iceberg::PartitionText(*spec, metadata.current_schema(), partition.tuple);
}

}  // namespace

std::uint32_t ManifestPartitions::Find(const iceberg::PartitionTuple& tuple) {
  if (!partitions_.empty() && iceberg::SameTuple(partitions_[last_].tuple, tuple)) return last_;
  const auto [found, is_new] =
      by_tuple_.try_emplace(iceberg::TupleKey(tuple), static_cast<std::uint32_t>(partitions_.size()));
  last_ = found->second;
  if (is_new) {
    PartitionFacts& partition = partitions_.emplace_back();
    partition.spec_id = spec_id_;
    partition.tuple = tuple;
    wanted_.push_back(!filter_ || filter_(spec_id_, tuple));
  }
  return last_;
}

void PartitionTable::Merge(ManifestPartitions own, std::vector<DataFileFacts> files) {
  std::vector<std::string> keys(own.partitions_.size());
  for (const auto& [tuple_key, index] : own.by_tuple_) {
    keys[index] = std::to_string(own.spec_id_.value) + ':' + tuple_key;
  }
  const std::lock_guard lock(mutex_);
  std::vector<std::uint32_t> global(own.partitions_.size());
  for (std::size_t i = 0; i < own.partitions_.size(); ++i) {
    if (!own.wanted_[i]) continue;
    const auto [found, is_new] =
        by_key_.try_emplace(std::move(keys[i]), static_cast<std::uint32_t>(partitions_.size()));
    global[i] = found->second;
    if (is_new) {
      own.partitions_[i].text = TextOf(metadata_, own.partitions_[i]);
      partitions_.push_back(std::move(own.partitions_[i]));
    } else {
      AddSums(own.partitions_[i], partitions_[found->second]);
    }
  }
  for (DataFileFacts& file : files) {
    file.partition = global[file.partition];
    files_.push_back(file);
  }
}

void PartitionTable::Finish(Facts& facts) {
  // Partitions come in the order in which their first file stands in the manifest list; those with deletes alone last.
  constexpr auto kNone = std::numeric_limits<std::uint32_t>::max();
  std::vector<std::pair<std::uint32_t, std::uint32_t>> first(partitions_.size(), {kNone, kNone});
  for (const DataFileFacts& file : files_) {
    first[file.partition] = std::min(first[file.partition], {file.manifest, file.ordinal});
  }
  std::vector<std::uint32_t> order(partitions_.size());
  std::iota(order.begin(), order.end(), 0u);
  std::ranges::sort(order, [&](std::uint32_t a, std::uint32_t b) {
    if (first[a] != first[b]) return first[a] < first[b];
    const auto& pa = partitions_[a];
    const auto& pb = partitions_[b];
    return std::make_tuple(pa.spec_id, iceberg::TupleKey(pa.tuple)) <
           std::make_tuple(pb.spec_id, iceberg::TupleKey(pb.tuple));
  });
  std::vector<std::uint32_t> place(partitions_.size());
  facts.partitions.reserve(partitions_.size());
  for (std::uint32_t i = 0; i < order.size(); ++i) {
    place[order[i]] = i;
    facts.partitions.push_back(std::move(partitions_[order[i]]));
  }
  for (DataFileFacts& file : files_) file.partition = place[file.partition];
  std::ranges::sort(files_, [](const DataFileFacts& a, const DataFileFacts& b) {
    return std::tie(a.partition, a.manifest, a.ordinal) < std::tie(b.partition, b.manifest, b.ordinal);
  });
  facts.files = std::move(files_);
}

}  // namespace firn::observe
