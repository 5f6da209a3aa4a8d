// SPDX-License-Identifier: Apache-2.0
// The first byte is a codec, the next two a size; the rest is decompressed to that size.
#include <cstdlib>

#include "format/parquet/compression.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace firn;
  using namespace firn::parquet;
  if (size < 3) return 0;
  static PageCodecs codecs;
  const auto codec = static_cast<Codec>(data[0] % 9);
  Bytes out(LoadLittle<std::uint16_t>(data + 1));
  if (!codecs.Decompress(codec, {data + 3, size - 3}, out)) return 0;
  const Result<ByteView> packed = codecs.Compress(codec, kDefaultLevel, out);
  if (!packed) return 0;
  const Bytes kept(packed->begin(), packed->end());
  Bytes again(out.size());
  if (!codecs.Decompress(codec, kept, again) || again != out) std::abort();
  return 0;
}
