// SPDX-License-Identifier: Apache-2.0
#include "format/parquet/bloom_filter.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "format/parquet/thrift_reader.h"
#include "format/parquet/thrift_writer.h"

namespace firn::parquet {

namespace {

constexpr std::size_t kBlockWords = 8;
constexpr unsigned kWordBits = 32;
constexpr std::uint32_t kSalt[kBlockWords] = {0x47b6137bU, 0x44974d91U, 0x8824ad5bU, 0xa2b7289dU,
                                              0x705495c7U, 0x2df1424bU, 0x9efc4947U, 0x5c6bfb31U};

/// A union whose first member, an empty struct, is the only one that is known. False: it is another one.
bool ReadFirstMember(ThriftReader& in) {
  ThriftStruct fields(in);
  bool known = false;
  while (fields.Next()) {
    known = known || fields.key() == ThriftKey(1, ThriftType::kStruct);
    in.Skip(fields.type());
  }
  return known;
}

void WriteFirstMember(int id, ThriftWriter& out) {
  out.Field(id, ThriftType::kStruct);
  ThriftWriter member(out.out());
  member.EmptyStruct(1);
  member.End();
}

double ShareOf(const std::vector<std::uint32_t>& words) {
  double sum = 0;
  for (std::size_t block = 0; block < words.size(); block += kBlockWords) {
    double share = 1;
    for (std::size_t w = 0; w < kBlockWords; ++w) share *= std::popcount(words[block + w]) / double{kWordBits};
    sum += share;
  }
  return sum / static_cast<double>(words.size() / kBlockWords);
}

}  // namespace

std::uint64_t BloomHash(ByteView value) { return XXH64(value.data(), value.size(), 0); }

Result<BloomFilterHeader> ParseBloomFilterHeader(ByteView bytes) {
  ThriftReader reader(bytes);
  ThriftStruct fields(reader);
  std::int32_t size = 0;
  bool known = true;
  while (fields.Next()) {
    switch (fields.key()) {
      case ThriftKey(1, ThriftType::kI32): size = reader.ReadI32(); break;
      case ThriftKey(2, ThriftType::kStruct):
      case ThriftKey(3, ThriftType::kStruct):
      case ThriftKey(4, ThriftType::kStruct): known = ReadFirstMember(reader) && known; break;
      default: fields.Skip();
    }
  }
  constexpr std::uint32_t kAll = 0b11110;
  if (reader.ok() && (fields.seen() & kAll) != kAll) reader.Fail("a member is missing");
  if (Status read = reader.status(); !read) return std::move(read.error()).In("Bloom filter header");
  if (!known) return Error{Code::kUnsupported, "a Bloom filter of an unknown algorithm, hash or compression"};
  if (size <= 0 || static_cast<std::size_t>(size) % (kBlockWords * sizeof(std::uint32_t)) != 0) {
    return Error{Code::kCorrupt, "a Bloom filter of " + std::to_string(size) + " bytes"};
  }
  if (static_cast<std::size_t>(size) > BloomFilter::kBytesMax) {
    return Error{Code::kUnsupported, "a Bloom filter of " + std::to_string(size) + " bytes"};
  }
  return BloomFilterHeader{reader.position(), static_cast<std::size_t>(size)};
}

BloomFilter::BloomFilter(std::size_t size_bytes)
    : words_(std::bit_ceil(std::clamp(size_bytes, kBytesMin, kBytesMax)) / sizeof(std::uint32_t)) {}

Result<BloomFilter> BloomFilter::Parse(ByteView bytes) {
  FIRN_ASSIGN(const BloomFilterHeader header, ParseBloomFilterHeader(bytes));
  const ByteView bitset = bytes.subspan(header.header_bytes);
  if (bitset.size() != header.bitset_bytes) {
    return Error{Code::kCorrupt, "a Bloom filter of " + std::to_string(header.bitset_bytes) + " bytes in " +
                                     std::to_string(bitset.size())};
  }
  BloomFilter filter;
  filter.words_.resize(bitset.size() / sizeof(std::uint32_t));
  std::memcpy(filter.words_.data(), bitset.data(), bitset.size());
  return filter;
}

std::size_t BloomFilter::BytesFor(std::int64_t distinct_values, double fpp) {
  const double bits = -8.0 * static_cast<double>(distinct_values) / std::log(1 - std::pow(fpp, 1.0 / 8));
  const double bytes = bits / 8;
  // Where the share is so near to 0 that the logarithm is 0, it is not a number or infinite.
  if (!(bytes >= 0 && bytes < static_cast<double>(kBytesMax))) return kBytesMax;
  return std::bit_ceil(std::max(static_cast<std::size_t>(bytes), kBytesMin));
}

std::size_t BloomFilter::BlockOf(std::uint64_t hash) const {
  const std::uint64_t blocks = words_.size() / kBlockWords;
  return static_cast<std::size_t>((hash >> 32) * blocks >> 32) * kBlockWords;
}

void BloomFilter::Insert(std::uint64_t hash) {
  std::uint32_t* const block = words_.data() + BlockOf(hash);
  const auto key = static_cast<std::uint32_t>(hash);
  for (std::size_t w = 0; w < kBlockWords; ++w) block[w] |= std::uint32_t{1} << (key * kSalt[w] >> 27);
}

bool BloomFilter::MayContain(std::uint64_t hash) const {
  const std::uint32_t* const block = words_.data() + BlockOf(hash);
  const auto key = static_cast<std::uint32_t>(hash);
  std::uint32_t missing = 0;
  for (std::size_t w = 0; w < kBlockWords; ++w) {
    missing |= ~block[w] & std::uint32_t{1} << (key * kSalt[w] >> 27);
  }
  return missing == 0;
}

double BloomFilter::FalsePositiveShare() const { return ShareOf(words_); }

bool BloomFilter::Absorb(const BloomFilter& other) {
  const std::size_t small = std::min(words_.size(), other.words_.size());
  const std::size_t large = std::max(words_.size(), other.words_.size());
  if (large % small != 0 || !std::has_single_bit(large / small)) return false;
  const std::size_t copies = large / small;
  // A hash that is in block b of n is in one of the blocks b * copies to b * copies + copies - 1 of n * copies.
  const auto widen = [&](const std::vector<std::uint32_t>& from, std::size_t word) {
    return from.size() == large ? from[word] : from[word / kBlockWords / copies * kBlockWords + word % kBlockWords];
  };
  std::vector<std::uint32_t> both(large);
  for (std::size_t word = 0; word < large; ++word) both[word] = widen(words_, word) | widen(other.words_, word);
  words_ = std::move(both);
  return true;
}

/// The filter that the same insertions into half as many blocks give.
std::vector<std::uint32_t> BloomFilter::Folded(const std::vector<std::uint32_t>& words) {
  std::vector<std::uint32_t> half(words.size() / 2);
  for (std::size_t word = 0; word < half.size(); ++word) {
    const std::size_t from = word / kBlockWords * 2 * kBlockWords + word % kBlockWords;
    half[word] = words[from] | words[from + kBlockWords];
  }
  return half;
}

void BloomFilter::Fold(double fpp) {
  while (words_.size() % (2 * kBlockWords) == 0) {
    std::vector<std::uint32_t> half = Folded(words_);
    if (ShareOf(half) > fpp) return;
    words_ = std::move(half);
  }
}

void BloomFilter::Write(Bytes& out) const {
  ThriftWriter header(out);
  header.I32(1, static_cast<std::int32_t>(size_bytes()));
  for (int member = 2; member <= 4; ++member) WriteFirstMember(member, header);
  header.End();
  const auto* const bytes = reinterpret_cast<const std::uint8_t*>(words_.data());
  out.insert(out.end(), bytes, bytes + size_bytes());
}

}  // namespace firn::parquet
