// SPDX-License-Identifier: Apache-2.0
// Which tier each input takes, and what the output's pages look like.
#include <gtest/gtest.h>

#include "splice/arrow_tables_test.h"
#include "splice/page_surgery_test.h"

namespace firn::splice::testing {
namespace {

using parquet::Codec;
using parquet::Encoding;

TEST(SpliceTier, LargeRowGroup_IsCopiedWhole) {
  const TablePtr table = SeededTable({"int64", "string", "list<int32>"}, 40000, 0, 1, 0.1);
  const Bytes file = WriteFile(table);
  Options options;
  options.row_group_row_count_max = 60000;
  const Spliced spliced = MustSplice({InputOf("a", file), InputOf("b", file)}, options);
  EXPECT_EQ(DifferenceOf({table, table}, spliced.file), "");
  EXPECT_EQ(ChunksOf(spliced.report, Tier::kRowGroup), 6);
  EXPECT_EQ(spliced.report.row_groups, 2);
  // Every byte of the pages is the input's.
  const parquet::FileMetaData in = FooterOf(file), out = FooterOf(spliced.file);
  const std::int64_t in_start = *in.row_groups[0].columns[1].meta->dictionary_page_offset;
  const std::int64_t out_start = *out.row_groups[1].columns[1].meta->dictionary_page_offset;
  const std::int64_t size = in.row_groups[0].columns[1].meta->total_compressed_size;
  EXPECT_EQ(size, out.row_groups[1].columns[1].meta->total_compressed_size);
  EXPECT_TRUE(std::equal(file.begin() + in_start, file.begin() + in_start + size, spliced.file.begin() + out_start));
  EXPECT_TRUE(ColumnIndexOf(spliced.file, 0, 0));
  EXPECT_TRUE(OffsetIndexOf(spliced.file, 0, 2));
}

TEST(SpliceTier, LargePlainPages_AreCopied) {
  FileChoice choice;
  choice.dictionary = false;
  std::vector<TablePtr> tables;
  std::vector<Input> inputs;
  for (int i = 0; i < 3; ++i) {
    tables.push_back(SeededTable({"int64", "double"}, 20000, 0, 2, 0, i * 20000));
    inputs.push_back(InputOf("file" + std::to_string(i), WriteFile(tables.back(), choice)));
  }
  const Spliced spliced = MustSplice(inputs);
  EXPECT_EQ(DifferenceOf(tables, spliced.file), "");
  EXPECT_EQ(ChunksOf(spliced.report, Tier::kPages), 6);
  EXPECT_EQ(spliced.report.row_groups, 1);
  EXPECT_EQ(spliced.report.pages, 6);
}

TEST(SpliceTier, LargePlainPagesBehindADictionary_AreCopiedWhereTheDictionaryGoes) {
  // The dictionaries are full before the chunks end: indices are expanded, what follows them goes as it is.
  FileChoice choice;
  choice.dictionary_bytes = 64 << 10;
  choice.page_rows = 1 << 20;
  Options options;
  options.dictionary_size_bytes = 8000;
  for (const double nulls : {0.0, 0.1}) {
    std::vector<TablePtr> tables;
    std::vector<Input> inputs;
    for (int i = 0; i < 3; ++i) {
      tables.push_back(SeededTable({"int64"}, 60000, 1 << 30, static_cast<std::uint64_t>(i), nulls));
      inputs.push_back(InputOf("file" + std::to_string(i), WriteFile(tables.back(), choice)));
    }
    options.effort = Effort::kBalanced;
    const Spliced spliced = MustSplice(inputs, options);
    EXPECT_EQ(DifferenceOf(tables, spliced.file), "");
    EXPECT_EQ(ChunksOf(spliced.report, Tier::kReencode), 3);
    EXPECT_GT(spliced.report.tiers[static_cast<std::size_t>(Tier::kPages)].bytes,
              spliced.report.tiers[static_cast<std::size_t>(Tier::kReencode)].bytes);
    const parquet::ColumnChunk chunk = FooterOf(spliced.file).row_groups[0].columns[0];
    EXPECT_FALSE(chunk.meta->dictionary_page_offset);
    EXPECT_EQ(chunk.meta->encoding_stats.size(), 1U);
    ASSERT_TRUE(chunk.meta->statistics);
    EXPECT_EQ(chunk.meta->statistics->null_count.value_or(-1) > 0, nulls > 0);
    EXPECT_TRUE(ColumnIndexOf(spliced.file, 0, 0));
    options.effort = Effort::kDense;  // PLAIN pages do not stay
    const Spliced packed = MustSplice(inputs, options);
    EXPECT_EQ(DifferenceOf(tables, packed.file), "");
    EXPECT_EQ(packed.report.tiers[static_cast<std::size_t>(Tier::kPages)].bytes, 0);
  }
}

TEST(SpliceTier, SmallPagesBehindADictionary_AreJoined) {
  FileChoice choice;
  choice.dictionary_bytes = 8 << 10;
  choice.page_rows = 1000;
  Options options;
  options.dictionary_size_bytes = 8000;
  std::vector<TablePtr> tables;
  std::vector<Input> inputs;
  for (int i = 0; i < 3; ++i) {
    tables.push_back(SeededTable({"int64"}, 20000, 1 << 30, static_cast<std::uint64_t>(i), 0));
    inputs.push_back(InputOf("file" + std::to_string(i), WriteFile(tables.back(), choice)));
  }
  const Spliced spliced = MustSplice(inputs, options);
  EXPECT_EQ(DifferenceOf(tables, spliced.file), "");
  EXPECT_EQ(spliced.report.tiers[static_cast<std::size_t>(Tier::kPages)].bytes, 0);
  EXPECT_EQ(spliced.report.pages, 1);
}

TEST(SpliceTier, EqualDictionaries_LargePages_AreCopiedAndCheckedByVerify) {
  FileChoice choice;
  choice.page_rows = 1 << 20;
  const TablePtr table = SeededTable({"string"}, 200000, 20, 3, 0);
  const Bytes file = WriteFile(table, choice);
  const Spliced spliced = MustSplice({InputOf("a", file), InputOf("b", file)});
  EXPECT_EQ(ChunksOf(spliced.report, Tier::kPages), 2);
  EXPECT_EQ(spliced.report.unchecked.size(), 1U);
  EXPECT_EQ(spliced.report.pages, 3);
  EXPECT_EQ(DifferenceOf({table, table}, spliced.file), "");
}

TEST(SpliceTier, PrefixOfTheUnion_LargePages_AreCopied) {
  // The second input's dictionary goes on where the first one ends: only its own indices change.
  FileChoice choice;
  choice.page_rows = 1 << 20;
  const TablePtr first = SeededTable({"int64"}, 200000, 20, 4, 0), second = SeededTable({"int64"}, 200000, 25, 5, 0);
  const Spliced spliced = MustSplice({InputOf("a", WriteFile(first, choice)), InputOf("b", WriteFile(second, choice))});
  EXPECT_EQ(ChunksOf(spliced.report, Tier::kPages), 1);
  EXPECT_EQ(ChunksOf(spliced.report, Tier::kRemap), 1);
  EXPECT_EQ(DifferenceOf({first, second}, spliced.file), "");
}

TEST(SpliceTier, LargeInputBehindSmallOnes_GivesTheDictionary_AndItsPagesAreCopied) {
  FileChoice choice;
  choice.page_rows = 1 << 20;
  for (const char* type : {"int64", "string"}) {
    std::vector<TablePtr> tables;
    std::vector<Input> inputs;
    for (const std::int64_t rows : {900, 800, 300000, 700, 900}) {
      tables.push_back(SeededTable({type}, rows, 200, tables.size(), 0.1));
      inputs.push_back(InputOf("file" + std::to_string(inputs.size()), WriteFile(tables.back(), choice)));
    }
    const Spliced spliced = MustSplice(inputs);
    EXPECT_EQ(DifferenceOf(tables, spliced.file), "");
    EXPECT_EQ(ChunksOf(spliced.report, Tier::kPages), 1) << type;
    EXPECT_EQ(ChunksOf(spliced.report, Tier::kRemap), 4) << type;
  }
}

TEST(SpliceTier, ManySmallFiles_JoinIntoFewPages) {
  std::vector<TablePtr> tables;
  std::vector<Input> inputs;
  for (int i = 0; i < 60; ++i) {
    tables.push_back(SeededTable({"string", "int32"}, 200, 50, static_cast<std::uint64_t>(i), 0.1, i));
    FileChoice choice;
    choice.page_rows = 64;
    inputs.push_back(InputOf("file" + std::to_string(i), WriteFile(tables.back(), choice)));
  }
  const Spliced spliced = MustSplice(inputs);
  EXPECT_EQ(DifferenceOf(tables, spliced.file), "");
  EXPECT_EQ(spliced.report.pages, 4);  // a dictionary and a data page a column
  // The first input's dictionary is a prefix of the union: its indices stay, its pages are joined all the same.
  EXPECT_EQ(ChunksOf(spliced.report, Tier::kRemap), 118);
  EXPECT_EQ(ChunksOf(spliced.report, Tier::kJoin), 2);
  EXPECT_EQ(FooterOf(spliced.file).row_groups[0].columns[0].meta->encoding_stats.size(), 2U);
}

TEST(SpliceTier, DictionariesThatDoNotPay_AreExpandedAndRemembered) {
  std::vector<TablePtr> tables;
  std::vector<Input> inputs;
  for (int i = 0; i < 8; ++i) {
    tables.push_back(SeededTable({"int64"}, 9000, 0, static_cast<std::uint64_t>(i), 0, i * 9000));
    inputs.push_back(InputOf("file" + std::to_string(i), WriteFile(tables.back())));
  }
  Options options;
  options.row_group_row_count_max = 36000;
  const Spliced spliced = MustSplice(inputs, options);
  EXPECT_EQ(DifferenceOf(tables, spliced.file), "");
  EXPECT_EQ(spliced.report.row_groups, 2);
  EXPECT_EQ(ChunksOf(spliced.report, Tier::kReencode), 8);
  for (const parquet::RowGroup& group : FooterOf(spliced.file).row_groups) {
    EXPECT_FALSE(group.columns[0].meta->dictionary_page_offset);
  }
}

TEST(SpliceTier, UnionAboveTheLimit_IsExpanded) {
  std::vector<TablePtr> tables;
  std::vector<Input> inputs;
  for (int i = 0; i < 4; ++i) {
    tables.push_back(SeededTable({"string"}, 5000, 500, static_cast<std::uint64_t>(i), 0.1, i * 400));
    inputs.push_back(InputOf("file" + std::to_string(i), WriteFile(tables.back())));
  }
  Options options;
  options.dictionary_size_bytes = 8000;
  const Spliced spliced = MustSplice(inputs, options);
  EXPECT_EQ(DifferenceOf(tables, spliced.file), "");
  EXPECT_EQ(ChunksOf(spliced.report, Tier::kReencode), 4);
}

TEST(SpliceTier, UnionWithinALargePopulation_IsKept) {
  // Few entries repeat between two inputs, but all of them do in the end.
  std::vector<TablePtr> tables;
  std::vector<Input> inputs;
  for (int i = 0; i < 40; ++i) {
    tables.push_back(SeededTable({"int64"}, 9000, 40000, static_cast<std::uint64_t>(i), 0));
    inputs.push_back(InputOf("file" + std::to_string(i), WriteFile(tables.back())));
  }
  const Spliced spliced = MustSplice(inputs);
  EXPECT_EQ(DifferenceOf(tables, spliced.file), "");
  EXPECT_EQ(ChunksOf(spliced.report, Tier::kReencode), 0);
  EXPECT_TRUE(FooterOf(spliced.file).row_groups[0].columns[0].meta->dictionary_page_offset);
}

TEST(SpliceTier, AnotherCodec_IsRecompressed) {
  FileChoice snappy;
  snappy.codec = Codec::kSnappy;
  snappy.dictionary = false;
  const TablePtr table = SeededTable({"int64"}, 20000, 0, 6, 0);
  Options options;
  options.codec = Codec::kZstd;
  const Spliced spliced =
      MustSplice({InputOf("a", WriteFile(table, snappy)), InputOf("b", WriteFile(table, snappy))}, options);
  EXPECT_EQ(ChunksOf(spliced.report, Tier::kRecompress), 2);
  EXPECT_EQ(DifferenceOf({table, table}, spliced.file), "");
}

TEST(SpliceTier, Codec_IsThatOfMostBytes) {
  const TablePtr small = SeededTable({"string"}, 100, 20, 7, 0.1), large = SeededTable({"string"}, 5000, 0, 8, 0.1);
  FileChoice gzip, snappy;
  gzip.codec = Codec::kGzip;
  snappy.codec = Codec::kSnappy;
  const Spliced spliced = MustSplice({InputOf("a", WriteFile(small, gzip)), InputOf("b", WriteFile(large, snappy))});
  EXPECT_EQ(FooterOf(spliced.file).row_groups[0].columns[0].meta->codec, Codec::kSnappy);
}

TEST(SpliceTier, DictionaryThenPlainPages_InEachInput_DoNotAlternate) {
  std::vector<TablePtr> tables;
  std::vector<Input> inputs;
  for (int i = 0; i < 12; ++i) {
    tables.push_back(SeededTable({"string"}, 4000, 0, static_cast<std::uint64_t>(i), 0.1, i * 4000));
    FileChoice choice;
    choice.dictionary_bytes = 20000;
    choice.page_rows = 500;
    inputs.push_back(InputOf("file" + std::to_string(i), WriteFile(tables.back(), choice)));
  }
  const Spliced spliced = MustSplice(inputs);
  EXPECT_EQ(DifferenceOf(tables, spliced.file), "");
  EXPECT_LE(spliced.report.pages, 3);
}

TEST(SpliceTier, DictionaryThenPlainPages_OfOneInput_AreKept) {
  const TablePtr table = SeededTable({"string"}, 40000, 0, 9, 0.1);
  FileChoice choice;
  choice.dictionary_bytes = 200000;
  const TablePtr repeated = SeededTable({"string"}, 2000, 10, 10, 0.1);
  const Spliced spliced =
      MustSplice({InputOf("a", WriteFile(table, choice)), InputOf("b", WriteFile(repeated, choice))});
  EXPECT_EQ(DifferenceOf({table, repeated}, spliced.file), "");
}

TEST(SpliceTier, RowGroups_AreAboutAsLargeAsAskedFor) {
  std::vector<TablePtr> tables;
  std::vector<Input> inputs;
  FileChoice choice;
  choice.row_group_rows = 300;
  for (int i = 0; i < 10; ++i) {
    tables.push_back(SeededTable({"int32", "string"}, 1000, 0, static_cast<std::uint64_t>(i), 0.1, i * 1000));
    inputs.push_back(InputOf("file" + std::to_string(i), WriteFile(tables.back(), choice)));
  }
  Options options;
  options.row_group_row_count_max = 2000;
  const Spliced spliced = MustSplice(inputs, options);
  EXPECT_EQ(DifferenceOf(tables, spliced.file), "");
  EXPECT_GE(spliced.report.row_groups, 5);
  EXPECT_LE(spliced.report.row_groups, 7);
  for (const parquet::RowGroup& group : FooterOf(spliced.file).row_groups) EXPECT_LE(group.num_rows, 2000);
  EXPECT_EQ(spliced.report.split_offsets.size(), static_cast<std::size_t>(spliced.report.row_groups));
}

TEST(SpliceTier, PagesEndAtTheirRows) {
  // The limit counts rows, not entries of lists, also where deleted rows, constants or runs of nulls go in.
  std::vector<TablePtr> tables;
  std::vector<Input> inputs;
  for (int i = 0; i < 3; ++i) {
    const double nulls = i == 1 ? 1.0 : 0.2;
    tables.push_back(
        SeededTable({"int64", "string", "list<int32>"}, 2500, 40, static_cast<std::uint64_t>(i), nulls, i));
    inputs.push_back(InputOf("file" + std::to_string(i), WriteFile(tables.back())));
  }
  Options options;
  options.page_row_count_max = 700;
  const Spliced spliced = MustSplice(inputs, options);
  EXPECT_EQ(DifferenceOf(tables, spliced.file), "");
  for (std::size_t leaf = 0; leaf < 3; ++leaf) {
    const auto index = OffsetIndexOf(spliced.file, 0, leaf);
    ASSERT_TRUE(index);
    for (std::size_t page = 0; page + 1 < index->pages.size(); ++page) {
      EXPECT_EQ(index->pages[page + 1].first_row_index - index->pages[page].first_row_index, 700) << leaf;
    }
    EXPECT_EQ(index->pages.size(), 11U);
  }
  FileChoice large;
  large.dictionary = false;
  large.page_rows = 1 << 20;
  const TablePtr flat = SeededTable({"int64"}, 20000, 0, 2, 0);
  const Spliced cut = MustSplice({InputOf("a", WriteFile(flat, large))}, options);
  EXPECT_EQ(ChunksOf(cut.report, Tier::kRowGroup), 0);
  EXPECT_EQ(cut.report.pages, 29);
}

TEST(SpliceTier, SmallMemoryAndThreads_GiveTheSameBytes) {
  std::vector<Input> inputs;
  for (int i = 0; i < 20; ++i) {
    inputs.push_back(InputOf(
        "file" + std::to_string(i),
        WriteFile(SeededTable({"int32", "string", "list<string>"}, 500, 60, static_cast<std::uint64_t>(i), 0.1, i))));
  }
  Options one, four, little;
  four.threads = 4;
  little.memory_bytes = 1 << 20;
  const Bytes expected = MustSplice(inputs, one).file;
  EXPECT_EQ(MustSplice(inputs, four).file, expected);
  EXPECT_EQ(MustSplice(inputs, little).file, expected);
}

TEST(SpliceTier, Progress_ReachesTheEndAndCanCancel) {
  const Bytes file = WriteFile(SeededTable({"int32", "string"}, 100, 10, 11, 0.1));
  std::vector<std::int64_t> seen;
  Options options;
  options.progress = [&](std::int64_t done, std::int64_t total) {
    EXPECT_LE(done, total);
    seen.push_back(done);
    return true;
  };
  const Spliced spliced = MustSplice({InputOf("a", file), InputOf("b", file)}, options);
  ASSERT_FALSE(seen.empty());
  EXPECT_TRUE(std::is_sorted(seen.begin(), seen.end()));
  EXPECT_EQ(seen.back(), spliced.report.input_bytes);
  options.progress = [](std::int64_t, std::int64_t) { return false; };
  const Result<Spliced> cancelled = SpliceFiles({InputOf("a", file)}, options);
  ASSERT_FALSE(cancelled);
  EXPECT_EQ(cancelled.error().code, Code::kCancelled);
}

}  // namespace
}  // namespace firn::splice::testing
