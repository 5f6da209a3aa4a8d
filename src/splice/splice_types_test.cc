// SPDX-License-Identifier: Apache-2.0
// Every type, encoding, page version and codec, spliced and compared value by value with what went in.
#include <gtest/gtest.h>

#include <algorithm>

#include "splice/arrow_tables_test.h"
#include "splice/page_surgery_test.h"

namespace firn::splice::testing {
namespace {

using parquet::Codec;
using parquet::Encoding;

/// Three tables whose values overlap in part: dictionaries differ.
std::vector<TablePtr> ThreeTables(const TableChoice& choice, std::uint64_t seed) {
  Random random(seed);
  std::vector<TablePtr> tables;
  for (int i = 0; i < 3; ++i) {
    TableChoice one = choice;
    one.first_value = i * 7;
    one.rows = choice.rows + i;
    tables.push_back(RandomTable(one, random));
  }
  return tables;
}

std::vector<Input> InputsOf(const std::vector<TablePtr>& tables, const FileChoice& choice) {
  std::vector<Input> inputs;
  for (std::size_t i = 0; i < tables.size(); ++i) {
    inputs.push_back(InputOf("file" + std::to_string(i), WriteFile(tables[i], choice)));
  }
  return inputs;
}

void ExpectSpliced(const std::vector<TablePtr>& tables, const FileChoice& choice, const Options& options,
                   const std::string& what) {
  SCOPED_TRACE(what);
  const Result<Spliced> spliced = SpliceFiles(InputsOf(tables, choice), options);
  ASSERT_TRUE(spliced) << ToString(spliced.error());
  EXPECT_EQ(DifferenceOf(tables, spliced->file), "");
  EXPECT_EQ(spliced->report.row_groups, 1);
}

TEST(SpliceTypes, FlatColumns_AllLayouts_KeepEveryValue) {
  for (const double null_share : {0.0, 0.3}) {
    for (const bool dictionary : {true, false}) {
      for (const bool v2 : {true, false}) {
        TableChoice choice;
        choice.types = FlatTypeNames();
        choice.rows = 700;
        choice.null_share = null_share;
        FileChoice file;
        file.dictionary = dictionary;
        file.v2 = v2;
        file.page_rows = 100;
        file.crc = v2;
        const std::string what =
            (dictionary ? "dictionary " : "plain ") + std::string(v2 ? "v2 " : "v1 ") + std::to_string(null_share);
        ExpectSpliced(ThreeTables(choice, 1), file, {}, what);
        Options small;
        small.page_size_bytes = 1024;
        ExpectSpliced(ThreeTables(choice, 2), file, small, what + " small pages");
        Options dense;
        dense.effort = Effort::kDense;
        ExpectSpliced(ThreeTables(choice, 3), file, dense, what + " dense");
        Options fast;
        fast.effort = Effort::kFast;
        fast.threads = 3;
        ExpectSpliced(ThreeTables(choice, 4), file, fast, what + " fast");
      }
    }
  }
}

TEST(SpliceTypes, FlatColumns_AllDifferent_AreExpandedToPlain) {
  TableChoice choice;
  choice.types = FlatTypeNames();
  choice.rows = 3000;
  choice.distinct = 0;
  FileChoice file;
  file.page_rows = 500;
  Options options;
  options.page_size_bytes = 4096;
  ExpectSpliced(ThreeTables(choice, 5), file, options, "distinct");
}

TEST(SpliceTypes, Codecs_AllPairs_KeepEveryValue) {
  const std::vector<Codec> codecs = {Codec::kUncompressed, Codec::kSnappy, Codec::kGzip,
                                     Codec::kBrotli,       Codec::kZstd,   Codec::kLz4Raw};
  TableChoice choice;
  choice.types = {"int32", "string", "list<string>", "bool"};
  choice.rows = 300;
  for (const Codec from : codecs) {
    for (const Codec to : codecs) {
      for (const bool v2 : {false, true}) {
        FileChoice file;
        file.codec = from;
        file.v2 = v2;
        Options options;
        options.codec = to;
        ExpectSpliced(
            ThreeTables(choice, 6), file, options,
            "codec " + std::to_string(static_cast<int>(from)) + " to " + std::to_string(static_cast<int>(to)));
      }
    }
  }
}

TEST(SpliceTypes, MixedCodecsAndVersions_BecomeOneOfEach) {
  Random random(7);
  TableChoice choice;
  choice.types = {"int64", "string", "list<int32>", "double"};
  choice.rows = 400;
  std::vector<TablePtr> tables;
  std::vector<Input> inputs;
  for (int i = 0; i < 6; ++i) {
    FileChoice file;
    file.codec = i % 3 == 0 ? Codec::kSnappy : i % 3 == 1 ? Codec::kZstd : Codec::kUncompressed;
    file.v2 = i % 2 == 0;
    file.dictionary = i < 4;
    tables.push_back(RandomTable(choice, random));
    inputs.push_back(InputOf("file" + std::to_string(i), WriteFile(tables.back(), file)));
  }
  const Result<Spliced> spliced = SpliceFiles(inputs);
  ASSERT_TRUE(spliced) << ToString(spliced.error());
  EXPECT_EQ(DifferenceOf(tables, spliced->file), "");
}

struct EncodingCase {
  Encoding encoding;
  std::vector<std::string> types;
};

TEST(SpliceTypes, Encodings_OfEachKind_AreKept) {
  const EncodingCase cases[] = {
      {Encoding::kDeltaBinaryPacked, {"int32", "int64", "date", "timestamp", "uint64", "list<int32>"}},
      {Encoding::kDeltaLengthByteArray, {"string", "binary", "list<string>"}},
      {Encoding::kDeltaByteArray, {"string", "binary", "fixed16", "fixed3", "decimal38"}},
      {Encoding::kByteStreamSplit, {"float", "double", "int32", "int64", "fixed16", "float16", "decimal38"}},
      {Encoding::kRle, {"bool"}},
  };
  for (const EncodingCase& one : cases) {
    for (const bool v2 : {false, true}) {
      for (const double nulls : {0.0, 0.4}) {
        TableChoice choice;
        choice.types = one.types;
        choice.rows = 900;
        choice.distinct = 300;
        choice.null_share = nulls;
        FileChoice file;
        file.dictionary = false;
        file.encoding = one.encoding;
        file.v2 = v2;
        file.page_rows = 250;
        const std::vector<TablePtr> tables = ThreeTables(choice, 8);
        const std::string what = "encoding " + std::to_string(static_cast<int>(one.encoding));
        ExpectSpliced(tables, file, {}, what);
        const Result<Spliced> spliced = SpliceFiles(InputsOf(tables, file));
        ASSERT_TRUE(spliced);
        if (one.encoding == Encoding::kRle) continue;
        const parquet::FileMetaData footer = FooterOf(spliced->file);
        const auto& encodings = footer.row_groups[0].columns[0].meta->encodings;
        EXPECT_NE(std::find(encodings.begin(), encodings.end(), one.encoding), encodings.end()) << what;
      }
    }
  }
}

TEST(SpliceTypes, Int96_StaysInt96) {
  TableChoice choice;
  choice.types = {"timestamp"};
  FileChoice file;
  file.int96 = true;
  const std::vector<TablePtr> tables = ThreeTables(choice, 9);
  const Result<Spliced> spliced = SpliceFiles(InputsOf(tables, file));
  ASSERT_TRUE(spliced) << ToString(spliced.error());
  EXPECT_EQ(FooterOf(spliced->file).row_groups[0].columns[0].meta->type, parquet::PhysicalType::kInt96);
  EXPECT_EQ(RowsOf(ReadFile(spliced->file)), 303);
  EXPECT_FALSE(ColumnIndexOf(spliced->file, 0, 0));
}

TEST(SpliceNested, ListsStructsMaps_WithEmptyAndNull_KeepNesting) {
  for (const bool v2 : {false, true}) {
    for (const bool dictionary : {false, true}) {
      for (const double nulls : {0.0, 0.15, 0.9}) {
        TableChoice choice;
        choice.types = NestedTypeNames();
        choice.rows = 1500;
        choice.null_share = nulls;
        FileChoice file;
        file.v2 = v2;
        file.dictionary = dictionary;
        file.page_rows = 200;
        file.page_index = !dictionary;
        Options options;
        options.page_size_bytes = 2048;
        const std::string what =
            std::string(v2 ? "v2 " : "v1 ") + (dictionary ? "dictionary " : "plain ") + std::to_string(nulls);
        ExpectSpliced(ThreeTables(choice, 10), file, options, what);
        ExpectSpliced(ThreeTables(choice, 11), file, {}, what + " large pages");
      }
    }
  }
}

TEST(SpliceNested, JsonTables_EdgesOfNesting_AreKept) {
  const std::vector<TablePtr> tables = {
      JsonTable({{"l", "list<list<int64>>", "[[[1, 2], [], null], null, [], [[3]]]"},
                 {"m", "map<string,int32>", "[[[\"a\", 1], [\"b\", null]], [], null, [[\"\", 2]]]"}}),
      JsonTable({{"l", "list<list<int64>>", "[null, []]"}, {"m", "map<string,int32>", "[null, []]"}}),
      JsonTable({{"l", "list<list<int64>>", "[[[]], [[null]]]"}, {"m", "map<string,int32>", "[[[\"z\", 9]], null]"}}),
  };
  for (const bool v2 : {false, true}) {
    FileChoice file;
    file.v2 = v2;
    ExpectSpliced(tables, file, {}, v2 ? "v2" : "v1");
  }
}

TEST(SpliceNested, OffsetIndex_CountsRows) {
  Random random(12);
  TableChoice choice;
  choice.types = {"list<int32>"};
  choice.rows = 5000;
  const TablePtr table = RandomTable(choice, random);
  FileChoice file;
  file.page_rows = 300;
  Options options;
  options.page_size_bytes = 2048;
  const Result<Spliced> spliced =
      SpliceFiles({InputOf("a", WriteFile(table, file)), InputOf("b", WriteFile(table, file))}, options);
  ASSERT_TRUE(spliced) << ToString(spliced.error());
  const auto index = OffsetIndexOf(spliced->file, 0, 0);
  ASSERT_TRUE(index);
  EXPECT_GT(index->pages.size(), 3U);
  EXPECT_LT(index->pages.back().first_row_index, 10000);
}

/// The encodings of the last column's data pages, with effort dense.
std::vector<parquet::Encoding> DenseEncodings(const TablePtr& table,
                                              const std::function<void(parquet::FileMetaData&)>& edit) {
  FileChoice file;
  file.dictionary = false;
  const Bytes bytes = WithFooter(WriteFile(table, file), edit);
  Options options;
  options.effort = Effort::kDense;
  const Result<Spliced> spliced = SpliceFiles({InputOf("a", bytes), InputOf("b", bytes)}, options);
  EXPECT_TRUE(spliced) << ToString(spliced.error());
  std::vector<parquet::Encoding> encodings;
  if (!spliced) return encodings;
  const parquet::FileMetaData footer = FooterOf(spliced->file);
  for (const auto& stats : footer.row_groups[0].columns.back().meta->encoding_stats)
    encodings.push_back(stats.encoding);
  return encodings;
}

TEST(SpliceTypes, DenseByteArrays_GetLengthsOnlyWhereReadersTakeThem) {
  using Encodings = std::vector<parquet::Encoding>;
  const auto nothing = [](parquet::FileMetaData&) {};
  const auto decimal = [](parquet::FileMetaData& footer) {
    footer.schema[1].logical.kind = parquet::LogicalKind::kDecimal;
    footer.schema[1].logical.precision = footer.schema[1].precision = 9;
    footer.schema[1].logical.scale = footer.schema[1].scale = 2;
    footer.schema[1].converted_type = 5;
    footer.row_groups[0].columns[0].meta->statistics.reset();
  };
  const auto old_decimal = [&](parquet::FileMetaData& footer) {
    decimal(footer);
    footer.schema[1].logical = parquet::LogicalType();
  };
  const auto variant = [](parquet::FileMetaData& footer) {
    footer.schema[1].logical.kind = parquet::LogicalKind::kVariant;
  };
  const TablePtr bytes = JsonTable({{"a", "binary", "[\"\\u0001\", null, \"\\u0002\"]"}});
  const TablePtr parts = JsonTable({{"v", "variant", R"([{"metadata": "m", "value": "x"}, null])"}});
  EXPECT_EQ(DenseEncodings(bytes, nothing), Encodings{parquet::Encoding::kDeltaLengthByteArray});
  EXPECT_EQ(DenseEncodings(JsonTable({{"a", "string", R"(["x", null])"}}), nothing),
            Encodings{parquet::Encoding::kDeltaLengthByteArray});
  EXPECT_EQ(DenseEncodings(bytes, decimal), Encodings{parquet::Encoding::kPlain});
  EXPECT_EQ(DenseEncodings(bytes, old_decimal), Encodings{parquet::Encoding::kPlain});
  EXPECT_EQ(DenseEncodings(parts, nothing), Encodings{parquet::Encoding::kDeltaLengthByteArray});
  EXPECT_EQ(DenseEncodings(parts, variant), Encodings{parquet::Encoding::kPlain});
}

/// What a dense merge makes of three files of `rows` integers each, drawn from 20,000 between -20,000 and 20,000.
Spliced DenseDraws(std::int64_t rows, Effort effort) {
  std::vector<TablePtr> tables;
  std::vector<Input> inputs;
  for (int i = 0; i < 3; ++i) {
    TableChoice choice;
    choice.types = {"int32"};
    choice.rows = rows;
    choice.distinct = 20000;
    choice.null_share = 0;
    Random random(static_cast<std::uint64_t>(i));
    tables.push_back(RandomTable(choice, random));
    inputs.push_back(InputOf(std::to_string(i), WriteFile(tables.back())));
  }
  Options options;
  options.effort = effort;
  const Result<Spliced> spliced = SpliceFiles(inputs, options);
  EXPECT_TRUE(spliced) << ToString(spliced.error());
  if (!spliced) return {};
  EXPECT_EQ(DifferenceOf(tables, spliced->file), "");
  return *spliced;
}

bool HasDictionary(const Spliced& spliced) {
  return FooterOf(spliced.file).row_groups[0].columns[0].meta->dictionary_page_offset.has_value();
}

TEST(SpliceTypes, DenseIntegers_AreDeltasWhereIndicesAndTheirDictionaryAreMore) {
  const Spliced few = DenseDraws(30000, Effort::kDense);  // 17.6 bits a value instead of 15 and the dictionary
  EXPECT_FALSE(HasDictionary(few));
  EXPECT_TRUE(HasDictionary(DenseDraws(30000, Effort::kBalanced)));
  EXPECT_LT(few.file.size(), DenseDraws(30000, Effort::kBalanced).file.size());
  EXPECT_TRUE(HasDictionary(DenseDraws(150000, Effort::kDense)));
}

}  // namespace
}  // namespace firn::splice::testing
