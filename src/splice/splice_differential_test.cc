// SPDX-License-Identifier: Apache-2.0
// Random files, deletes and options: what Arrow reads from the output is what it wrote into the inputs.
// FIRN_DIFFERENTIAL_SECONDS sets how long (default 3), FIRN_DIFFERENTIAL_SEED repeats one case.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>

#include "splice/arrow_blooms_test.h"
#include "splice/arrow_tables_test.h"
#include "splice/random_choices_test.h"

namespace firn::splice::testing {
namespace {

/// Positions that are deleted of a file with `rows` rows, or null.
std::shared_ptr<const DeletedRowList> RandomDeletes(Random& random, std::int64_t rows) {
  std::vector<std::int64_t> positions;
  if (random.Below(2) == 0) return nullptr;
  const std::uint64_t share = OneOf<std::uint64_t>(random, {1, 2, 20, 700});
  for (std::int64_t row = 0; row < rows;) {
    const auto run = static_cast<std::int64_t>(OneOf<std::uint64_t>(random, {1, 1, 3, 150}));
    for (std::int64_t i = row; i < row + run && random.Below(share) == 0; ++i) positions.push_back(i);
    row += run;
  }
  return std::make_shared<DeletedRowList>(std::move(positions));
}

/// One case; empty if all is well.
std::string RunCase(std::uint64_t seed) {
  Random random(seed);
  TableChoice table;
  table.types = RandomTypes(random);
  const double nulls = OneOf<double>(random, {0.0, 0.1, 0.6, 0.98});
  const bool mixed = nulls > 0 && random.Below(4) == 0;  // some inputs have required columns
  Options options = RandomOptions(random);
  std::vector<TablePtr> tables, remaining;
  std::vector<Input> inputs;
  const std::uint64_t files = 1 + random.Below(6);
  for (std::uint64_t i = 0; i < files; ++i) {
    table.rows = OneOf<std::int64_t>(random, {0, 1, 9, 200, 2500});
    table.distinct = OneOf<std::int64_t>(random, {0, 1, 5, 300});
    table.first_value = static_cast<std::int64_t>(random.Below(3) * 100);
    table.null_share = mixed && i > 0 && random.Below(2) == 0 ? 0 : nulls;
    tables.push_back(RandomTable(table, random));
    inputs.push_back(InputOf("file" + std::to_string(i), WriteFile(tables.back(), RandomFile(random, table.types))));
    const std::shared_ptr<const DeletedRowList> deleted = RandomDeletes(random, table.rows);
    inputs.back().deleted_rows = deleted;
    for (TablePtr& slice : WithoutRows(tables.back(), deleted ? *deleted : DeletedRowList({}))) {
      remaining.push_back(std::move(slice));
    }
  }
  if (mixed) {
    const std::size_t leaves = FooterOf(WriteFile(tables[0])).column_orders.size();
    options.schema = FooterOf(WriteFile(tables[0])).schema;
    for (Input& input : inputs) {
      input.columns.resize(leaves);
      for (std::size_t i = 0; i < leaves; ++i) input.columns[i].leaf = static_cast<std::int32_t>(i);
    }
  }
  if (random.Below(2) == 0) {  // columns without field ids are number -1
    options.columns[-1].bloom_filter = true;
    options.columns[-1].bloom_filter_fpp = OneOf<double>(random, {0.3, 0.01, 0.0001});
  }
  const Result<Spliced> spliced = SpliceFiles(inputs, options);
  if (!spliced) return ToString(spliced.error());
  const std::string denied = DeniedBy(spliced->file);
  return denied.empty() ? DifferenceOf(remaining, spliced->file) : denied;
}

TEST(SpliceDifferential, RandomFiles_ReadAsTheyWereWritten) {
  if (const char* seed = std::getenv("FIRN_DIFFERENTIAL_SEED")) {
    EXPECT_EQ(RunCase(std::strtoull(seed, nullptr, 10)), "");
    return;
  }
  const char* seconds = std::getenv("FIRN_DIFFERENTIAL_SECONDS");
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(seconds == nullptr ? 3 : std::atoi(seconds));
  // The default run repeats the same cases; a longer one goes on to new ones.
  std::uint64_t seed = 1;
  for (; std::chrono::steady_clock::now() < end && !HasFailure(); ++seed) {
    EXPECT_EQ(RunCase(seed), "") << "seed " << seed;
  }
  std::printf("seeds 1 to %llu\n", static_cast<unsigned long long>(seed - 1));
}

}  // namespace
}  // namespace firn::splice::testing
