// SPDX-License-Identifier: Apache-2.0
#include "iceberg/manifest_encoder.h"
#include "iceberg/manifest_fields.h"
#include "iceberg/manifest_writer.h"

namespace firn::iceberg {
namespace {

Error Broken(const ManifestFile& manifest, std::string_view rule) {
  return {Code::kInternal, "manifest " + manifest.manifest_path + ": " + std::string(rule)};
}

bool HasCounts(const ManifestFile& manifest) {
  return manifest.added_files_count && manifest.existing_files_count && manifest.deleted_files_count &&
         manifest.added_rows_count && manifest.existing_rows_count && manifest.deleted_rows_count;
}

/// Gives a new manifest the numbers of the commit.
Status Assign(SnapshotId snapshot_id, SequenceNumber sequence_number, ManifestFile& manifest) {
  for (SequenceNumber* number : {&manifest.sequence_number, &manifest.min_sequence_number}) {
    if (number->value != -1) continue;
    if (manifest.added_snapshot_id != snapshot_id) {
      return Broken(manifest, "no sequence number, and added by another snapshot");
    }
    *number = sequence_number;
  }
  return Ok();
}

Status AssignRowIds(std::int64_t& next_row_id, ManifestFile& manifest) {
  if (manifest.content != ManifestContent::kData) {
    if (manifest.first_row_id) return Broken(manifest, "delete manifest with a first row id");
    return Ok();
  }
  if (manifest.first_row_id) return Ok();
  manifest.first_row_id = next_row_id;
  // Existing rows count too: some of the files may come from before the upgrade and have no ids yet.
  if (__builtin_add_overflow(next_row_id, *manifest.added_rows_count, &next_row_id) ||
      __builtin_add_overflow(next_row_id, *manifest.existing_rows_count, &next_row_id)) {
    return Broken(manifest, "row ids do not fit in 64 bits");
  }
  return Ok();
}

}  // namespace

Result<std::int64_t> WriteManifestList(ByteSink& sink, const TableMetadata& metadata, SnapshotId snapshot_id,
                                       std::optional<SnapshotId> parent_id, SequenceNumber sequence_number,
                                       std::int64_t first_row_id, const std::string& codec,
                                       std::vector<ManifestFile>& manifests) {
  const std::int32_t version = metadata.format_version();
  std::vector<std::pair<std::string, std::string>> header{
      {"snapshot-id", std::to_string(snapshot_id.value)},
      {"parent-snapshot-id", parent_id ? std::to_string(parent_id->value) : "null"},
  };
  if (version >= 2) header.emplace_back("sequence-number", std::to_string(sequence_number.value));
  if (version >= 3) header.emplace_back("first-row-id", std::to_string(first_row_id));
  header.emplace_back("format-version", std::to_string(version));

  std::int64_t next_row_id = first_row_id;
  for (ManifestFile& manifest : manifests) {
    FIRN_TRY(Assign(snapshot_id, sequence_number, manifest));
    if (version == 1 && manifest.content != ManifestContent::kData) {
      return Broken(manifest, "delete manifest in a v1 table");
    }
    if (version >= 2 && !HasCounts(manifest)) return Broken(manifest, "counts are not known");
    if (version >= 3) FIRN_TRY(AssignRowIds(next_row_id, manifest));
  }

  FIRN_ASSIGN(const avro::Codec avro_codec, CodecFromProperty(codec));
  FIRN_ASSIGN(const auto file, avro::ContainerWriter::Open(sink, ManifestListSchemaText(version), header, avro_codec,
                                                           MakeSyncMarker(sink.name(), snapshot_id)));
  for (const ManifestFile& manifest : manifests) {
    EncodeManifestFile(manifest, version, file->encoder());
    FIRN_TRY(file->EndObject());
  }
  FIRN_TRY(file->Finish());
  return next_row_id;
}

}  // namespace firn::iceberg
