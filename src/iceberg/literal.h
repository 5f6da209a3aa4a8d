// SPDX-License-Identifier: Apache-2.0
//
// A primitive value: a partition value, a bound, a default.
//
// Guarantees: equality is by type and value; -0.0 and 0.0 differ and NaN equals NaN, as partition tuples need.
// Cost: 40 bytes and the text. Threads: value type.
// Source: Iceberg table spec, "Binary single-value serialization" (Appendix D), "Partition Transforms".
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "iceberg/types.h"

namespace firn::iceberg {

struct Decimal {
  __int128 unscaled = 0;
  friend bool operator==(const Decimal&, const Decimal&) = default;
};

/// int32_t: int, date. int64_t: long, time, all timestamps. string: UTF-8 bytes as stored.
/// Bytes: binary, fixed, uuid (16 bytes, big-endian). monostate: null.
using Literal =
    std::variant<std::monostate, bool, std::int32_t, std::int64_t, float, double, std::string, Bytes, Decimal>;

inline bool IsNull(const Literal& value) { return std::holds_alternative<std::monostate>(value); }

/// Bitwise for floats, so usable for grouping.
bool SameValue(const Literal& a, const Literal& b);
/// Order of the spec for one type: unsigned bytes for string, uuid, fixed, binary; -0.0 < 0.0; NaN last.
/// Both non-null and of the type's alternative.
std::strong_ordering Compare(const Type& type, const Literal& a, const Literal& b);

/// Single-value binary serialization. Decoding accepts what the spec's promotion table allows
/// (a 4-byte bound of a column that is long now). kCorrupt for other lengths.
Bytes EncodeBound(const Type& type, const Literal& value);
Result<Literal> DecodeBound(const Type& type, ByteView bytes);

/// Lower or upper bound cut to `length` code points (string) or bytes (binary); nullopt when an upper
/// bound cannot be incremented.
std::optional<Literal> TruncateLower(const Type& type, const Literal& value, std::int32_t length);
std::optional<Literal> TruncateUpper(const Type& type, const Literal& value, std::int32_t length);

/// Human text: dates and timestamps in ISO form, binary as base64, null as "null".
std::string ToText(const Type& type, const Literal& value);
/// JSON single-value serialization, and back (for defaults).
json::Value ToJson(const Type& type, const Literal& value);
Result<Literal> LiteralFromJson(const Type& type, const json::Value& value);

}  // namespace firn::iceberg
