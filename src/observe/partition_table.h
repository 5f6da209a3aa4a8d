// SPDX-License-Identifier: Apache-2.0
//
// Collects live files by partition, first for one manifest, then for the whole table.
//
// In: entries of manifests. Out: partitions with sums, and files that name their partition by index.
// Guarantees: equal tuples of one spec are one partition; the order after Finish depends on manifests and ordinals
//   only, not on the order in which manifests were merged.
// Cost: one row a partition, 56 bytes a file. Most entries share the partition of the one before: these cost a
//   comparison, others one hash look-up.
// Threads: ManifestPartitions has one owner; PartitionTable::Merge may be called from several threads.
// Source: Iceberg table spec, "Scan Planning" note 3 (equality of tuples).
#pragma once

#include <functional>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "iceberg/delete_index.h"
#include "iceberg/metadata.h"
#include "observe/facts.h"

namespace firn::observe {

using PartitionFilter = std::function<bool(SpecId, const iceberg::PartitionTuple&)>;

/// Partitions of one manifest. Indexes are its own.
class ManifestPartitions {
 public:
  ManifestPartitions(SpecId spec_id, const PartitionFilter& filter) : spec_id_(spec_id), filter_(filter) {}

  /// Index of the tuple's partition.
  std::uint32_t Find(const iceberg::PartitionTuple& tuple);
  /// Whether the filter wants it.
  bool IsWanted(std::uint32_t index) const { return wanted_[index]; }
  PartitionFacts& at(std::uint32_t index) { return partitions_[index]; }

 private:
  friend class PartitionTable;
  SpecId spec_id_;
  const PartitionFilter& filter_;
  std::unordered_map<std::string, std::uint32_t> by_tuple_;
  std::vector<PartitionFacts> partitions_;
  std::vector<bool> wanted_;
  std::uint32_t last_ = 0;
};

class PartitionTable {
 public:
  explicit PartitionTable(const iceberg::TableMetadata& metadata) : metadata_(metadata) {}

  /// Adds the wanted partitions of a manifest and its files, whose partitions are indexes into `own`.
  void Merge(ManifestPartitions own, std::vector<DataFileFacts> files);
  /// Sorts and moves everything into `facts`. Once.
  void Finish(Facts& facts);

 private:
  const iceberg::TableMetadata& metadata_;
  std::mutex mutex_;
  std::unordered_map<std::string, std::uint32_t> by_key_;  // spec and tuple
  std::vector<PartitionFacts> partitions_;
  std::vector<DataFileFacts> files_;
};

}  // namespace firn::observe
