// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>

#include "format/avro/container_reader.h"
#include "iceberg/manifest_reader.h"

namespace firn::iceberg {
namespace {

using avro::Cursor;
using avro::Kind;

constexpr FieldId kUnknownField = -1;

struct KnownField {
  FieldId id;
  std::string_view name;
  std::string_view old_name = {};
};

constexpr std::array kManifestFields{
    KnownField{500, "manifest_path"},
    KnownField{501, "manifest_length"},
    KnownField{502, "partition_spec_id"},
    KnownField{517, "content"},
    KnownField{515, "sequence_number"},
    KnownField{516, "min_sequence_number"},
    KnownField{503, "added_snapshot_id"},
    KnownField{504, "added_files_count", "added_data_files_count"},
    KnownField{505, "existing_files_count", "existing_data_files_count"},
    KnownField{506, "deleted_files_count", "deleted_data_files_count"},
    KnownField{512, "added_rows_count"},
    KnownField{513, "existing_rows_count"},
    KnownField{514, "deleted_rows_count"},
    KnownField{507, "partitions"},
    KnownField{519, "key_metadata"},
    KnownField{520, "first_row_id"},
};

constexpr std::array kSummaryFields{
    KnownField{509, "contains_null"},
    KnownField{518, "contains_nan"},
    KnownField{510, "lower_bound"},
    KnownField{511, "upper_bound"},
};

/// One field of a record as it has to be read.
struct Step {
  FieldId id = kUnknownField;
  int null_branch = -1;
  const avro::Schema* schema = nullptr;  // without the union; with it for unknown fields
};

struct Program {
  std::vector<Step> manifest, summary;
  int summary_null_branch = -1;
  std::uint64_t summary_size_min = 1;
};

bool Fits(FieldId id, const avro::Schema& schema) {
  switch (id) {
    case 500: return schema.kind == Kind::kString || schema.kind == Kind::kBytes;
    case 507: return schema.kind == Kind::kArray;
    case 509:
    case 518: return schema.kind == Kind::kBoolean;
    case 510:
    case 511:
    case 519: return schema.kind == Kind::kBytes || schema.kind == Kind::kString;
    default: return schema.kind == Kind::kInt || schema.kind == Kind::kLong;
  }
}

FieldId Identify(const avro::Field& field, bool by_name, std::span<const KnownField> known) {
  const auto found = std::ranges::find_if(known, [&](const KnownField& own) {
    return by_name ? field.name == own.name || field.name == own.old_name : field.field_id == own.id;
  });
  return found == known.end() ? kUnknownField : found->id;
}

Result<std::vector<Step>> Compile(const avro::Schema& record, std::span<const KnownField> known) {
  std::vector<Step> steps;
  const bool by_name = std::ranges::none_of(record.fields, [](const auto& f) { return f.field_id.has_value(); });
  for (const avro::Field& field : record.fields) {
    Step step;
    step.id = Identify(field, by_name, known);
    step.schema = field.type.get();
    if (step.id != kUnknownField) {
      const avro::Option option = avro::AsOption(*field.type);
      if (option.value == nullptr || !Fits(step.id, *option.value)) {
        return Error{Code::kUnsupported,
                     "manifest list field `" + field.name + "` has Avro type " + Describe(*field.type)};
      }
      if (std::ranges::count(steps, step.id, &Step::id) > 0) {
        return Error{Code::kCorrupt, "manifest list schema has field `" + field.name + "` twice"};
      }
      step.schema = option.value;
      step.null_branch = option.null_branch;
    }
    steps.push_back(step);
  }
  return steps;
}

Result<Program> CompileList(const avro::Schema& schema) {
  if (schema.kind != Kind::kRecord) return Error{Code::kCorrupt, "manifest list schema is no record"};
  Program program;
  FIRN_ASSIGN(program.manifest, Compile(schema, kManifestFields));
  for (const FieldId required : {500, 501, 502}) {
    if (std::ranges::count(program.manifest, required, &Step::id) == 0) {
      return Error{Code::kCorrupt, "manifest list schema has no field " + std::to_string(required)};
    }
  }
  const auto partitions = std::ranges::find(program.manifest, 507, &Step::id);
  if (partitions == program.manifest.end()) return program;
  const avro::Option summary = avro::AsOption(*partitions->schema->items);
  if (summary.value == nullptr || summary.value->kind != Kind::kRecord) {
    return Error{Code::kUnsupported, "manifest list field `partitions` is no list of records"};
  }
  program.summary_null_branch = summary.null_branch;
  program.summary_size_min = partitions->schema->items->size_min;
  if (program.summary_size_min == 0) return Error{Code::kCorrupt, "field summaries without fields"};
  FIRN_ASSIGN(program.summary, Compile(*summary.value, kSummaryFields));
  return program;
}

/// False when the value is null.
bool HasValue(int null_branch, Cursor& cursor) {
  if (null_branch < 0) return true;
  const std::int64_t branch = cursor.ReadLong();
  if (branch != 0 && branch != 1) cursor.Fail("no such branch of a union");
  return branch != null_branch;
}

Bytes ReadBlob(Cursor& cursor) {
  const ByteView view = cursor.ReadBytes();
  return {view.begin(), view.end()};
}

FieldSummary ReadSummary(const Program& program, Cursor& cursor) {
  FieldSummary summary;
  // Unless the file says otherwise there may be nulls.
  summary.contains_null = true;
  if (!HasValue(program.summary_null_branch, cursor)) return summary;
  for (const Step& step : program.summary) {
    if (step.id == kUnknownField) {
      avro::Skip(*step.schema, cursor);
      continue;
    }
    if (!HasValue(step.null_branch, cursor)) continue;
    switch (step.id) {
      case 509: summary.contains_null = cursor.ReadBoolean(); break;
      case 518: summary.contains_nan = cursor.ReadBoolean(); break;
      case 510: summary.lower_bound = ReadBlob(cursor); break;
      case 511: summary.upper_bound = ReadBlob(cursor); break;
      default: break;
    }
  }
  return summary;
}

std::vector<FieldSummary> ReadSummaries(const Program& program, Cursor& cursor) {
  std::vector<FieldSummary> summaries;
  while (true) {
    const Cursor::ItemBlock block = cursor.ReadItemBlock(program.summary_size_min);
    if (block.count == 0) return summaries;
    for (std::uint64_t i = 0; i < block.count && cursor.ok(); ++i) {
      summaries.push_back(ReadSummary(program, cursor));
    }
  }
}

std::int64_t ReadCount(Cursor& cursor) {
  const std::int64_t count = cursor.ReadLong();
  if (count < 0) cursor.Fail("negative count");
  return count;
}

std::int32_t ReadFileCount(Cursor& cursor) {
  const std::int32_t count = cursor.ReadInt();
  if (count < 0) cursor.Fail("negative count");
  return count;
}

void ReadField(const Program& program, const Step& step, Cursor& cursor, ManifestFile& manifest) {
  switch (step.id) {
    case 500: manifest.manifest_path = AsText(cursor.ReadBytes()); return;
    case 501: manifest.manifest_length = ReadCount(cursor); return;
    case 502: manifest.spec_id = SpecId(cursor.ReadInt()); return;
    case 517: {
      const std::int64_t content = cursor.ReadLong();
      if (content != 0 && content != 1) cursor.Fail("content of a manifest is neither 0 nor 1");
      manifest.content = content == 0 ? ManifestContent::kData : ManifestContent::kDeletes;
      return;
    }
    case 515: manifest.sequence_number = SequenceNumber(cursor.ReadLong()); return;
    case 516: manifest.min_sequence_number = SequenceNumber(cursor.ReadLong()); return;
    case 503: manifest.added_snapshot_id = SnapshotId(cursor.ReadLong()); return;
    case 504: manifest.added_files_count = ReadFileCount(cursor); return;
    case 505: manifest.existing_files_count = ReadFileCount(cursor); return;
    case 506: manifest.deleted_files_count = ReadFileCount(cursor); return;
    case 512: manifest.added_rows_count = ReadCount(cursor); return;
    case 513: manifest.existing_rows_count = ReadCount(cursor); return;
    case 514: manifest.deleted_rows_count = ReadCount(cursor); return;
    case 507: manifest.partitions = ReadSummaries(program, cursor); return;
    case 519: manifest.key_metadata = ReadBlob(cursor); return;
    case 520: manifest.first_row_id = cursor.ReadLong(); return;
    default: avro::Skip(*step.schema, cursor); return;
  }
}

ManifestFile ReadLine(const Program& program, const Snapshot& snapshot, Cursor& cursor) {
  ManifestFile manifest;
  manifest.added_snapshot_id = snapshot.id;  // for lists that leave it null
  for (const Step& step : program.manifest) {
    if (!HasValue(step.null_branch, cursor)) {
      if (step.id >= 500 && step.id <= 502) cursor.Fail("a required value is null");
      continue;
    }
    ReadField(program, step, cursor, manifest);
  }
  return manifest;
}

Result<std::vector<ManifestFile>> ReadLines(avro::ContainerReader& file, const Program& program,
                                            const Snapshot& snapshot, const TableMetadata& metadata) {
  std::vector<ManifestFile> manifests;
  avro::Block block;
  while (true) {
    FIRN_ASSIGN(const bool more, file.Next(block));
    if (!more) return manifests;
    Cursor cursor(block.bytes);
    for (std::uint64_t i = 0; i < block.object_count; ++i) {
      ManifestFile manifest = ReadLine(program, snapshot, cursor);
      if (!cursor.ok()) return file.ErrorIn(Code::kCorrupt, cursor.fault(), block, cursor.offset());
      if (metadata.FindSpec(manifest.spec_id) == nullptr) {
        return Error{Code::kCorrupt, file.name() + ": manifest " + manifest.manifest_path + " is of spec " +
                                         std::to_string(manifest.spec_id.value) + ", which the table does not have"};
      }
      manifests.push_back(std::move(manifest));
    }
    if (cursor.left() > 0) {
      return file.ErrorIn(Code::kCorrupt, "block is longer than its entries", block, cursor.offset());
    }
  }
}

}  // namespace

Result<std::vector<ManifestFile>> ReadManifestList(SequentialSource& source, const Snapshot& snapshot,
                                                   const TableMetadata& metadata) {
  if (snapshot.key_id) {
    return Error{Code::kUnsupported, source.name() + ": manifest list is encrypted"};
  }
  FIRN_ASSIGN(const auto file, avro::ContainerReader::Open(source));
  FIRN_ASSIGN(const Program program, CompileList(file->schema()).In(source.name()));
  return ReadLines(*file, program, snapshot, metadata);
}

}  // namespace firn::iceberg
