// SPDX-License-Identifier: Apache-2.0
// Any bytes as a value of any type: decoding, text, JSON, bounds and transforms must agree with each other.
#include <cstddef>
#include <cstdint>

#include "base/bytes.h"
#include "base/check.h"
#include "iceberg/partition_spec.h"

namespace {

using namespace firn;
using namespace firn::iceberg;

const char* const kTypes[] = {"boolean",     "int",          "long",           "float",  "double",  "decimal(38,7)",
                              "date",        "time",         "timestamp",      "string", "uuid",    "decimal(9,0)",
                              "timestamptz", "timestamp_ns", "timestamptz_ns", "binary", "fixed[6]"};
const char* const kTransforms[] = {"identity", "bucket[7]", "truncate[3]", "year", "month", "day", "hour", "void"};

void CheckBounds(const Type& type, const Literal& value, std::int32_t length) {
  const auto lower = TruncateLower(type, value, length);
  const auto upper = TruncateUpper(type, value, length);
  if (lower) FIRN_CHECK(Compare(type, *lower, value) <= 0);
  if (upper) FIRN_CHECK(Compare(type, *upper, value) >= 0);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  const Type type = *ParsePrimitive(kTypes[data[0] % std::size(kTypes)]);
  const std::int32_t length = data[1] % 20;
  const ByteView bytes{data + 2, size - 2};
  const auto value = DecodeBound(type, bytes);
  if (!value) return 0;
  const auto again = DecodeBound(type, EncodeBound(type, *value));
  FIRN_CHECK(again.has_value());
  FIRN_CHECK(SameValue(*again, *value));
  FIRN_CHECK(Compare(type, *again, *value) == 0);
  CheckBounds(type, *value, length);
  (void)ToText(type, *value);
  // JSON cannot hold NaN, times outside of a day, decimals above 38 digits, or a cut fixed: those may be refused.
  if (const auto parsed = LiteralFromJson(type, ToJson(type, *value)); parsed && !IsNull(*parsed)) {
    FIRN_CHECK(SameValue(*parsed, *value));
  }
  for (const char* text : kTransforms) {
    const Transform transform = ParseTransform(text);
    if (const auto result = Apply(transform, type, *value)) {
      const Type result_type = ResultType(transform, type);
      (void)ToHumanText(transform, type, *result);
      if (transform.kind == TransformKind::kTruncate && type.kind != TypeKind::kInt && type.kind != TypeKind::kLong) {
        FIRN_CHECK(Compare(result_type, *result, *value) <= 0);
      }
    }
  }
  return 0;
}
