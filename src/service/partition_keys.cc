// SPDX-License-Identifier: Apache-2.0
#include "service/partition_keys.h"

#include <algorithm>
#include <utility>

#include "iceberg/partition_ranges.h"
#include "orient/partition_key.h"

namespace firn::service {

void PartitionKeys::Add(std::string_view key) {
  if (!keys_.insert(std::string(key)).second) return;
  auto partition = orient::PartitionOfKey(key);
  if (partition) {
    tuples_[partition->spec_id].push_back(std::move(partition->tuple));
  } else {
    has_odd_key_ = true;
  }
}

bool PartitionKeys::Contains(SpecId spec_id, const iceberg::PartitionTuple& tuple) const {
  return keys_.contains(orient::PartitionKeyOf(spec_id, tuple));
}

bool PartitionKeys::MayBeIn(const iceberg::ManifestFile& manifest, const iceberg::TableMetadata& metadata) const {
  if (has_odd_key_) return true;
  const auto tuples = tuples_.find(manifest.spec_id);
  if (tuples == tuples_.end()) return false;
  const auto ranges = iceberg::PartitionRangesOf(manifest, metadata);
  return std::ranges::any_of(
      tuples->second, [&ranges](const iceberg::PartitionTuple& tuple) { return iceberg::MayHold(ranges, tuple); });
}

}  // namespace firn::service
