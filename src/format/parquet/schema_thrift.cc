// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "format/parquet/thrift_structs.h"

namespace firn::parquet {

namespace {

constexpr std::int32_t kConvertedDecimal = 5;

constexpr LogicalKind kKindById[] = {
    LogicalKind::kNone,    LogicalKind::kString,  LogicalKind::kMap,      LogicalKind::kList,      LogicalKind::kEnum,
    LogicalKind::kDecimal, LogicalKind::kDate,    LogicalKind::kTime,     LogicalKind::kTimestamp, LogicalKind::kOther,
    LogicalKind::kInteger, LogicalKind::kUnknown, LogicalKind::kJson,     LogicalKind::kBson,      LogicalKind::kUuid,
    LogicalKind::kFloat16, LogicalKind::kVariant, LogicalKind::kGeometry, LogicalKind::kGeography};
constexpr int kKindCount = static_cast<int>(std::size(kKindById));

int IdOfKind(LogicalKind kind) {
  const auto* found = std::find(std::begin(kKindById), std::end(kKindById), kind);
  return static_cast<int>(found - std::begin(kKindById));
}

TimeUnit ReadUnit(ThriftReader& in) {
  TimeUnit unit = TimeUnit::kNone;
  ThriftStruct fields(in);
  while (fields.Next()) {
    const bool known = fields.type() == ThriftType::kStruct && fields.id() >= 1 && fields.id() <= 3;
    if (known) unit = static_cast<TimeUnit>(fields.id());
    fields.Skip();
  }
  return unit;
}

void ReadDecimal(ThriftReader& in, LogicalType& value) {
  ThriftStruct fields(in);
  while (fields.Next()) {
    switch (fields.key()) {
      case ThriftKey(1, ThriftType::kI32): value.scale = in.ReadI32(); break;
      case ThriftKey(2, ThriftType::kI32): value.precision = in.ReadI32(); break;
      default: fields.Keep(value.raw);
    }
  }
  Require(in, fields, Bit(1) | Bit(2), "DecimalType lacks its scale or precision");
}

void ReadTimeOrTimestamp(ThriftReader& in, LogicalType& value) {
  ThriftStruct fields(in);
  while (fields.Next()) {
    switch (fields.key()) {
      case ThriftKey(1, ThriftType::kTrue):
      case ThriftKey(1, ThriftType::kFalse): value.adjusted_to_utc = fields.boolean(); break;
      case ThriftKey(2, ThriftType::kStruct): value.unit = ReadUnit(in); break;
      default: fields.Keep(value.raw);
    }
  }
  Require(in, fields, Bit(1) | Bit(2), "a time type lacks its zone or unit");
}

void ReadInteger(ThriftReader& in, LogicalType& value) {
  ThriftStruct fields(in);
  while (fields.Next()) {
    switch (fields.key()) {
      case ThriftKey(1, ThriftType::kByte): value.bit_width = in.ReadByte(); break;
      case ThriftKey(2, ThriftType::kTrue):
      case ThriftKey(2, ThriftType::kFalse): value.is_signed = fields.boolean(); break;
      default: fields.Keep(value.raw);
    }
  }
  Require(in, fields, Bit(1) | Bit(2), "IntType lacks its width or sign");
}

void ReadMembers(ThriftReader& in, LogicalType& value) {
  switch (value.kind) {
    case LogicalKind::kDecimal: return ReadDecimal(in, value);
    case LogicalKind::kTime:
    case LogicalKind::kTimestamp: return ReadTimeOrTimestamp(in, value);
    case LogicalKind::kInteger: return ReadInteger(in, value);
    default: break;
  }
  ThriftStruct fields(in);
  while (fields.Next()) fields.Keep(value.raw);
}

void WriteMembers(const LogicalType& value, Bytes& out) {
  ThriftWriter writer(out);
  switch (value.kind) {
    case LogicalKind::kDecimal:
      writer.I32(1, value.scale);
      writer.I32(2, value.precision);
      break;
    case LogicalKind::kTime:
    case LogicalKind::kTimestamp:
      writer.Bool(1, value.adjusted_to_utc);
      writer.Field(2, ThriftType::kStruct);
      {
        ThriftWriter unit(out);
        unit.EmptyStruct(static_cast<int>(value.unit));
        unit.End();
      }
      break;
    case LogicalKind::kInteger:
      writer.Byte(1, value.bit_width);
      writer.Bool(2, value.is_signed);
      break;
    default: break;
  }
  writer.Kept(value.raw);
  writer.End();
}

}  // namespace

void Read(ThriftReader& in, LogicalType& value) {
  value = LogicalType{};
  value.kind = LogicalKind::kOther;  // without a member it is one that nobody knows, not none
  ThriftStruct fields(in);
  int members = 0;
  while (fields.Next()) {
    if (++members > 1) in.Fail("LogicalType has two members");
    value = LogicalType{};
    const bool known = fields.type() == ThriftType::kStruct && fields.id() > 0 && fields.id() < kKindCount;
    value.kind = known ? kKindById[fields.id()] : LogicalKind::kOther;
    if (value.kind == LogicalKind::kOther) {
      fields.Keep(value.raw);
      continue;
    }
    const std::size_t start = in.position();
    ReadMembers(in, value);
    const bool timed = value.kind == LogicalKind::kTime || value.kind == LogicalKind::kTimestamp;
    if (timed && value.unit == TimeUnit::kNone && in.ok()) {  // a unit of the future
      value = LogicalType{};
      value.kind = LogicalKind::kOther;
      AppendKept(value.raw, fields.id(), fields.type(), in.Since(start));
    }
  }
}

void Write(const LogicalType& value, Bytes& out) {
  ThriftWriter writer(out);
  if (value.kind == LogicalKind::kOther) {
    writer.Kept(value.raw);
  } else if (value.kind != LogicalKind::kNone) {
    writer.Field(IdOfKind(value.kind), ThriftType::kStruct);
    WriteMembers(value, out);
  }
  writer.End();
}

void Read(ThriftReader& in, SchemaElement& value) {
  value = SchemaElement{};
  ThriftStruct fields(in);
  bool has_name = false;
  while (fields.Next()) {
    switch (fields.key()) {
      case ThriftKey(1, ThriftType::kI32): value.type = ReadEnum<PhysicalType>(in); break;
      case ThriftKey(2, ThriftType::kI32): value.type_length = in.ReadI32(); break;
      case ThriftKey(3, ThriftType::kI32): value.repetition = ReadEnum<Repetition>(in); break;
      case ThriftKey(4, ThriftType::kBinary): value.name = in.ReadString(), has_name = true; break;
      case ThriftKey(5, ThriftType::kI32): value.num_children = in.ReadI32(); break;
      case ThriftKey(6, ThriftType::kI32): value.converted_type = in.ReadI32(); break;
      case ThriftKey(7, ThriftType::kI32): value.scale = in.ReadI32(); break;
      case ThriftKey(8, ThriftType::kI32): value.precision = in.ReadI32(); break;
      case ThriftKey(9, ThriftType::kI32): value.field_id = in.ReadI32(); break;
      case ThriftKey(10, ThriftType::kStruct): Read(in, value.logical); break;
      default: fields.Keep(value.unknown);
    }
  }
  if (!has_name) in.Fail("SchemaElement lacks its name");
}

void Write(const SchemaElement& value, Bytes& out) {
  ThriftWriter writer(out);
  if (value.type) writer.I32(1, static_cast<std::int32_t>(*value.type));
  if (value.type_length != 0) writer.I32(2, value.type_length);
  if (value.repetition) writer.I32(3, static_cast<std::int32_t>(*value.repetition));
  writer.Text(4, value.name);
  if (!value.type) writer.I32(5, value.num_children);
  if (value.converted_type) writer.I32(6, *value.converted_type);
  const bool decimal = value.converted_type == kConvertedDecimal;
  if (decimal || value.scale != 0) writer.I32(7, value.scale);
  if (decimal || value.precision != 0) writer.I32(8, value.precision);
  if (value.field_id) writer.I32(9, *value.field_id);
  if (value.logical.kind != LogicalKind::kNone) {
    writer.Field(10, ThriftType::kStruct);
    Write(value.logical, out);
  }
  writer.Kept(value.unknown);
  writer.End();
}

}  // namespace firn::parquet
