// SPDX-License-Identifier: Apache-2.0
#include "splice/exact_bounds.h"

#include <algorithm>
#include <vector>

#include "splice/hybrid.h"

namespace firn::splice {

namespace {

constexpr std::size_t kSlice = 1024;

Bounds Found(ByteView low, ByteView high, ValueOrder order) {
  Bounds bounds;
  bounds.Merge(BoundsView{true, low, high, true, true}, order);
  return bounds;
}

Bounds Unknown() {
  Bounds bounds;
  bounds.Merge(BoundsView{}, ValueOrder::kNone);
  return bounds;
}

/// Of `count` numbers, the i-th at `at(i)`.
template <class T, class At>
Bounds NumberBounds(std::size_t count, const At& at, ValueOrder order) {
  T low{}, high{};
  std::size_t i = 0;
  const auto load = [&] { return LoadLittle<T>(at(i)); };
  for (; i < count; ++i) {
    low = high = load();
    if (low == low) break;  // not NaN
  }
  if (i == count) return Unknown();
  for (++i; i < count; ++i) {
    const T value = load();
    low = value < low ? value : low;
    high = value > high ? value : high;
  }
  std::uint8_t low_bytes[sizeof(T)], high_bytes[sizeof(T)];
  StoreLittle(low_bytes, low);
  StoreLittle(high_bytes, high);
  return Found(low_bytes, high_bytes, order);
}

/// Of values as byte strings: `next()` gives one after the other.
template <class Next>
Bounds StringBounds(std::size_t count, const Next& next, const OutputColumn& column) {
  const bool fixed = column.type == parquet::PhysicalType::kFixedLenByteArray;
  const std::int32_t length = fixed ? column.element.type_length : 0;
  ByteView low, high;
  bool any = false;
  for (std::size_t i = 0; i < count; ++i) {
    const ByteView value = next();
    if (!IsOrdered(column.order, value, length)) {
      if (column.order == ValueOrder::kFloat16) continue;
      return Unknown();
    }
    if (!any) {
      low = high = value;
      any = true;
    } else if (CompareValues(column.order, value, low) < 0) {
      low = value;
    } else if (CompareValues(column.order, value, high) > 0) {
      high = value;
    }
  }
  return any ? Found(low, high, column.order) : Unknown();
}

/// The first 8 bytes as a number that orders as they do; shorter values count as filled with zeros.
std::uint64_t PrefixOf(ByteView value) {
  const std::uint64_t prefix = __builtin_bswap64(LoadLittle<std::uint64_t>(value.data()));
  if (value.size() >= 8) return prefix;
  return value.empty() ? 0 : prefix & ~std::uint64_t{0} << (64 - value.size() * 8);
}

/// StringBounds for kBytes: most values differ from both bounds in their first bytes.
template <class Next>
Bounds TextBounds(std::size_t count, const Next& next) {
  ByteView low = next(), high = low;
  std::uint64_t low_prefix = PrefixOf(low), high_prefix = low_prefix;
  for (std::size_t i = 1; i < count; ++i) {
    const ByteView value = next();
    const std::uint64_t prefix = PrefixOf(value);
    if (prefix > low_prefix && prefix < high_prefix) continue;
    if (prefix < low_prefix || (prefix == low_prefix && CompareValues(ValueOrder::kBytes, value, low) < 0)) {
      low = value;
      low_prefix = prefix;
    }
    if (prefix > high_prefix || (prefix == high_prefix && CompareValues(ValueOrder::kBytes, value, high) > 0)) {
      high = value;
      high_prefix = prefix;
    }
  }
  return Found(low, high, ValueOrder::kBytes);
}

/// `at(i)` is where the i-th value of a fixed width begins.
template <class At>
Bounds FixedBounds(const OutputColumn& column, std::size_t count, const At& at) {
  switch (column.order) {
    case ValueOrder::kInt32: return NumberBounds<std::int32_t>(count, at, column.order);
    case ValueOrder::kInt64: return NumberBounds<std::int64_t>(count, at, column.order);
    case ValueOrder::kUint32: return NumberBounds<std::uint32_t>(count, at, column.order);
    case ValueOrder::kUint64: return NumberBounds<std::uint64_t>(count, at, column.order);
    case ValueOrder::kFloat: return NumberBounds<float>(count, at, column.order);
    case ValueOrder::kDouble: return NumberBounds<double>(count, at, column.order);
    default: break;
  }
  std::size_t i = 0;
  const auto next = [&] { return ByteView(at(i++), column.width); };
  return column.order == ValueOrder::kBytes ? TextBounds(count, next) : StringBounds(count, next, column);
}

/// Indices that occur.
std::vector<std::uint32_t> UsedEntries(ByteView indices, std::size_t count, std::size_t entries) {
  std::vector<std::uint8_t> used(entries);
  HybridReader reader(indices.subspan(1), indices[0]);
  std::uint32_t slice[kSlice];
  while (count > 0) {
    std::uint32_t value = 0;
    std::size_t take = std::min(reader.Repeated(value), count);
    if (take > 0) {
      reader.SkipRepeated(take);
      if (value < entries) used[value] = 1;
    } else {
      take = reader.Read(slice, std::min(count, kSlice));
      if (take == 0) break;
      for (std::size_t i = 0; i < take; ++i) {
        if (slice[i] < entries) used[slice[i]] = 1;
      }
    }
    count -= take;
  }
  std::vector<std::uint32_t> found;
  for (std::size_t i = 0; i < entries; ++i) {
    if (used[i] != 0) found.push_back(static_cast<std::uint32_t>(i));
  }
  return found;
}

}  // namespace

Bounds BoundsOfPlain(const OutputColumn& column, ByteView plain, std::size_t count) {
  if (count == 0) return {};
  if (column.order == ValueOrder::kNone) return Unknown();
  if (column.width > 0) {
    if (count > plain.size() / column.width) return Unknown();
    return FixedBounds(column, count, [&](std::size_t i) { return plain.data() + i * column.width; });
  }
  std::size_t at = 0;
  const auto next = [&]() -> ByteView {
    const std::size_t length = LoadLittle<std::uint32_t>(plain.data() + at);
    at += 4 + length;
    return plain.subspan(at - length, length);
  };
  return column.order == ValueOrder::kBytes ? TextBounds(count, next) : StringBounds(count, next, column);
}

Bounds BoundsOfBits(ByteView bits, std::size_t count) {
  if (count == 0) return {};
  bool any_false = false, any_true = false;
  for (std::size_t i = 0; i < bits.size(); ++i) {
    const std::size_t valid = std::min<std::size_t>(8, count - i * 8);
    const auto mask = static_cast<std::uint8_t>((1u << valid) - 1);
    any_true = any_true || (bits[i] & mask) != 0;
    any_false = any_false || (bits[i] & mask) != mask;
  }
  const std::uint8_t low = any_false ? 0 : 1, high = any_true ? 1 : 0;
  return Found({&low, 1}, {&high, 1}, ValueOrder::kBoolean);
}

Bounds BoundsOfIndices(const OutputColumn& column, ByteView indices, std::size_t count, const EntryTable& entries) {
  if (count == 0) return {};
  if (column.order == ValueOrder::kNone || indices.empty()) return Unknown();
  const std::vector<std::uint32_t> used = UsedEntries(indices, count, entries.count);
  if (used.empty()) return Unknown();
  const std::uint8_t* plain = entries.plain.data();
  if (column.width > 0) {
    return FixedBounds(column, used.size(), [&](std::size_t i) { return plain + used[i] * column.width; });
  }
  std::size_t i = 0;
  const auto next = [&] {
    const std::uint32_t begin = entries.offsets[used[i]] + 4, end = entries.offsets[used[i] + 1];
    ++i;
    return ByteView(plain + begin, end - begin);
  };
  return column.order == ValueOrder::kBytes ? TextBounds(used.size(), next) : StringBounds(used.size(), next, column);
}

}  // namespace firn::splice
