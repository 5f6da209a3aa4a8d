// SPDX-License-Identifier: Apache-2.0
#include "iceberg/partition_decoder.h"

#include <optional>

#include "base/byte_text.h"
#include "iceberg/decimal_bytes.h"

namespace firn::iceberg {
namespace {

constexpr std::int64_t kMicrosPerDay = 86'400'000'000;
constexpr std::int64_t kNanosPerDay = 86'400'000'000'000;
constexpr std::uint64_t kUuidBytes = 16;

using avro::Kind;

bool IsInteger(Kind kind) { return kind == Kind::kInt || kind == Kind::kLong; }
bool IsText(Kind kind) { return kind == Kind::kString || kind == Kind::kBytes; }

void SetText(ByteView bytes, Literal& value) {
  if (auto* text = std::get_if<std::string>(&value)) {
    text->assign(AsText(bytes));
  } else {
    value.emplace<std::string>(AsText(bytes));
  }
}

void SetBytes(ByteView bytes, Literal& value) {
  if (auto* own = std::get_if<Bytes>(&value)) {
    own->assign(bytes.begin(), bytes.end());
  } else {
    value.emplace<Bytes>(bytes.begin(), bytes.end());
  }
}

void SetDecimal(ByteView bytes, avro::Cursor& cursor, Literal& value) {
  if (!cursor.ok()) return;
  const std::optional<Decimal> decimal = DecimalFromBigEndian(bytes);
  if (decimal) {
    value = *decimal;
  } else {
    cursor.Fail("bad decimal");
  }
}

void SetDays(std::int64_t units_per_day, avro::Cursor& cursor, Literal& value) {
  std::int64_t scaled = 0;
  if (__builtin_mul_overflow(cursor.ReadInt(), units_per_day, &scaled)) cursor.Fail("date is out of range");
  value = scaled;
}

}  // namespace

bool PartitionDecoder::FormAsWritten(const avro::Schema& source, Form& form) {
  const bool is_decimal = source.logical_type == "decimal";
  switch (source.kind) {
    case Kind::kNull: form = Form::kNull; return true;
    case Kind::kBoolean: form = Form::kBoolean; return true;
    case Kind::kInt: form = Form::kInt; return true;
    case Kind::kLong: form = Form::kLong; return true;
    case Kind::kFloat: form = Form::kFloat; return true;
    case Kind::kDouble: form = Form::kDouble; return true;
    case Kind::kString: form = Form::kText; return true;
    case Kind::kBytes: form = is_decimal ? Form::kDecimalBytes : Form::kBytes; return true;
    case Kind::kFixed: form = is_decimal ? Form::kDecimalFixed : Form::kFixed; return true;
    default: return false;
  }
}

bool PartitionDecoder::FormOf(const avro::Schema& source, const Type& target, Form& form) {
  const Kind kind = source.kind;
  const std::string& logical = source.logical_type;
  switch (target.kind) {
    case TypeKind::kUnknown: return FormAsWritten(source, form);
    case TypeKind::kBoolean: form = Form::kBoolean; return kind == Kind::kBoolean;
    case TypeKind::kInt:
    case TypeKind::kDate: form = Form::kInt; return IsInteger(kind);
    case TypeKind::kLong: form = Form::kLong; return IsInteger(kind);
    case TypeKind::kTime: form = Form::kLong; return kind == Kind::kLong && logical != "time-millis";
    case TypeKind::kTimestamp:
    case TypeKind::kTimestampTz:
      form = kind == Kind::kInt ? Form::kDaysToMicros : Form::kLong;
      return kind == Kind::kInt ? logical == "date"
                                : kind == Kind::kLong && (logical.empty() || logical.ends_with("-micros"));
    case TypeKind::kTimestampNs:
    case TypeKind::kTimestampTzNs:
      form = kind == Kind::kInt ? Form::kDaysToNanos : Form::kLong;
      return kind == Kind::kInt ? logical == "date"
                                : kind == Kind::kLong && (logical.empty() || logical.ends_with("-nanos"));
    case TypeKind::kFloat: form = Form::kFloat; return kind == Kind::kFloat;
    case TypeKind::kDouble:
      form = kind == Kind::kFloat ? Form::kFloatToDouble : Form::kDouble;
      return kind == Kind::kFloat || kind == Kind::kDouble;
    case TypeKind::kDecimal:
      form = kind == Kind::kFixed ? Form::kDecimalFixed : Form::kDecimalBytes;
      return (kind == Kind::kFixed || kind == Kind::kBytes) && (logical != "decimal" || source.scale == target.scale);
    case TypeKind::kString: form = Form::kText; return IsText(kind);
    case TypeKind::kUuid:
      form = kind == Kind::kString ? Form::kUuidText : kind == Kind::kFixed ? Form::kFixed : Form::kBytes;
      return IsText(kind) || (kind == Kind::kFixed && source.size == kUuidBytes);
    case TypeKind::kFixed:
      form = kind == Kind::kFixed ? Form::kFixed : Form::kBytes;
      return kind == Kind::kBytes || (kind == Kind::kFixed && source.size == static_cast<std::uint64_t>(target.length));
    case TypeKind::kBinary:
      form = kind == Kind::kFixed ? Form::kFixed : Form::kBytes;
      return IsText(kind) || kind == Kind::kFixed;
    default: return false;
  }
}

Result<PartitionDecoder> PartitionDecoder::Make(const avro::Schema& source, const Type& target) {
  PartitionDecoder decoder;
  // A column without values, written by somebody who knew no type for it.
  if (source.kind == Kind::kNull) return decoder;
  if (!FormOf(source, target, decoder.form_)) {
    return Error{Code::kUnsupported,
                 "partition value of Avro type " + Describe(source) + " where the table has " + ToString(target)};
  }
  decoder.size_ = source.size;
  if (target.kind == TypeKind::kUuid) decoder.size_expected_ = kUuidBytes;
  if (target.kind == TypeKind::kFixed) decoder.size_expected_ = static_cast<std::uint64_t>(target.length);
  return decoder;
}

void PartitionDecoder::Read(avro::Cursor& cursor, Literal& value) const {
  switch (form_) {
    case Form::kNull: value = std::monostate(); return;
    case Form::kBoolean: value = cursor.ReadBoolean(); return;
    case Form::kInt: value = cursor.ReadInt(); return;
    case Form::kLong: value = cursor.ReadLong(); return;
    case Form::kDaysToMicros: SetDays(kMicrosPerDay, cursor, value); return;
    case Form::kDaysToNanos: SetDays(kNanosPerDay, cursor, value); return;
    case Form::kFloat: value = cursor.ReadFloat(); return;
    case Form::kFloatToDouble: value = static_cast<double>(cursor.ReadFloat()); return;
    case Form::kDouble: value = cursor.ReadDouble(); return;
    case Form::kText: SetText(cursor.ReadBytes(), value); return;
    case Form::kBytes: {
      const ByteView bytes = cursor.ReadBytes();
      if (size_expected_ != 0 && bytes.size() != size_expected_) cursor.Fail("value of another length than its type");
      SetBytes(bytes, value);
      return;
    }
    case Form::kFixed: SetBytes(cursor.ReadFixed(size_), value); return;
    case Form::kDecimalBytes: SetDecimal(cursor.ReadBytes(), cursor, value); return;
    case Form::kDecimalFixed: SetDecimal(cursor.ReadFixed(size_), cursor, value); return;
    case Form::kUuidText: {
      const std::optional<Bytes> uuid = ParseUuid(AsText(cursor.ReadBytes()));
      if (uuid) {
        value = *uuid;
      } else {
        cursor.Fail("bad UUID");
      }
      return;
    }
  }
}

}  // namespace firn::iceberg
