// SPDX-License-Identifier: Apache-2.0
#include "iceberg/bucket_hash.h"

#include <bit>
#include <cmath>

#include "iceberg/calendar.h"
#include "iceberg/decimal_bytes.h"

namespace firn::iceberg {
namespace {

std::uint32_t Mix(std::uint32_t block) { return std::rotl(block * 0xcc9e2d51u, 15) * 0x1b873593u; }

std::uint32_t HashLong(std::int64_t value) {
  std::uint8_t bytes[8];
  StoreLittle(bytes, value);
  return Murmur3(bytes);
}

std::uint32_t HashDouble(double value) {
  if (std::isnan(value)) return HashLong(0x7ff8000000000000LL);
  return HashLong(std::bit_cast<std::int64_t>(value == 0 ? 0.0 : value));
}

struct Hasher {
  TypeKind kind;

  std::optional<std::uint32_t> operator()(std::monostate) const { return std::nullopt; }
  // The spec says hashInt, but its test value is that of the long: so do it as Java does.
  std::optional<std::uint32_t> operator()(bool value) const { return HashLong(value ? 1 : 0); }
  std::optional<std::uint32_t> operator()(std::int32_t value) const { return HashLong(value); }
  std::optional<std::uint32_t> operator()(std::int64_t value) const {
    const bool nanos = kind == TypeKind::kTimestampNs || kind == TypeKind::kTimestampTzNs;
    return HashLong(nanos ? FloorDivide(value, 1000) : value);
  }
  std::optional<std::uint32_t> operator()(float value) const { return HashDouble(value); }
  std::optional<std::uint32_t> operator()(double value) const { return HashDouble(value); }
  std::optional<std::uint32_t> operator()(const std::string& value) const { return Murmur3(AsBytes(value)); }
  std::optional<std::uint32_t> operator()(const Bytes& value) const { return Murmur3(value); }
  std::optional<std::uint32_t> operator()(const Decimal& value) const { return Murmur3(MinimalBigEndian(value)); }
};

}  // namespace

std::uint32_t Murmur3(ByteView bytes) {
  std::uint32_t hash = 0;
  std::size_t at = 0;
  for (; at + 4 <= bytes.size(); at += 4) {
    hash = std::rotl(hash ^ Mix(LoadLittle<std::uint32_t>(bytes.data() + at)), 13) * 5 + 0xe6546b64u;
  }
  std::uint32_t tail = 0;
  for (std::size_t i = bytes.size(); i > at; --i) tail = tail << 8 | bytes[i - 1];
  if (bytes.size() > at) hash ^= Mix(tail);
  hash ^= static_cast<std::uint32_t>(bytes.size());
  hash = (hash ^ hash >> 16) * 0x85ebca6bu;
  hash = (hash ^ hash >> 13) * 0xc2b2ae35u;
  return hash ^ hash >> 16;
}

std::optional<std::int32_t> BucketHash(const Type& type, const Literal& value) {
  const auto hash = std::visit(Hasher{type.kind}, value);
  if (!hash) return std::nullopt;
  return static_cast<std::int32_t>(*hash);
}

}  // namespace firn::iceberg
