// SPDX-License-Identifier: Apache-2.0
#include "orient/partition_key.h"

#include <utility>

#include "base/bytes.h"

namespace firn::orient {

std::string PartitionKeyOf(SpecId spec_id, const iceberg::PartitionTuple& tuple) {
  std::string key(sizeof spec_id.value, '\0');
  StoreLittle(reinterpret_cast<std::uint8_t*>(key.data()), spec_id.value);
  key += iceberg::TupleKey(tuple);
  return key;
}

Result<KeyedPartition> PartitionOfKey(std::string_view key) {
  KeyedPartition partition;
  if (key.size() < sizeof partition.spec_id.value) return Error{Code::kCorrupt, "not the key of a partition"};
  partition.spec_id = SpecId(LoadLittle<std::int32_t>(AsBytes(key).data()));
  FIRN_ASSIGN(partition.tuple, iceberg::TupleFromKey(key.substr(sizeof partition.spec_id.value)));
  return partition;
}

}  // namespace firn::orient
