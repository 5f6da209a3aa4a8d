// SPDX-License-Identifier: Apache-2.0
// Scans every leaf of the input as a Parquet file, in the type that the file has.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "splice/column_scan.h"

using namespace firn;

namespace {

void Scan(splice::ScanFile& file, std::int32_t leaf, const parquet::SchemaElement& element) {
  splice::ScanOptions options;
  options.memory_bytes = 1 << 20;
  options.batch_rows = 100;
  const auto scan =
      splice::ColumnScan::Open(file, {{leaf, element, std::nullopt}, {leaf, {}, std::int16_t{1}}}, options);
  if (!scan) return;
  std::int64_t next_row = 0;
  while (true) {
    const auto rows = (*scan)->Next();
    if (!rows || *rows == 0) return;
    if ((*scan)->first_row() != next_row) std::abort();
    next_row += static_cast<std::int64_t>(*rows);
    const splice::ScanColumn& column = (*scan)->column(0);
    std::size_t nulls = 0, bytes = 0;
    for (std::size_t row = 0; row < *rows; ++row) {
      nulls += column.IsNull(row) ? 1 : 0;
      bytes += column.width() == 0 ? column.bytes(row).size() : column.fixed()[row * column.width()];
    }
    if ((nulls > 0) != column.has_nulls() || bytes > (std::size_t{1} << 40)) std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto file = splice::ScanFile::Open(std::make_unique<MemorySource>("input", Bytes(data, data + size)));
  if (!file) return 0;
  const std::vector<parquet::SchemaElement>& schema = (*file)->footer().schema;
  const std::vector<parquet::Leaf> leaves = parquet::LeavesOf(schema);
  for (std::size_t i = 0; i < leaves.size() && i < 8; ++i) {
    Scan(**file, static_cast<std::int32_t>(i), schema[static_cast<std::size_t>(leaves[i].schema_index)]);
  }
  return 0;
}
