// SPDX-License-Identifier: Apache-2.0
//
// Metrics of a merged data file from the metrics of the files that went into it.
//
// In: the inputs' manifest metrics and where each output leaf came from; compressed bytes of each leaf.
// Out: the metrics maps of the output's DataFile, for the columns of the current schema.
// Guarantees: counts are exact or absent; bounds bound every value or are absent. A metric that one input with rows
//   lacks is left out: nothing is computed anew, so the output never knows more than its inputs did. Inputs whose
//   values are all null (or NaN) do not take part in bounds. Columns that an input lacks count as the nulls or
//   constants that were written for them. Bounds are in the current type, and cut as the metrics mode asks; columns in
//   lists and maps, variants and geometries get none.
//   If rows of an input were deleted, counts are known where they are about none or all of its values; other null
//   counts and all bounds are those that the written file states. Engines take bounds for the least and greatest value
//   of a file without deletes, so bounds that are not exact are left out, but for texts that are cut anyway.
// Cost: O(inputs x columns); memory: about 200 bytes a column, whatever the number of inputs is.
// Errors: none: a bound that does not decode is treated as missing.
// Threads: pure.
// Source: Iceberg table spec, "Data File Fields", Appendix D "Binary single-value serialization".
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "format/parquet/metadata.h"
#include "iceberg/manifest.h"
#include "iceberg/metrics_config.h"
#include "iceberg/types.h"
#include "splice/splice.h"

namespace firn::iceberg {

struct MetricsInput {
  const DataFile* file = nullptr;
  /// One per output leaf, as ResolveColumns gave them; null: every leaf was copied.
  const std::vector<splice::ColumnSource>* columns = nullptr;
  /// Rows of the file that are not in the output.
  std::int64_t deleted_rows = 0;
};

/// Takes the inputs one by one, in any order.
class MetricsMerger {
 public:
  /// `output` is the schema of the written file. All arguments outlive the merger.
  MetricsMerger(const Schema& schema, const std::vector<parquet::SchemaElement>& output, const MetricsConfig& config);
  ~MetricsMerger();
  void Add(const MetricsInput& input);
  /// `leaf_bytes`: compressed bytes per leaf of the output (splice::Report). Replaces column_sizes, value, null and NaN
  /// counts and bounds of `merged`, and clears its distinct counts. `written`: the footer of the output; needed only if
  /// rows were deleted.
  void Store(std::span<const std::int64_t> leaf_bytes, DataFile& merged,
             const parquet::FileMetaData* written = nullptr) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace firn::iceberg
