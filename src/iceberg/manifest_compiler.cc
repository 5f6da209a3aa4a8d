// SPDX-License-Identifier: Apache-2.0
// Makes the steps of a ManifestProgram from an Avro schema.
#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include "iceberg/manifest_program.h"

namespace firn::iceberg {
namespace {

using avro::Kind;
using Op = ManifestProgram::Op;

enum class Shape : std::uint8_t { kInteger, kText, kBlob, kLongMap, kBytesMap, kIntegerList };

struct KnownField {
  FieldId id;
  std::string_view name;
  Op op;
  Shape shape;
  bool is_required = false;
};

constexpr FieldId kDataFileId = 2;
constexpr FieldId kPartitionId = 102;

constexpr std::array kEntryFields{
    KnownField{0, "status", Op::kStatus, Shape::kInteger, true},
    KnownField{1, "snapshot_id", Op::kSnapshotId, Shape::kInteger},
    KnownField{3, "sequence_number", Op::kSequenceNumber, Shape::kInteger},
    KnownField{4, "file_sequence_number", Op::kFileSequenceNumber, Shape::kInteger},
};

constexpr std::array kFileFields{
    KnownField{134, "content", Op::kContent, Shape::kInteger},
    KnownField{100, "file_path", Op::kFilePath, Shape::kText, true},
    KnownField{101, "file_format", Op::kFormat, Shape::kText, true},
    KnownField{103, "record_count", Op::kRecordCount, Shape::kInteger, true},
    KnownField{104, "file_size_in_bytes", Op::kFileSize, Shape::kInteger, true},
    KnownField{105, "block_size_in_bytes", Op::kBlockSize, Shape::kInteger},
    KnownField{108, "column_sizes", Op::kColumnSizes, Shape::kLongMap},
    KnownField{109, "value_counts", Op::kValueCounts, Shape::kLongMap},
    KnownField{110, "null_value_counts", Op::kNullValueCounts, Shape::kLongMap},
    KnownField{137, "nan_value_counts", Op::kNanValueCounts, Shape::kLongMap},
    KnownField{111, "distinct_counts", Op::kDistinctCounts, Shape::kLongMap},
    KnownField{125, "lower_bounds", Op::kLowerBounds, Shape::kBytesMap},
    KnownField{128, "upper_bounds", Op::kUpperBounds, Shape::kBytesMap},
    KnownField{131, "key_metadata", Op::kKeyMetadata, Shape::kBlob},
    KnownField{132, "split_offsets", Op::kSplitOffsets, Shape::kIntegerList},
    KnownField{135, "equality_ids", Op::kEqualityIds, Shape::kIntegerList},
    KnownField{140, "sort_order_id", Op::kSortOrderId, Shape::kInteger},
    KnownField{142, "first_row_id", Op::kFirstRowId, Shape::kInteger},
    KnownField{143, "referenced_data_file", Op::kReferencedDataFile, Shape::kText},
    KnownField{144, "content_offset", Op::kContentOffset, Shape::kInteger},
    KnownField{145, "content_size_in_bytes", Op::kContentSize, Shape::kInteger},
};

bool HasIds(const avro::Schema& record) {
  return std::ranges::any_of(record.fields, [](const avro::Field& f) { return f.field_id.has_value(); });
}

/// The field's id, or with a schema without ids that of its name; -1 for what is not known.
FieldId Identify(const avro::Field& field, bool by_name, std::span<const KnownField> known) {
  if (!by_name) return field.field_id.value_or(-1);
  if (field.name == "data_file") return kDataFileId;
  if (field.name == "partition") return kPartitionId;
  const auto found = std::ranges::find(known, field.name, &KnownField::name);
  return found == known.end() ? -1 : found->id;
}

bool IsInteger(Kind kind) { return kind == Kind::kInt || kind == Kind::kLong; }
bool IsText(Kind kind) { return kind == Kind::kString || kind == Kind::kBytes; }

/// Whether `schema` can be read as `shape`; gives the index of null for the values of maps and lists.
bool Fits(const avro::Schema& schema, Shape shape, std::int8_t& value_null_branch) {
  if (shape == Shape::kInteger) return IsInteger(schema.kind);
  if (shape == Shape::kText || shape == Shape::kBlob) return IsText(schema.kind);
  if (schema.kind != Kind::kArray) return false;
  const avro::Schema* value = schema.items.get();
  if (shape != Shape::kIntegerList) {
    if (value->kind != Kind::kRecord || value->fields.size() != 2) return false;
    if (!IsInteger(value->fields[0].type->kind)) return false;
    value = value->fields[1].type.get();
  }
  const avro::Option option = avro::AsOption(*value);
  if (option.value == nullptr) return false;
  value_null_branch = static_cast<std::int8_t>(option.null_branch);
  return shape == Shape::kBytesMap ? IsText(option.value->kind) : IsInteger(option.value->kind);
}

/// What to do with a metric, given what is wanted.
Op Select(Op op, const Wanted& wanted) {
  switch (op) {
    case Op::kFilePath: return wanted.file_path ? op : Op::kSkip;
    case Op::kSplitOffsets: return wanted.split_offsets ? op : Op::kSkip;
    case Op::kLowerBounds: return wanted.metrics ? op : wanted.position_path_bounds ? Op::kLowerPathBound : Op::kSkip;
    case Op::kUpperBounds: return wanted.metrics ? op : wanted.position_path_bounds ? Op::kUpperPathBound : Op::kSkip;
    case Op::kColumnSizes:
    case Op::kValueCounts:
    case Op::kNullValueCounts:
    case Op::kNanValueCounts:
    case Op::kDistinctCounts: return wanted.metrics ? op : Op::kSkip;
    default: return op;
  }
}

Error Missing(std::string_view name) {
  return {Code::kCorrupt, "manifest schema has no field `" + std::string(name) + "`"};
}

}  // namespace

struct ManifestProgram::Compiler {
  ManifestProgram& program;
  const PartitionSpec& spec;
  const std::vector<Type>& partition_types;
  Wanted wanted;
  std::vector<FieldId> seen;

