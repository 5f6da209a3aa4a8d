// SPDX-License-Identifier: Apache-2.0
// The first byte is a page count; the rest is parsed as an offset index and as a column index.
#include <cstdlib>

#include "format/parquet/footer.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace firn;
  using namespace firn::parquet;
  if (size == 0) return 0;
  const ByteView bytes(data + 1, size - 1);
  if (const Result<OffsetIndex> offsets = ParseOffsetIndex(bytes)) {
    Bytes written;
    WriteOffsetIndex(*offsets, written);
    const Result<OffsetIndex> again = ParseOffsetIndex(written);
    if (!again || again->pages.size() != offsets->pages.size()) std::abort();
  }
  if (const Result<ColumnIndex> columns = ParseColumnIndex(bytes, data[0])) {
    if (columns->null_pages.size() != data[0]) std::abort();
    Bytes written;
    WriteColumnIndex(*columns, written);
    const Result<ColumnIndex> again = ParseColumnIndex(written, data[0]);
    if (!again || again->max_values != columns->max_values) std::abort();
  }
  return 0;
}
