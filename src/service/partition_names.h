// SPDX-License-Identifier: Apache-2.0
//
// Names partitions by their keys.
//
// In: metadata; a key of orient/partition_key.h. Out: "day=2026-01-01/bucket=3", for people.
// Guarantees: holds what it needs of the metadata, which is much larger; "?" for a key that is none of the table's.
// Cost: O(specs). Threads: immutable.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "iceberg/metadata.h"
#include "orient/partition_key.h"

namespace firn::service {

class PartitionNames {
 public:
  explicit PartitionNames(const iceberg::TableMetadata& metadata)
      : specs_(metadata.specs()), schema_(metadata.current_schema()) {}

  std::string operator()(std::string_view key) const {
    const auto partition = orient::PartitionOfKey(key);
    if (!partition) return "?";
    const auto spec = std::ranges::find(specs_, partition->spec_id, [](const auto& each) { return each.id; });
    return spec == specs_.end() ? "?" : iceberg::PartitionText(*spec, schema_, partition->tuple);
  }

 private:
  std::vector<iceberg::PartitionSpec> specs_;
  iceberg::Schema schema_;
};

}  // namespace firn::service
