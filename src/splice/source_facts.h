// SPDX-License-Identifier: Apache-2.0
//
// What an input's footer, page headers and page index say about each page of a chunk, as far as it may be trusted.
//
// In: a scanned chunk. Out: per page nulls, rows and bounds, and the same for the whole chunk.
// Guarantees: bounds are of the page if its index or header has them, else those of its chunk: wider, still right.
//   Rows of nested V1 pages are known only from an offset index that matches the pages; of V2 pages they are not known
//   where a page goes on with the row of the page before, as arrow-go makes them.
// Cost: the page index is read and parsed only when it is needed: not for chunks of one page.
// Errors: none: what cannot be read or does not fit counts as unknown.
// Threads: one owner.
// Source: PageIndex.md; parquet.thrift Statistics.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "format/parquet/metadata.h"
#include "splice/bounds.h"
#include "splice/chunk_scan.h"
#include "splice/output_column.h"

namespace firn::splice {

class SourceFacts {
 public:
  /// `input_max_definition` of the input leaf.
  SourceFacts(const OutputColumn& column, const ChunkScan& scan, std::uint32_t input_max_definition);

  const parquet::ColumnMetaData* meta() const { return scan_.meta; }
  BoundsView chunk_bounds() const { return chunk_bounds_; }
  /// Nulls of the whole chunk.
  std::optional<std::int64_t> chunk_nulls() const { return chunk_nulls_; }
  BoundsView PageBounds(std::size_t page);
  std::optional<std::int64_t> PageNulls(std::size_t page);
  std::optional<std::int64_t> PageRows(std::size_t page);

 private:
  void LoadIndexes();
  bool LocationsFit(const parquet::OffsetIndex& index) const;

  const OutputColumn& column_;
  const ChunkScan& scan_;
  StatisticsTrust trust_;
  BoundsView chunk_bounds_;
  std::optional<std::int64_t> chunk_nulls_;
  bool loaded_ = false;
  std::optional<parquet::OffsetIndex> offsets_;
  std::optional<parquet::ColumnIndex> index_;
};

}  // namespace firn::splice
