// SPDX-License-Identifier: Apache-2.0
// Parses bytes as a Bloom filter; what parses must survive being written, must keep what is put into it through
// absorbing and folding, and must write itself again as it is.
#include <cstdlib>

#include "format/parquet/bloom_filter.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace firn;
  using namespace firn::parquet;
  const ByteView bytes(data, size);
  const Result<BloomFilterHeader> header = ParseBloomFilterHeader(bytes);
  if (header && (header->header_bytes > size || header->bitset_bytes % BloomFilter::kBytesMin != 0)) std::abort();
  Result<BloomFilter> filter = BloomFilter::Parse(bytes);
  if (!filter) return 0;
  if (!header || header->header_bytes + header->bitset_bytes != size) std::abort();
  Bytes written;
  filter->Write(written);
  const Result<BloomFilter> again = BloomFilter::Parse(written);
  if (!again || again->size_bytes() != filter->size_bytes()) std::abort();
  const double share = filter->FalsePositiveShare();
  if (!(share >= 0 && share <= 1)) std::abort();
  BloomFilter other(std::size_t{1} << (size % 12 + 5));
  const std::uint64_t hash = BloomHash(bytes);
  other.Insert(hash);
  if (other.Absorb(*filter) && !other.MayContain(hash)) std::abort();
  if (filter->Absorb(other) && !filter->MayContain(hash)) std::abort();
  filter->Insert(~hash);
  filter->Fold(0.5);
  if (!filter->MayContain(~hash)) std::abort();
  return 0;
}
