// SPDX-License-Identifier: Apache-2.0
// The LogicalType union as thrift, and back.
#include <gtest/gtest.h>

#include "format/parquet/thrift_structs.h"

namespace firn::parquet {
namespace {

/// Of the whole union.
Result<LogicalType> Parsed(const Bytes& bytes) {
  ThriftReader reader(bytes);
  LogicalType type;
  Read(reader, type);
  FIRN_TRY(reader.status());
  return type;
}

TEST(LogicalType, WithoutAMember_IsNotNone) {
  const Bytes empty = {0};
  EXPECT_EQ(Parsed(empty)->kind, LogicalKind::kOther);
  Bytes written;
  Write(*Parsed(empty), written);
  EXPECT_EQ(written, empty);
  EXPECT_EQ(Parsed({0x1c, 0, 0})->kind, LogicalKind::kString);
}

TEST(LogicalType, WithTwoMembers_IsRefused) {
  const Result<LogicalType> both = Parsed({0x1c, 0, 0x3c, 0, 0});  // STRING, ENUM
  ASSERT_FALSE(both);
  EXPECT_EQ(both.error().code, Code::kCorrupt);
}

TEST(LogicalType, EveryKind_RoundTrips) {
  std::vector<LogicalType> types;
  for (const LogicalKind kind :
       {LogicalKind::kOther, LogicalKind::kString, LogicalKind::kMap, LogicalKind::kList, LogicalKind::kEnum,
        LogicalKind::kDate, LogicalKind::kUnknown, LogicalKind::kJson, LogicalKind::kBson, LogicalKind::kUuid,
        LogicalKind::kFloat16, LogicalKind::kVariant, LogicalKind::kGeometry, LogicalKind::kGeography}) {
    types.emplace_back().kind = kind;
  }
  LogicalType& decimal = types.emplace_back();
  decimal.kind = LogicalKind::kDecimal, decimal.precision = 38, decimal.scale = 0;
  for (const LogicalKind kind : {LogicalKind::kTime, LogicalKind::kTimestamp}) {
    for (const TimeUnit unit : {TimeUnit::kMillis, TimeUnit::kMicros, TimeUnit::kNanos}) {
      LogicalType& timed = types.emplace_back();
      timed.kind = kind, timed.unit = unit, timed.adjusted_to_utc = unit == TimeUnit::kNanos;
    }
  }
  LogicalType& integer = types.emplace_back();
  integer.kind = LogicalKind::kInteger, integer.bit_width = 8, integer.is_signed = false;
  LogicalType& variant = types.emplace_back();
  variant.kind = LogicalKind::kVariant;
  AppendKept(variant.raw, 1, ThriftType::kByte, Bytes{1});
  LogicalType& crs = types.emplace_back();
  crs.kind = LogicalKind::kGeography;
  AppendKept(crs.raw, 1, ThriftType::kBinary, Bytes{4, 'E', 'P', 'S', 'G'});
  AppendKept(crs.raw, 2, ThriftType::kI32, Bytes{8});
  LogicalType& newer = types.emplace_back();
  newer.kind = LogicalKind::kOther;
  AppendKept(newer.raw, 77, ThriftType::kStruct, Bytes{0x15, 0x02, 0});
  for (const LogicalType& type : types) {
    Bytes bytes;
    Write(type, bytes);
    ThriftReader reader(bytes);
    LogicalType parsed;
    Read(reader, parsed);
    ASSERT_TRUE(reader.ok());
    EXPECT_EQ(parsed, type) << static_cast<int>(type.kind);
  }
}

}  // namespace
}  // namespace firn::parquet
