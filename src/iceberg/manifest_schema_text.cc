// SPDX-License-Identifier: Apache-2.0
// Writes the Avro schemas of manifests and manifest lists as JSON.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/ascii.h"
#include "format/json/json.h"
#include "iceberg/manifest_fields.h"

namespace firn::iceberg {
namespace {

std::string Quoted(std::string_view text) { return json::Write(json::Value(text)); }

/// Named types are written out once; afterwards the name stands for them.
class TypeNames {
 public:
  std::string Fixed(std::string name, std::size_t size, std::string_view attributes) {
    if (!written_.insert(name).second) return Quoted(name);
    return fmt::format(R"({{"type":"fixed","name":"{}","size":{}{}}})", name, size, attributes);
  }

 private:
  std::set<std::string> written_;
};

std::string PartitionTypeText(const Type& type, TypeNames& names) {
  constexpr std::string_view kTimestamp = R"({{"type":"long","logicalType":"timestamp-{}","adjust-to-utc":{}}})";
  switch (type.kind) {
    case TypeKind::kBoolean: return R"("boolean")";
    case TypeKind::kInt: return R"("int")";
    case TypeKind::kLong: return R"("long")";
    case TypeKind::kFloat: return R"("float")";
    case TypeKind::kDouble: return R"("double")";
    case TypeKind::kString: return R"("string")";
    case TypeKind::kBinary: return R"("bytes")";
    case TypeKind::kDate: return R"({"type":"int","logicalType":"date"})";
    case TypeKind::kTime: return R"({"type":"long","logicalType":"time-micros"})";
    case TypeKind::kTimestamp: return fmt::format(kTimestamp, "micros", false);
    case TypeKind::kTimestampTz: return fmt::format(kTimestamp, "micros", true);
    case TypeKind::kTimestampNs: return fmt::format(kTimestamp, "nanos", false);
    case TypeKind::kTimestampTzNs: return fmt::format(kTimestamp, "nanos", true);
    case TypeKind::kUuid: return names.Fixed("uuid_fixed", 16, R"(,"logicalType":"uuid")");
    case TypeKind::kFixed:
      return names.Fixed(fmt::format("fixed_{}", type.length), static_cast<std::size_t>(type.length), "");
    case TypeKind::kDecimal:
      return names.Fixed(
          fmt::format("decimal_{}_{}", type.precision, type.scale), DecimalBytes(type.precision),
          fmt::format(R"(,"logicalType":"decimal","precision":{},"scale":{})", type.precision, type.scale));
    default: return R"("null")";
  }
}

std::string PartitionRecordText(const PartitionSpec& spec, const std::vector<Type>& types) {
  std::string fields;
  TypeNames type_names;
  std::set<std::string> field_names;
  for (std::size_t i = 0; i < spec.fields.size(); ++i) {
    const PartitionField& field = spec.fields[i];
    std::string name = AvroName(field.name);
    if (!field_names.insert(name).second) name += fmt::format("_{}", field.field_id);
    const std::string type = PartitionTypeText(types[i], type_names);
    if (i > 0) fields += ',';
    fields += fmt::format(R"({{"name":"{}","type":{},"default":null)", name,
                          type == R"("null")" ? type : fmt::format(R"(["null",{}])", type));
    if (name != field.name) fields += R"(,"iceberg-field-name":)" + Quoted(field.name);
    fields += fmt::format(R"(,"field-id":{}}})", field.field_id);
  }
  return R"({"type":"record","name":"r102","fields":[)" + fields + "]}";
}

std::string MapText(FieldId key_id, FieldId value_id, std::string_view value_type) {
  return fmt::format(
      R"({{"type":"array","items":{{"type":"record","name":"k{0}_v{1}","fields":[)"
      R"({{"name":"key","type":"int","field-id":{0}}},{{"name":"value","type":"{2}","field-id":{1}}}]}},)"
      R"("logicalType":"map"}})",
      key_id, value_id, value_type);
}

std::string ListText(std::string_view items, FieldId element_id) {
  return fmt::format(R"({{"type":"array","items":{},"element-id":{}}})", items, element_id);
}

struct Nested {
  std::string partition, data_file, summary;
};

std::string TypeText(const WrittenField& field, const Nested& nested) {
  switch (field.form) {
    case FieldForm::kInt: return R"("int")";
    case FieldForm::kLong: return R"("long")";
    case FieldForm::kBoolean: return R"("boolean")";
    case FieldForm::kString: return R"("string")";
    case FieldForm::kBytes: return R"("bytes")";
    case FieldForm::kLongMap: return MapText(field.item_id, field.value_id, "long");
    case FieldForm::kBytesMap: return MapText(field.item_id, field.value_id, "bytes");
    case FieldForm::kLongList: return ListText(R"("long")", field.item_id);
    case FieldForm::kIntList: return ListText(R"("int")", field.item_id);
    case FieldForm::kSummaries: return ListText(nested.summary, field.item_id);
    case FieldForm::kPartition: return nested.partition;
    case FieldForm::kDataFile: return nested.data_file;
  }
  return {};
}

std::string RecordText(std::string_view name, std::span<const WrittenField> fields, std::int32_t version,
                       const Nested& nested) {
  std::string text = fmt::format(R"({{"type":"record","name":"{}","fields":[)", name);
  bool is_first = true;
  for (const WrittenField& field : fields) {
    if (!field.InVersion(version)) continue;
    if (!is_first) text += ',';
    is_first = false;
    const std::string type = TypeText(field, nested);
    text += fmt::format(R"({{"name":"{}","type":{})", field.name,
                        field.is_required ? type : fmt::format(R"(["null",{}])", type));
    if (!field.doc.empty()) text += R"(,"doc":)" + Quoted(field.doc);
    if (!field.is_required) text += R"(,"default":null)";
    text += fmt::format(R"(,"field-id":{}}})", field.id);
  }
  return text + "]}";
}

/// The UTF-16 code units of the character that starts at `at`, which moves behind it.
std::string EscapedCharacter(std::string_view name, std::size_t& at) {
  const std::uint32_t lead = static_cast<unsigned char>(name[at]);
  const std::size_t size = lead < 0x80 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
  std::uint32_t code = size == 1 ? lead : lead & (0x7fu >> size);
  for (std::size_t i = 1; i < size && at + i < name.size(); ++i) {
    code = code << 6 | (static_cast<unsigned char>(name[at + i]) & 0x3fu);
  }
  at = std::min(name.size(), at + size);
  if (code < 0x10000) return fmt::format("_x{:X}", code);
  code -= 0x10000;
  return fmt::format("_x{:X}_x{:X}", 0xd800 + (code >> 10), 0xdc00 + (code & 0x3ff));
}

}  // namespace

std::string AvroName(std::string_view name) {
  std::string text;
  for (std::size_t i = 0; i < name.size();) {
    const char c = name[i];
    if (IsAsciiLetter(c) || c == '_' || (IsAsciiDigit(c) && i > 0)) {
      text += c;
      ++i;
    } else if (IsAsciiDigit(c)) {
      text += '_';
      text += c;
      ++i;
    } else {
      text += EscapedCharacter(name, i);
    }
  }
  return text.empty() ? "_" : text;
}

std::size_t DecimalBytes(std::int32_t precision) {
  // The smallest n with 10^precision - 1 <= 2^(8n-1) - 1.
  __int128 largest = 1;
  for (std::int32_t i = 0; i < precision && i < 38; ++i) largest *= 10;
  std::size_t bytes = 1;
  while (bytes < 16 && (static_cast<__int128>(1) << (8 * bytes - 1)) < largest) ++bytes;
  return bytes;
}

std::string ManifestSchemaText(std::int32_t format_version, const PartitionSpec& spec, const std::vector<Type>& types) {
  Nested nested;
  nested.partition = PartitionRecordText(spec, types);
  nested.data_file = RecordText("r2", DataFileFields(), format_version, nested);
  return RecordText("manifest_entry", EntryFields(), format_version, nested);
}

std::string ManifestListSchemaText(std::int32_t format_version) {
  Nested nested;
  nested.summary = RecordText("r508", SummaryFields(), format_version, nested);
  return RecordText("manifest_file", ManifestFileFields(format_version), format_version, nested);
}

}  // namespace firn::iceberg
