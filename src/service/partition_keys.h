// SPDX-License-Identifier: Apache-2.0
//
// A set of partitions that work is about.
//
// In: keys of partitions (orient/partition_key.h). Out: whether a partition is one of them, and whether a manifest may
//   hold an entry of one.
// Guarantees: a manifest that holds an entry of one of them is never said not to; a key that is none counts as one
//   that may be anywhere.
// Cost: O(1) a partition; a manifest O(keys of its spec).
// Threads: immutable.
// Source: Iceberg table spec, "Manifest Lists", `field_summary`.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "iceberg/manifest.h"
#include "iceberg/metadata.h"

namespace firn::service {

class PartitionKeys {
 public:
  void Add(std::string_view key);
  bool empty() const { return keys_.empty(); }
  bool Contains(SpecId spec_id, const iceberg::PartitionTuple& tuple) const;
  bool MayBeIn(const iceberg::ManifestFile& manifest, const iceberg::TableMetadata& metadata) const;

 private:
  std::unordered_set<std::string> keys_;
  std::map<SpecId, std::vector<iceberg::PartitionTuple>> tuples_;
  bool has_odd_key_ = false;
};

}  // namespace firn::service
