// SPDX-License-Identifier: Apache-2.0
//
// Bytes as text and back: base64, hexadecimal, UUIDs.
//
// Guarantees: parsing gives nullopt for anything that the writing functions would not give, but for the case of digits.
// Threads: pure. Source: RFC 4648, RFC 9562; Iceberg table spec, Appendix D "JSON single-value serialization".
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/bytes.h"

namespace firn::iceberg {

/// With padding.
std::string Base64Text(ByteView bytes);
/// Lower case.
std::string HexText(ByteView bytes);
std::optional<Bytes> ParseHex(std::string_view text);
/// Lower case with hyphens; hexadecimal when there are not 16 bytes.
std::string UuidText(ByteView bytes);
std::optional<Bytes> ParseUuid(std::string_view text);

}  // namespace firn::iceberg
