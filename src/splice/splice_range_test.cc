// SPDX-License-Identifier: Apache-2.0
// Row groups that the storage copies itself.
#include <gtest/gtest.h>

#include <atomic>

#include "base/range_copies.h"
#include "splice/arrow_tables_test.h"

namespace firn::splice::testing {
namespace {

/// Counts the bytes that are read.
class CountedSource final : public RandomAccessSource {
 public:
  CountedSource(std::string name, Bytes bytes) : source_(std::move(name), std::move(bytes)) {}
  const std::string& name() const override { return source_.name(); }
  std::uint64_t size() const override { return source_.size(); }
  Status ReadAt(std::uint64_t offset, std::span<std::uint8_t> out) override {
    read_ += out.size();
    return source_.ReadAt(offset, out);
  }
  std::uint64_t read() const { return read_; }

 private:
  MemorySource source_;
  std::atomic<std::uint64_t> read_ = 0;
};

/// A storage whose files are all sources.
class RangeSink final : public ByteSink, public RangeCopies {
 public:
  const std::string& name() const override { return sink_.name(); }
  Status Write(ByteView bytes) override { return sink_.Write(bytes); }
  std::uint64_t position() const override { return sink_.position(); }
  std::optional<FileMark> Mark(const std::string& location, std::uint64_t size_bytes) override {
    ++marks;
    if (!marks_files) return std::nullopt;
    return FileMark{location, "1", size_bytes, location};
  }
  Status Append(RandomAccessSource& source, const FileMark& mark, std::uint64_t offset, std::uint64_t size) override {
    EXPECT_EQ(source.name(), mark.location);
    Bytes bytes(static_cast<std::size_t>(size));
    auto& counted = dynamic_cast<CountedSource&>(source);
    const std::uint64_t before = counted.read();
    FIRN_TRY(source.ReadAt(offset, bytes));
    by_storage += counted.read() - before;
    copied_ += size;
    return sink_.Write(bytes);
  }
  CopiedRanges copied() const override { return {copied_, refusal}; }
  Bytes& bytes() { return sink_.bytes(); }

  bool marks_files = true;
  std::atomic<int> marks = 0;
  std::uint64_t by_storage = 0;
  std::string refusal;

