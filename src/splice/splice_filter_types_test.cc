// SPDX-License-Identifier: Apache-2.0
// Deleted rows in columns of every type, encoding and layout: the output holds what Arrow wrote, less them.
#include <gtest/gtest.h>

#include <algorithm>

#include "splice/filter_job_test.h"

namespace firn::splice::testing {
namespace {

using parquet::Codec;
using parquet::Encoding;

class FilteredType : public ::testing::TestWithParam<std::string> {};

TEST_P(FilteredType, RandomDeletes_EveryLayoutOfPages) {
  for (std::uint64_t seed = 0; seed < 8; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    FilterJob job;
    for (int i = 0; i < 3; ++i) {
      const std::int64_t rows = 700;
      FileChoice choice;
      choice.v2 = seed % 2 == 1;
      choice.dictionary = seed % 4 < 2;
      choice.page_index = seed % 3 != 0;
      choice.page_rows = 50 + static_cast<std::int64_t>(random.Below(200));
      choice.row_group_rows = seed < 4 ? 1 << 20 : 300;
      job.Add(SeededTable({GetParam()}, rows, seed % 3 == 2 ? 0 : 30, seed * 10 + static_cast<std::uint64_t>(i)),
              choice, SomeRows(rows, 2 + random.Below(40), random));
    }
    Options options;
    options.page_size_bytes = seed % 2 == 0 ? 1 << 20 : 1024;
    const Spliced spliced = CheckJob(job, options);
    EXPECT_GT(ChunksOf(spliced.report, Tier::kFilter), 0);
    ExpectArrowsStatistics(job, spliced);
  }
}

std::vector<std::string> AllTypes() {
  std::vector<std::string> types = FlatTypeNames();
  const std::vector<std::string> nested = NestedTypeNames();
  types.insert(types.end(), nested.begin(), nested.end());
  return types;
}

INSTANTIATE_TEST_SUITE_P(Types, FilteredType, ::testing::ValuesIn(AllTypes()), [](const auto& tested) {
  std::string name = tested.param;
  std::erase_if(name, [](char c) { return std::isalnum(static_cast<unsigned char>(c)) == 0; });
  return name;
});

struct EncodingCase {
  std::string type;
  Encoding encoding;
};
class FilteredEncoding : public ::testing::TestWithParam<EncodingCase> {};

TEST_P(FilteredEncoding, RandomDeletes_KeepTheOtherValues) {
  for (const Effort effort : {Effort::kBalanced, Effort::kDense}) {
    Random random(static_cast<std::uint64_t>(effort));
    FilterJob job;
    FileChoice choice;
    choice.dictionary = false;
    choice.encoding = GetParam().encoding;
    choice.page_rows = 300;
    for (std::uint64_t i = 0; i < 2; ++i) {
      job.Add(SeededTable({GetParam().type}, 2000, 0, i), choice, SomeRows(2000, i == 0 ? 100 : 3, random));
    }
    Options options;
    options.effort = effort;
    ExpectArrowsStatistics(job, CheckJob(job, options));
  }
}

INSTANTIATE_TEST_SUITE_P(Encodings, FilteredEncoding,
                         ::testing::Values(EncodingCase{"int32", Encoding::kDeltaBinaryPacked},
                                           EncodingCase{"int64", Encoding::kDeltaBinaryPacked},
                                           EncodingCase{"string", Encoding::kDeltaLengthByteArray},
                                           EncodingCase{"string", Encoding::kDeltaByteArray},
                                           EncodingCase{"fixed16", Encoding::kDeltaByteArray},
                                           EncodingCase{"double", Encoding::kByteStreamSplit},
                                           EncodingCase{"fixed3", Encoding::kByteStreamSplit},
                                           EncodingCase{"bool", Encoding::kRle},
                                           EncodingCase{"bool", Encoding::kPlain}));

TEST(SpliceFilter, EveryCodec) {
  for (const Codec codec :
       {Codec::kUncompressed, Codec::kSnappy, Codec::kGzip, Codec::kBrotli, Codec::kZstd, Codec::kLz4Raw}) {
    Random random(static_cast<std::uint64_t>(codec));
    FilterJob job;
    FileChoice choice;
    choice.codec = codec;
    choice.crc = true;
    choice.page_rows = 100;
    job.Add(SeededTable({"int64", "string", "list<int32>"}, 1000, 50, 1), choice, SomeRows(1000, 10, random));
    job.Add(SeededTable({"int64", "string", "list<int32>"}, 1000, 50, 2), choice, {});
    CheckJob(job);
  }
}

TEST(SpliceFilter, RandomTables_AreTheirRemainingRows) {
  const std::vector<std::string> types = AllTypes();
  for (std::uint64_t seed = 100; seed < 160; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    std::vector<std::string> chosen;
    for (std::uint64_t i = 0, count = 1 + random.Below(4); i < count; ++i) {
      chosen.push_back(types[random.Below(types.size())]);
    }
    const double nulls = random.Below(4) == 0 ? 0 : random.NextUnit();
    FilterJob job;
    for (std::uint64_t i = 0, count = 1 + random.Below(4); i < count; ++i) {
      const auto rows = static_cast<std::int64_t>(1 + random.Below(3000));
      FileChoice choice;
      choice.codec = random.Below(2) == 0 ? Codec::kZstd : Codec::kSnappy;
      choice.v2 = random.Below(2) == 0;
      choice.dictionary = random.Below(3) != 0;
      choice.page_index = random.Below(2) == 0;
      choice.statistics = random.Below(3) != 0;
      choice.page_rows = static_cast<std::int64_t>(10 + random.Below(2000));
      choice.dictionary_bytes = random.Below(3) == 0 ? 300 : 1 << 20;
      choice.row_group_rows = random.Below(2) == 0 ? 1 << 20 : static_cast<std::int64_t>(1 + random.Below(1500));
      std::vector<std::int64_t> deleted;
      switch (random.Below(6)) {
        case 0: break;
        case 1: deleted = RowRange(0, rows); break;
        case 2: {
          const auto begin = static_cast<std::int64_t>(random.Below(static_cast<std::uint64_t>(rows)));
          deleted = RowRange(begin, rows + 3);  // also rows that are not there
          break;
        }
        case 3: deleted = {0, rows - 1}; break;
        default: deleted = SomeRows(rows, 1 + random.Below(60), random);
      }
      job.Add(SeededTable(chosen, rows, static_cast<std::int64_t>(random.Below(3) * 40), random.Next(), nulls), choice,
              std::move(deleted));
    }
    Options options;
    options.effort = static_cast<Effort>(random.Below(3));
    options.threads = random.Below(2) == 0 ? 1 : 3;
    options.page_size_bytes = random.Below(2) == 0 ? 1024 : 1 << 20;
    options.row_group_row_count_max = random.Below(3) == 0 ? 500 : 1 << 20;
    options.dictionary_size_bytes = random.Below(3) == 0 ? 100 : 2 << 20;
    if (random.Below(3) == 0) options.codec = Codec::kZstd;
    CheckJob(job, options);
  }
}

}  // namespace
}  // namespace firn::splice::testing
