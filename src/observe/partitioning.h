// SPDX-License-Identifier: Apache-2.0
//
// Tells whether partitions still mean what they meant: one number for all specs of a table and the types of their
// values.
//
// In: table metadata. Out: a number; another one when a spec is added, when a partition value gets another type, and
//   when the table is raised to format version 3.
// Guarantees: depends on specs, transforms, result types and that version only, not on their order. Never 0.
// Cost: O(specs x fields). Threads: pure.
// Source: Iceberg table spec, "Partition Evolution", "Schema Evolution" (promoted types change the tuple of old files).
#pragma once

#include <cstdint>

#include "iceberg/metadata.h"

namespace firn::observe {

std::uint64_t PartitioningOf(const iceberg::TableMetadata& metadata);

}  // namespace firn::observe
