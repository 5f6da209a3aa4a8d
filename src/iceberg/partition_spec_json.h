// SPDX-License-Identifier: Apache-2.0
//
// Partition specs as JSON: in table metadata, and (the fields alone) in the header of a manifest.
//
// Guarantees: fields without `field-id` (v1) get 1000, 1001, ... in their order.
// Errors: kCorrupt for a missing or wrong member. A transform of several source columns reads as an unknown
//   transform of the first column.
// Threads: pure.
// Source: Iceberg table spec, Appendix C, "Partition Specs".
#pragma once

#include "format/json/json.h"
#include "iceberg/partition_spec.h"

namespace firn::iceberg {

Result<PartitionSpec> PartitionSpecFromJson(const json::Value& value);
Result<std::vector<PartitionField>> PartitionFieldsFromJson(const json::Value& list);

json::Value PartitionFieldsToJson(const std::vector<PartitionField>& fields);

}  // namespace firn::iceberg
