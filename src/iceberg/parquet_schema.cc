// SPDX-License-Identifier: Apache-2.0
#include "iceberg/parquet_schema.h"

#include <algorithm>
#include <set>
#include <string_view>

#include "format/json/json.h"
#include "format/parquet/thrift_reader.h"
#include "format/parquet/thrift_writer.h"
#include "iceberg/geo_parameters.h"
#include "iceberg/manifest_fields.h"
#include "iceberg/schema_json.h"

namespace firn::iceberg {

namespace {

using parquet::LogicalKind;
using parquet::PhysicalType;
using parquet::Repetition;
using parquet::SchemaElement;
using parquet::ThriftType;
using Elements = std::vector<SchemaElement>;

constexpr std::string_view kRootName = "table";
constexpr std::int8_t kVariantVersion = 1;
constexpr std::int32_t kUuidBytes = 16;

// ConvertedType of parquet.thrift: written beside the logical type for readers from before those.
enum Converted : std::int32_t {
  kUtf8 = 0,
  kMap = 1,
  kList = 3,
  kDecimalConverted = 5,
  kDate = 6,
  kTimeMicros = 8,
  kTimestampMicros = 10,
};

/// The name as Java writes it: what is no letter, digit or underscore is escaped. Java knows which characters are
/// letters; here all beyond ASCII are, since Parquet allows any name and readers go by field id.
std::string ParquetName(std::string_view name) {
  std::string text;
  for (std::size_t i = 0; i < name.size(); ++i) {
    const std::string_view c = name.substr(i, 1);
    const bool digit = c[0] >= '0' && c[0] <= '9';
    if (static_cast<unsigned char>(c[0]) >= 0x80 || (digit && i > 0)) {
      text += c;
    } else {
      text += AvroName(c);
    }
  }
  return text.empty() ? "_" : text;
}

class ElementWriter {
 public:
  explicit ElementWriter(Elements& out) : out_(out) {}

  Status Fields(const std::vector<Field>& fields) {
    std::set<std::string> names;
    for (const Field& field : fields) {
      if (field.type.kind == TypeKind::kUnknown) continue;
      FIRN_TRY(FieldOf(field));
      if (!names.insert(ParquetName(field.name)).second) {
        return Error{Code::kUnsupported, "two columns are named " + ParquetName(field.name) + " in Parquet"};
      }
    }
    return Ok();
  }

  static std::int32_t WrittenCount(const std::vector<Field>& fields) {
    return static_cast<std::int32_t>(
        std::ranges::count_if(fields, [](const Field& field) { return field.type.kind != TypeKind::kUnknown; }));
  }

 private:
  SchemaElement& Add(std::string name, std::optional<Repetition> repetition) {
    SchemaElement& element = out_.emplace_back();
    element.name = std::move(name);
    element.repetition = repetition;
    return element;
  }

  Status FieldOf(const Field& field) {
    SchemaElement& element =
        Add(ParquetName(field.name), field.required ? Repetition::kRequired : Repetition::kOptional);
    element.field_id = field.id;
    switch (field.type.kind) {
      case TypeKind::kStruct:
        element.num_children = WrittenCount(*field.type.fields);
        if (element.num_children == 0) {
          return Error{Code::kUnsupported, "struct " + field.name + " has no field that files can hold"};
        }
        return Fields(*field.type.fields);
      case TypeKind::kList: return ListOf(field, element);
      case TypeKind::kMap: return MapOf(field, element);
      case TypeKind::kVariant: return VariantOf(element);
      default: return Primitive(field, element);
    }
  }

  Status Inside(const Field& field, const Field& child) {
    if (child.type.kind == TypeKind::kUnknown) {
      return Error{Code::kUnsupported, "a list or map of unknown type: " + field.name};
    }
    return FieldOf(child);
  }

  Status ListOf(const Field& field, SchemaElement& element) {
    element.num_children = 1;
    element.converted_type = kList;
    element.logical.kind = LogicalKind::kList;
    Add("list", Repetition::kRepeated).num_children = 1;
    return Inside(field, field.type.fields->at(0));
  }

  Status MapOf(const Field& field, SchemaElement& element) {
    element.num_children = 1;
    element.converted_type = kMap;
    element.logical.kind = LogicalKind::kMap;
    Add("key_value", Repetition::kRepeated).num_children = 2;
    FIRN_TRY(Inside(field, field.type.fields->at(0)));
    return Inside(field, field.type.fields->at(1));
  }

  Status VariantOf(SchemaElement& element) {
    element.num_children = 2;
    element.logical.kind = LogicalKind::kVariant;
    const std::uint8_t version = kVariantVersion;
    parquet::AppendKept(element.logical.raw, 1, ThriftType::kByte, ByteView(&version, 1));
    for (const char* name : {"metadata", "value"}) {
      Add(name, Repetition::kRequired).type = PhysicalType::kByteArray;
    }
    return Ok();
  }

  static void Timed(SchemaElement& element, LogicalKind kind, parquet::TimeUnit unit, bool utc) {
    element.type = PhysicalType::kInt64;
    element.logical.kind = kind;
    element.logical.unit = unit;
    element.logical.adjusted_to_utc = utc;
    if (unit != parquet::TimeUnit::kMicros) return;
    element.converted_type = kind == LogicalKind::kTime ? kTimeMicros : kTimestampMicros;
  }

