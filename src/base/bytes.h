// SPDX-License-Identifier: Apache-2.0
//
// Names owned and borrowed bytes, and reads and writes fixed-width integers in them.
//
// Guarantees: Load* and Store* work at any alignment; the caller has checked the bounds.
// Threads: value types.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace firn {

using Bytes = std::vector<std::uint8_t>;
using ByteView = std::span<const std::uint8_t>;

inline ByteView AsBytes(std::string_view text) {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}
inline std::string_view AsText(ByteView bytes) { return {reinterpret_cast<const char*>(bytes.data()), bytes.size()}; }

static_assert(std::endian::native == std::endian::little, "firn runs on little-endian processors");

template <class T>
  requires std::is_trivially_copyable_v<T>
inline T LoadLittle(const std::uint8_t* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

template <class T>
  requires std::is_trivially_copyable_v<T>
inline void StoreLittle(std::uint8_t* to, T value) {
  std::memcpy(to, &value, sizeof value);
}

inline std::uint32_t LoadBig32(const std::uint8_t* from) { return __builtin_bswap32(LoadLittle<std::uint32_t>(from)); }

}  // namespace firn
