// SPDX-License-Identifier: Apache-2.0
//
// Projects a test on a column to a partition field that is made from it.
//
// In: the field, the type of its column, what is known of the partition's value, the test. Out: whether a row that
//   passes the test may be there.
// Guarantees: inclusive: false only where no row can pass. False for a range: false for every value in it.
// Cost: O(literals).
// Threads: pure.
// Source: Iceberg table spec, "Scan Planning" (inclusive projection), Appendix E for time transforms of writers that
//   rounded values before 1970 towards zero.
#pragma once

#include <vector>

#include "decide/where.h"
#include "iceberg/partition_ranges.h"
#include "iceberg/partition_spec.h"

namespace firn::decide {

/// Whether tests can be projected through it at all; of others nothing is known.
bool CanProject(iceberg::TransformKind kind);

/// In a partition whose field has `value`.
bool MayPass(const iceberg::PartitionField& field, const iceberg::Type& source, const iceberg::Literal& value,
             WhereTest test, const std::vector<iceberg::Literal>& literals);

/// In any of the partitions whose fields have values of `range`.
bool MayPass(const iceberg::PartitionField& field, const iceberg::Type& source, const iceberg::ValueRange& range,
             WhereTest test, const std::vector<iceberg::Literal>& literals);

/// Whether a value of `range` may have the text `text` (ToHumanText).
bool MayHaveText(const iceberg::PartitionField& field, const iceberg::Type& source, const iceberg::ValueRange& range,
                 const std::string& text);

}  // namespace firn::decide
