// SPDX-License-Identifier: Apache-2.0
#include "iceberg/manifest_writer.h"

#include <algorithm>

#include "format/json/json.h"
#include "iceberg/manifest_encoder.h"
#include "iceberg/manifest_fields.h"
#include "iceberg/partition_spec_json.h"
#include "iceberg/partition_summary.h"
#include "iceberg/partition_types.h"
#include "iceberg/schema_json.h"

namespace firn::iceberg {
namespace {

constexpr SequenceNumber kUnassigned{-1};

/// The element of the tree's list whose `id_name` is `id`; null if there is none.
const json::Value* FindInTree(const TableMetadata& metadata, std::string_view list, std::string_view id_name,
                              std::int32_t id) {
  const json::Value* elements = metadata.tree().Find(list);
  if (elements == nullptr) return nullptr;
  for (const json::Value& element : elements->elements()) {
    const json::Value* own = element.Find(id_name);
    if (own != nullptr && own->AsInt64() == id) return &element;
  }
  return nullptr;
}

/// As metadata has it, so that nothing that this program does not know is lost.
std::string SchemaText(const TableMetadata& metadata) {
  const Schema& schema = metadata.current_schema();
  const json::Value* own = FindInTree(metadata, "schemas", "schema-id", schema.id().value);
  return json::Write(own != nullptr ? *own : SchemaToJson(schema));
}

std::string SpecText(const TableMetadata& metadata, const PartitionSpec& spec) {
  const json::Value* own = FindInTree(metadata, "partition-specs", "spec-id", spec.id.value);
  const json::Value* fields = own == nullptr ? nullptr : own->Find("fields");
  const bool is_complete =
      fields != nullptr && fields->is_array() &&
      std::ranges::all_of(fields->elements(), [](const json::Value& f) { return f.Find("field-id") != nullptr; });
  return json::Write(is_complete ? *fields : PartitionFieldsToJson(spec.fields));
}

std::vector<std::pair<std::string, std::string>> HeaderOf(const TableMetadata& metadata, const PartitionSpec& spec,
                                                          const ManifestWriterOptions& options) {
  std::vector<std::pair<std::string, std::string>> header{
      {"schema", SchemaText(metadata)},
      {"schema-id", std::to_string(metadata.current_schema().id().value)},
      {"partition-spec", SpecText(metadata, spec)},
      {"partition-spec-id", std::to_string(spec.id.value)},
      {"format-version", std::to_string(options.format_version)},
  };
  if (options.format_version >= 2) {
    header.emplace_back("content", options.content == ManifestContent::kData ? "data" : "deletes");
  }
  return header;
}

Error Broken(const ManifestEntry& entry, std::string_view rule) {
  return {Code::kInternal, "manifest entry of " + entry.file.file_path + ": " + std::string(rule)};
}

class AvroManifestWriter final : public ManifestWriter {
 public:
  AvroManifestWriter(ByteSink& sink, std::unique_ptr<avro::ContainerWriter> file, std::vector<Type> types,
                     ManifestWriterOptions options)
      : sink_(sink), file_(std::move(file)), types_(types), summary_(std::move(types)), options_(std::move(options)) {
    line_.manifest_path = sink_.name();
    line_.spec_id = options_.spec_id;
    line_.content = options_.content;
    line_.sequence_number = kUnassigned;
    line_.min_sequence_number = kUnassigned;
    line_.added_snapshot_id = options_.snapshot_id;
    line_.added_files_count = line_.existing_files_count = line_.deleted_files_count = 0;
    line_.added_rows_count = line_.existing_rows_count = line_.deleted_rows_count = 0;
  }

  std::int64_t entry_count() const override { return entry_count_; }

  Status Add(const ManifestEntry& entry) override {
    FIRN_TRY(Check(entry));
    FIRN_TRY(CheckNumbers(entry));
    // A file is deleted by the snapshot that says so, not by the one that added it.
    const SnapshotId id = entry.status == EntryStatus::kExisting ? *entry.snapshot_id : options_.snapshot_id;
    FIRN_TRY(EncodeEntry(entry, id, options_.format_version, types_, file_->encoder()));
    FIRN_TRY(file_->EndObject());
    Count(entry);
    return Ok();
  }

  Result<ManifestFile> Finish() override {
    FIRN_TRY(file_->Finish());
    line_.manifest_length = static_cast<std::int64_t>(sink_.position());
    line_.partitions = summary_.Finish();
    return line_;
  }

