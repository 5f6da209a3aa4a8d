// SPDX-License-Identifier: Apache-2.0
//
// Gives a literal of a condition the type of the column that it is compared with.
//
// Guarantees: exact or refused: 3.5 is no int, 2024-02-30 no date. Timestamps may lack time, seconds or fractions;
//   with a zone they may have an offset (none means UTC), without one they must not.
// Errors: kInvalidArgument naming the literal and the type. Threads: pure.
#pragma once

#include <optional>

#include "base/result.h"
#include "decide/where.h"
#include "iceberg/literal.h"

namespace firn::decide {

Result<iceberg::Literal> TypeLiteral(const WhereLiteral& literal, const iceberg::Type& type);

/// The next value below or above, for types that have one and while it exists.
std::optional<iceberg::Literal> Before(const iceberg::Literal& value);
std::optional<iceberg::Literal> After(const iceberg::Literal& value);

}  // namespace firn::decide
