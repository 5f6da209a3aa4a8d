// SPDX-License-Identifier: Apache-2.0
//
// Decimals as minimal two's-complement big-endian bytes, and as text.
//
// Guarantees: MinimalBigEndian gives at least one byte and no redundant sign byte (-128 is 0x80). Text is what
//   java.math.BigDecimal prints.
// Threads: pure.
// Source: Iceberg table spec, Appendix B note 2, Appendix D.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/bytes.h"
#include "iceberg/literal.h"

namespace firn::iceberg {

Bytes MinimalBigEndian(const Decimal& value);
/// nullopt for no bytes, or for a value of more than 38 digits. Redundant sign bytes are accepted.
std::optional<Decimal> DecimalFromBigEndian(ByteView bytes);

/// Digits with a decimal point, never an exponent: "14.20".
std::string PlainText(const Decimal& value, std::int32_t scale);
/// As PlainText, but with an exponent where BigDecimal.toString has one: "1E-10".
std::string ScientificText(const Decimal& value, std::int32_t scale);
/// Text of either form as a value of `scale`; nullopt when it does not fit exactly in 38 digits.
std::optional<Decimal> ParseDecimal(std::string_view text, std::int32_t scale);

}  // namespace firn::iceberg
