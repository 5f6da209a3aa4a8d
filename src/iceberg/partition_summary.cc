// SPDX-License-Identifier: Apache-2.0
#include "iceberg/partition_summary.h"

#include <cmath>

namespace firn::iceberg {
namespace {

bool IsNan(const Literal& value) {
  if (const auto* number = std::get_if<float>(&value)) return std::isnan(*number);
  if (const auto* number = std::get_if<double>(&value)) return std::isnan(*number);
  return false;
}

}  // namespace

void PartitionSummary::Add(const PartitionTuple& tuple) {
  for (std::size_t i = 0; i < fields_.size(); ++i) {
    const Literal& value = tuple.values[i];
    Range& range = fields_[i];
    if (IsNull(value)) {
      range.contains_null = true;
    } else if (IsNan(value)) {
      range.contains_nan = true;
    } else if (IsNull(range.lower)) {
      range.lower = range.upper = value;
    } else if (Compare(types_[i], value, range.lower) < 0) {
      range.lower = value;
    } else if (Compare(types_[i], value, range.upper) > 0) {
      range.upper = value;
    }
  }
}

std::vector<FieldSummary> PartitionSummary::Finish() const {
  std::vector<FieldSummary> summaries;
  for (std::size_t i = 0; i < fields_.size(); ++i) {
    const Range& range = fields_[i];
    FieldSummary summary;
    summary.contains_null = range.contains_null;
    summary.contains_nan = range.contains_nan;
    if (!IsNull(range.lower)) {
      summary.lower_bound = EncodeBound(types_[i], range.lower);
      summary.upper_bound = EncodeBound(types_[i], range.upper);
    }
    summaries.push_back(std::move(summary));
  }
  return summaries;
}

}  // namespace firn::iceberg
