// SPDX-License-Identifier: Apache-2.0
// Parses bytes as a whole Parquet file and as a bare footer; what parses must survive being written and parsed again.
#include <cstdlib>

#include "format/parquet/footer.h"
#include "format/parquet/quirks.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace firn;
  using namespace firn::parquet;
  MemorySource source("fuzz", Bytes(data, data + size));
  static_cast<void>(ReadFooter(source, 64));
  constexpr std::uint64_t kFileBytes = std::uint64_t{1} << 40;
  const Result<FileMetaData> parsed = ParseFooter({data, size}, kFileBytes);
  if (!parsed) return 0;
  const std::vector<Leaf> leaves = LeavesOf(parsed->schema);
  for (const RowGroup& group : parsed->row_groups) {
    if (group.columns.size() != leaves.size()) std::abort();
    for (const ColumnChunk& chunk : group.columns) {
      if (!chunk.meta) continue;
      const ByteRange range = ChunkRange(*chunk.meta, QuirksOf(parsed->created_by), kFileBytes);
      if (range.size > 0 && range.offset + range.size > kFileBytes) std::abort();
    }
  }
  const Bytes written = WriteFooter(*parsed);
  const Result<FileMetaData> again = ParseFooter(ByteView(written).first(written.size() - 8), 2 * kFileBytes);
  if (!again || WriteFooter(*again) != written) std::abort();
  return 0;
}
