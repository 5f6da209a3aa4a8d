// SPDX-License-Identifier: Apache-2.0
//
// What the footer of a written file states of a column over all of its row groups.
//
// In: a footer. Out: counts and bounds.
// Guarantees: a number that one row group with values lacks, or that is impossible there, is left out. Bounds bound
//   every value; `exact` tells whether they are values.
// Cost: O(row groups). Errors: none: what does not decode is left out.
// Threads: pure.
// Source: parquet.thrift Statistics, ColumnMetaData.
#pragma once

#include <cstdint>
#include <optional>

#include "format/parquet/metadata.h"
#include "iceberg/literal.h"
#include "iceberg/metric_column.h"

namespace firn::iceberg {

struct WrittenBound {
  std::optional<Literal> value;
  /// Where the file says nothing, bounds of texts may have been cut, others not.
  std::optional<bool> exact;
};

struct WrittenMetrics {
  std::optional<std::int64_t> values, nulls, nans;
  WrittenBound lower, upper;  // both or none
};

WrittenMetrics WrittenMetricsOf(const MetricColumn& column, const parquet::FileMetaData& file);

}  // namespace firn::iceberg
