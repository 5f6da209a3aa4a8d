// SPDX-License-Identifier: Apache-2.0
// Takes the input apart into one or two files, splices them with themselves, with or without some of their rows, and
// verifies what came out.
#include <cstdio>
#include <cstdlib>
#include <string>

#include "format/parquet/footer.h"
#include "splice/splice.h"

namespace {

using namespace firn;

[[noreturn]] void Fail(const Error& error) {
  std::fprintf(stderr, "%s\n", ToString(error).c_str());
  std::abort();
}

/// Small files may claim billions of values in a few runs: legal, but nothing to spend time on.
bool TooLong(const std::shared_ptr<RandomAccessSource>& source) {
  constexpr std::int64_t kValuesMax = 1 << 16;
  const Result<parquet::FileMetaData> footer = parquet::ReadFooter(*source);
  if (!footer) return false;
  std::int64_t values = 0;
  for (const parquet::RowGroup& group : footer->row_groups) {
    for (const parquet::ColumnChunk& chunk : group.columns) {
      if (!chunk.meta || chunk.meta->num_values > kValuesMax) return true;
      values += chunk.meta->num_values;
    }
    if (group.num_rows > kValuesMax) return true;
  }
  return values > kValuesMax * 4;
}

splice::Options OptionsOf(std::uint8_t choice, bool blooms) {
  splice::Options options;
  options.columns[-1].bloom_filter = blooms ? std::optional(true) : std::nullopt;  // of columns without field ids
  options.memory_bytes = 16 << 20;
  options.page_size_bytes = (choice & 1) != 0 ? 1024 : 1 << 16;
  options.effort = static_cast<splice::Effort>((choice >> 1 & 3) % 3);
  options.dictionary_size_bytes = (choice & 8) != 0 ? 64 : 1 << 16;
  if ((choice & 16) != 0) options.codec = parquet::Codec::kUncompressed;
  if ((choice & 32) != 0) options.codec = parquet::Codec::kZstd;
  if ((choice & 64) != 0) options.row_group_row_count_max = 7;
  return options;
}

/// Runs of rows that depend on `seed`.
std::shared_ptr<const splice::DeletedRows> SomeRows(std::uint32_t seed) {
  std::vector<std::int64_t> positions;
  for (std::uint32_t row = 0; row < 4096; ++row) {
    if (((row / (1 + seed % 5) + seed) * 2654435761U >> 28) < seed % 16) positions.push_back(row);
  }
  return std::make_shared<splice::DeletedRowList>(std::move(positions));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 4) return 0;
  // The last bytes are "PAR1" of a file, so the choice comes first: options, then where the second file begins and
  // whether Bloom filters are asked for.
  const std::uint8_t choice = data[0];
  const std::uint16_t number = LoadLittle<std::uint16_t>(data + 1);
  constexpr std::uint16_t kBlooms = 0x8000;
  const std::size_t cut = number & ~kBlooms;
  const ByteView rest(data + 3, size - 3);
  std::vector<splice::Input> inputs;
  const auto add = [&](const char* name, ByteView file) {
    splice::Input input;
    input.source = std::make_shared<MemorySource>(name, Bytes(file.begin(), file.end()));
    if (TooLong(input.source)) return;
    inputs.push_back(input);
    if ((choice & 128) != 0) input.deleted_rows = SomeRows(static_cast<std::uint32_t>(choice + cut + file.size()));
    inputs.push_back(input);
  };
  const bool two = cut > 0 && cut < rest.size();
  add("first", two ? rest.first(cut) : rest);
  if (two) add("second", rest.subspan(cut));
  if (inputs.empty()) return 0;
  MemorySink sink("out");
  const Result<splice::Report> report = splice::Splice(inputs, OptionsOf(choice, (number & kBlooms) != 0), sink);
  if (!report) {
    if (report.error().code == Code::kInternal) Fail(report.error());
    return 0;
  }
  MemorySource output("out", std::move(sink.bytes()));
  const auto verified = splice::Verify(output, *report);
  // Copied pages are looked at for the first time by Verify: damage in them is the input's.
  if (!verified && report->unchecked.empty()) Fail(verified.error());
  return 0;
}
