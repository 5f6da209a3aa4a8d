// SPDX-License-Identifier: Apache-2.0
#include "splice/fallback_values.h"

#include <gtest/gtest.h>
#include <parquet/types.h>

#include <cmath>
#include <limits>

namespace firn::splice {
namespace {

using parquet::LogicalKind;
using parquet::PhysicalType;
using parquet::SchemaElement;
using parquet::TimeUnit;

SchemaElement Leaf(PhysicalType type, LogicalKind kind = LogicalKind::kNone) {
  SchemaElement element;
  element.type = type;
  element.logical.kind = kind;
  return element;
}

SchemaElement Timestamp(TimeUnit unit, bool utc = false) {
  SchemaElement element = Leaf(PhysicalType::kInt64, LogicalKind::kTimestamp);
  element.logical.unit = unit;
  element.logical.adjusted_to_utc = utc;
  return element;
}

SchemaElement DecimalOf(PhysicalType type, std::int32_t precision, std::int32_t length = 0) {
  SchemaElement element = Leaf(type, LogicalKind::kDecimal);
  element.logical.precision = precision;
  element.logical.scale = 2;
  element.type_length = length;
  return element;
}

template <class Out, class In>
std::vector<Out> Converted(const SchemaElement& from, const SchemaElement& to, const std::vector<In>& in) {
  Result<ValueConverter> converter = ValueConverter::Make(from, to);
  EXPECT_TRUE(converter);
  if (!converter) return {};
  const Result<const void*> out = converter->Convert(in.data(), in.size());
  EXPECT_TRUE(out) << out.error().message;
  if (!out) return {};
  const auto* values = static_cast<const Out*>(*out);
  return {values, values + in.size()};
}

template <class In>
bool Refuses(const SchemaElement& from, const SchemaElement& to, In value) {
  Result<ValueConverter> converter = ValueConverter::Make(from, to);
  EXPECT_TRUE(converter);
  const Result<const void*> out = converter->Convert(&value, 1);
  return !out && out.error().code == Code::kCorrupt;
}

::parquet::Int96 Int96Of(std::int64_t nanos_of_day, std::int64_t days_since_epoch) {
  ::parquet::Int96 value;
  std::memcpy(value.value.data(), &nanos_of_day, sizeof nanos_of_day);
  value.value[2] = static_cast<std::uint32_t>(days_since_epoch + 2440588);
  return value;
}

TEST(ValueConverter, Numbers_AreWidened) {
  const std::vector<std::int32_t> ints = {0, -1, std::numeric_limits<std::int32_t>::min(), 7};
  EXPECT_EQ((Converted<std::int64_t>(Leaf(PhysicalType::kInt32), Leaf(PhysicalType::kInt64), ints)),
            (std::vector<std::int64_t>{0, -1, std::numeric_limits<std::int32_t>::min(), 7}));
  const std::vector<float> floats = {0.0F, -0.0F, 1.1F, std::numeric_limits<float>::infinity(),
                                     std::numeric_limits<float>::quiet_NaN()};
  const auto doubles = Converted<double>(Leaf(PhysicalType::kFloat), Leaf(PhysicalType::kDouble), floats);
  EXPECT_TRUE(std::signbit(doubles[1]));
  EXPECT_EQ(doubles[2], static_cast<double>(1.1F));
  EXPECT_EQ(doubles[3], std::numeric_limits<double>::infinity());
  EXPECT_TRUE(std::isnan(doubles[4]));
}

TEST(ValueConverter, Int96_IsFlooredBefore1970) {
  const std::vector<::parquet::Int96> in = {Int96Of(0, 0), Int96Of(1999, 0), Int96Of(86'399'999'999'999, -1),
                                            Int96Of(1, -1), Int96Of(0, -719162)};
  EXPECT_EQ((Converted<std::int64_t>(Leaf(PhysicalType::kInt96), Timestamp(TimeUnit::kMicros, true), in)),
            (std::vector<std::int64_t>{0, 1, -1, -86'400'000'000, -62'135'596'800'000'000}));
  const std::vector<::parquet::Int96> near = {Int96Of(1999, 0), Int96Of(86'399'999'999'999, -1)};
  EXPECT_EQ((Converted<std::int64_t>(Leaf(PhysicalType::kInt96), Timestamp(TimeUnit::kNanos), near)),
            (std::vector<std::int64_t>{1999, -1}));
  EXPECT_TRUE(Refuses(Leaf(PhysicalType::kInt96), Timestamp(TimeUnit::kNanos), Int96Of(0, -719162)));
}

TEST(ValueConverter, NegativeNanosOfDay_AreFloored) {
  const std::vector<::parquet::Int96> in = {Int96Of(-1, 0), Int96Of(-1000, 0), Int96Of(-1001, 1)};
  EXPECT_EQ((Converted<std::int64_t>(Leaf(PhysicalType::kInt96), Timestamp(TimeUnit::kMicros), in)),
            (std::vector<std::int64_t>{-1, -1, 86'399'999'998}));
}

TEST(ValueConverter, DatesAndMilliseconds_AreScaledOrRefused) {
  const SchemaElement date = Leaf(PhysicalType::kInt32, LogicalKind::kDate);
  const std::vector<std::int32_t> days = {0, 1, -1, -719162};
  EXPECT_EQ((Converted<std::int64_t>(date, Timestamp(TimeUnit::kMicros), days)),
            (std::vector<std::int64_t>{0, 86'400'000'000, -86'400'000'000, -62'135'596'800'000'000}));
  EXPECT_EQ((Converted<std::int64_t>(date, Timestamp(TimeUnit::kNanos), std::vector<std::int32_t>{-1})),
            (std::vector<std::int64_t>{-86'400'000'000'000}));
  EXPECT_TRUE(Refuses(date, Timestamp(TimeUnit::kMicros), std::numeric_limits<std::int32_t>::max()));
  EXPECT_TRUE(Refuses(date, Timestamp(TimeUnit::kNanos), std::int32_t{-719162}));
  EXPECT_EQ((Converted<std::int64_t>(Timestamp(TimeUnit::kMillis), Timestamp(TimeUnit::kMicros),
                                     std::vector<std::int64_t>{-1, 5})),
            (std::vector<std::int64_t>{-1000, 5000}));
  EXPECT_TRUE(Refuses(Timestamp(TimeUnit::kMillis), Timestamp(TimeUnit::kNanos), std::int64_t{1} << 62));
  SchemaElement millis = Leaf(PhysicalType::kInt32, LogicalKind::kTime),
                micros = Leaf(PhysicalType::kInt64, LogicalKind::kTime);
  millis.logical.unit = TimeUnit::kMillis;
  micros.logical.unit = TimeUnit::kMicros;
  EXPECT_EQ((Converted<std::int64_t>(millis, micros, std::vector<std::int32_t>{86'399'999})),
            (std::vector<std::int64_t>{86'399'999'000}));
}

Bytes FixedText(const ::parquet::FLBA& value, std::size_t size) { return {value.ptr, value.ptr + size}; }

TEST(ValueConverter, Decimals_KeepTheirValueInEveryLayout) {
  const std::vector<std::int32_t> small = {0, -1, 999'999'999, -999'999'999};
  EXPECT_EQ((Converted<std::int64_t>(DecimalOf(PhysicalType::kInt32, 9), DecimalOf(PhysicalType::kInt64, 18), small)),
            (std::vector<std::int64_t>{0, -1, 999'999'999, -999'999'999}));

  const SchemaElement wide = DecimalOf(PhysicalType::kFixedLenByteArray, 38, 16);
  Result<ValueConverter> widen = ValueConverter::Make(DecimalOf(PhysicalType::kInt64, 18), wide);
  ASSERT_TRUE(widen);
  const std::vector<std::int64_t> longs = {-1, -128, 255};
  const Result<const void*> out = widen->Convert(longs.data(), longs.size());
  ASSERT_TRUE(out);
  const auto* fixed = static_cast<const ::parquet::FLBA*>(*out);
  EXPECT_EQ(FixedText(fixed[0], 16), Bytes(16, 0xff));
  Bytes expected(16, 0xff);
  expected[15] = 0x80;
  EXPECT_EQ(FixedText(fixed[1], 16), expected);
  expected.assign(16, 0);
  expected[15] = 0xff;
  EXPECT_EQ(FixedText(fixed[2], 16), expected);

  const Bytes minus = {0xff, 0x80}, plus = {0x00, 0x80}, long_form(20, 0xff);
  const std::vector<::parquet::ByteArray> arrays = {{2, minus.data()}, {2, plus.data()}, {20, long_form.data()}};
  EXPECT_EQ(
      (Converted<std::int64_t>(DecimalOf(PhysicalType::kByteArray, 10), DecimalOf(PhysicalType::kInt64, 18), arrays)),
      (std::vector<std::int64_t>{-128, 128, -1}));
  EXPECT_EQ(
      (Converted<std::int32_t>(DecimalOf(PhysicalType::kByteArray, 9), DecimalOf(PhysicalType::kInt32, 9), arrays)),
      (std::vector<std::int32_t>{-128, 128, -1}));
  const std::vector<::parquet::FLBA> sixteen = {::parquet::FLBA(long_form.data())};
  Result<ValueConverter> narrow = ValueConverter::Make(wide, DecimalOf(PhysicalType::kFixedLenByteArray, 38, 17));
  ASSERT_TRUE(narrow);
  const Result<const void*> wider = narrow->Convert(sixteen.data(), 1);
  ASSERT_TRUE(wider);
  EXPECT_EQ(FixedText(*static_cast<const ::parquet::FLBA*>(*wider), 17), Bytes(17, 0xff));
}

TEST(ValueConverter, DecimalsBeyondTheirPrecision_AreRefused) {
  EXPECT_TRUE(
      Refuses(DecimalOf(PhysicalType::kInt64, 9), DecimalOf(PhysicalType::kInt32, 9), std::int64_t{1'000'000'000}));
  const Bytes huge = {0x01, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0};
  EXPECT_TRUE(Refuses(DecimalOf(PhysicalType::kByteArray, 38), DecimalOf(PhysicalType::kFixedLenByteArray, 38, 16),
                      ::parquet::ByteArray(17, huge.data())));
  EXPECT_TRUE(Refuses(DecimalOf(PhysicalType::kByteArray, 38), DecimalOf(PhysicalType::kFixedLenByteArray, 38, 16),
                      ::parquet::ByteArray(0, nullptr)));
}

TEST(ValueConverter, ForbiddenPairs_AreUnsupported) {
  EXPECT_EQ(ValueConverter::Make(Leaf(PhysicalType::kInt64), Leaf(PhysicalType::kInt32)).error().code,
            Code::kUnsupported);
  EXPECT_EQ(
      ValueConverter::Make(DecimalOf(PhysicalType::kInt32, 9), DecimalOf(PhysicalType::kByteArray, 9)).error().code,
      Code::kUnsupported);
}

TEST(ConstantValues, RepeatTheValue) {
  const Result<ConstantValues> number = ConstantValues::Make(Leaf(PhysicalType::kInt32), {5, 0, 0, 0}, 3);
  ASSERT_TRUE(number);
  EXPECT_EQ(static_cast<const std::int32_t*>(number->values())[2], 5);
  const Result<ConstantValues> text = ConstantValues::Make(Leaf(PhysicalType::kByteArray), {'h', 'i'}, 3);
  ASSERT_TRUE(text);
  const auto& last = static_cast<const ::parquet::ByteArray*>(text->values())[2];
  EXPECT_EQ(Bytes(last.ptr, last.ptr + last.len), (Bytes{'h', 'i'}));
  EXPECT_EQ(ConstantValues::Make(Leaf(PhysicalType::kInt64), {1}, 1).error().code, Code::kInvalidArgument);
}

}  // namespace
}  // namespace firn::splice
