// SPDX-License-Identifier: Apache-2.0
//
// Inputs with deleted rows for the tests of this folder, and what is left of them.
//
// In: tables and row positions. Out: spliced files that were compared with the rows that stay.
// Guarantees: the same seeds make the same job.
// Threads: none.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "splice/arrow_tables_test.h"

namespace firn::splice::testing {

std::int64_t BytesOf(const Report& report, Tier tier);

std::vector<std::int64_t> RowRange(std::int64_t begin, std::int64_t end);
/// Each row with the chance of one in `share`.
std::vector<std::int64_t> SomeRows(std::int64_t rows, std::uint64_t share, Random& random);

struct FilterJob {
  std::vector<Input> inputs;
  std::vector<TablePtr> remaining;
  std::int64_t deleted = 0;

  void Add(const TablePtr& table, const FileChoice& choice, std::vector<std::int64_t> positions);
};

/// Splices, and compares everything that must hold.
Spliced CheckJob(const FilterJob& job, const Options& options = {});
/// The statistics are those that Arrow finds for the same rows in one row group.
void ExpectArrowsStatistics(const FilterJob& job, const Spliced& spliced);

}  // namespace firn::splice::testing
