// SPDX-License-Identifier: Apache-2.0
//
// Sums up the partition values of a manifest's entries for its line in the manifest list.
//
// In: tuples of one spec. Out: a summary per field: nulls, NaN, least and greatest other value.
// Guarantees: bounds are never cut; values are compared in the order of their type, -0.0 before 0.0.
// Cost: O(fields) an entry. Threads: one owner.
// Source: Iceberg table spec, "Manifest Lists", `field_summary`.
#pragma once

#include <vector>

#include "iceberg/manifest.h"

namespace firn::iceberg {

class PartitionSummary {
 public:
  explicit PartitionSummary(std::vector<Type> types) : types_(std::move(types)), fields_(types_.size()) {}

  /// `tuple` has a value for every field.
  void Add(const PartitionTuple& tuple);
  std::vector<FieldSummary> Finish() const;

 private:
  struct Range {
    bool contains_null = false, contains_nan = false;
    Literal lower, upper;  // null: none yet
  };
  std::vector<Type> types_;
  std::vector<Range> fields_;
};

}  // namespace firn::iceberg
