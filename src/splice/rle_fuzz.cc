// SPDX-License-Identifier: Apache-2.0
// Decodes bytes as an RLE/bit-packing hybrid stream; what was decoded must survive being encoded and decoded again.
#include <algorithm>
#include <cstdlib>
#include <vector>

#include "splice/hybrid.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace firn;
  using namespace firn::splice;
  if (size == 0) return 0;
  const unsigned width = data[0] % 33;
  constexpr std::size_t kSlice = 1000, kValuesMax = 1 << 16;
  RawBuffer bytes;  // its slack is what the reader asks for
  bytes.Append({data + 1, size - 1});
  HybridReader reader(bytes.view(), width);
  std::vector<std::uint32_t> values(kValuesMax);
  std::size_t count = 0;
  while (count < kValuesMax) {
    const std::size_t read = reader.Read(values.data() + count, std::min(kSlice, kValuesMax - count));
    if (read == 0) break;
    count += read;
  }
  const std::uint32_t mask = width == 32 ? ~0U : (1U << width) - 1;
  for (std::size_t i = 0; i < count; ++i) values[i] &= mask;
  HybridWriter writer;
  writer.Reset(width);
  writer.Append(values.data(), count);
  RawBuffer written;
  written.Append(writer.Finish());
  HybridReader again(written.view(), width);
  std::vector<std::uint32_t> copy(count);
  if (again.Read(copy.data(), count) != count || !std::equal(copy.begin(), copy.end(), values.begin())) std::abort();
  return 0;
}
