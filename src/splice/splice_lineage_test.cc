// SPDX-License-Identifier: Apache-2.0
// Row ids and sequence numbers in the output against a model of the specification's rules.
#include <gtest/gtest.h>

#include <algorithm>

#include "splice/filter_job_test.h"

namespace firn::splice::testing {
namespace {

using Longs = std::vector<std::optional<std::int64_t>>;

/// Tables with row lineage columns in some, and what the output must hold.
struct LineageJob {
  std::vector<Input> inputs;
  std::vector<TablePtr> remaining;  // without the lineage columns
  Longs ids, sequences;
  Options options;

  LineageJob() {
    const TablePtr empty = SeededTable({"int64", "string"}, 1, 0, 1);
    options.schema = FooterOf(WriteFile(WithLongs(WithLongs(empty, "_row_id", {1}), "_seq", {1}))).schema;
  }

  /// `stored_*`: what the file has; null: no such column.
  void Add(const TablePtr& table, std::optional<std::int64_t> first_row_id, std::optional<std::int64_t> sequence,
           const Longs* stored_ids, const Longs* stored_sequences, std::vector<std::int64_t> deleted,
           const FileChoice& choice = {}) {
    TablePtr written = table;
    std::vector<ColumnSource> columns(4);
    for (std::int32_t c = 0; c < 2; ++c) columns[static_cast<std::size_t>(c)].leaf = c;
    const auto lineage = [&](ColumnSource& source, ColumnSource::Kind kind, std::optional<std::int64_t> number,
                             const Longs* stored, const char* name, std::int32_t& next_leaf) {
      source.kind = kind;
      source.number = number;
      if (stored == nullptr) return;
      written = WithLongs(written, name, *stored);
      source.leaf = next_leaf++;
    };
    std::int32_t next_leaf = 2;
    lineage(columns[2], ColumnSource::Kind::kRowId, first_row_id, stored_ids, "id", next_leaf);
    lineage(columns[3], ColumnSource::Kind::kSequenceNumber, sequence, stored_sequences, "seq", next_leaf);
    const DeletedRowList rows(deleted);
    for (std::int64_t row = 0; row < RowsOf(table); ++row) {
      if (rows.CountDeleted(row, row + 1) > 0) continue;
      const auto at = static_cast<std::size_t>(row);
      std::optional<std::int64_t> id, seq;
      if (stored_ids != nullptr) id = (*stored_ids)[at];
      if (stored_sequences != nullptr) seq = (*stored_sequences)[at];
      if (!id && first_row_id) id = *first_row_id + row;
      if (!seq) seq = sequence;
      ids.push_back(id);
      sequences.push_back(seq);
    }
    for (TablePtr& slice : WithoutRows(table, rows)) remaining.push_back(std::move(slice));
    Input input = InputOf("file" + std::to_string(inputs.size()), WriteFile(written, choice));
    input.columns = std::move(columns);
    if (!deleted.empty()) input.deleted_rows = std::make_shared<DeletedRowList>(std::move(deleted));
    inputs.push_back(std::move(input));
  }

  Spliced Check() const {
    const Result<Spliced> spliced = SpliceFiles(inputs, options);
    EXPECT_TRUE(spliced) << ToString(spliced.error());
    if (!spliced) return {};
    EXPECT_EQ(DifferenceOf(remaining, spliced->file), "");
    const TablePtr read = ReadFile(spliced->file);
    EXPECT_EQ(LongsOf(read, "_row_id"), ids);
    EXPECT_EQ(LongsOf(read, "_seq"), sequences);
    ExpectStatistics(*spliced);
    return *spliced;
  }