  Status Record(const avro::Schema& record, std::span<const KnownField> known);
  Status Known(const avro::Field& field, const KnownField& known);
  /// Steps into a record, which may be in a union with null.
  Result<const avro::Schema*> Enter(const avro::Field& field);
  Status Partition(const avro::Field& field);
};

Status ManifestProgram::Compiler::Known(const avro::Field& field, const KnownField& known) {
  Step step;
  const avro::Option option = avro::AsOption(*field.type);
  if (option.value == nullptr || !Fits(*option.value, known.shape, step.value_null_branch)) {
    return Error{Code::kUnsupported, "manifest field `" + field.name + "` has Avro type " + Describe(*field.type)};
  }
  step.op = Select(known.op, wanted);
  step.null_branch = static_cast<std::int8_t>(option.null_branch);
  step.is_required = known.is_required;
  step.schema = option.value;
  program.has_sequence_numbers_ |= known.op == Op::kSequenceNumber;
  program.steps_.push_back(step);
  return Ok();
}

Result<const avro::Schema*> ManifestProgram::Compiler::Enter(const avro::Field& field) {
  const avro::Option option = avro::AsOption(*field.type);
  if (option.value == nullptr || option.value->kind != Kind::kRecord) {
    return Error{Code::kUnsupported, "manifest field `" + field.name + "` has Avro type " + Describe(*field.type)};
  }
  if (option.null_branch >= 0) {
    Step step;
    step.op = Op::kRecordOption;
    step.null_branch = static_cast<std::int8_t>(option.null_branch);
    step.is_required = true;
    program.steps_.push_back(step);
  }
  return option.value;
}

Status ManifestProgram::Compiler::Partition(const avro::Field& field) {
  FIRN_ASSIGN(const avro::Schema* record, Enter(field));
  const bool tuple_by_name = !HasIds(*record);
  std::vector<bool> found(spec.fields.size());
  for (const avro::Field& value : record->fields) {
    const auto at = std::ranges::find_if(spec.fields, [&](const PartitionField& own) {
      return tuple_by_name ? own.name == value.name : own.field_id == value.field_id;
    });
    Step step;
    if (at == spec.fields.end()) {
      step.schema = value.type.get();
      program.steps_.push_back(step);
      continue;
    }
    const std::size_t position = static_cast<std::size_t>(at - spec.fields.begin());
    if (found[position]) return Error{Code::kCorrupt, "manifest schema has partition field `" + at->name + "` twice"};
    found[position] = true;
    const avro::Option option = avro::AsOption(*value.type);
    const avro::Schema& type = option.value == nullptr ? *value.type : *option.value;
    FIRN_ASSIGN(step.partition,
                PartitionDecoder::Make(type, partition_types[position]).In("partition field `" + at->name + "`"));
    step.op = Op::kPartition;
    step.null_branch = static_cast<std::int8_t>(option.null_branch);
    step.partition_position = static_cast<std::uint32_t>(position);
    step.schema = &type;
    program.steps_.push_back(step);
  }
  for (std::uint32_t i = 0; i < found.size(); ++i) {
    if (!found[i]) program.absent_partition_positions_.push_back(i);
  }
  program.partition_size_ = spec.fields.size();
  return Ok();
}

Status ManifestProgram::Compiler::Record(const avro::Schema& record, std::span<const KnownField> known) {
  const bool by_name = !HasIds(record);
  for (const avro::Field& field : record.fields) {
    const FieldId id = Identify(field, by_name, known);
    if (id >= 0) {
      if (std::ranges::count(seen, id) > 0) {
        return Error{Code::kCorrupt, "manifest schema has field " + std::to_string(id) + " twice"};
      }
      seen.push_back(id);
    }
    const auto found = std::ranges::find(known, id, &KnownField::id);
    if (found != known.end()) {
      FIRN_TRY(Known(field, *found));
    } else if (id == kDataFileId) {
      FIRN_ASSIGN(const avro::Schema* file, Enter(field));
      FIRN_TRY(Record(*file, kFileFields));
    } else if (id == kPartitionId) {
      FIRN_TRY(Partition(field));
    } else {
      Step step;
      step.schema = field.type.get();
      program.steps_.push_back(step);
    }
  }
  for (const KnownField& field : known) {
    if (field.is_required && std::ranges::count(seen, field.id) == 0) return Missing(field.name);
  }
  return Ok();
}

Result<ManifestProgram> ManifestProgram::Compile(const avro::Schema& schema, const PartitionSpec& spec,
                                                 const std::vector<Type>& partition_types, Wanted wanted) {
  if (schema.kind != Kind::kRecord) return Error{Code::kCorrupt, "manifest schema is no record"};
  ManifestProgram program;
  Compiler compiler{program, spec, partition_types, wanted, {}};
  FIRN_TRY(compiler.Record(schema, kEntryFields));
  if (std::ranges::count(compiler.seen, kDataFileId) == 0) return Missing("data_file");
  if (std::ranges::count(compiler.seen, kPartitionId) == 0 && !spec.fields.empty()) return Missing("partition");
  return program;
}

}  // namespace firn::iceberg
