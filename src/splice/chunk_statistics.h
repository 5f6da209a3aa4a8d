// SPDX-License-Identifier: Apache-2.0
//
// The statistics of an output chunk, merged from those of its inputs; and a feed that repeats a constant.
//
// Guarantees: null_count is a sum of counts that are all known, or absent; bounds likewise; sizes likewise.
// Cost: O(inputs). Threads: one owner.
// Source: parquet.thrift Statistics, SizeStatistics.
#pragma once

#include <cstdint>
#include <optional>

#include "splice/bounds.h"
#include "splice/output_column.h"
#include "splice/page_values.h"
#include "splice/source_facts.h"

namespace firn::splice {

struct ColumnInput;

class ChunkStatistics {
 public:
  explicit ChunkStatistics(const OutputColumn& column) : column_(column) {}
  /// `non_nulls` if the values were counted or the chunk says so. `with_bounds`: not if AddBounds gets those of the
  /// pages that were made of it.
  void AddChunk(const ColumnInput& input, SourceFacts& facts, std::optional<std::int64_t> non_nulls,
                bool with_bounds = true);
  /// Values that are a part of a chunk, or of none. Their bounds come by AddBounds.
  void AddValues(std::int64_t values, std::optional<std::int64_t> non_nulls);
  void AddBounds(const Bounds& bounds) { bounds_.Merge(bounds, column_.order); }
  void AddNulls(std::int64_t rows);
  /// The bounds of the constant, which point into `value`.
  BoundsView AddConstant(std::int64_t rows, ByteView value);
  void Finish(parquet::ColumnMetaData& meta) const;

 private:
  const OutputColumn& column_;
  std::optional<std::int64_t> nulls_ = 0;
  Bounds bounds_;
  ChunkTotals totals_;
};

/// One value for every row.
class ConstantFeed final : public ValueFeed {
 public:
  /// `value` is PLAIN, a BYTE_ARRAY without its length; `index` is its place in the dictionary if `coded`.
  ConstantFeed(const OutputColumn& column, ByteView value, bool coded, std::uint32_t index);
  ValueMode mode() const { return mode_; }
  Status Take(std::size_t count, PageValues& out) override;
  Status Skip(std::size_t) override { return Ok(); }
  std::size_t StepMax() const override;
  bool AtEnd() const override { return true; }

 private:
  ValueMode mode_;
  std::uint32_t index_;
  RawBuffer plain_;
};

}  // namespace firn::splice
