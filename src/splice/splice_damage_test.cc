// SPDX-License-Identifier: Apache-2.0
// Inputs with damage that their codec does not notice are refused, with the file and the offset.
#include <gtest/gtest.h>

#include "splice/arrow_tables_test.h"
#include "splice/page_surgery_test.h"

namespace firn::splice::testing {
namespace {

using parquet::Codec;

struct Damage {
  const char* what;
  std::function<void(EditedPage&)> edit;
};

TablePtr Table(const std::vector<std::string>& types, std::int64_t rows, std::int64_t distinct, std::int64_t first = 0,
               double null_share = 0.2) {
  Random random(static_cast<std::uint64_t>(rows + first));
  TableChoice choice;
  choice.types = types;
  choice.rows = rows;
  choice.distinct = distinct;
  choice.first_value = first;
  choice.null_share = null_share;
  return RandomTable(choice, random);
}

/// Splice alone must refuse: Verify looks at a part of the output only.
void ExpectRefused(const std::vector<Input>& inputs, const std::string& name, const std::string& what) {
  MemorySink sink("out");
  const Result<Report> report = Splice(inputs, {}, sink);
  ASSERT_FALSE(report) << what;
  EXPECT_EQ(report.error().code, Code::kCorrupt) << what << ": " << report.error().message;
  EXPECT_NE(report.error().message.find(name + ": offset "), std::string::npos) << report.error().message;
}

const std::vector<Damage> kDictionaryDamage = {
    {"an entry longer than the page", [](EditedPage& page) { StoreLittle(page.body.data(), std::uint32_t{60000}); }},
    {"an entry that is shorter", [](EditedPage& page) { --page.body[0]; }},
    {"more entries", [](EditedPage& page) { ++page.header.num_values; }},
    {"fewer entries", [](EditedPage& page) { --page.header.num_values; }},
    {"bytes behind the entries", [](EditedPage& page) { page.body.push_back(0); }},
    {"far too many entries", [](EditedPage& page) { page.header.num_values = 1 << 30; }},
};

TEST(SpliceDamage, Dictionary_IsRefusedHoweverItWouldBeUsed) {
  FileChoice file;
  file.codec = Codec::kUncompressed;
  const PagePlace dictionary;
  for (const std::int64_t rows : {100, 200000}) {  // joined, and copied
    const Bytes good = WriteFile(Table({"string"}, rows, 20, 1), file);
    const Bytes other = WriteFile(Table({"string"}, rows, 30, 100), file);
    for (const Damage& damage : kDictionaryDamage) {
      const Bytes bad = WithPage(good, dictionary, damage.edit);
      const std::string what = damage.what + std::string(", rows ") + std::to_string(rows);
      ExpectRefused({InputOf("bad", bad), InputOf("same", bad)}, "bad", what + ", shared");
      ExpectRefused({InputOf("bad", bad)}, "bad", what + ", alone");
      ExpectRefused({InputOf("other", other), InputOf("bad", bad)}, "bad", what + ", united");
    }
  }
}

TEST(SpliceDamage, DictionaryThatIsExpanded_IsRefused) {
  FileChoice file;
  file.codec = Codec::kUncompressed;
  const Bytes good = WriteFile(Table({"string"}, 3000, 0), file),
              other = WriteFile(Table({"string"}, 3000, 0, 3000), file);
  ASSERT_TRUE(SpliceFiles({InputOf("other", other), InputOf("good", good)}));
  for (const Damage& damage : kDictionaryDamage) {
    ExpectRefused({InputOf("other", other), InputOf("bad", WithPage(good, {}, damage.edit))}, "bad", damage.what);
  }
}

TEST(SpliceDamage, FixedWidthDictionary_IsRefused) {
  FileChoice file;
  file.codec = Codec::kUncompressed;
  for (const std::string type : {"int32", "int64", "fixed3", "decimal38"}) {
    const Bytes good = WriteFile(Table({type}, 100, 20), file), other = WriteFile(Table({type}, 100, 20, 50), file);
    for (std::size_t i = 2; i < kDictionaryDamage.size(); ++i) {
      const Bytes bad = WithPage(good, {}, kDictionaryDamage[i].edit);
      ExpectRefused({InputOf("bad", bad), InputOf("same", bad)}, "bad", type + ": " + kDictionaryDamage[i].what);
      ExpectRefused({InputOf("other", other), InputOf("bad", bad)}, "bad", type + ": " + kDictionaryDamage[i].what);
    }
  }
}

/// The statistics in the headers of the data pages of the only column.
std::size_t PagesWithBounds(const Spliced& spliced) {
  std::size_t count = 0;
  for (std::size_t page = 0; page < static_cast<std::size_t>(spliced.report.pages); ++page) {
    const auto& statistics = PageOf(spliced.file, {0, 0, page}).header.statistics;
    count += statistics && (statistics->min || statistics->min_value) ? 1 : 0;
  }
  return count;
}

TEST(SpliceDamage, PageStatisticsThatReadersIgnored_AreNotCopied) {
  FileChoice file;
  file.dictionary = false;
  file.page_index = false;
  file.page_rows = 1 << 20;
  const TablePtr table = Table({"string"}, 30000, 0, 0, 0);
  const auto splice = [&](const char* created_by) {
    file.created_by = created_by;
    const Bytes bytes = WriteFile(table, file);
    Result<Spliced> spliced = SpliceFiles({InputOf("a", bytes), InputOf("b", bytes)});
    EXPECT_TRUE(spliced) << ToString(spliced.error());
    EXPECT_EQ(DifferenceOf({table, table}, spliced->file), "");
    return std::move(*spliced);
  };
  const Spliced trusted = splice("parquet-mr version 1.13.0 (build 1)");
  EXPECT_EQ(trusted.report.tiers[static_cast<std::size_t>(Tier::kPages)].chunks, 2);
  EXPECT_GT(PagesWithBounds(trusted), 0U);
  for (const char* old : {"parquet-mr version 1.7.0 (build 1)", "parquet-mr"}) {
    const Spliced untrusted = splice(old);
    EXPECT_EQ(untrusted.report.tiers[static_cast<std::size_t>(Tier::kPages)].chunks, 0) << old;
    EXPECT_EQ(PagesWithBounds(untrusted), 0U) << old;
  }
}

}  // namespace
}  // namespace firn::splice::testing
