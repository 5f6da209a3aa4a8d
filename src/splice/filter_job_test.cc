// SPDX-License-Identifier: Apache-2.0
#include "splice/filter_job_test.h"

#include <gtest/gtest.h>

#include <numeric>

namespace firn::splice::testing {

std::int64_t BytesOf(const Report& report, Tier tier) { return report.tiers[static_cast<std::size_t>(tier)].bytes; }

std::vector<std::int64_t> RowRange(std::int64_t begin, std::int64_t end) {
  std::vector<std::int64_t> rows(static_cast<std::size_t>(end - begin));
  std::iota(rows.begin(), rows.end(), begin);
  return rows;
}

std::vector<std::int64_t> SomeRows(std::int64_t rows, std::uint64_t share, Random& random) {
  std::vector<std::int64_t> positions;
  for (std::int64_t row = 0; row < rows; ++row) {
    if (random.Below(share) == 0) positions.push_back(row);
  }
  return positions;
}

void FilterJob::Add(const TablePtr& table, const FileChoice& choice, std::vector<std::int64_t> positions) {
  Input input = InputOf("file" + std::to_string(inputs.size()), WriteFile(table, choice));
  auto deleted_rows = std::make_shared<DeletedRowList>(std::move(positions));
  deleted += deleted_rows->CountDeleted(0, RowsOf(table));
  for (TablePtr& slice : WithoutRows(table, *deleted_rows)) remaining.push_back(std::move(slice));
  input.expected_rows = RowsOf(table);
  input.deleted_rows = std::move(deleted_rows);
  inputs.push_back(std::move(input));
}

Spliced CheckJob(const FilterJob& job, const Options& options) {
  const Result<Spliced> spliced = SpliceFiles(job.inputs, options);
  EXPECT_TRUE(spliced) << ToString(spliced.error());
  if (!spliced) return {};
  EXPECT_EQ(DifferenceOf(job.remaining, spliced->file), "");
  EXPECT_EQ(spliced->report.deleted_rows, job.deleted);
  std::int64_t base = 0;
  for (std::size_t i = 0; i < job.inputs.size(); ++i) {
    EXPECT_EQ(spliced->report.input_row_bases[i], base);
    const std::int64_t rows = *job.inputs[i].expected_rows;
    base += rows - job.inputs[i].deleted_rows->CountDeleted(0, rows);
  }
  EXPECT_EQ(base, spliced->report.rows);
  return *spliced;
}

void ExpectArrowsStatistics(const FilterJob& job, const Spliced& spliced) {
  const parquet::FileMetaData ours = FooterOf(spliced.file);
  ASSERT_EQ(ours.row_groups.size(), 1U);
  const parquet::FileMetaData theirs = FooterOf(WriteFile(Joined(job.remaining)));
  for (std::size_t c = 0; c < ours.row_groups[0].columns.size(); ++c) {
    SCOPED_TRACE(c);
    const auto& found = ours.row_groups[0].columns[c].meta->statistics;
    const auto& expected = theirs.row_groups[0].columns[c].meta->statistics;
    ASSERT_TRUE(found.has_value() && expected.has_value());
    EXPECT_EQ(found->null_count, expected->null_count);
    EXPECT_EQ(found->min_value, expected->min_value);
    EXPECT_EQ(found->max_value, expected->max_value);
  }
}

}  // namespace firn::splice::testing
