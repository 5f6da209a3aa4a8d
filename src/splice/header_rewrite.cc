// SPDX-License-Identifier: Apache-2.0
#include "splice/header_rewrite.h"

#include <algorithm>

#include "splice/bit_pack.h"
#include "splice/hybrid.h"

namespace firn::splice {

using parquet::Encoding;
using parquet::PageType;

bool CanPutLevelsBefore(const OutputColumn& column, const ChunkScan& scan, const LevelMap& map) {
  if (column.nested() || map.input_max_definition > 0 || map.definition.size() != 1) return false;
  return std::ranges::all_of(scan.pages, [&](const PageRecord& page) {
    if (page.type == PageType::kData) return scan.meta->codec == parquet::Codec::kUncompressed;
    return page.definition_bytes == 0 && page.repetition_bytes == 0;
  });
}

parquet::PageHeader NewHeaderOf(const PageRecord& page, const OutputColumn& column, const LevelMap& map,
                                RawBuffer& levels) {
  levels.Clear();
  parquet::PageHeader header;
  header.type = page.type;
  header.uncompressed_size = page.uncompressed_size;
  header.num_values = page.num_values;
  header.encoding = IsDictionaryEncoded(page) ? Encoding::kRleDictionary : page.encoding;
  header.num_nulls = page.num_nulls;
  header.num_rows = page.num_rows;
  header.definition_levels_bytes = page.definition_bytes;
  header.repetition_levels_bytes = page.repetition_bytes;
  header.is_compressed = page.is_compressed;
  if (map.identity()) return header;
  header.num_nulls = 0;
  HybridWriter run;
  run.Reset(BitWidth(column.max_definition));
  run.AppendRun(map.definition[0], static_cast<std::size_t>(page.num_values));
  const ByteView bytes = run.Finish();
  if (page.type == PageType::kData) {
    StoreLittle(levels.Room(sizeof(std::uint32_t)), static_cast<std::uint32_t>(bytes.size()));
    levels.Advance(sizeof(std::uint32_t));
  } else {
    header.definition_levels_bytes = static_cast<std::int32_t>(bytes.size());
  }
  levels.Append(bytes);
  return header;
}

}  // namespace firn::splice
