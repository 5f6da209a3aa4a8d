// SPDX-License-Identifier: Apache-2.0
//
// Names a partition by bytes: its spec and its tuple.
//
// Guarantees: two keys are equal exactly when spec id and tuple are (SameTuple). The key of a partition does not change
//   while its table's partitioning does not (observe/partitioning.h).
// Cost: 4 bytes and 5 an int or date, 9 a long, 9 and the text a string.
// Threads: pure.
// Errors: kCorrupt for bytes that are no key.
#pragma once

#include <string>
#include <string_view>

#include "base/ids.h"
#include "base/result.h"
#include "iceberg/partition_spec.h"

namespace firn::orient {

std::string PartitionKeyOf(SpecId spec_id, const iceberg::PartitionTuple& tuple);

struct KeyedPartition {
  SpecId spec_id{0};
  iceberg::PartitionTuple tuple;
};
Result<KeyedPartition> PartitionOfKey(std::string_view key);

}  // namespace firn::orient
