// SPDX-License-Identifier: Apache-2.0
// What a call may hold: row groups end by memory, and inputs are looked at one after the other.
#include <gtest/gtest.h>

#include "splice/arrow_tables_test.h"
#include "splice/memory_limits.h"

namespace firn::splice::testing {
namespace {

using parquet::Codec;

struct Job {
  std::vector<TablePtr> tables;
  std::vector<Input> inputs;

  void Add(const TablePtr& table, const FileChoice& choice = {}) {
    tables.push_back(table);
    inputs.push_back(InputOf("file" + std::to_string(inputs.size()), WriteFile(table, choice)));
  }
};

TEST(MemoryLimits, Parts_AreTogetherAtMostTheWhole) {
  for (const std::int64_t memory : {1 << 20, 16 << 20, 96 << 20, 512 << 20}) {
    for (const int threads : {1, 2, 64}) {
      Options options;
      options.memory_bytes = memory;
      options.threads = threads;
      const MemoryLimits limits = MemoryLimits::Of(options);
      EXPECT_GE(limits.total_bytes, std::max<std::int64_t>(memory, 16 << 20));
      EXPECT_LE(limits.threads, threads);
      const std::int64_t waiting = limits.threads > 1 ? limits.source_bytes : 0;
      EXPECT_LE(limits.source_bytes + waiting + limits.ahead_bytes + limits.tail_bytes, limits.total_bytes);
      if (memory < (96 << 20)) continue;  // below, single pages may be larger than their share
      const std::int64_t page = limits.PageBytes(limits.source_bytes, 1);
      EXPECT_LE(limits.source_bytes + 5 * page + limits.tail_bytes, limits.total_bytes + (2 << 20));
      EXPECT_LE(limits.PageBytes(0, 2) * 2, limits.PageBytes(0, 1) + 1);
    }
  }
}

TEST(SpliceMemory, ManySmallFilesOfManyColumns_RowGroupsEndByTheirFooters) {
  Job job;
  const std::vector<std::string> types(60, "int32");
  for (std::uint64_t i = 0; i < 200; ++i) job.Add(SeededTable(types, 3, 20, i, 0));
  Options options;
  const Result<Spliced> one = SpliceFiles(job.inputs, options);
  ASSERT_TRUE(one) << ToString(one.error());
  EXPECT_EQ(one->report.row_groups, 1);
  options.memory_bytes = 16 << 20;  // half of it for about 60 kB an input
  const Result<Spliced> spliced = SpliceFiles(job.inputs, options);
  ASSERT_TRUE(spliced) << ToString(spliced.error());
  EXPECT_GE(spliced->report.row_groups, 2);
  EXPECT_LE(spliced->report.row_groups, 6);
  EXPECT_EQ(DifferenceOf(job.tables, spliced->file), "");
}

TEST(SpliceMemory, RowGroupsThatAreNotHeld_AreReadThroughWindows) {
  Job job;
  FileChoice choice;
  choice.dictionary = false;
  choice.codec = Codec::kUncompressed;
  for (std::uint64_t i = 0; i < 2; ++i)
    job.Add(SeededTable({"int64", "double"}, 700000, 20, i, 0), choice);  // 11 MB each
  Options options;
  options.memory_bytes = 16 << 20;
  const Result<Spliced> spliced = SpliceFiles(job.inputs, options);
  ASSERT_TRUE(spliced) << ToString(spliced.error());
  EXPECT_EQ(spliced->report.row_groups, 2);
  EXPECT_EQ(DifferenceOf(job.tables, spliced->file), "");
}

TEST(SpliceMemory, PageTooLargeForSeveralThreads_OneColumnAfterTheOther) {
  Job job;
  FileChoice choice;
  choice.dictionary = false;
  choice.codec = Codec::kSnappy;
  choice.page_rows = choice.page_bytes = 64 << 20;
  job.Add(SeededTable({"fixed16", "fixed16"}, 900000, 20, 1, 0), choice);  // pages of 14.4 MB
  Options options;
  options.threads = 2;
  options.memory_bytes = 128 << 20;
  options.codec = Codec::kZstd;
  const MemoryLimits limits = MemoryLimits::Of(options);
  ASSERT_EQ(limits.threads, 2);
  ASSERT_LT(limits.PageBytes(0, 2), 900000 * 16);
  const Result<Spliced> spliced = SpliceFiles(job.inputs, options);
  ASSERT_TRUE(spliced) << ToString(spliced.error());
  EXPECT_EQ(DifferenceOf(job.tables, spliced->file), "");
  options.memory_bytes = 24 << 20;
  const Result<Spliced> refused = SpliceFiles(job.inputs, options);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::kLimit);
}

TEST(SpliceMemory, FooterTooLong_IsALimitNamingTheFile) {
  Job job;
  job.Add(SeededTable(std::vector<std::string>(15000, "int32"), 1, 20, 1, 0));
  Options options;
  options.memory_bytes = 16 << 20;
  const Result<Spliced> refused = SpliceFiles(job.inputs, options);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::kLimit);
  EXPECT_NE(refused.error().message.find("file0"), std::string::npos) << ToString(refused.error());
}

TEST(SpliceInputs, ContentIsAskedForInOrder_AndBadOnesAreLeftOut) {
  Job job;
  for (std::uint64_t i = 0; i < 6; ++i) job.Add(SeededTable({"int32", "string"}, 50, 20, i, 0));
  job.inputs[1].source = std::make_shared<MemorySource>("file1", Bytes(100));
  job.inputs[3].expected_rows = 49;
  Options options;
  options.schema = FooterOf(WriteFile(job.tables[0])).schema;
  std::vector<std::size_t> asked, left_out;
  options.resolve = [&](std::size_t input, const parquet::FileMetaData& footer) -> Result<InputContent> {
    asked.push_back(input);
    if (input == 4) return Error{Code::kUnsupported, "not this one"};
    InputContent content;
    content.columns.resize(footer.column_orders.size());
    for (std::size_t i = 0; i < content.columns.size(); ++i) content.columns[i].leaf = static_cast<std::int32_t>(i);
    if (input == 5) content.deleted_rows = std::make_shared<DeletedRowList>(std::vector<std::int64_t>{0, 7});
    return content;
  };
  EXPECT_FALSE(SpliceFiles(job.inputs, options));
  options.leave_out = [&](std::size_t input, const Error&) {
    left_out.push_back(input);
    return true;
  };
  for (const int threads : {1, 4}) {
    asked.clear(), left_out.clear();
    options.threads = threads;
    const Result<Spliced> spliced = SpliceFiles(job.inputs, options);
    ASSERT_TRUE(spliced) << ToString(spliced.error());
    EXPECT_EQ(asked, (std::vector<std::size_t>{0, 2, 4, 5}));
    EXPECT_EQ(left_out, (std::vector<std::size_t>{1, 3, 4}));
    EXPECT_EQ(spliced->report.rows, 148);
    EXPECT_EQ(spliced->report.deleted_rows, 2);
    EXPECT_EQ(spliced->report.input_row_bases, (std::vector<std::int64_t>{0, 50, 50, 100, 100, 100}));
  }
}

}  // namespace
}  // namespace firn::splice::testing
