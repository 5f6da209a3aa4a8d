// SPDX-License-Identifier: Apache-2.0
//
// Merges minimum and maximum of parts into those of the whole, and statistics of input chunks into one.
//
// In: statistics of chunks and pages whose writer may be trusted. Out: bounds that cover every value, or none.
// Guarantees: a part with values but without bounds makes the whole have none; a part without values takes no part;
//   NaN is never a bound; a zero has the sign the specification asks for; exactness is that of the part that won.
// Cost: a comparison a part; it allocates when a part wins.
// Threads: one owner.
// Source: parquet.thrift Statistics, ColumnOrder; SizeStatistics.
#pragma once

#include <cstdint>
#include <optional>

#include "base/bytes.h"
#include "format/parquet/metadata.h"
#include "format/parquet/quirks.h"
#include "splice/value_order.h"

namespace firn::splice {

/// Bounds of a part, pointing into the input's footer or index.
struct BoundsView {
  bool known = false;
  ByteView min, max;
  std::optional<bool> min_exact, max_exact;
};

/// What is needed to judge the statistics of one column of one input.
struct StatisticsTrust {
  const parquet::SchemaElement* element = nullptr;  // of the input
  parquet::ColumnOrder order = parquet::ColumnOrder::kUndefined;
  const parquet::Quirks* quirks = nullptr;
  ValueOrder value_order = ValueOrder::kNone;  // of the output column
};

/// The bounds in `statistics` if they may be trusted.
BoundsView TrustedBounds(const parquet::Statistics& statistics, const StatisticsTrust& trust);
/// A pair from a column index.
BoundsView TrustedBounds(ByteView min, ByteView max, const StatisticsTrust& trust);

/// Whether bounds of fixed-width values have their width. Deprecated ones that some writers give as no bytes are none.
bool BoundsAreValues(const parquet::Statistics& statistics, const parquet::SchemaElement& element);

class Bounds {
 public:
  /// The part has at least one value that is not null.
  void Merge(const BoundsView& part, ValueOrder order);
  void Merge(const Bounds& other, ValueOrder order);
  void Reset();

  /// At least one part was merged.
  bool any() const { return any_; }
  /// All parts had bounds (also when there was none).
  bool known() const { return known_; }
  const Bytes& min() const { return min_; }
  const Bytes& max() const { return max_; }
  std::optional<bool> min_exact() const { return min_exact_; }
  std::optional<bool> max_exact() const { return max_exact_; }

 private:
  bool any_ = false, known_ = true;
  Bytes min_, max_;
  std::optional<bool> min_exact_, max_exact_;
};

/// Sums what can be summed over the chunks that make up an output chunk.
class ChunkTotals {
 public:
  /// One input chunk whose levels stay as they are.
  void Add(const parquet::ColumnMetaData& meta, std::int64_t non_null_values, ValueOrder order);
  /// Values from no chunk, or from one whose levels change.
  void AddUnknown(bool has_values);
  std::optional<std::int64_t> nan_count() const { return nan_count_; }
  std::optional<parquet::SizeStatistics> size_statistics() const;

 private:
  std::optional<std::int64_t> nan_count_ = 0;
  bool size_known_ = true, size_any_ = false;
  parquet::SizeStatistics size_;
};

}  // namespace firn::splice
