// SPDX-License-Identifier: Apache-2.0
#include "splice/random_choices_test.h"

#include <algorithm>
#include <optional>

namespace firn::splice::testing {

using parquet::Codec;
using parquet::Encoding;

namespace {

/// An encoding that all columns take, or none.
std::optional<Encoding> RandomEncoding(Random& random, const std::vector<std::string>& types) {
  const auto all_of = [&](const std::vector<std::string>& allowed) {
    return std::ranges::all_of(types, [&](const std::string& type) { return std::ranges::count(allowed, type) > 0; });
  };
  std::vector<std::optional<Encoding>> choices = {std::nullopt};
  if (all_of({"int8", "int32", "uint32", "int64", "uint64", "date", "time", "timestamp", "timestamptz", "decimal9"})) {
    choices.insert(choices.end(), {Encoding::kDeltaBinaryPacked, Encoding::kByteStreamSplit});
  }
  if (all_of({"string", "binary", "list<string>"})) choices.push_back(Encoding::kDeltaLengthByteArray);
  if (all_of({"string", "binary", "fixed3", "fixed16"})) choices.push_back(Encoding::kDeltaByteArray);
  if (all_of({"float", "double", "fixed3", "fixed16", "float16"})) choices.push_back(Encoding::kByteStreamSplit);
  if (all_of({"bool"})) choices.push_back(Encoding::kRle);
  return OneOf(random, choices);
}

}  // namespace

std::vector<std::string> RandomTypes(Random& random) {
  std::vector<std::string> known = FlatTypeNames();
  const std::vector<std::string> nested = NestedTypeNames();
  known.insert(known.end(), nested.begin(), nested.end());
  std::vector<std::string> types;
  const std::uint64_t count = 1 + random.Below(5);
  for (std::uint64_t i = 0; i < count; ++i) types.push_back(OneOf(random, known));
  return types;
}

FileChoice RandomFile(Random& random, const std::vector<std::string>& types) {
  FileChoice choice;
  choice.codec =
      OneOf<Codec>(random, {Codec::kZstd, Codec::kZstd, Codec::kSnappy, Codec::kUncompressed, Codec::kLz4Raw});
  choice.v2 = random.Below(3) == 0;
  choice.encoding = RandomEncoding(random, types);
  choice.dictionary = !choice.encoding && random.Below(3) != 0;
  choice.page_index = random.Below(2) == 0;
  choice.statistics = random.Below(4) != 0;
  choice.crc = random.Below(4) == 0;
  choice.page_rows = OneOf<std::int64_t>(random, {64, 300, 20000});
  choice.dictionary_bytes = OneOf<std::int64_t>(random, {500, 1 << 20, 1 << 20});
  if (random.Below(3) == 0) choice.bloom_fpp = OneOf<double>(random, {0.3, 0.01, 0.0001});
  choice.row_group_rows = OneOf<std::int64_t>(random, {200, 1 << 20, 1 << 20});
  return choice;
}

Options RandomOptions(Random& random) {
  Options options;
  options.page_size_bytes = OneOf<std::int64_t>(random, {1024, 16 << 10, 1 << 20});
  options.dictionary_size_bytes = OneOf<std::int64_t>(random, {100, 4000, 2 << 20});
  options.effort = OneOf<Effort>(random, {Effort::kFast, Effort::kBalanced, Effort::kBalanced, Effort::kDense});
  options.threads = static_cast<int>(1 + random.Below(3));
  options.row_group_row_count_max = OneOf<std::int64_t>(random, {500, 3000, 1 << 20});
  if (random.Below(3) == 0)
    options.codec = OneOf<Codec>(random, {Codec::kZstd, Codec::kSnappy, Codec::kGzip, Codec::kUncompressed});
  return options;
}

}  // namespace firn::splice::testing
