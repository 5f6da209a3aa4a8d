// SPDX-License-Identifier: Apache-2.0
#include "act/delete_write.h"

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "act/data_location.h"
#include "act/delete_load_positions.h"
#include "act/manifest_carry.h"
#include "act/position_delete_file.h"
#include "base/version.h"
#include "format/puffin/puffin_writer.h"
#include "iceberg/deletion_vector.h"
#include "iceberg/literal.h"

namespace firn::act {
namespace {

using iceberg::DataFile;
using iceberg::TableMetadata;

constexpr std::int32_t kVectorVersion = 3;

/// What vectors and position delete files have in common.
DataFile DescribeDeletes(const NewDeletes& deletes) {
  DataFile file;
  file.content = iceberg::FileContent::kPositionDeletes;
  file.spec_id = deletes.data->spec_id;
  file.partition = deletes.data->partition;
  file.record_count = deletes.positions->cardinality();
  file.referenced_data_file = deletes.data->file_path;
  return file;
}

Result<DataFile> WritePositions(const TableMetadata& metadata, MetadataFiles& files, const DataLocations& locations,
                                const NewDeletes& deletes) {
  DataFile file = DescribeDeletes(deletes);
  FIRN_ASSIGN(const auto out, files.NewDeleteFile(locations, ChangedPartition(metadata, *deletes.data), ".parquet"));
  file.file_path = files.created().back();
  const DeletedPositions positions{&deletes.data->file_path, deletes.positions};
  FIRN_TRY(WritePositionDeleteFile(*out, std::span(&positions, 1)));
  file.file_size_bytes = static_cast<std::int64_t>(out->position());
  FIRN_TRY(out->Close());
  file.format = iceberg::FileFormat::kParquet;
  file.format_text = "PARQUET";
  const ByteView path = AsBytes(deletes.data->file_path);
  const iceberg::Type position_type{.kind = iceberg::TypeKind::kLong};
  file.value_counts = {{kDeletePosField, file.record_count}, {kDeletePathField, file.record_count}};
  file.null_value_counts = {{kDeletePosField, 0}, {kDeletePathField, 0}};
  file.lower_bounds = {{kDeletePosField, iceberg::EncodeBound(position_type, deletes.positions->first())},
                       {kDeletePathField, Bytes(path.begin(), path.end())}};
  file.upper_bounds = {{kDeletePosField, iceberg::EncodeBound(position_type, deletes.positions->last())},
                       {kDeletePathField, Bytes(path.begin(), path.end())}};
  return file;
}

Result<std::vector<DataFile>> WriteVectors(MetadataFiles& files, const DataLocations& locations,
                                           const std::vector<NewDeletes>& deletes) {
  FIRN_ASSIGN(const auto out, files.NewDeleteFile(locations, "", ".puffin"));
  const std::string location = files.created().back();
  FIRN_ASSIGN(puffin::Writer writer, puffin::Writer::Begin(*out));
  std::vector<DataFile> written;
  for (const NewDeletes& one : deletes) {
    DataFile& file = written.emplace_back(DescribeDeletes(one));
    FIRN_ASSIGN(const Bytes blob, iceberg::EncodeDeletionVector(*one.positions));
    FIRN_ASSIGN(const puffin::BlobMetadata place,
                writer.Add(iceberg::DeletionVectorMetadata(one.data->file_path, file.record_count), blob));
    file.file_path = location;
    file.format = iceberg::FileFormat::kPuffin;
    file.format_text = "PUFFIN";
    file.content_offset = static_cast<std::int64_t>(place.offset);
    file.content_size_bytes = static_cast<std::int64_t>(place.length_bytes);
  }
  FIRN_TRY(writer.Finish({{"created-by", std::string("firn version ") + kVersion}}));
  const auto size_bytes = static_cast<std::int64_t>(out->position());
  FIRN_TRY(out->Close());
  for (DataFile& file : written) file.file_size_bytes = size_bytes;
  return written;
}

}  // namespace

Result<std::vector<DataFile>> WriteDeletes(const TableMetadata& metadata, MetadataFiles& files,
                                           const std::vector<NewDeletes>& deletes) {
  std::vector<NewDeletes> filled;
  for (const NewDeletes& one : deletes) {
    if (!one.positions->empty()) filled.push_back(one);
  }
  if (filled.empty()) return std::vector<DataFile>();
  FIRN_ASSIGN(const DataLocations locations, DataLocations::For(metadata));
  if (metadata.format_version() >= kVectorVersion) return WriteVectors(files, locations, filled);
  std::vector<DataFile> written;
  for (const NewDeletes& one : filled) {
    FIRN_ASSIGN(written.emplace_back(), WritePositions(metadata, files, locations, one));
  }
  return written;
}

}  // namespace firn::act
