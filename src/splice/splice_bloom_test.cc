// SPDX-License-Identifier: Apache-2.0
// Bloom filters of outputs: kept, united, built, or dropped with a note; and never one that denies a value.
#include <gtest/gtest.h>

#include "format/parquet/bloom_filter.h"
#include "splice/arrow_blooms_test.h"
#include "splice/arrow_tables_test.h"
#include "splice/page_surgery_test.h"

namespace firn::splice::testing {
namespace {

/// Files of one column "c0" of 8-byte integers, a file after the other from `first` on.
struct Job {
  std::vector<TablePtr> tables;
  std::vector<Input> inputs;
  Options options;

  void Add(const FileChoice& choice, std::int64_t rows, std::int64_t distinct = 0, const std::string& type = "int64") {
    tables.push_back(SeededTable({type}, rows, distinct, tables.size() + 1, 0, distinct == 0 ? next_ : 0));
    next_ += rows;
    AddFile(WriteFile(tables.back(), choice));
  }
  void AddFile(Bytes file) {
    if (inputs.empty()) {
      options.schema = FooterOf(file).schema;
      for (std::size_t i = 1; i < options.schema.size(); ++i) options.schema[i].field_id = static_cast<int>(i);
    }
    inputs.push_back(InputOf("file" + std::to_string(inputs.size()), std::move(file)));
  }
  ColumnOptions& Ask() { return options.columns[1]; }

  Spliced Run() const {
    const Result<Spliced> spliced = SpliceFiles(inputs, options);
    EXPECT_TRUE(spliced) << ToString(spliced.error());
    if (!spliced) return {};
    EXPECT_EQ(DifferenceOf(tables, spliced->file), "");
    EXPECT_EQ(DeniedBy(spliced->file), "");
    return *spliced;
  }