  static void Decimal(const Type& type, SchemaElement& element) {
    constexpr std::int32_t kInt32Digits = 9, kInt64Digits = 18;
    if (type.precision <= kInt32Digits) {
      element.type = PhysicalType::kInt32;
    } else if (type.precision <= kInt64Digits) {
      element.type = PhysicalType::kInt64;
    } else {
      element.type = PhysicalType::kFixedLenByteArray;
      element.type_length = static_cast<std::int32_t>(DecimalBytes(type.precision));
    }
    element.converted_type = kDecimalConverted;
    element.logical.kind = LogicalKind::kDecimal;
    element.logical.precision = element.precision = type.precision;
    element.logical.scale = element.scale = type.scale;
  }

  static void Fixed(SchemaElement& element, std::int32_t length) {
    element.type = PhysicalType::kFixedLenByteArray;
    element.type_length = length;
  }

  static Status Geo(const Type& type, SchemaElement& element) {
    const bool geography = type.kind == TypeKind::kGeography;
    FIRN_ASSIGN(const GeoParameters parameters, GeoParametersOf(type));
    element.type = PhysicalType::kByteArray;
    element.logical.kind = geography ? LogicalKind::kGeography : LogicalKind::kGeometry;
    element.logical.raw = EncodeGeoParameters(parameters);
    return Ok();
  }

  static Status Primitive(const Field& field, SchemaElement& element) {
    using parquet::TimeUnit;
    switch (field.type.kind) {
      case TypeKind::kBoolean: element.type = PhysicalType::kBoolean; break;
      case TypeKind::kInt: element.type = PhysicalType::kInt32; break;
      case TypeKind::kLong: element.type = PhysicalType::kInt64; break;
      case TypeKind::kFloat: element.type = PhysicalType::kFloat; break;
      case TypeKind::kDouble: element.type = PhysicalType::kDouble; break;
      case TypeKind::kDecimal: Decimal(field.type, element); break;
      case TypeKind::kDate:
        element.type = PhysicalType::kInt32;
        element.converted_type = kDate;
        element.logical.kind = LogicalKind::kDate;
        break;
      case TypeKind::kTime: Timed(element, LogicalKind::kTime, TimeUnit::kMicros, false); break;
      case TypeKind::kTimestamp: Timed(element, LogicalKind::kTimestamp, TimeUnit::kMicros, false); break;
      case TypeKind::kTimestampTz: Timed(element, LogicalKind::kTimestamp, TimeUnit::kMicros, true); break;
      case TypeKind::kTimestampNs: Timed(element, LogicalKind::kTimestamp, TimeUnit::kNanos, false); break;
      case TypeKind::kTimestampTzNs: Timed(element, LogicalKind::kTimestamp, TimeUnit::kNanos, true); break;
      case TypeKind::kString:
        element.type = PhysicalType::kByteArray;
        element.converted_type = kUtf8;
        element.logical.kind = LogicalKind::kString;
        break;
      case TypeKind::kUuid:
        Fixed(element, kUuidBytes);
        element.logical.kind = LogicalKind::kUuid;
        break;
      case TypeKind::kFixed: Fixed(element, field.type.length); break;
      case TypeKind::kBinary: element.type = PhysicalType::kByteArray; break;
      case TypeKind::kGeometry:
      case TypeKind::kGeography: return Geo(field.type, element);
      default: return Error{Code::kUnsupported, "column " + field.name + " of type " + ToString(field.type)};
    }
    return Ok();
  }

  Elements& out_;
};

/// How many elements the tree at `index` has.
std::size_t TreeSize(const Elements& elements, std::size_t index) {
  std::size_t size = 0;
  for (std::int64_t open = 1; open > 0 && index + size < elements.size(); ++size) {
    open += elements[index + size].num_children - 1;
  }
  return size;
}

bool IsVariant(const SchemaElement& element) { return element.logical.kind == LogicalKind::kVariant; }

/// Puts the tree below the variant `to[index]` as it is in `from`; false if `from` has no such variant.
bool ReplaceVariant(Elements& to, std::size_t index, const Elements& from) {
  const auto found = std::ranges::find_if(
      from, [&](const SchemaElement& element) { return IsVariant(element) && element.field_id == to[index].field_id; });
  if (found == from.end()) return false;
  const auto first = to.begin() + static_cast<std::ptrdiff_t>(index) + 1;
  const auto old_size = static_cast<std::ptrdiff_t>(TreeSize(to, index)) - 1;
  const auto new_size = static_cast<std::ptrdiff_t>(TreeSize(from, static_cast<std::size_t>(found - from.begin()))) - 1;
  to[index].num_children = found->num_children;
  to[index].logical = found->logical;
  const auto at = to.erase(first, first + old_size);
  to.insert(at, found + 1, found + 1 + new_size);
  return true;
}

}  // namespace

Result<Elements> ToParquetSchema(const Schema& schema) {
  Elements elements;
  SchemaElement& root = elements.emplace_back();
  root.name = kRootName;
  root.num_children = ElementWriter::WrittenCount(schema.fields());
  FIRN_TRY(ElementWriter(elements).Fields(schema.fields()));
  return elements;
}

Elements WithVariantLayouts(Elements output, const std::vector<const parquet::FileMetaData*>& inputs) {
  for (std::size_t i = 0; i < output.size(); ++i) {
    if (!IsVariant(output[i]) || !output[i].field_id) continue;
    for (const parquet::FileMetaData* input : inputs) {
      if (ReplaceVariant(output, i, input->schema)) break;
    }
  }
  return output;
}

std::vector<parquet::KeyValue> FooterMetadata(const Schema& schema) {
  return {{"iceberg.schema", json::Write(SchemaToJson(schema))}};
}

}  // namespace firn::iceberg
