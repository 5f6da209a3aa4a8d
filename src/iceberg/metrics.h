// SPDX-License-Identifier: Apache-2.0
//
// Metrics of a merged data file: what its footer states, and what only the metrics of the files that went into it say.
//
// In: the written footer; the inputs' manifest metrics and where each output leaf came from; compressed bytes of each
//   leaf.
// Out: the metrics maps of the output's DataFile, for the columns of the current schema.
// Guarantees: counts are exact or absent; bounds bound every value or are absent. What the footer of the written file
//   states wins: value and null counts, NaN counts if it has them, bounds. For the rest:
//   - Counts are summed over the inputs. A count that one input with rows lacks is left out; counts of an entry that
//     cannot all be true (more nulls and NaN than values, values that are not the rows) say nothing, so that a wrong
//     entry is never about the rows of other files. Columns that an input lacks count as the nulls or constants that
//     were written for them.
//   - Bounds span those of the inputs, but those whose values are all null (or NaN); they are kept as far as the
//     footer's allow.
//   Engines take bounds for the least and greatest value of a file without deletes. So bounds that are not exact, and
//   those of inputs of which rows were deleted, are left out, but for texts that are cut anyway. Bounds are in the
//   current type, and cut as the metrics mode asks; columns in lists and maps, variants and geometries get none.
// Cost: O((inputs + row groups) x columns); memory: about 200 bytes a column, whatever the number of inputs is.
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
  /// counts and bounds of `merged`, and clears its distinct counts. `written`: the footer of the output, as it was read
  /// again; null: all metrics come from the inputs.
  void Store(std::span<const std::int64_t> leaf_bytes, DataFile& merged,
             const parquet::FileMetaData* written = nullptr) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace firn::iceberg
