// SPDX-License-Identifier: Apache-2.0
//
// Types of the partition values that manifests of a spec hold.
//
// In: a spec and the table's metadata. Out: one type a partition field.
// Guarantees: a source column that was dropped keeps the type that it had in the newest schema with it, so that old
//   manifests can be read and written again; `unknown` where no schema has it, and for unknown transforms.
// Cost: O(fields), and O(schemas) for dropped columns. Threads: pure.
// Source: Iceberg table spec, "Partition Transforms", "Partition Evolution" (dropped source columns).
#pragma once

#include <vector>

#include "iceberg/metadata.h"

namespace firn::iceberg {

std::vector<Type> PartitionTypesIn(const TableMetadata& metadata, const PartitionSpec& spec);

}  // namespace firn::iceberg