 private:
  /// What holds in every version.
  Status Check(const ManifestEntry& entry) const {
    const DataFile& file = entry.file;
    if (file.spec_id != options_.spec_id) return Broken(entry, "another partition spec than its manifest");
    if (file.partition.values.size() != types_.size()) return Broken(entry, "partition of another length");
    const bool is_data = file.content == FileContent::kData;
    if (is_data != (options_.content == ManifestContent::kData)) {
      return Broken(entry, "data and deletes in one manifest");
    }
    if (file.record_count < 0 || file.file_size_bytes < 0) return Broken(entry, "negative count or size");
    if (entry.status == EntryStatus::kExisting) {
      if (!entry.snapshot_id) return Broken(entry, "existing without snapshot id");
    } else if (entry.status == EntryStatus::kAdded && entry.snapshot_id && *entry.snapshot_id != options_.snapshot_id) {
      return Broken(entry, "added by another snapshot");
    }
    if (entry.status != EntryStatus::kAdded) return Ok();
    if (options_.format_version >= 3 && file.content == FileContent::kPositionDeletes &&
        file.format != FileFormat::kPuffin) {
      return Broken(entry, "new position delete file in a v3 table");
    }
    if (options_.format_version < 3 && file.format == FileFormat::kPuffin) {
      return Broken(entry, "deletion vector in a table below v3");
    }
    return Ok();
  }

  Status CheckNumbers(const ManifestEntry& entry) const {
    if (options_.format_version < 2) return Ok();
    if (entry.status == EntryStatus::kAdded) {
      if (entry.file_sequence_number) return Broken(entry, "added with a file sequence number");
      if (entry.file.first_row_id) return Broken(entry, "added with a first row id");
    } else if (!entry.sequence_number || !entry.file_sequence_number) {
      return Broken(entry, "existing or deleted without sequence numbers");
    }
    if (entry.file.content != FileContent::kData && entry.file.first_row_id) {
      return Broken(entry, "delete file with a first row id");
    }
    return Ok();
  }

  void Count(const ManifestEntry& entry) {
    ++entry_count_;
    summary_.Add(entry.file.partition);
    auto& files = entry.status == EntryStatus::kAdded      ? line_.added_files_count
                  : entry.status == EntryStatus::kExisting ? line_.existing_files_count
                                                           : line_.deleted_files_count;
    auto& rows = entry.status == EntryStatus::kAdded      ? line_.added_rows_count
                 : entry.status == EntryStatus::kExisting ? line_.existing_rows_count
                                                          : line_.deleted_rows_count;
    ++*files;
    *rows += entry.file.record_count;
    if (entry.status == EntryStatus::kDeleted || !entry.sequence_number) return;
    if (line_.min_sequence_number == kUnassigned || *entry.sequence_number < line_.min_sequence_number) {
      line_.min_sequence_number = *entry.sequence_number;
    }
  }

  ByteSink& sink_;
  std::unique_ptr<avro::ContainerWriter> file_;
  std::vector<Type> types_;
  PartitionSummary summary_;
  ManifestWriterOptions options_;
  ManifestFile line_;
  std::int64_t entry_count_ = 0;
};

}  // namespace

Result<std::unique_ptr<ManifestWriter>> ManifestWriter::Make(ByteSink& sink, const TableMetadata& metadata,
                                                             ManifestWriterOptions options) {
  if (options.format_version < 1 || options.format_version > kFormatVersionMax) {
    return Error{Code::kUnsupported, "manifests of format version " + std::to_string(options.format_version)};
  }
  if (options.format_version == 1 && options.content != ManifestContent::kData) {
    return Error{Code::kInternal, "a v1 table has no delete manifests"};
  }
  const PartitionSpec* spec = metadata.FindSpec(options.spec_id);
  if (spec == nullptr) {
    return Error{Code::kInternal, "manifest of unknown spec " + std::to_string(options.spec_id.value)};
  }
  FIRN_ASSIGN(const avro::Codec codec, CodecFromProperty(options.codec));
  std::vector<Type> types = PartitionTypesIn(metadata, *spec);
  FIRN_ASSIGN(auto file, avro::ContainerWriter::Open(sink, ManifestSchemaText(options.format_version, *spec, types),
                                                     HeaderOf(metadata, *spec, options), codec,
                                                     MakeSyncMarker(sink.name(), options.snapshot_id)));
  return std::make_unique<AvroManifestWriter>(sink, std::move(file), std::move(types), std::move(options));
}

}  // namespace firn::iceberg
