// SPDX-License-Identifier: Apache-2.0
//
// Checks that the levels of nested columns describe lists, and the same ones in columns below the same list.
//
// In: the levels of each column, input by input. Out: whether they can be; a number for each list that columns share.
// Guarantees: an element that goes on a list without one is found; columns whose levels differ down to a shared list
//   are found, up to a collision of 64 bits. Columns whose levels were not looked at take no part.
// Why: readers believe levels. They put an element without a list into the row before, and take the lists from one of
//   the columns but the elements from all: a damaged level of one file then moves values of the files merged with it.
// Cost: about 1 ns a level, and as much again a shared list.
// Errors: kCorrupt; CompareLevels names input and offset, for the others the caller does.
// Threads: one owner.
// Source: README.md "Nested Encoding".
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "splice/output_column.h"
#include "splice/page_open.h"

namespace firn::splice {

class NestingCheck {
 public:
  explicit NestingCheck(const OutputColumn& column) : column_(column) {}
  /// A new chunk.
  void Begin();
  /// Levels of the output, in order.
  Status Add(const std::uint32_t* repetition, const std::uint32_t* definition, std::size_t count);
  /// A number a list in OutputColumn::shared_lists.
  std::vector<std::uint64_t> TakePrints() { return std::move(prints_); }

 private:
  const OutputColumn& column_;
  std::uint32_t last_definition_ = 0;
  std::vector<std::uint64_t> prints_;
};

/// The rows of a nested page whose levels are `sections`. kCorrupt if they are not levels of `num_values` values.
Result<std::int64_t> CountRows(const OutputColumn& column, const PageSections& sections, std::int64_t num_values,
                               NestingCheck& nesting);

/// What the levels of one column of one input are, down to the lists that it shares.
struct InputPrints {
  std::string place;                  // of the column in the input
  std::vector<std::uint64_t> shared;  // empty: not looked at
};

/// Whether the columns agree; `prints` by column and input.
Status CompareLevels(const std::vector<OutputColumn>& columns, const std::vector<std::vector<InputPrints>>& prints);

}  // namespace firn::splice
