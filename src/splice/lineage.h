// SPDX-License-Identifier: Apache-2.0
//
// Values of row lineage columns: numbers that follow from where a row was.
//
// In: the id of a row group's first row, or one number for all of them. Out: values for rows, wherever the column holds
//   none of its own.
// Guarantees: a row's id is that of the file's first row plus its position in the file, before any row is left out.
// Cost: about 1 ns a value. Threads: one owner.
// Source: Iceberg table spec, "Row Lineage".
#pragma once

#include <cstdint>

#include "splice/page_values.h"
#include "splice/row_filter.h"
#include "splice/splice.h"

namespace firn::splice {

/// What rows of one row group hold that have no value of their own.
struct LineageFill {
  bool counts = false;      // else the same value in every row
  std::int64_t number = 0;  // of the row group's first row, or of all

  /// The value in PLAIN encoding if all rows have the same.
  ByteView plain() const { return {reinterpret_cast<const std::uint8_t*>(&number), sizeof number}; }
  /// Values of the rows from `row` on. `index` is the place of the value in the dictionary, for kIndices.
  void Append(std::int64_t row, std::size_t count, std::uint32_t index, PageValues& out) const;
};

/// Whether a column source is about row lineage.
inline bool IsLineage(ColumnSource::Kind kind) {
  return kind == ColumnSource::Kind::kRowId || kind == ColumnSource::Kind::kSequenceNumber;
}

/// Row ids of the rows that stay.
class RowIdFeed final : public ValueFeed {
 public:
  RowIdFeed(const LineageFill& fill, const RowFilter* filter) : fill_(fill), cursor_(filter) {}
  Status Take(std::size_t count, PageValues& out) override;
  Status Skip(std::size_t count) override;
  std::size_t StepMax() const override { return std::size_t{1} << 14; }
  bool AtEnd() const override { return true; }

 private:
  LineageFill fill_;
  RowCursor cursor_;
};

}  // namespace firn::splice
