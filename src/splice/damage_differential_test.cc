// SPDX-License-Identifier: Apache-2.0
// Damaged files: what is merged is what Arrow reads from them. Damage that Arrow refuses is refused, or stays in the
// output, so that readers see it as they did before.
// FIRN_DIFFERENTIAL_SECONDS sets how long (default 3), FIRN_DIFFERENTIAL_SEED repeats one case.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>

#include "splice/page_surgery_test.h"
#include "splice/random_choices_test.h"

namespace firn::splice::testing {
namespace {

struct Counts {
  std::size_t refused = 0, same = 0, stays = 0, harmless_refused = 0, other_types = 0;
};

void FlipBits(Bytes& bytes, std::size_t begin, std::size_t end, Random& random) {
  if (begin >= end) return;
  const std::uint64_t flips = OneOf<std::uint64_t>(random, {1, 1, 1, 3});
  for (std::uint64_t i = 0; i < flips; ++i) {
    const std::size_t at = begin + random.Below(end - begin);
    bytes[at] ^= static_cast<std::uint8_t>(1 << random.Below(8));
  }
}

PagePlace RandomPage(const Bytes& file, Random& random) {
  const parquet::FileMetaData footer = FooterOf(file);
  PagePlace place;
  if (footer.row_groups.empty()) return place;
  place.row_group = random.Below(footer.row_groups.size());
  place.leaf = random.Below(footer.row_groups[place.row_group].columns.size());
  std::size_t pages = 0;
  for (const auto& stats : footer.row_groups[place.row_group].columns[place.leaf].meta->encoding_stats) {
    pages += static_cast<std::size_t>(stats.count);
  }
  place.page = pages == 0 ? 0 : random.Below(pages);
  return place;
}

/// Damage where the codec does not see it: below the compression, or in the header with everything else fitting.
Bytes DamageInside(const Bytes& file, Random& random) {
  return WithPage(file, RandomPage(file, random), [&](EditedPage& page) {
    const auto number = [&](std::int32_t& value) { value += OneOf<std::int32_t>(random, {-8, -1, 1, 1, 7}); };
    switch (random.Below(8)) {
      case 0: number(page.header.num_values); break;
      case 1: number(page.header.num_nulls); break;
      case 2: number(page.header.num_rows); break;
      case 3: number(page.header.definition_levels_bytes); break;
      case 4: page.body.resize(page.body.size() + random.Below(4)); break;
      case 5: page.header.encoding = static_cast<parquet::Encoding>(random.Below(10)); break;
      // Levels stand at the beginning.
      case 6: FlipBits(page.body, 0, std::min<std::size_t>(page.body.size(), 12), random); break;
      default: FlipBits(page.body, 0, page.body.size(), random);
    }
  });
}

Bytes Damaged(const Bytes& file, Random& random) {
  const std::size_t footer_bytes = 8 + LoadLittle<std::uint32_t>(file.data() + file.size() - 8);
  const std::size_t data_end = file.size() - footer_bytes;
  Bytes bytes = file;
  switch (random.Below(10)) {
    case 0: FlipBits(bytes, 0, bytes.size(), random); break;
    case 1:
    case 2: FlipBits(bytes, data_end, bytes.size(), random); break;
    case 3: {
      const std::size_t at = random.Below(bytes.size());
      bytes[at] = OneOf<std::uint8_t>(random, {0, 1, 0x7f, 0x80, 0xfe, 0xff});
      break;
    }
    case 4: bytes.erase(bytes.begin() + static_cast<std::ptrdiff_t>(random.Below(data_end))); break;
    case 5:
    case 6:
    case 7:
      if (!FooterOf(file).row_groups.empty()) return DamageInside(file, random);
      break;
    default: FlipBits(bytes, 4, data_end, random);
  }
  return bytes;
}

/// One case; empty if all is well.
std::string RunCase(std::uint64_t seed, Counts& counts) {
  Random random(seed);
  TableChoice table;
  table.types = RandomTypes(random);
  table.types.resize(std::min<std::size_t>(table.types.size(), 2));
  table.rows = OneOf<std::int64_t>(random, {1, 9, 60, 60, 300, 300, 300, 5000});
  table.distinct = OneOf<std::int64_t>(random, {0, 1, 5, 300});
  table.null_share = OneOf<double>(random, {0.0, 0.1, 0.6});
  const TablePtr intact = RandomTable(table, random);
  const Bytes whole = WriteFile(intact, RandomFile(random, table.types)), bad = Damaged(whole, random);
  table.first_value = static_cast<std::int64_t>(random.Below(3)) * 100;
  const TablePtr other = RandomTable(table, random);
  const Bytes good = WriteFile(other, RandomFile(random, table.types));
  const std::vector<bool> is_bad =
      OneOf<std::vector<bool>>(random, {{false, true}, {true, false}, {true, true}, {true}});
  std::vector<Input> inputs;
  for (const bool b : is_bad) inputs.push_back(InputOf(b ? "bad" : "good", b ? bad : good));

  const Result<Spliced> spliced = SpliceFiles(inputs, RandomOptions(random));
  const Result<TablePtr> read = TryReadFile(bad);
  if (!spliced) {
    ++counts.refused;
    counts.harmless_refused += read && SameTypes(*read, intact) && DifferenceOf({*read}, whole).empty() ? 1 : 0;
    if (spliced.error().code == Code::kInternal) return ToString(spliced.error());
    const std::optional<std::size_t> blamed = BrokenInput(inputs, spliced.error());
    const bool is_right = spliced.error().code != Code::kCorrupt || (blamed && is_bad[*blamed]);
    return is_right ? "" : "does not say which input is broken: " + ToString(spliced.error());
  }
  const Result<TablePtr> output = TryReadFile(spliced->file);
  if (!read) {
    // Of a page of nulls alone, whose encoding is said to be RLE: Arrow wants the length of no values, others do not.
    const bool is_without_values = read.error().message.find("Received invalid length : 0") != std::string::npos;
    if (output && !is_without_values) return "Arrow refused the input: " + read.error().message;
    ++counts.stays;
    return "";
  }
  if (!output) return "Arrow refuses the output: " + output.error().message;
  std::vector<TablePtr> tables;
  for (const bool b : is_bad) tables.push_back(b ? *read : other);
  if (!SameTypes(*read, intact)) {
    ++counts.other_types;
    return "";
  }
  ++counts.same;
  return DifferenceOf(tables, spliced->file);
}

TEST(DamageDifferential, DamagedFiles_AreRefusedOrReadAsBefore) {
  Counts counts;
  if (const char* seed = std::getenv("FIRN_DIFFERENTIAL_SEED")) {
    EXPECT_EQ(RunCase(std::strtoull(seed, nullptr, 10), counts), "");
    return;
  }
  const char* seconds = std::getenv("FIRN_DIFFERENTIAL_SECONDS");
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(seconds == nullptr ? 3 : std::atoi(seconds));
  std::uint64_t seed = 1;
  for (int failures = 0; std::chrono::steady_clock::now() < end && failures < 50; ++seed) {
    const std::string fault = RunCase(seed, counts);
    EXPECT_EQ(fault, "") << "seed " << seed;
    failures += fault.empty() ? 0 : 1;
  }
  std::printf(
      "seeds 1 to %llu: %zu refused (%zu of them read by Arrow as before the damage), %zu read the same, "
      "%zu refused by Arrow before and after\n",
      static_cast<unsigned long long>(seed - 1), counts.refused, counts.harmless_refused, counts.same, counts.stays);
}

}  // namespace
}  // namespace firn::splice::testing
