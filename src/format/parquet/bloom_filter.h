// SPDX-License-Identifier: Apache-2.0
//
// Split-block Bloom filters as Parquet files hold them: a thrift header, then blocks of 256 bits.
//
// In: hashes of values; bytes of foreign files. Out: filters, and their bytes.
// Guarantees: a filter never denies a value whose hash was inserted into it, or into a filter that it has absorbed,
//   however it was folded since. Sizes are a power of two, as all writers make them; Parse takes others as well.
// Cost: 8 multiplications and one cache line an insertion; absorbing, folding and counting: the size of the filter.
// Errors: kCorrupt (header, sizes); kUnsupported (another algorithm, hash or compression; beyond 128 MiB).
// Threads: one owner.
// Source: BloomFilter.md; parquet-java for sizes from a number of values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"

namespace firn::parquet {

/// Of a value in PLAIN encoding, a BYTE_ARRAY without its length.
std::uint64_t BloomHash(ByteView value);

struct BloomFilterHeader {
  std::size_t header_bytes = 0, bitset_bytes = 0;
};
/// `bytes` starts at the header and may go on, or end, anywhere behind it.
Result<BloomFilterHeader> ParseBloomFilterHeader(ByteView bytes);

class BloomFilter {
 public:
  static constexpr std::size_t kBytesMin = 32, kBytesMax = 128 << 20;
  /// No header that is understood is longer.
  static constexpr std::size_t kHeaderBytesMax = 64;

  /// An empty one; the size becomes the next power of two within the limits.
  explicit BloomFilter(std::size_t size_bytes);
  /// Header and bitset, and nothing behind them.
  static Result<BloomFilter> Parse(ByteView bytes);
  /// Bytes for so many different values, as parquet-java computes them.
  static std::size_t BytesFor(std::int64_t distinct_values, double fpp);

  void Insert(std::uint64_t hash);
  bool MayContain(std::uint64_t hash) const;
  /// Of a value that was not inserted, from the bits that are set.
  double FalsePositiveShare() const;
  /// Takes the values of `other`; grows to its size. False, and unchanged, where one size is not the other times a
  /// power of two.
  bool Absorb(const BloomFilter& other);
  /// Halves the size as long as that keeps the share of false positives at `fpp` or below.
  void Fold(double fpp);

  std::size_t size_bytes() const { return words_.size() * sizeof(std::uint32_t); }
  /// Appends header and bitset.
  void Write(Bytes& out) const;

 private:
  BloomFilter() = default;
  std::size_t BlockOf(std::uint64_t hash) const;
  static std::vector<std::uint32_t> Folded(const std::vector<std::uint32_t>& words);

  std::vector<std::uint32_t> words_;  // eight a block
};

}  // namespace firn::parquet
