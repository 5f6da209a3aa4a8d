// SPDX-License-Identifier: Apache-2.0
// Chunks begin with their dictionary-encoded pages, as those of every writer do.
#include <gtest/gtest.h>

#include "splice/arrow_tables_test.h"
#include "splice/chunk_scan.h"
#include "splice/input_file.h"

namespace firn::splice::testing {
namespace {

/// The pages of a column's chunks: 'd' for a dictionary-encoded one, 'v' for another, a blank between row groups.
std::string PagesOf(const Bytes& file, std::size_t leaf = 0) {
  std::string pages;
  const std::shared_ptr<InputFile> opened = *InputFile::FromBytes("out", file);
  for (std::size_t group = 0; group < opened->footer().row_groups.size(); ++group) {
    const SourceGroup source(opened, group);
    const ChunkScan scan = *ScanChunk(source, leaf);
    pages += group > 0 ? " " : "";
    for (const PageRecord& page : scan.pages) pages += IsDictionaryEncoded(page) ? 'd' : 'v';
  }
  return pages;
}

TablePtr Table(const std::string& type, std::int64_t rows, std::int64_t distinct, std::int64_t first = 0) {
  return SeededTable({type}, rows, distinct, static_cast<std::uint64_t>(rows), 0.2, first);
}

FileChoice Choice(bool dictionary, std::optional<parquet::Encoding> encoding = {}, bool v2 = false) {
  FileChoice choice;
  choice.dictionary = dictionary;
  choice.encoding = encoding;
  choice.v2 = v2;
  return choice;
}

Spliced Must(const std::vector<Bytes>& files, const Options& options = {}) {
  std::vector<Input> inputs;
  for (const Bytes& file : files) inputs.push_back(InputOf("f" + std::to_string(inputs.size()), file));
  return MustSplice(inputs, options);
}

TEST(PageOrder, ValuesBeforeIndices_BecomeIndices) {
  using parquet::Encoding;
  struct Case {
    const char* type;
    std::optional<Encoding> encoding;
  };
  for (const Case& one : {Case{"int64", {}}, Case{"int64", Encoding::kDeltaBinaryPacked}, Case{"string", {}},
                          Case{"string", Encoding::kDeltaByteArray}, Case{"string", Encoding::kDeltaLengthByteArray},
                          Case{"double", Encoding::kByteStreamSplit}, Case{"decimal9", Encoding::kDeltaBinaryPacked},
                          Case{"list<int32>", {}}}) {
    for (const bool v2 : {false, true}) {
      const TablePtr few = Table(one.type, 300, 20), many = Table(one.type, 30000, 20);
      const Bytes values = WriteFile(few, Choice(false, one.encoding, v2)),
                  indices = WriteFile(many, Choice(true, {}, v2));
      ASSERT_EQ(PagesOf(values).find('d'), std::string::npos);
      for (const Effort effort : {Effort::kFast, Effort::kBalanced, Effort::kDense}) {
        Options options;
        options.effort = effort;
        const Spliced spliced = Must({values, indices, values, values, indices, values}, options);
        EXPECT_EQ(DifferenceOf({few, many, few, few, many, few}, spliced.file), "") << one.type;
        const std::string pages = PagesOf(spliced.file);
        EXPECT_EQ(pages.find("vd"), std::string::npos) << one.type << ": " << pages;
        EXPECT_EQ(pages[0], 'd') << one.type << ": " << pages;
      }
    }
  }
}

TEST(PageOrder, WhereADictionaryDoesNotPay_AllAreValues) {
  // Every value of the first file would have to go into the dictionary.
  const TablePtr wide = Table("int64", 400000, 0), narrow = Table("int64", 30000, 20);
  const Spliced spliced = Must({WriteFile(wide, Choice(false)), WriteFile(narrow, Choice(true))});
  EXPECT_EQ(DifferenceOf({wide, narrow}, spliced.file), "");
  EXPECT_EQ(PagesOf(spliced.file).find('d'), std::string::npos);
}

TEST(PageOrder, APageThatIsTooLargeAsIndices_MakesAllValues) {
  FileChoice deltas = Choice(false, parquet::Encoding::kDeltaBinaryPacked);
  deltas.page_rows = 300000;  // a page of few bytes, and of 1.2 MB as indices
  const TablePtr wide = Table("int64", 300000, 1), narrow = Table("int64", 30000, 20);
  const std::vector<Bytes> files = {WriteFile(wide, deltas), WriteFile(narrow, Choice(true))};
  Options options;
  options.memory_bytes = 16 << 20;
  const Spliced little = Must(files, options), much = Must(files);
  EXPECT_EQ(DifferenceOf({wide, narrow}, little.file), "");
  EXPECT_EQ(DifferenceOf({wide, narrow}, much.file), "");
  EXPECT_EQ(PagesOf(little.file).find('d'), std::string::npos);
  EXPECT_EQ(PagesOf(much.file).find('v'), std::string::npos);
}

TEST(PageOrder, ValuesBehindIndices_Stay) {
  const TablePtr narrow = Table("int64", 30000, 20), wide = Table("int64", 100000, 0);
  const Spliced spliced = Must({WriteFile(narrow, Choice(true)), WriteFile(wide, Choice(false))});
  EXPECT_EQ(DifferenceOf({narrow, wide}, spliced.file), "");
  EXPECT_EQ(PagesOf(spliced.file).substr(0, 2), "dv");
}

TEST(PageOrder, DeletedRowsAndConstants) {
  const TablePtr few = Table("int64", 3000, 20), many = Table("int64", 30000, 20);
  std::vector<Input> inputs = {InputOf("a", WriteFile(few, Choice(false))), InputOf("b", WriteFile(many, Choice(true))),
                               InputOf("c", WriteFile(few, Choice(false))),
                               InputOf("d", WriteFile(few, Choice(false)))};
  std::vector<std::int64_t> positions;
  for (std::int64_t row = 5; row < 2000; row += 3) positions.push_back(row);
  const auto deleted = std::make_shared<DeletedRowList>(positions);
  inputs[0].deleted_rows = deleted;
  for (Input& input : inputs) input.columns.resize(1), input.columns[0].leaf = 0;
  inputs[3].columns[0] = {ColumnSource::Kind::kConstant, -1, Bytes{7, 0, 0, 0, 0, 0, 0, 0}};
  Options options;
  options.schema = FooterOf(WriteFile(few)).schema;
  const Result<Spliced> spliced = SpliceFiles(inputs, options);
  ASSERT_TRUE(spliced) << ToString(spliced.error());
  const std::string pages = PagesOf(spliced->file);
  EXPECT_EQ(pages.find("vd"), std::string::npos) << pages;
  std::vector<TablePtr> rows = WithoutRows(few, *deleted);
  rows.insert(rows.end(), {many, few});
  const auto longs = LongsOf(ReadFile(spliced->file), "c0"), wanted = LongsOf(Joined(rows), "c0");
  ASSERT_EQ(longs.size(), wanted.size() + 3000);
  EXPECT_TRUE(std::equal(wanted.begin(), wanted.end(), longs.begin()));
  EXPECT_EQ(longs.back(), 7);
}

}  // namespace
}  // namespace firn::splice::testing