 private:
  MemorySink sink_{"out"};
  std::uint64_t copied_ = 0;
};

TablePtr LargeTable(std::uint64_t seed, std::vector<std::string> types = {"int64", "double", "string", "list<int32>"}) {
  Random random(seed);
  TableChoice choice;
  choice.types = std::move(types);
  choice.rows = 800'000;
  choice.null_share = 0.05;
  choice.distinct = 0;
  return RandomTable(choice, random);
}

FileChoice LargePages() {
  FileChoice choice;
  choice.codec = parquet::Codec::kUncompressed;
  choice.page_rows = 1 << 20;
  choice.crc = true;
  return choice;
}

struct Outcome {
  Bytes file;
  Report report;
  std::uint64_t read = 0;  // by Splice
  int marks = 0;
};

Result<Outcome> Merge(const std::vector<Bytes>& files, Options options, bool copies, bool marks = true,
                      std::shared_ptr<const DeletedRows> deleted = nullptr) {
  std::vector<std::shared_ptr<CountedSource>> sources;
  std::vector<Input> inputs;
  for (const Bytes& file : files) {
    sources.push_back(std::make_shared<CountedSource>("file" + std::to_string(sources.size()), file));
    inputs.push_back({sources.back(), {}, std::nullopt, deleted});
  }
  RangeSink sink;
  sink.marks_files = marks;
  if (copies) options.range_copies = &sink;
  Outcome outcome;
  FIRN_ASSIGN(outcome.report, Splice(inputs, options, sink));
  NoteCopies(sink, outcome.report);
  for (const auto& source : sources) outcome.read += source->read();
  outcome.read -= sink.by_storage;
  outcome.marks = sink.marks;
  outcome.file = std::move(sink.bytes());
  return outcome;
}

Status VerifyOf(const Outcome& outcome) {
  MemorySource written("out", outcome.file);
  FIRN_TRY(Verify(written, outcome.report));
  return Ok();
}

TEST(SpliceRange, LargeRowGroups_AreCopiedByTheStorageAndNotRead) {
  for (const bool dictionary : {false, true}) {
    FileChoice choice = LargePages();
    choice.dictionary = dictionary;
    choice.dictionary_bytes = 64 << 10;
    choice.bloom_fpp = dictionary ? std::optional(0.01) : std::nullopt;
    const std::vector<TablePtr> tables = {LargeTable(1), LargeTable(2)};
    const std::vector<Bytes> files = {WriteFile(tables[0], choice), WriteFile(tables[1], choice)};
    ASSERT_GT(files[0].size(), kRangeFileBytesMin);
    const auto plain = Merge(files, {}, false);
    ASSERT_TRUE(plain) << ToString(plain.error());
    EXPECT_EQ(plain->report.storage_copied_bytes, 0);
    for (const int threads : {1, 4}) {
      Options options;
      options.threads = threads;
      const auto copied = Merge(files, options, true);
      ASSERT_TRUE(copied) << ToString(copied.error());
      EXPECT_EQ(copied->file, plain->file) << "the same file, byte by byte";
      EXPECT_TRUE(VerifyOf(*copied));
      EXPECT_EQ(copied->report.tiers[0].bytes, plain->report.tiers[0].bytes);
      EXPECT_EQ(copied->report.unchecked, plain->report.unchecked);
      const auto size = static_cast<std::int64_t>(copied->file.size());
      EXPECT_GT(copied->report.storage_copied_bytes, dictionary ? size / 2 : size * 9 / 10);
      if (!dictionary) {
        EXPECT_LT(copied->read, files[0].size() / 10);
      }
    }
    EXPECT_EQ(DifferenceOf(tables, plain->file), "");
  }
}

TEST(SpliceRange, WhatIsNotCopiedAsItIs_IsRead) {
  const TablePtr table = LargeTable(3, {"int64", "double", "string"});
  const Bytes file = WriteFile(table, LargePages());
  const auto copied_bytes = [&](const std::vector<Bytes>& files, const Options& options, bool marks = true,
                                std::shared_ptr<const DeletedRows> deleted = nullptr) {
    const auto outcome = Merge(files, options, true, marks, deleted);
    EXPECT_TRUE(outcome && VerifyOf(*outcome));
    return outcome ? outcome->report.storage_copied_bytes : -1;
  };
  const Options usual;
  EXPECT_GT(copied_bytes({file}, usual), 0);
  EXPECT_EQ(copied_bytes({file}, usual, false), 0) << "a storage that marks nothing";
  Options other_codec;
  other_codec.codec = parquet::Codec::kSnappy;
  EXPECT_EQ(copied_bytes({file}, other_codec), 0);
  Options joined;
  joined.row_group_row_count_max = 4'000'000;
  EXPECT_EQ(copied_bytes({file, file}, joined), 0) << "two row groups become one";
  const auto deleted = std::make_shared<DeletedRowList>(std::vector<std::int64_t>{17});
  EXPECT_EQ(copied_bytes({file}, usual, true, deleted), 0);
  FileChoice small_pages = LargePages();
  small_pages.page_rows = 4000;
  EXPECT_EQ(copied_bytes({WriteFile(table, small_pages)}, usual), 0);
}

TEST(SpliceRange, SmallFiles_AreNotAskedForMarks) {
  const Bytes file = WriteFile(LargeTable(4, {"int32"}), LargePages());
  ASSERT_LT(file.size(), kRangeFileBytesMin);
  const auto outcome = Merge({file, file}, {}, true);
  ASSERT_TRUE(outcome);
  EXPECT_EQ(outcome->marks, 0);
}

TEST(SpliceRange, DamagedPage_IsFoundByVerify) {
  FileChoice choice = LargePages();
  choice.dictionary = false;
  const Bytes good = WriteFile(LargeTable(5, {"int64", "double", "int64"}), choice);
  const parquet::ColumnMetaData meta = *FooterOf(good).row_groups[0].columns[1].meta;
  Bytes bad = good;
  bad[static_cast<std::size_t>(meta.data_page_offset + meta.total_compressed_size / 2)] ^= 0x40;
  EXPECT_FALSE(Merge({bad}, {}, false)) << "when it is read";
  const auto outcome = Merge({bad}, {}, true);
  ASSERT_TRUE(outcome) << ToString(outcome.error());
  const Status verified = VerifyOf(*outcome);
  ASSERT_FALSE(verified);
  EXPECT_EQ(verified.error().code, Code::kCorrupt);
}

TEST(SpliceRange, NewColumn_TheOthersAreCopied) {
  const TablePtr table = LargeTable(6, {"int64", "double", "int64"});
  const Bytes file = WriteFile(table, LargePages());
  std::vector<parquet::SchemaElement> schema = FooterOf(file).schema;
  parquet::SchemaElement added;
  added.name = "added";
  added.type = parquet::PhysicalType::kInt32;
  added.repetition = parquet::Repetition::kOptional;
  schema.push_back(added);
  ++schema[0].num_children;
  RangeSink sink;
  Options options;
  options.schema = schema;
  options.range_copies = &sink;
  Input input{std::make_shared<CountedSource>("file", file), {}, std::nullopt};
  input.columns.resize(4);
  for (std::int32_t i = 0; i < 3; ++i) input.columns[static_cast<std::size_t>(i)].leaf = i;
  input.columns[3].kind = ColumnSource::Kind::kConstant;
  const auto report = Splice({input}, options, sink);
  ASSERT_TRUE(report) << ToString(report.error());
  EXPECT_GT(sink.copied().size_bytes, file.size() / 2);
  MemorySource written("out", sink.bytes());
  EXPECT_TRUE(Verify(written, *report));
}

TEST(SpliceRange, Refusal_IsANote) {
  RangeSink sink;
  sink.refusal = "no such request";
  Report report;
  NoteCopies(sink, report);
  ASSERT_EQ(report.notes.size(), 1U);
  EXPECT_NE(report.notes[0].find("no such request"), std::string::npos);
}

}  // namespace
}  // namespace firn::splice::testing
