// SPDX-License-Identifier: Apache-2.0
//
// Which rows of an input do not go into the output.
//
// In: a caller's set of absolute row positions. Out: per row group a bit a row, and a cursor that walks rows as runs.
// Guarantees: positions are ordinals in the whole input file, whatever its row groups are; those behind the last row
//   delete nothing. Rows outside of a RowFilter stay.
// Cost: an eighth of a byte a row of a row group that has deleted rows; nothing for the others.
// Errors: kLimit if that is more than the memory allows; kInternal for a set that contradicts itself.
// Threads: the caller's set is only used by the thread that calls Splice; a RowFilter may be shared, a cursor not.
// Source: Iceberg table spec, "Position Delete Files", "Deletion Vectors".
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "base/result.h"

namespace firn::splice {

/// Takes the rows from `begin` up to `end`, without `end`.
using RowRangeVisitor = std::function<void(std::int64_t begin, std::int64_t end)>;

/// A sorted set of deleted row positions of one input file.
class DeletedRows {
 public:
  virtual ~DeletedRows() = default;
  /// Deleted positions in [begin, end).
  virtual std::int64_t CountDeleted(std::int64_t begin, std::int64_t end) const = 0;
  /// Visits them as ranges, in order, each at least one row long and inside [begin, end).
  virtual void VisitDeleted(std::int64_t begin, std::int64_t end, const RowRangeVisitor& visit) const = 0;
};

/// Positions in a vector.
class DeletedRowList final : public DeletedRows {
 public:
  /// In any order, also several times.
  explicit DeletedRowList(std::vector<std::int64_t> positions);
  std::int64_t CountDeleted(std::int64_t begin, std::int64_t end) const override;
  void VisitDeleted(std::int64_t begin, std::int64_t end, const RowRangeVisitor& visit) const override;

 private:
  std::vector<std::int64_t> positions_;
};

/// The deleted rows of one row group.
class RowFilter {
 public:
  /// For the rows [first_row, first_row + rows) of the file; null if none of them is deleted.
  static Result<std::shared_ptr<const RowFilter>> Make(const DeletedRows& deleted, std::int64_t first_row,
                                                       std::int64_t rows, std::int64_t bytes_max);

  std::int64_t rows() const { return rows_; }
  std::int64_t deleted() const { return deleted_; }
  /// Rows from here on count from the start of the row group.
  bool IsDeleted(std::int64_t row) const {
    return row < rows_ && (words_[static_cast<std::size_t>(row) / 64] >> (row % 64) & 1) != 0;
  }
  std::int64_t CountDeleted(std::int64_t begin, std::int64_t end) const;
  /// The end of the run of rows from `row` on that are all deleted or all stay; at most `end`, which is above `row`.
  std::int64_t RunEnd(std::int64_t row, std::int64_t end) const;

 private:
  RowFilter() = default;
  void Delete(std::int64_t begin, std::int64_t end);

  std::vector<std::uint64_t> words_;  // a set bit is a deleted row
  std::int64_t rows_ = 0, deleted_ = 0;
};

/// Walks the rows of a row group in order.
class RowCursor {
 public:
  /// Without a filter every row stays.
  explicit RowCursor(const RowFilter* filter) : filter_(filter) {}

  struct Run {
    bool kept = true;
    std::int64_t rows = 0;
  };
  /// The next row that was not passed.
  std::int64_t next_row() const { return next_row_; }
  /// Of the next `rows` rows.
  std::int64_t CountDeleted(std::int64_t rows) const;
  void Pass(std::int64_t rows) {
    next_row_ += rows;
    kept_ = true;
  }
  /// Passes up to `rows_max` rows (at least 1) that all stay or all go.
  Run PassRun(std::int64_t rows_max);

  /// For values of nested columns, one row at a time: whether the next row stays; to be in it; whether the one we are
  /// in stays.
  bool next_stays() const { return filter_ == nullptr || !filter_->IsDeleted(next_row_); }
  void Enter() {
    kept_ = next_stays();
    ++next_row_;
  }
  bool kept() const { return kept_; }

 private:
  const RowFilter* filter_;
  std::int64_t next_row_ = 0;
  bool kept_ = true;
};

}  // namespace firn::splice
