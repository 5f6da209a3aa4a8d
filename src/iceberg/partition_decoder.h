// SPDX-License-Identifier: Apache-2.0
//
// Reads one partition value of a manifest entry, whatever Avro type its writer chose for it.
//
// In: the field's type in the manifest and in the table today. Out: a literal of the table's type.
// Guarantees: int and float widen to long and double, decimals come as fixed or bytes, dates with or without
//   annotation; what cannot be told for sure is refused when the manifest is opened.
// Cost: no allocation beyond the value's own.
// Errors: kUnsupported from Make, with both types; a fault of the cursor afterwards.
// Threads: immutable.
// Source: Iceberg table spec, Appendix A "Avro", "Schema Evolution" (type promotion).
#pragma once

#include <cstdint>

#include "format/avro/schema.h"
#include "iceberg/literal.h"

namespace firn::iceberg {

class PartitionDecoder {
 public:
  /// `source` is not a union. `target` of kind `unknown` takes the value as it is written.
  static Result<PartitionDecoder> Make(const avro::Schema& source, const Type& target);

  void Read(avro::Cursor& cursor, Literal& value) const;

 private:
  enum class Form : std::uint8_t {
    kNull,
    kBoolean,
    kInt,
    kLong,
    kDaysToMicros,
    kDaysToNanos,
    kFloat,
    kFloatToDouble,
    kDouble,
    kText,
    kBytes,
    kFixed,
    kDecimalBytes,
    kDecimalFixed,
    kUuidText,
  };
  static bool FormOf(const avro::Schema& source, const Type& target, Form& form);
  static bool FormAsWritten(const avro::Schema& source, Form& form);

  Form form_ = Form::kNull;
  std::uint64_t size_ = 0;           // of a fixed
  std::uint64_t size_expected_ = 0;  // of binary values with a fixed length; 0: any
};

}  // namespace firn::iceberg
