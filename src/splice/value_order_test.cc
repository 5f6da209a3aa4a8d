// SPDX-License-Identifier: Apache-2.0
#include "splice/value_order.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "splice/bounds.h"

namespace firn::splice {
namespace {

using parquet::LogicalKind;
using parquet::PhysicalType;

template <class T>
Bytes Plain(T value) {
  Bytes bytes(sizeof value);
  StoreLittle(bytes.data(), value);
  return bytes;
}

Bytes Text(std::string_view text) { return {text.begin(), text.end()}; }

parquet::SchemaElement Element(PhysicalType type, LogicalKind kind = LogicalKind::kNone, std::int32_t length = 0) {
  parquet::SchemaElement element;
  element.type = type;
  element.logical.kind = kind;
  element.type_length = length;
  return element;
}

struct OrderCase {
  parquet::SchemaElement element;
  std::vector<Bytes> ascending;
};

TEST(ValueOrder, ValuesOfEachType_Ascend) {
  parquet::SchemaElement unsigned_int = Element(PhysicalType::kInt32, LogicalKind::kInteger);
  unsigned_int.logical.is_signed = false;
  parquet::SchemaElement converted_unsigned = Element(PhysicalType::kInt64);
  converted_unsigned.converted_type = 14;
  const std::vector<OrderCase> cases = {
      {Element(PhysicalType::kBoolean), {{0}, {1}}},
      {Element(PhysicalType::kInt32), {Plain(-5), Plain(0), Plain(7)}},
      {unsigned_int, {Plain(7U), Plain(0x80000000U), Plain(0xffffffffU)}},
      {converted_unsigned, {Plain(std::uint64_t{1}), Plain(~std::uint64_t{0})}},
      {Element(PhysicalType::kFloat), {Plain(-INFINITY), Plain(-1.0F), Plain(0.0F), Plain(2.5F)}},
      {Element(PhysicalType::kDouble), {Plain(-1e300), Plain(1e-300), Plain(1e300)}},
      {Element(PhysicalType::kFixedLenByteArray, LogicalKind::kFloat16, 2),
       {Plain<std::uint16_t>(0xfc00), Plain<std::uint16_t>(0xbc00), Plain<std::uint16_t>(0x0001),
        Plain<std::uint16_t>(0x3c00), Plain<std::uint16_t>(0x7c00)}},
      {Element(PhysicalType::kByteArray, LogicalKind::kString),
       {Text(""), Text("a"), Text("aa"), Text("b"), Text("\xff")}},
      {Element(PhysicalType::kByteArray, LogicalKind::kDecimal),
       {{0xff, 0x00}, {0x80}, {0xff}, {0x00}, {0x01}, {0x00, 0x80}}},
      {Element(PhysicalType::kFixedLenByteArray, LogicalKind::kDecimal, 2),
       {{0x80, 0}, {0xff, 0xff}, {0, 0}, {0x7f, 0xff}}},
  };
  for (const OrderCase& one : cases) {
    const ValueOrder order = OrderOf(one.element);
    for (std::size_t i = 0; i < one.ascending.size(); ++i) {
      ASSERT_TRUE(IsOrdered(order, one.ascending[i], one.element.type_length));
      for (std::size_t j = 0; j < one.ascending.size(); ++j) {
        const int compared = CompareValues(order, one.ascending[i], one.ascending[j]);
        EXPECT_EQ(compared < 0, i < j) << static_cast<int>(order) << ": " << i << " and " << j;
        EXPECT_EQ(compared == 0, i == j);
      }
    }
  }
}

TEST(ValueOrder, TypesWithoutOrder_HaveNone) {
  parquet::SchemaElement interval = Element(PhysicalType::kFixedLenByteArray, LogicalKind::kNone, 12);
  interval.converted_type = 21;
  EXPECT_EQ(OrderOf(interval), ValueOrder::kNone);
  EXPECT_EQ(OrderOf(Element(PhysicalType::kInt96)), ValueOrder::kNone);
  EXPECT_EQ(OrderOf(Element(PhysicalType::kByteArray, LogicalKind::kGeometry)), ValueOrder::kNone);
  EXPECT_EQ(OrderOf(Element(PhysicalType::kByteArray, LogicalKind::kVariant)), ValueOrder::kNone);
  EXPECT_EQ(OrderOf(Element(PhysicalType::kByteArray, LogicalKind::kOther)), ValueOrder::kNone);
}

TEST(ValueOrder, WrongWidthsAndNan_AreNotOrdered) {
  EXPECT_FALSE(IsOrdered(ValueOrder::kInt32, Bytes(8), 0));
  EXPECT_FALSE(IsOrdered(ValueOrder::kFloat, Plain(std::numeric_limits<float>::quiet_NaN()), 0));
  EXPECT_FALSE(IsOrdered(ValueOrder::kFloat16, Plain<std::uint16_t>(0x7e00), 2));
  EXPECT_FALSE(IsOrdered(ValueOrder::kDecimalBytes, {}, 0));
  EXPECT_FALSE(IsOrdered(ValueOrder::kDecimalBytes, Bytes(3), 4));
}

TEST(ValueOrder, LongBounds_AreCutAndStayBounds) {
  const parquet::SchemaElement text = Element(PhysicalType::kByteArray, LogicalKind::kString);
  const std::vector<std::string> values = {std::string(100, 'a'), "aaaaaaa\u00e9" + std::string(50, 'b'),
                                           std::string(70, '\x7f'), "aaaaaa\u00ff" + std::string(90, 'z'),
                                           "\xf4\x8f\xbf\xbf" + std::string(30, 'c')};
  for (const std::string& value : values) {
    Bytes low = Text(value), high = Text(value);
    ShortenBound(text, ValueOrder::kBytes, true, 8, low);
    const bool cut = ShortenBound(text, ValueOrder::kBytes, false, 8, high);
    EXPECT_LE(low.size(), 8U);
    EXPECT_LE(CompareValues(ValueOrder::kBytes, low, Text(value)), 0);
    EXPECT_GE(CompareValues(ValueOrder::kBytes, high, Text(value)), 0);
    EXPECT_TRUE(!cut || high.size() <= 8);
  }
  const parquet::SchemaElement binary = Element(PhysicalType::kByteArray);
  Bytes high = Bytes(100, 0xff);
  EXPECT_FALSE(ShortenBound(binary, ValueOrder::kBytes, false, 8, high));
  EXPECT_EQ(high.size(), 100U);
  Bytes carried = Bytes(100, 0xff);
  carried[0] = 1;
  EXPECT_TRUE(ShortenBound(binary, ValueOrder::kBytes, false, 8, carried));
  EXPECT_EQ(carried, Bytes{2});
}

TEST(Bounds, Exactness_IsThatOfTheWinner) {
  const auto view = [](const Bytes& min, const Bytes& max, std::optional<bool> exact) {
    return BoundsView{true, min, max, exact, exact};
  };
  const Bytes one = Plain(1), two = Plain(2), three = Plain(3);
  Bounds bounds;
  bounds.Merge(view(two, two, true), ValueOrder::kInt32);
  bounds.Merge(view(one, three, false), ValueOrder::kInt32);
  EXPECT_EQ(bounds.min_exact(), false);
  EXPECT_EQ(bounds.max_exact(), false);
  bounds.Merge(view(one, three, true), ValueOrder::kInt32);  // the same bounds, known to be exact
  EXPECT_EQ(bounds.min_exact(), true);
  bounds.Merge(view(two, two, std::nullopt), ValueOrder::kInt32);
  EXPECT_EQ(bounds.min_exact(), true);
  bounds.Merge(BoundsView(), ValueOrder::kInt32);
  EXPECT_FALSE(bounds.known());
}

}  // namespace
}  // namespace firn::splice
