// SPDX-License-Identifier: Apache-2.0
//
// Bytes as text and back: base64, hexadecimal, UUIDs, percent-encoding.
//
// Guarantees: parsing gives nullopt for anything that the writing functions would not give, but for the case of digits;
//   PercentDecoded takes every "%XX" and leaves all other bytes as they are.
// Cost: one copy. Threads: pure. Errors: none.
// Source: RFC 4648, RFC 9562, RFC 3986 2.1; Iceberg table spec, Appendix D "JSON single-value serialization".
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/bytes.h"

namespace firn {

/// With padding.
std::string Base64Text(ByteView bytes);
/// Lower case.
std::string HexText(ByteView bytes);
std::optional<Bytes> ParseHex(std::string_view text);
/// Lower case with hyphens; hexadecimal when there are not 16 bytes.
std::string UuidText(ByteView bytes);
std::optional<Bytes> ParseUuid(std::string_view text);

/// The byte that "%XX" stands for at the beginning of `text`.
std::optional<char> LeadingPercentByte(std::string_view text);
/// nullopt when a "%" is not followed by two digits. `plus_is_space`: as in forms.
std::optional<std::string> PercentDecoded(std::string_view text, bool plus_is_space);

}  // namespace firn
