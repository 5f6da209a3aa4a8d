// SPDX-License-Identifier: Apache-2.0
// Parses bytes as a page header; what parses must survive being written and parsed again.
#include <cstdlib>

#include "format/parquet/footer.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace firn;
  using namespace firn::parquet;
  const Result<ParsedPageHeader> parsed = ParsePageHeader({data, size});
  if (!parsed) return 0;
  if (parsed->header_bytes > size) std::abort();
  Bytes written;
  WritePageHeader(parsed->header, written);
  const Result<ParsedPageHeader> again = ParsePageHeader(written);
  if (!again || again->header_bytes != written.size()) std::abort();
  Bytes rewritten;
  WritePageHeader(again->header, rewritten);
  if (rewritten != written) std::abort();
  return 0;
}
