// SPDX-License-Identifier: Apache-2.0
// Reads the input as a Puffin file's footer.
#include <cstddef>
#include <cstdint>

#include "format/puffin/puffin.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  firn::MemorySource source("input", firn::Bytes(data, data + size));
  (void)firn::puffin::ReadFooter(source);
  return 0;
}