  /// Of each row group: exact, as all values are known.
  void ExpectStatistics(const Spliced& spliced) const {
    std::size_t row = 0;
    for (const parquet::RowGroup& group : FooterOf(spliced.file).row_groups) {
      const auto rows = static_cast<std::size_t>(group.num_rows);
      for (const std::size_t c : {std::size_t{2}, std::size_t{3}}) {
        const Longs& all = c == 2 ? ids : sequences;
        std::optional<std::int64_t> low, high;
        std::int64_t nulls = 0;
        for (std::size_t i = row; i < row + rows; ++i) {
          nulls += all[i] ? 0 : 1;
          if (!all[i]) continue;
          low = low ? std::min(*low, *all[i]) : *all[i];
          high = high ? std::max(*high, *all[i]) : *all[i];
        }
        const auto number = [](const std::optional<Bytes>& bytes) {
          return bytes ? std::optional(LoadLittle<std::int64_t>(bytes->data())) : std::nullopt;
        };
        const parquet::Statistics statistics = group.columns[c].meta->statistics.value_or(parquet::Statistics());
        EXPECT_EQ(statistics.null_count, nulls);
        EXPECT_EQ(number(statistics.min_value), low);
        EXPECT_EQ(number(statistics.max_value), high);
      }
      row += rows;
    }
  }
};

/// About one of `share` is null.
Longs SomeLongs(std::int64_t rows, std::int64_t first, std::uint64_t distinct, std::uint64_t share, Random& random) {
  Longs longs;
  for (std::int64_t row = 0; row < rows; ++row) {
    const bool null = share > 0 && random.Below(share) == 0;
    const std::int64_t value = first + (distinct == 0 ? row * 3 : static_cast<std::int64_t>(random.Below(distinct)));
    longs.push_back(null ? std::nullopt : std::optional(value));
  }
  return longs;
}

TEST(SpliceLineage, FilesWithoutTheColumns_CountFromTheirFirstRowId) {
  LineageJob job;
  for (std::uint64_t i = 0; i < 5; ++i) {
    job.Add(SeededTable({"int64", "string"}, 3000, 40, i), static_cast<std::int64_t>(i) * 1000000,
            static_cast<std::int64_t>(i) + 7, nullptr, nullptr, {});
  }
  const Spliced spliced = job.Check();
  EXPECT_EQ(ChunksOf(spliced.report, Tier::kSynthesize), 10);
  const parquet::RowGroup group = FooterOf(spliced.file).row_groups[0];
  // Both cost next to nothing beside the data.
  EXPECT_LT(group.columns[2].meta->total_compressed_size, 3000);
  EXPECT_LT(group.columns[3].meta->total_compressed_size, 300);
  EXPECT_EQ(group.columns[2].meta->encoding_stats[0].encoding, parquet::Encoding::kDeltaBinaryPacked);
  EXPECT_TRUE(group.columns[3].meta->dictionary_page_offset);
}

TEST(SpliceLineage, Positions_CountDeletedRowsAndAllRowGroups) {
  LineageJob job;
  FileChoice choice;
  choice.row_group_rows = 400;
  Random random(1);
  job.Add(SeededTable({"int64", "string"}, 1500, 40, 1), 50, 3, nullptr, nullptr, SomeRows(1500, 5, random), choice);
  job.Add(SeededTable({"int64", "string"}, 1500, 40, 2), 9000, 4, nullptr, nullptr, RowRange(0, 1100), choice);
  job.Check();
}

TEST(SpliceLineage, NeverAssignedIds_AreNull) {
  LineageJob job;
  job.Add(SeededTable({"int64", "string"}, 100, 40, 1), std::nullopt, std::nullopt, nullptr, nullptr, {4, 5});
  const Spliced alone = job.Check();
  EXPECT_EQ(job.ids[0], std::nullopt);
  job.Add(SeededTable({"int64", "string"}, 100, 40, 2), 0, 9, nullptr, nullptr, {});
  job.Check();
}

TEST(SpliceLineage, StoredValues_AreKeptAndNullsAreFilled) {
  for (const bool dictionary : {true, false}) {
    SCOPED_TRACE(dictionary);
    LineageJob job;
    FileChoice choice;
    choice.dictionary = dictionary;
    choice.page_rows = 130;
    Random random(2);
    const Longs ids = SomeLongs(1000, 5000, 0, 4, random), sequences = SomeLongs(1000, 3, 5, 4, random);
    job.Add(SeededTable({"int64", "string"}, 1000, 40, 1), 77000, 12, &ids, &sequences, {}, choice);
    job.Add(SeededTable({"int64", "string"}, 500, 40, 2), 88000, 13, nullptr, nullptr, {}, choice);
    const Spliced spliced = job.Check();
    EXPECT_EQ(ChunksOf(spliced.report, Tier::kReencode), 2);
  }
}

TEST(SpliceLineage, StoredValuesWithoutNulls_NeedNoFilling) {
  LineageJob job;
  Random random(3);
  const Longs ids = SomeLongs(1000, 5000, 0, 0, random), sequences = SomeLongs(1000, 3, 5, 0, random);
  FileChoice plain;
  plain.dictionary = false;
  job.Add(SeededTable({"int64", "string"}, 1000, 0, 1), 77000, 12, &ids, &sequences, {}, plain);
  const Spliced spliced = job.Check();
  EXPECT_EQ(ChunksOf(spliced.report, Tier::kReencode), 0);
}

TEST(SpliceLineage, StoredColumnsOfUnassignedFiles_KeepTheirNulls) {
  LineageJob job;
  Random random(4);
  const Longs ids = SomeLongs(600, 5000, 0, 3, random), sequences = SomeLongs(600, 3, 5, 3, random);
  job.Add(SeededTable({"int64", "string"}, 600, 40, 1), std::nullopt, std::nullopt, &ids, &sequences, {1, 2, 3});
  job.Check();
}

TEST(SpliceLineage, RandomFiles_FollowTheModel) {
  for (std::uint64_t seed = 1000; seed < 1050; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    LineageJob job;
    for (std::uint64_t i = 0, count = 1 + random.Below(5); i < count; ++i) {
      const auto rows = static_cast<std::int64_t>(1 + random.Below(2000));
      FileChoice choice;
      choice.dictionary = random.Below(2) == 0;
      choice.v2 = random.Below(2) == 0;
      choice.page_index = random.Below(2) == 0;
      choice.statistics = random.Below(2) == 0;
      choice.page_rows = static_cast<std::int64_t>(20 + random.Below(3000));
      choice.row_group_rows = random.Below(3) == 0 ? 500 : 1 << 20;
      const std::uint64_t nulls = random.Below(3) == 0 ? 0 : 1 + random.Below(50);
      const Longs ids = SomeLongs(rows, 1 << 20, random.Below(2) * 9, nulls, random);
      const Longs sequences = SomeLongs(rows, 40, random.Below(2) * 6, nulls, random);
      const bool assigned = random.Below(4) != 0, stored = random.Below(2) == 0;
      const auto number = static_cast<std::int64_t>(random.Below(1 << 30));
      std::vector<std::int64_t> deleted;
      if (random.Below(2) == 0) deleted = SomeRows(rows, 1 + random.Below(50), random);
      if (random.Below(8) == 0) deleted = RowRange(0, rows);
      job.Add(SeededTable({"int64", "string"}, rows, 50, random.Next()),
              assigned ? std::optional(number << 20) : std::nullopt, assigned ? std::optional(number) : std::nullopt,
              stored ? &ids : nullptr, stored || random.Below(3) == 0 ? &sequences : nullptr, std::move(deleted),
              choice);
    }
    job.options.threads = random.Below(2) == 0 ? 1 : 2;
    job.options.row_group_row_count_max = random.Below(2) == 0 ? 700 : 1 << 20;
    job.options.page_size_bytes = random.Below(2) == 0 ? 1024 : 1 << 20;
    job.Check();
  }
}

TEST(SpliceLineage, SplicedTwice_KeepsTheIds) {
  LineageJob job;
  Random random(5);
  job.Add(SeededTable({"int64", "string"}, 700, 40, 1), 1000, 2, nullptr, nullptr, SomeRows(700, 9, random));
  job.Add(SeededTable({"int64", "string"}, 700, 40, 2), 4000, 5, nullptr, nullptr, {});
  const Spliced once = job.Check();
  LineageJob again;
  Input input = InputOf("once", once.file);
  input.columns.resize(4);
  for (std::size_t c = 0; c < 4; ++c) input.columns[c].leaf = static_cast<std::int32_t>(c);
  input.columns[2].kind = ColumnSource::Kind::kRowId;
  input.columns[3].kind = ColumnSource::Kind::kSequenceNumber;
  input.columns[2].number = 999999;
  input.columns[3].number = 66;
  const Result<Spliced> twice = SpliceFiles({input, input}, job.options);
  ASSERT_TRUE(twice) << ToString(twice.error());
  Longs ids = job.ids, sequences = job.sequences;
  ids.insert(ids.end(), job.ids.begin(), job.ids.end());
  sequences.insert(sequences.end(), job.sequences.begin(), job.sequences.end());
  EXPECT_EQ(LongsOf(ReadFile(twice->file), "_row_id"), ids);
  EXPECT_EQ(LongsOf(ReadFile(twice->file), "_seq"), sequences);
}

TEST(SpliceLineage, WrongColumnsAndNumbers_AreRefused) {
  const auto code_of = [](LineageJob& job, std::size_t column, std::optional<std::int64_t> number) {
    job.inputs[0].columns[column].kind = ColumnSource::Kind::kRowId;
    job.inputs[0].columns[column].number = number;
    const Result<Spliced> spliced = SpliceFiles(job.inputs, job.options);
    return spliced ? Code::kInternal : spliced.error().code;
  };
  LineageJob job;
  job.Add(SeededTable({"int64", "string"}, 10, 40, 1), 0, 2, nullptr, nullptr, {});
  EXPECT_EQ(code_of(job, 1, 5), Code::kInvalidArgument);  // text in the output
  job.inputs[0].columns[1].kind = ColumnSource::Kind::kCopy;
  EXPECT_EQ(code_of(job, 2, -1), Code::kInvalidArgument);
  EXPECT_EQ(code_of(job, 2, std::numeric_limits<std::int64_t>::max() - 3), Code::kInvalidArgument);
  job.inputs[0].columns[2].leaf = 1;  // text in the input
  EXPECT_EQ(code_of(job, 2, 5), Code::kUnsupported);
  job.inputs[0].columns[2].leaf = 4;
  EXPECT_EQ(code_of(job, 2, 5), Code::kInvalidArgument);
}

}  // namespace
}  // namespace firn::splice::testing
