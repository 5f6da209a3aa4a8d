// SPDX-License-Identifier: Apache-2.0
//
// Which partition values a manifest may hold, as its line in the manifest list tells.
//
// In: a line of the list, the table's metadata. Out: one range a field of the manifest's own spec.
// Guarantees: a value that an entry of the manifest has is always inside. What the line does not tell, or tells in a
//   way that cannot be (no summaries, one too many, bounds that do not decode, are NaN or in the wrong order), leaves
//   the range open; so do fields of unknown and void transforms. Bounds of texts and bytes may have been cut. Zeros of
//   both signs are the same bound.
// Cost: O(fields). Threads: pure.
// Source: Iceberg table spec, "Manifest Lists", `field_summary`; "Scan Planning".
#pragma once

#include <vector>

#include "iceberg/manifest.h"
#include "iceberg/metadata.h"

namespace firn::iceberg {

struct ValueRange {
  Type type;  // of the values
  bool may_be_null = true;
  bool may_be_nan = true;
  bool may_be_other = true;  // neither null nor NaN; then:
  Literal lower, upper;      // null: open

  bool is_open() const { return IsNull(lower); }
  /// Of a type whose bounds writers cut: the upper one may be the beginning of a greater value.
  bool may_be_cut() const;
  /// Whether every value that is neither null nor NaN is `lower`.
  bool is_one_value() const;
  bool MayHold(const Literal& value) const;
};

/// Empty if the metadata does not have the spec.
std::vector<ValueRange> PartitionRangesOf(const ManifestFile& manifest, const TableMetadata& metadata);

/// Whether an entry may have the tuple; true for a tuple of another size.
bool MayHold(const std::vector<ValueRange>& ranges, const PartitionTuple& tuple);

}  // namespace firn::iceberg
