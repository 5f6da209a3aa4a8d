// SPDX-License-Identifier: Apache-2.0
//
// A literal as one value of a Parquet column in PLAIN encoding.
//
// In: a leaf element, a non-null literal. Out: the value's bytes (BYTE_ARRAY without its length).
// Guarantees: int becomes long and float becomes double where the column asks for it; nothing else changes type.
// Errors: kUnsupported if the literal is not of the column's type. Threads: pure. Cost: O(value).
// Source: Encodings.md "Plain"; Iceberg table spec, Appendix A "Parquet".
#pragma once

#include "base/bytes.h"
#include "base/result.h"
#include "format/parquet/metadata.h"
#include "iceberg/literal.h"

namespace firn::iceberg {

Result<Bytes> PlainValue(const parquet::SchemaElement& element, const Literal& value);

}  // namespace firn::iceberg
