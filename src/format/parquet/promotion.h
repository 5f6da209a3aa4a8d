// SPDX-License-Identifier: Apache-2.0
//
// Whether values of one leaf type can stand under another, as they are or after a promotion.
//
// In: two leaf elements (their repetition does not matter). Out: the promotion, kNone if the bytes stay valid.
// Guarantees: only changes that lose nothing: int to long, float to double, decimals of the same scale to a higher
//   precision or another width, date to a timestamp without zone, INT96 and milliseconds to micro- or nanoseconds.
//   Reading old annotations: a column without annotation may be text, if its values are looked at; a converted
//   timestamp without a logical type may be with or without zone, because old writers could not say.
// Errors: kUnsupported with both types in the message.
// Threads: pure.
// Source: LogicalTypes.md; Iceberg table spec, "Schema Evolution" and Appendix A "Parquet".
#pragma once

#include <string>

#include "base/result.h"
#include "format/parquet/metadata.h"

namespace firn::parquet {

enum class Promotion : std::uint8_t {
  kNone,
  kIntToLong,
  kFloatToDouble,
  kDecimal,  // any two decimal layouts
  kDateToMicros,
  kDateToNanos,
  kInt96ToMicros,  // floor
  kInt96ToNanos,
  kMillisToMicros,  // INT64 timestamps
  kMillisToNanos,
  kTimeMillisToMicros,  // INT32 to INT64
  kBytesToText,         // the bytes stay, if they are UTF-8
};

/// The logical type, or the one that the converted type stands for.
LogicalType EffectiveLogicalType(const SchemaElement& element);

/// Takes from the annotation of `element` what `other`, of the same physical type, does not promise of its values:
/// texts of two kinds are strings, texts and bytes are bytes, UUIDs and 16 bytes are 16 bytes. Whether it did.
bool WidenAnnotation(SchemaElement& element, const SchemaElement& other);

Result<Promotion> PromotionOf(const SchemaElement& from, const SchemaElement& to);

/// "int64 (timestamp micros, utc)", for messages.
std::string TypeText(const SchemaElement& element);

}  // namespace firn::parquet
