// SPDX-License-Identifier: Apache-2.0
// Inputs with damage that their codec does not notice are refused, with the file and the offset.
#include <gtest/gtest.h>

#include <algorithm>

#include "splice/arrow_tables_test.h"
#include "splice/page_surgery_test.h"

namespace firn::splice::testing {
namespace {

using parquet::Codec;
using parquet::Encoding;

struct Damage {
  const char* what;
  std::function<void(EditedPage&)> edit;
};

TablePtr Table(const std::vector<std::string>& types, std::int64_t rows, std::int64_t distinct, std::int64_t first = 0,
               double null_share = 0.2) {
  return SeededTable(types, rows, distinct, static_cast<std::uint64_t>(rows + first), null_share, first);
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

TEST(SpliceDamage, DictionaryWithAnotherCrc_IsNotTakenForTheSame) {
  FileChoice file;
  file.crc = true;
  const Bytes good = WriteFile(Table({"string"}, 100, 20), file);
  const Bytes bad = WithPage(good, {}, [](EditedPage& page) { *page.header.crc ^= 1; });
  ExpectRefused({InputOf("good", good), InputOf("bad", bad)}, "bad", "CRC");
}

struct PageDamage {
  const char* what;
  const char* type;
  bool v2;
  std::optional<Encoding> encoding;
  std::function<void(EditedPage&)> edit;
};

Bytes Append(Bytes body, const Bytes& more) {
  body.insert(body.end(), more.begin(), more.end());
  return body;
}

TEST(SpliceDamage, PagesThatHoldMoreOrLessThanTheySay_AreRefused) {
  const auto append = [](Bytes more) { return [more](EditedPage& page) { page.body = Append(page.body, more); }; };
  const auto cut = [](EditedPage& page) { page.body.pop_back(); };
  const std::vector<PageDamage> cases = {
      {"a value more", "int64", false, {}, append({1, 0, 0, 0, 0, 0, 0, 0})},
      {"nine zeros", "int64", false, {}, append(Bytes(9))},
      {"a byte less", "int64", false, {}, cut},
      {"a string more", "string", true, {}, append({1, 0, 0, 0, 'x'})},
      {"a string less", "string", false, {}, cut},
      {"bits more", "bool", false, {}, append({1})},
      {"a run more", "bool", true, Encoding::kRle, append({2, 1})},
      {"a stream more", "double", false, Encoding::kByteStreamSplit, append(Bytes(8, 1))},
      {"bytes behind the lengths", "string", false, Encoding::kDeltaLengthByteArray, append({7})},
      {"bytes behind the suffixes", "string", false, Encoding::kDeltaByteArray, append({7})},
      {"a delta more", "int32", true, Encoding::kDeltaBinaryPacked,
       [](EditedPage& page) { ++page.body[static_cast<std::size_t>(page.header.definition_levels_bytes) + 3]; }},
      {"no delta header", "int32", true, Encoding::kDeltaBinaryPacked,
       [](EditedPage& page) { page.body.resize(static_cast<std::size_t>(page.header.definition_levels_bytes)); }},
      {"all null",
       "int64",
       false,
       {},
       [](EditedPage& page) { page.body[5] = 0, page.body[4] = 0xc8, page.body[0] = 3; }},
      {"a null more", "int64", true, {}, [](EditedPage& page) { ++page.header.num_nulls; }},
      {"a row less", "int64", true, {}, [](EditedPage& page) { --page.header.num_rows; }},
      {"bounds of another type",
       "int64",
       false,
       {},
       [](EditedPage& page) { page.header.statistics.emplace().min_value = Bytes(4); }},
  };
  for (const PageDamage& damage : cases) {
    FileChoice file;
    file.codec = Codec::kUncompressed;
    file.dictionary = false;
    file.v2 = damage.v2;
    file.encoding = damage.encoding;
    const Bytes good = WriteFile(Table({damage.type}, 100, 0), file);
    ASSERT_TRUE(SpliceFiles({InputOf("good", good), InputOf("same", good)})) << damage.what;
    ExpectRefused({InputOf("good", good), InputOf("bad", WithPage(good, {}, damage.edit))}, "bad", damage.what);
  }
}

TEST(SpliceDamage, EightZerosBehindTheValues_AreRead) {
  // fastparquet ends its pages like this.
  for (const bool dictionary : {false, true}) {
    FileChoice file;
    file.dictionary = dictionary;
    for (const char* type : {"int64", "string", "bool"}) {
      const TablePtr table = Table({type}, 100, 20);
      const PagePlace place{0, 0, dictionary && std::string_view(type) != "bool" ? 1U : 0U};
      const Bytes padded =
          WithPage(WriteFile(table, file), place, [](EditedPage& page) { page.body = Append(page.body, Bytes(8)); });
      const Result<Spliced> spliced = SpliceFiles({InputOf("a", padded), InputOf("b", padded)});
      ASSERT_TRUE(spliced) << type << ": " << ToString(spliced.error());
      EXPECT_EQ(DifferenceOf({table, table}, spliced->file), "") << type;
    }
  }
}

TEST(SpliceDamage, ColumnsThatDisagreeOnTheirLists_AreRefused) {
  // Readers take the lists from the keys: one value more would move all that follow, in the files behind it as well.
  FileChoice file;
  file.v2 = true;
  file.dictionary = false;
  file.page_rows = 1 << 20;
  const auto one_more = [](EditedPage& page) {
    EditLevels(page, 1, 3, [](EditedLevels& levels) {
      const auto empty = std::ranges::find(levels.definition, 1U);
      ASSERT_NE(empty, levels.definition.end());
      *empty = 2;  // a value that is null
    });
  };
  for (const std::int64_t rows : {100, 60000}) {
    const TablePtr table = Table({"map<string,int32>"}, rows, 0), other = Table({"map<string,int32>"}, rows, 0, 7);
    const Bytes good = WriteFile(table, file), behind = WriteFile(other, file);
    const Bytes bad = WithPage(good, {0, 1, 0}, one_more);
    const Result<Spliced> spliced = SpliceFiles({InputOf("good", good), InputOf("behind", behind)});
    ASSERT_TRUE(spliced) << ToString(spliced.error());
    EXPECT_EQ(DifferenceOf({table, other}, spliced->file), "");
    EXPECT_EQ(spliced->report.tiers[static_cast<std::size_t>(Tier::kPages)].chunks, rows == 100 ? 0 : 4);
    ASSERT_TRUE(TryReadFile(bad));
    ExpectRefused({InputOf("bad", bad), InputOf("behind", behind)}, "bad", "rows " + std::to_string(rows));
    ExpectRefused({InputOf("behind", behind), InputOf("bad", bad)}, "bad", "rows " + std::to_string(rows));
  }
}

TEST(SpliceDamage, CopiedListWithAnotherNumberOfRows_IsRefused) {
  FileChoice file;
  file.v2 = true;
  file.dictionary = false;
  file.page_rows = 1 << 20;
  const Bytes good = WriteFile(Table({"list<int32>"}, 60000, 0), file);
  const Bytes bad = WithPage(good, {}, [](EditedPage& page) {
    EditLevels(page, 1, 3, [](EditedLevels& levels) { *std::ranges::find(levels.repetition, 1U) = 0; });
  });
  ExpectRefused({InputOf("bad", bad), InputOf("good", good)}, "bad", "rows");
}

TEST(SpliceDamage, ElementBehindAnEmptyList_IsRefused) {
  FileChoice file;
  file.v2 = true;
  file.dictionary = false;
  file.page_rows = 1 << 20;
  for (const std::int64_t rows : {100, 60000}) {
    const Bytes good = WriteFile(Table({"list<int32>"}, rows, 0), file);
    const Bytes bad = WithPage(good, {}, [](EditedPage& page) {
      EditLevels(page, 1, 3, [](EditedLevels& levels) {
        // As many rows as before: one row becomes two, and the one behind an empty list goes on it.
        *std::ranges::find(levels.repetition, 1U) = 0;
        for (std::size_t i = levels.definition.size() / 2;; ++i) {
          if (levels.definition[i - 1] > 1 || levels.definition[i] < 2) continue;
          levels.repetition[i] = 1;
          break;
        }
      });
    });
    ASSERT_TRUE(TryReadFile(bad));
    ExpectRefused({InputOf("good", good), InputOf("bad", bad)}, "bad", "rows " + std::to_string(rows));
  }
}

struct FooterDamage {
  const char* what;
  Code code;
  std::function<void(parquet::FileMetaData&)> edit;
};

TEST(SpliceDamage, FootersThatReadersRefuse_AreRefused) {
  using Footer = parquet::FileMetaData;
  const auto meta = [](Footer& f) -> parquet::ColumnMetaData& { return *f.row_groups[0].columns[0].meta; };
  const auto schema = [](Footer& f) -> std::string& { return *f.key_value_metadata.at(0).value; };
  const std::vector<FooterDamage> cases = {
      {"bounds", Code::kCorrupt, [&](Footer& f) { meta(f).statistics->max_value->pop_back(); }},
      {"no bytes for a bound", Code::kCorrupt, [&](Footer& f) { meta(f).statistics->min_value->clear(); }},
      {"histogram", Code::kCorrupt,
       [&](Footer& f) { meta(f).size_statistics.emplace().definition_level_histogram = {1, 2, 3}; }},
      {"unencoded size", Code::kCorrupt,
       [&](Footer& f) { meta(f).size_statistics.emplace().unencoded_byte_array_data_bytes = 5; }},
      {"codec", Code::kUnsupported, [&](Footer& f) { meta(f).codec = static_cast<Codec>(-1); }},
      {"LZO", Code::kUnsupported, [&](Footer& f) { meta(f).codec = Codec::kLzo; }},
      {"offset", Code::kCorrupt, [&](Footer& f) { meta(f).data_page_offset = 0; }},
      {"precision", Code::kCorrupt, [](Footer& f) { f.schema[2].logical.precision = 0; }},
      {"base64", Code::kCorrupt, [&](Footer& f) { schema(f)[20] = '!'; }},
      {"flatbuffer", Code::kCorrupt, [&](Footer& f) { schema(f).replace(16, 8, "/////w=="), schema(f).resize(24); }},
  };
  FileChoice file;
  file.store_schema = true;
  const Bytes good = WriteFile(Table({"int32", "decimal9"}, 100, 20), file);
  ASSERT_TRUE(SpliceFiles({InputOf("good", good), InputOf("same", good)}));
  for (const FooterDamage& damage : cases) {
    const Bytes bad = WithFooter(good, damage.edit);
    EXPECT_FALSE(TryReadFile(bad)) << damage.what << " is no damage to Arrow";
    MemorySink sink("out");
    const Result<Report> report = Splice({InputOf("good", good), InputOf("bad", bad)}, {}, sink);
    ASSERT_FALSE(report) << damage.what;
    EXPECT_EQ(report.error().code, damage.code) << damage.what << ": " << report.error().message;
    EXPECT_NE(report.error().message.find("bad: offset "), std::string::npos) << report.error().message;
  }
}

TEST(SpliceDamage, AnnotationsOfGroupsThatReadersRefuse_AreRefused) {
  using parquet::LogicalKind;
  const Bytes good = WriteFile(JsonTable({{"l", "list<int32>", "[[1, 2], null, []]"}}));
  // Without a member, of no group, of a map.
  for (const LogicalKind kind : {LogicalKind::kOther, LogicalKind::kString, LogicalKind::kDate, LogicalKind::kMap}) {
    const Bytes bad = WithFooter(good, [&](parquet::FileMetaData& footer) { footer.schema[1].logical.kind = kind; });
    EXPECT_FALSE(TryReadFile(bad)) << static_cast<int>(kind) << " is no damage to Arrow";
    ExpectRefused({InputOf("good", good), InputOf("bad", bad)}, "bad", "cannot be read by Arrow");
    ExpectRefused({InputOf("bad", bad)}, "bad", "cannot be read by Arrow");
  }
}

TEST(SpliceDamage, BytesBehindTheLastPage_AreRefused) {
  const Bytes good = WriteFile(Table({"int32", "int32"}, 100, 20));
  // The second column's dictionary page becomes a part of the first column.
  const Bytes bad = WithFooter(good, [](parquet::FileMetaData& footer) {
    auto& columns = footer.row_groups[0].columns;
    const std::int64_t dictionary = columns[1].meta->data_page_offset - *columns[1].meta->dictionary_page_offset;
    columns[0].meta->total_compressed_size += dictionary;
    columns[1].meta->total_compressed_size -= dictionary;
    columns[1].meta->dictionary_page_offset.reset();
  });
  ExpectRefused({InputOf("bad", bad)}, "bad", "bytes behind");
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
