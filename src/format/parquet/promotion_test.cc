// SPDX-License-Identifier: Apache-2.0
#include "format/parquet/promotion.h"

#include <gtest/gtest.h>

namespace firn::parquet {
namespace {

using P = PhysicalType;
using L = LogicalKind;

SchemaElement Plain(P type, std::int32_t length = 0) {
  SchemaElement element;
  element.type = type;
  element.type_length = length;
  return element;
}

SchemaElement Typed(P type, L kind, TimeUnit unit = TimeUnit::kNone, bool utc = false) {
  SchemaElement element = Plain(type);
  element.logical.kind = kind;
  element.logical.unit = unit;
  element.logical.adjusted_to_utc = utc;
  return element;
}

SchemaElement Converted(P type, std::int32_t converted) {
  SchemaElement element = Plain(type);
  element.converted_type = converted;
  return element;
}

SchemaElement DecimalOf(P type, std::int32_t precision, std::int32_t scale, std::int32_t length = 0) {
  SchemaElement element = Plain(type, length);
  element.logical.kind = L::kDecimal;
  element.logical.precision = precision;
  element.logical.scale = scale;
  return element;
}

SchemaElement Unsigned(P type, std::int8_t width) {
  SchemaElement element = Typed(type, L::kInteger);
  element.logical.bit_width = width;
  element.logical.is_signed = false;
  return element;
}

SchemaElement Uuid() {
  SchemaElement element = Plain(P::kFixedLenByteArray, 16);
  element.logical.kind = L::kUuid;
  return element;
}

TEST(WidenAnnotation, PromisesWhatBothPromise) {
  const SchemaElement bytes = Plain(P::kByteArray), string = Typed(P::kByteArray, L::kString),
                      old_string = Converted(P::kByteArray, 0), json = Typed(P::kByteArray, L::kJson),
                      bson = Typed(P::kByteArray, L::kBson), fixed = Plain(P::kFixedLenByteArray, 16),
                      decimal = DecimalOf(P::kByteArray, 9, 2), number = Plain(P::kInt32);
  struct Case {
    SchemaElement a, b;
    L kind;
  };
  const Case cases[] = {
      {string, bytes, L::kNone},      {bytes, old_string, L::kNone},    {json, bytes, L::kNone},
      {bson, bytes, L::kNone},        {bson, string, L::kNone},         {json, string, L::kString},
      {old_string, json, L::kString}, {string, old_string, L::kString}, {json, json, L::kJson},
      {Uuid(), fixed, L::kNone},      {decimal, decimal, L::kDecimal},  {number, number, L::kNone},
  };
  for (const Case& item : cases) {
    for (const bool turned : {false, true}) {
      SchemaElement element = turned ? item.b : item.a;
      const SchemaElement other = turned ? item.a : item.b;
      const L before = EffectiveLogicalType(element).kind;
      EXPECT_EQ(WidenAnnotation(element, other), before != item.kind) << TypeText(item.a) << ", " << TypeText(item.b);
      EXPECT_EQ(EffectiveLogicalType(element).kind, item.kind) << TypeText(item.a) << ", " << TypeText(item.b);
      EXPECT_EQ(PromotionOf(other, element).value(), Promotion::kNone);
    }
  }
  SchemaElement kept = decimal;
  EXPECT_FALSE(WidenAnnotation(kept, bytes));
  EXPECT_EQ(kept.logical.kind, L::kDecimal);
}

TEST(Promotion, NarrowIntegers_TakeOnlyWhatFits) {
  const SchemaElement int8 = Converted(P::kInt32, 15), int16 = Converted(P::kInt32, 16), plain = Plain(P::kInt32);
  const std::pair<SchemaElement, SchemaElement> good[] = {{int8, int16},
                                                          {int16, plain},
                                                          {Unsigned(P::kInt32, 8), int16},
                                                          {Unsigned(P::kInt32, 8), Unsigned(P::kInt32, 16)}};
  for (const auto& [from, to] : good) EXPECT_TRUE(PromotionOf(from, to)) << TypeText(from) << " to " << TypeText(to);
  const std::pair<SchemaElement, SchemaElement> bad[] = {{int16, int8},
                                                         {plain, int16},
                                                         {Unsigned(P::kInt32, 8), int8},
                                                         {int8, Unsigned(P::kInt32, 16)},
                                                         {Unsigned(P::kInt32, 16), Unsigned(P::kInt32, 8)}};
  for (const auto& [from, to] : bad) {
    EXPECT_EQ(PromotionOf(from, to).error().code, Code::kUnsupported) << TypeText(from) << " to " << TypeText(to);
  }
}

TEST(Promotion, AllowedPairs_GiveTheirPromotion) {
  const SchemaElement micros = Typed(P::kInt64, L::kTimestamp, TimeUnit::kMicros, false);
  const SchemaElement micros_utc = Typed(P::kInt64, L::kTimestamp, TimeUnit::kMicros, true);
  const SchemaElement nanos = Typed(P::kInt64, L::kTimestamp, TimeUnit::kNanos, false);
  struct Case {
    SchemaElement from, to;
    Promotion promotion;
  };
  const Case cases[] = {
      {Plain(P::kInt32), Plain(P::kInt32), Promotion::kNone},
      {Converted(P::kInt32, 15), Plain(P::kInt32), Promotion::kNone},  // INT_8
      {Unsigned(P::kInt32, 16), Plain(P::kInt32), Promotion::kNone},
      {Plain(P::kInt32), Plain(P::kInt64), Promotion::kIntToLong},
      {Plain(P::kFloat), Plain(P::kDouble), Promotion::kFloatToDouble},
      {Plain(P::kByteArray), Typed(P::kByteArray, L::kString), Promotion::kBytesToText},
      {Plain(P::kByteArray), Converted(P::kByteArray, 0), Promotion::kBytesToText},
      {Typed(P::kByteArray, L::kString), Plain(P::kByteArray), Promotion::kNone},
      {Typed(P::kByteArray, L::kBson), Plain(P::kByteArray), Promotion::kNone},
      {Typed(P::kByteArray, L::kEnum), Typed(P::kByteArray, L::kString), Promotion::kNone},
      {Plain(P::kFixedLenByteArray, 16), Uuid(), Promotion::kNone},
      {Uuid(), Plain(P::kFixedLenByteArray, 16), Promotion::kNone},
      {Converted(P::kByteArray, 0), Typed(P::kByteArray, L::kString), Promotion::kNone},
      {Typed(P::kByteArray, L::kJson), Typed(P::kByteArray, L::kString), Promotion::kNone},
      {Typed(P::kInt32, L::kDate), micros, Promotion::kDateToMicros},
      {Converted(P::kInt32, 6), nanos, Promotion::kDateToNanos},
      {Plain(P::kInt96), micros, Promotion::kInt96ToMicros},
      {Plain(P::kInt96), micros_utc, Promotion::kInt96ToMicros},
      {Plain(P::kInt96), nanos, Promotion::kInt96ToNanos},
      {Converted(P::kInt64, 10), micros, Promotion::kNone},
      {Converted(P::kInt64, 10), micros_utc, Promotion::kNone},
      {Converted(P::kInt64, 9), micros, Promotion::kMillisToMicros},
      {Typed(P::kInt64, L::kTimestamp, TimeUnit::kMillis, true), micros_utc, Promotion::kMillisToMicros},
      {Converted(P::kInt32, 7), Typed(P::kInt64, L::kTime, TimeUnit::kMicros), Promotion::kTimeMillisToMicros},
      {Typed(P::kInt64, L::kTime, TimeUnit::kMicros, true), Typed(P::kInt64, L::kTime, TimeUnit::kMicros, false),
       Promotion::kNone},
      {DecimalOf(P::kInt32, 9, 2), DecimalOf(P::kInt64, 18, 2), Promotion::kDecimal},
      {DecimalOf(P::kInt64, 10, 2), DecimalOf(P::kInt64, 18, 2), Promotion::kNone},
      {DecimalOf(P::kInt64, 18, 2), DecimalOf(P::kFixedLenByteArray, 38, 2, 16), Promotion::kDecimal},
      {DecimalOf(P::kByteArray, 20, 2), DecimalOf(P::kFixedLenByteArray, 20, 2, 9), Promotion::kDecimal},
      {DecimalOf(P::kFixedLenByteArray, 20, 2, 16), DecimalOf(P::kFixedLenByteArray, 20, 2, 9), Promotion::kDecimal},
      {Plain(P::kFixedLenByteArray, 4), Plain(P::kFixedLenByteArray, 4), Promotion::kNone},
  };
  for (const Case& item : cases) {
    const Result<Promotion> found = PromotionOf(item.from, item.to);
    ASSERT_TRUE(found) << found.error().message;
    EXPECT_EQ(*found, item.promotion) << TypeText(item.from) << " to " << TypeText(item.to);
  }
}

TEST(Promotion, OtherPairs_AreUnsupported) {
  const SchemaElement micros = Typed(P::kInt64, L::kTimestamp, TimeUnit::kMicros, false);
  const SchemaElement micros_utc = Typed(P::kInt64, L::kTimestamp, TimeUnit::kMicros, true);
  const SchemaElement nanos = Typed(P::kInt64, L::kTimestamp, TimeUnit::kNanos, false);
  const std::pair<SchemaElement, SchemaElement> cases[] = {
      {Plain(P::kInt64), Plain(P::kInt32)},
      {Plain(P::kDouble), Plain(P::kFloat)},
      {Plain(P::kInt32), Plain(P::kDouble)},
      {Unsigned(P::kInt32, 32), Plain(P::kInt32)},
      {Unsigned(P::kInt32, 32), Plain(P::kInt64)},
      {Unsigned(P::kInt64, 64), Plain(P::kInt64)},
      {micros, micros_utc},
      {nanos, micros},
      {micros, nanos},
      {Plain(P::kInt64), micros},
      {Typed(P::kInt32, L::kDate), micros_utc},
      {Typed(P::kInt32, L::kDate), Plain(P::kInt32)},
      {DecimalOf(P::kInt32, 9, 2), DecimalOf(P::kInt32, 9, 3)},
      {DecimalOf(P::kInt64, 18, 2), DecimalOf(P::kInt32, 9, 2)},
      {Plain(P::kFixedLenByteArray, 4), Plain(P::kFixedLenByteArray, 5)},
      {Plain(P::kFixedLenByteArray, 4), Plain(P::kByteArray)},
      {Typed(P::kByteArray, L::kGeometry), Plain(P::kByteArray)},
      {Typed(P::kByteArray, L::kBson), Typed(P::kByteArray, L::kString)},
      {Plain(P::kByteArray), Typed(P::kByteArray, L::kJson)},
      {Typed(P::kByteArray, L::kString), Typed(P::kByteArray, L::kJson)},
      {Plain(P::kByteArray), DecimalOf(P::kByteArray, 9, 2)},
      {DecimalOf(P::kByteArray, 9, 2), Plain(P::kByteArray)},
      {Plain(P::kFixedLenByteArray, 12), Uuid()},
      {Converted(P::kFixedLenByteArray, 21), Plain(P::kFixedLenByteArray, 12)},
      {Typed(P::kFixedLenByteArray, L::kFloat16), Plain(P::kFloat)},
      {SchemaElement{}, Plain(P::kInt32)},
  };
  for (const auto& [from, to] : cases) {
    const Result<Promotion> found = PromotionOf(from, to);
    ASSERT_FALSE(found) << TypeText(from) << " to " << TypeText(to);
    EXPECT_EQ(found.error().code, Code::kUnsupported);
  }
}

}  // namespace
}  // namespace firn::parquet