 private:
  std::int64_t next_ = 0;
};

FileChoice Plain(std::optional<double> bloom_fpp) {
  FileChoice choice;
  choice.dictionary = false;
  choice.bloom_fpp = bloom_fpp;
  return choice;
}

FileChoice Coded(std::optional<double> bloom_fpp) {
  FileChoice choice;
  choice.bloom_fpp = bloom_fpp;
  return choice;
}

TEST(SpliceBloom, NobodyHasOneOrAsks_ThereIsNone) {
  Job job;
  job.Add(Plain({}), 2000);
  job.Add(Plain({}), 2000);
  const Spliced spliced = job.Run();
  EXPECT_EQ(spliced.report.bloom_filters, 0);
  EXPECT_TRUE(spliced.report.notes.empty());
}

TEST(SpliceBloom, OfARowGroupAlone_IsKeptByteByByte) {
  Job job;
  job.Add(Plain(0.01), 40000);
  job.Add(Plain(0.01), 40000);
  job.options.row_group_row_count_max = 40000;
  const Spliced spliced = job.Run();
  EXPECT_EQ(ChunksOf(spliced.report, Tier::kRowGroup), 2);
  EXPECT_EQ(spliced.report.bloom_filters, 2);
  const Bytes file = WriteFile(job.tables[1], Plain(0.01));
  const auto stored = [](const Bytes& bytes, std::size_t group) {
    const parquet::ColumnMetaData meta = *FooterOf(bytes).row_groups[group].columns[0].meta;
    const ByteView view = ByteView(bytes).subspan(static_cast<std::size_t>(*meta.bloom_filter_offset),
                                                  static_cast<std::size_t>(*meta.bloom_filter_length));
    return Bytes(view.begin(), view.end());
  };
  EXPECT_EQ(stored(file, 0), stored(spliced.file, 1));
}

TEST(SpliceBloom, LargePlainPages_AreCopied_AndFiltersUnited) {
  Job job;
  for (int i = 0; i < 4; ++i) job.Add(Plain(0.000001), 20000);
  const Spliced spliced = job.Run();
  EXPECT_EQ(ChunksOf(spliced.report, Tier::kPages), 4);
  EXPECT_EQ(spliced.report.bloom_filters, 1);
  EXPECT_LE(ShareOfFound(spliced.file, 0, 0, 1 << 30, 50000), 0.02);
}

TEST(SpliceBloom, FiltersOfSeveralSizes_AreUnited) {
  Job job;
  for (const std::int64_t rows : {20000, 9000, 70000, 100}) job.Add(Plain(0.000001), rows);
  const Spliced spliced = job.Run();
  EXPECT_EQ(spliced.report.bloom_filters, 1);
  EXPECT_TRUE(spliced.report.notes.empty());
}

TEST(SpliceBloom, UnitedTooFull_DroppedWithANote_OrBuiltIfAsked) {
  Job job;
  for (int i = 0; i < 8; ++i) job.Add(Plain(0.05), 20000);
  const Spliced dropped = job.Run();
  EXPECT_EQ(dropped.report.bloom_filters, 0);
  EXPECT_EQ(ChunksOf(dropped.report, Tier::kPages), 8);
  ASSERT_EQ(dropped.report.notes.size(), 1U);
  EXPECT_EQ(dropped.report.notes[0], "Bloom filters are not kept (united they would be too full): c0");
  job.Ask().bloom_filter = true;
  const Spliced built = job.Run();
  EXPECT_EQ(built.report.bloom_filters, 1);
  EXPECT_EQ(ChunksOf(built.report, Tier::kPages), 0);
  EXPECT_TRUE(built.report.notes.empty());
  EXPECT_LE(ShareOfFound(built.file, 0, 0, 1 << 30, 50000), 0.015);
}

TEST(SpliceBloom, AllPagesCoded_BuiltFromTheDictionary) {
  Job job;
  for (int i = 0; i < 5; ++i) job.Add(Coded({}), 3000, 500);
  EXPECT_EQ(job.Run().report.bloom_filters, 0);
  job.Ask().bloom_filter = true;
  job.Ask().bloom_filter_fpp = 0.001;
  const Spliced spliced = job.Run();
  EXPECT_EQ(spliced.report.bloom_filters, 1);
  EXPECT_EQ(spliced.report.filtered_dictionaries.size(), 1U);
  EXPECT_LE(ShareOfFound(spliced.file, 0, 0, 1 << 30, 50000), 0.0015);
  EXPECT_LE(*FooterOf(spliced.file).row_groups[0].columns[0].meta->bloom_filter_length, 2100);
}

TEST(SpliceBloom, EqualDictionaries_CopiedPages_BuiltFromTheDictionary) {
  Job job;
  FileChoice choice = Coded({});
  choice.page_rows = 1 << 20;
  for (const char* type : {"string", "fixed3", "decimal38"}) {
    Job each;
    each.Add(choice, 200000, 20, type);
    each.tables.push_back(each.tables[0]);
    each.AddFile(WriteFile(each.tables[0], choice));
    each.Ask().bloom_filter = true;
    const Spliced spliced = each.Run();
    EXPECT_EQ(ChunksOf(spliced.report, Tier::kPages), 2) << type;
    EXPECT_EQ(spliced.report.bloom_filters, 1) << type;
  }
}

TEST(SpliceBloom, SomeInputsHaveOne_DroppedWithANote_OrBuiltIfAsked) {
  Job job;
  job.Add(Plain(0.01), 20000);
  job.Add(Plain({}), 20000);
  const Spliced dropped = job.Run();
  EXPECT_EQ(dropped.report.bloom_filters, 0);
  ASSERT_EQ(dropped.report.notes.size(), 1U);
  EXPECT_EQ(dropped.report.notes[0], "Bloom filters are not kept (not all of the files merged have one): c0");
  job.Ask().bloom_filter = true;
  EXPECT_EQ(job.Run().report.bloom_filters, 1);
  job.Ask().bloom_filter = false;
  const Spliced refused = job.Run();
  EXPECT_EQ(refused.report.bloom_filters, 0);
  EXPECT_TRUE(refused.report.notes.empty());
}

TEST(SpliceBloom, DictionaryThenPlainPages_BuiltFromBoth) {
  FileChoice choice = Coded({});
  choice.dictionary_bytes = 64 << 10;
  for (const char* type : {"int64", "string", "fixed16", "double"}) {
    for (const bool v2 : {false, true}) {
      choice.v2 = v2;
      Job job;
      for (int i = 0; i < 3; ++i) job.Add(choice, 60000, 0, type);
      job.Ask().bloom_filter = true;
      EXPECT_EQ(job.Run().report.bloom_filters, 1) << type;
    }
  }
}

TEST(SpliceBloom, DeltaEncodings_BuiltFromTheValues) {
  const std::pair<std::string, parquet::Encoding> kCases[] = {
      {"int64", parquet::Encoding::kDeltaBinaryPacked},
      {"string", parquet::Encoding::kDeltaLengthByteArray},
      {"string", parquet::Encoding::kDeltaByteArray},
      {"double", parquet::Encoding::kByteStreamSplit},
  };
  for (const auto& [type, encoding] : kCases) {
    FileChoice choice = Plain({});
    choice.encoding = encoding;
    Job job;
    for (int i = 0; i < 3; ++i) job.Add(choice, 5000, 0, type);
    job.Ask().bloom_filter = true;
    EXPECT_EQ(job.Run().report.bloom_filters, 1) << type;
  }
}

TEST(SpliceBloom, ExpectedValuesAndLargestSize_BoundIt) {
  Job job;
  for (int i = 0; i < 4; ++i) job.Add(Plain({}), 20000);
  job.Ask().bloom_filter = true;
  job.options.bloom_filter_bytes_max = 64 << 10;
  const auto length = [](const Spliced& spliced) {
    return *FooterOf(spliced.file).row_groups[0].columns[0].meta->bloom_filter_length;
  };
  EXPECT_NEAR(length(job.Run()), 64 << 10, 64);
  job.Ask().bloom_filter_distinct = 20000;
  EXPECT_NEAR(length(job.Run()), 32 << 10, 64);
  job.options.bloom_filter_bytes_max = 1 << 10;
  const Spliced full = job.Run();
  EXPECT_EQ(full.report.bloom_filters, 0);
  ASSERT_EQ(full.report.notes.size(), 1U);
  EXPECT_EQ(full.report.notes[0], "Bloom filters are not kept (the largest allowed would be too full): c0");
}

TEST(SpliceBloom, ConstantsAndMissingColumns_AreInIt) {
  for (const bool has_filters : {true, false}) {
    Job job;
    const std::optional<double> fpp = has_filters ? std::optional(0.00001) : std::nullopt;
    for (int i = 0; i < 2; ++i) job.Add(Plain(fpp), 20000);
    std::vector<ColumnSource> constant(1), missing(1), same(1);
    same[0].leaf = 0;
    const std::int64_t value = 77777777;
    const auto* const bytes = reinterpret_cast<const std::uint8_t*>(&value);
    constant[0] = {ColumnSource::Kind::kConstant, -1, Bytes(bytes, bytes + sizeof value)};
    missing[0] = {ColumnSource::Kind::kConstant, -1, std::nullopt};
    job.options.schema[1].repetition = parquet::Repetition::kOptional;
    if (!has_filters) job.Ask().bloom_filter = true;
    job.AddFile(WriteFile(job.tables[0], Plain(fpp)));
    job.AddFile(WriteFile(job.tables[0], Plain(fpp)));
    job.inputs[0].columns = job.inputs[1].columns = same;
    job.inputs[2].columns = constant;
    job.inputs[3].columns = missing;
    const Result<Spliced> spliced = SpliceFiles(job.inputs, job.options);
    ASSERT_TRUE(spliced) << ToString(spliced.error());
    EXPECT_EQ(spliced->report.bloom_filters, 1);
    EXPECT_EQ(DeniedBy(spliced->file), "");
    EXPECT_EQ(ShareOfFound(spliced->file, 0, 0, value, 1), 1);
  }
}

TEST(SpliceBloom, ConvertedColumns_GetNoneOfTheirOldType) {
  Job job;
  job.Add(Plain(0.01), 3000);
  job.AddFile(WriteFile(job.tables[0], Plain(0.01)));
  std::vector<ColumnSource> same(1), converted(1);
  same[0].leaf = converted[0].leaf = 0;
  converted[0].kind = ColumnSource::Kind::kConvert;
  job.inputs[0].columns = same;
  job.inputs[1].columns = converted;
  const Result<Spliced> spliced = SpliceFiles(job.inputs, job.options);
  ASSERT_TRUE(spliced) << ToString(spliced.error());
  EXPECT_EQ(spliced->report.bloom_filters, 0);
  EXPECT_FALSE(spliced->report.notes.empty());
  job.Ask().bloom_filter = true;
  const Result<Spliced> asked = SpliceFiles(job.inputs, job.options);
  ASSERT_TRUE(asked) << ToString(asked.error());
  EXPECT_EQ(asked->report.bloom_filters, 1);
  EXPECT_EQ(DeniedBy(asked->file), "");
}

TEST(SpliceBloom, Booleans_GetNone) {
  Job job;
  job.Add(Plain({}), 3000, 2, "bool");
  job.Ask().bloom_filter = true;
  const Spliced spliced = job.Run();
  EXPECT_EQ(spliced.report.bloom_filters, 0);
  ASSERT_EQ(spliced.report.notes.size(), 1U);
  EXPECT_EQ(spliced.report.notes[0], "Bloom filters are not kept (booleans have none): c0");
}

TEST(SpliceBloom, HostileFilters_AreDroppedWithANote_OrBuiltIfAsked) {
  using Edit = std::function<void(parquet::ColumnMetaData&)>;
  const Edit kEdits[] = {
      [](parquet::ColumnMetaData& meta) { meta.bloom_filter_offset = 0; },
      [](parquet::ColumnMetaData& meta) { meta.bloom_filter_offset = -5; },
      [](parquet::ColumnMetaData& meta) { meta.bloom_filter_offset = std::int64_t{1} << 62; },
      [](parquet::ColumnMetaData& meta) { meta.bloom_filter_length = -1; },
      [](parquet::ColumnMetaData& meta) { meta.bloom_filter_length = 7; },
      [](parquet::ColumnMetaData& meta) { *meta.bloom_filter_length += 1; },
      [](parquet::ColumnMetaData& meta) { meta.bloom_filter_length = 1 << 30; },
      [](parquet::ColumnMetaData& meta) { meta.bloom_filter_offset = meta.data_page_offset; },
  };
  for (const Edit& edit : kEdits) {
    for (const bool alone : {true, false}) {
      Job job;
      job.Add(Plain(0.01), 20000);
      const Bytes file = WriteFile(job.tables[0], Plain(0.01));
      job.inputs.clear();
      job.AddFile(
          WithFooter(file, [&](parquet::FileMetaData& footer) { edit(*footer.row_groups[0].columns[0].meta); }));
      if (!alone) job.Add(Plain(0.01), 20000);
      const Spliced dropped = job.Run();
      EXPECT_EQ(dropped.report.bloom_filters, 0);
      ASSERT_EQ(dropped.report.notes.size(), 1U);
      EXPECT_TRUE(dropped.report.notes[0].starts_with("Bloom filters are not kept (that of file0 cannot be used: "))
          << dropped.report.notes[0];
      job.Ask().bloom_filter = true;
      EXPECT_EQ(job.Run().report.bloom_filters, 1);
    }
  }
}

TEST(SpliceBloom, WithoutALength_IsFoundByItsHeader) {
  Job job;
  job.Add(Plain(0.01), 20000);
  job.inputs.clear();
  job.AddFile(WithFooter(WriteFile(job.tables[0], Plain(0.01)), [](parquet::FileMetaData& footer) {
    footer.row_groups[0].columns[0].meta->bloom_filter_length.reset();
  }));
  const Spliced spliced = job.Run();
  EXPECT_EQ(spliced.report.bloom_filters, 1);
  EXPECT_TRUE(FooterOf(spliced.file).row_groups[0].columns[0].meta->bloom_filter_length);
}

TEST(SpliceBloom, Verify_FindsDamage) {
  Job job;
  for (int i = 0; i < 3; ++i) job.Add(Coded({}), 3000, 500);
  job.Ask().bloom_filter = true;
  const Spliced spliced = job.Run();
  const parquet::ColumnMetaData meta = *FooterOf(spliced.file).row_groups[0].columns[0].meta;
  const auto verify = [&](Bytes file) {
    Report report = spliced.report;
    report.output_bytes = static_cast<std::int64_t>(file.size());
    return Verify(*InputOf("out", std::move(file)).source, report);
  };
  ASSERT_TRUE(verify(spliced.file));
  Bytes zeros = spliced.file;
  const auto end = zeros.begin() + *meta.bloom_filter_offset + *meta.bloom_filter_length;
  std::fill(end - 64, end, 0);
  const auto denied = verify(zeros);
  ASSERT_FALSE(denied);
  EXPECT_NE(denied.error().message.find("denies an entry"), std::string::npos) << denied.error().message;
  const auto with_meta = [&](const std::function<void(parquet::ColumnMetaData&)>& edit) {
    return verify(
        WithFooter(spliced.file, [&](parquet::FileMetaData& footer) { edit(*footer.row_groups[0].columns[0].meta); }));
  };
  EXPECT_FALSE(with_meta([](parquet::ColumnMetaData& m) { m.bloom_filter_offset.reset(); }));
  EXPECT_FALSE(with_meta([](parquet::ColumnMetaData& m) { m.bloom_filter_length.reset(); }));
  EXPECT_FALSE(with_meta([](parquet::ColumnMetaData& m) { *m.bloom_filter_length -= 32; }));
  EXPECT_FALSE(with_meta([](parquet::ColumnMetaData& m) { m.bloom_filter_offset = m.data_page_offset; }));
  EXPECT_FALSE(with_meta([](parquet::ColumnMetaData& m) { *m.bloom_filter_offset += 32; }));
}

TEST(SpliceBloom, DictionaryAndStatistics_CanBeTurnedOff) {
  Job job;
  for (int i = 0; i < 3; ++i) job.Add(Coded({}), 3000, 50);
  job.Ask().dictionary = false;
  job.Ask().statistics = false;
  const Spliced spliced = job.Run();
  const parquet::ColumnChunk chunk = FooterOf(spliced.file).row_groups[0].columns[0];
  EXPECT_FALSE(chunk.meta->dictionary_page_offset);
  EXPECT_FALSE(chunk.meta->statistics);
  EXPECT_FALSE(chunk.column_index_offset);
  EXPECT_TRUE(chunk.offset_index_offset);
}

TEST(SpliceBloom, LittleMemory_IsSharedByColumnsThatHaveFilters) {
  Random random(7);
  TableChoice choice;
  choice.types.assign(20, "int64");
  choice.rows = 20000;
  choice.distinct = 0;
  choice.null_share = 0;
  Job job;
  job.tables.push_back(RandomTable(choice, random));
  const Bytes file = WriteFile(job.tables[0], Plain(0.000001));
  ASSERT_GT(*FooterOf(file).row_groups[0].columns[3].meta->bloom_filter_length, 64 << 10);
  job.options.memory_bytes = 16 << 20;
  job.AddFile(file);
  EXPECT_EQ(job.Run().report.bloom_filters, 0);  // 1 MiB for twenty of 128 KiB
  job.inputs.clear();
  job.AddFile(WithFooter(file, [](parquet::FileMetaData& footer) {
    for (std::size_t c = 4; c < 20; ++c) footer.row_groups[0].columns[c].meta->bloom_filter_offset.reset();
  }));
  EXPECT_EQ(job.Run().report.bloom_filters, 4);
}

TEST(SpliceBloom, Threads_GiveTheSameBytes) {
  Job job;
  for (int i = 0; i < 6; ++i) job.Add(Coded({}), 3000, i % 2 == 0 ? 0 : 100);
  job.Ask().bloom_filter = true;
  job.options.row_group_row_count_max = 9000;
  const Bytes one = job.Run().file;
  job.options.threads = 3;
  EXPECT_EQ(job.Run().file, one);
}

}  // namespace
}  // namespace firn::splice::testing
