// SPDX-License-Identifier: Apache-2.0
// Verify finds what the writer cannot have written, and Splice survives damaged inputs.
#include <gtest/gtest.h>

#include "format/parquet/footer.h"
#include "splice/arrow_tables_test.h"
#include "splice/page_surgery_test.h"

namespace firn::splice::testing {
namespace {

struct Sample {
  std::vector<TablePtr> tables;
  std::vector<Input> inputs;
};

Sample Small(std::uint64_t seed, const FileChoice& choice) {
  Sample sample;
  Random random(seed);
  for (int i = 0; i < 2; ++i) {
    TableChoice table;
    table.types = {"int32", "string", "list<int32>", "bool", "double"};
    table.rows = 60;
    table.first_value = i;
    sample.tables.push_back(RandomTable(table, random));
    sample.inputs.push_back(InputOf("file" + std::to_string(i), WriteFile(sample.tables.back(), choice)));
  }
  return sample;
}

Result<parquet::FileMetaData> VerifyBytes(Bytes file, const Report& report) {
  MemorySource source("out", std::move(file));
  return Verify(source, report);
}

TEST(Verify, GoodOutput_Passes) {
  const Result<Spliced> spliced = SpliceFiles(Small(1, {}).inputs);
  ASSERT_TRUE(spliced) << ToString(spliced.error());
  EXPECT_TRUE(VerifyBytes(spliced->file, spliced->report));
}

TEST(Verify, AnyFlippedByteInPages_IsFound) {
  const Result<Spliced> spliced = SpliceFiles(Small(2, {}).inputs);
  ASSERT_TRUE(spliced) << ToString(spliced.error());
  const std::uint32_t footer = LoadLittle<std::uint32_t>(spliced->file.data() + spliced->file.size() - 8);
  const parquet::FileMetaData meta = FooterOf(spliced->file);
  const parquet::ColumnMetaData& last = *meta.row_groups[0].columns.back().meta;
  const auto end =
      static_cast<std::size_t>((last.dictionary_page_offset ? *last.dictionary_page_offset : last.data_page_offset) +
                               last.total_compressed_size);
  ASSERT_LT(end, spliced->file.size() - footer);
  for (std::size_t at = 4; at < end; ++at) {
    Bytes damaged = spliced->file;
    damaged[at] ^= 0x10;
    EXPECT_FALSE(VerifyBytes(std::move(damaged), spliced->report)) << "offset " << at;
  }
}

TEST(Verify, FooterThatDiffers_IsFound) {
  const Result<Spliced> spliced = SpliceFiles(Small(3, {}).inputs);
  ASSERT_TRUE(spliced) << ToString(spliced.error());
  using Footer = parquet::FileMetaData;
  const std::vector<std::pair<const char*, void (*)(Footer&)>> edits = {
      {"rows", [](Footer& f) { f.row_groups[0].num_rows += 1, f.num_rows += 1; }},
      {"values", [](Footer& f) { f.row_groups[0].columns[0].meta->num_values += 1; }},
      {"size", [](Footer& f) { f.row_groups[0].columns[1].meta->total_uncompressed_size += 1; }},
      {"group size", [](Footer& f) { f.row_groups[0].total_byte_size += 1; }},
      {"encodings", [](Footer& f) { f.row_groups[0].columns[1].meta->encodings.clear(); }},
      {"encoding stats", [](Footer& f) { f.row_groups[0].columns[1].meta->encoding_stats[0].count += 1; }},
      {"page offset", [](Footer& f) { f.row_groups[0].columns[1].meta->data_page_offset += 1; }},
      {"no dictionary", [](Footer& f) { f.row_groups[0].columns[1].meta->dictionary_page_offset.reset(); }},
      {"index",
       [](Footer& f) {
         std::swap(f.row_groups[0].columns[0].offset_index_offset, f.row_groups[0].columns[1].offset_index_offset);
       }},
      {"bounds",
       [](Footer& f) {
         std::swap(f.row_groups[0].columns[4].column_index_offset, f.row_groups[0].columns[1].column_index_offset);
       }},
      {"file offset", [](Footer& f) { f.row_groups[0].file_offset = 5; }},
  };
  for (const auto& [what, edit] : edits) {
    Bytes changed = WithFooter(spliced->file, edit);
    Report report = spliced->report;
    report.output_bytes = static_cast<std::int64_t>(changed.size());
    EXPECT_FALSE(VerifyBytes(std::move(changed), report)) << what;
  }
}

TEST(Verify, ReportOfAnotherFile_IsFound) {
  const Result<Spliced> a = SpliceFiles(Small(4, {}).inputs);
  ASSERT_TRUE(a);
  Report report = a->report;
  report.pages += 1;
  EXPECT_FALSE(VerifyBytes(a->file, report));
  Bytes longer = a->file;
  longer.push_back(0);
  EXPECT_FALSE(VerifyBytes(longer, a->report));
}

TEST(SpliceDamage, FlippedBytes_GiveAnErrorOrAValidFile) {
  for (const bool v2 : {false, true}) {
    FileChoice choice;
    choice.v2 = v2;
    choice.codec = v2 ? parquet::Codec::kUncompressed : parquet::Codec::kZstd;
    const Sample sample = Small(5, choice);
    MemorySource& good = static_cast<MemorySource&>(*sample.inputs[0].source);
    Random random(6);
    Options options;
    options.memory_bytes = 64 << 20;
    for (int round = 0; round < 3000; ++round) {
      Bytes damaged(good.bytes().begin(), good.bytes().end());
      const std::uint64_t flips = 1 + random.Below(3);
      for (std::uint64_t i = 0; i < flips; ++i) {
        damaged[random.Below(damaged.size())] ^= static_cast<std::uint8_t>(1 + random.Below(255));
      }
      const Result<Spliced> spliced = SpliceFiles({InputOf("bad", damaged), sample.inputs[1]}, options);
      if (spliced) continue;
      EXPECT_NE(spliced.error().code, Code::kInternal) << ToString(spliced.error());
      EXPECT_EQ(spliced.error().message.find("verify"), std::string::npos) << ToString(spliced.error());
    }
  }
}

TEST(SpliceDamage, TruncatedFiles_GiveAnErrorNamingTheFile) {
  const Sample sample = Small(7, {});
  MemorySource& good = static_cast<MemorySource&>(*sample.inputs[0].source);
  for (std::size_t size = 0; size < good.bytes().size(); size += 7) {
    const Bytes cut(good.bytes().begin(), good.bytes().begin() + static_cast<std::ptrdiff_t>(size));
    const Result<Spliced> spliced = SpliceFiles({InputOf("cut.parquet", cut)});
    ASSERT_FALSE(spliced) << size;
    EXPECT_NE(spliced.error().message.find("cut.parquet"), std::string::npos) << ToString(spliced.error());
  }
}

}  // namespace
}  // namespace firn::splice::testing
