// SPDX-License-Identifier: Apache-2.0
#include "act/delete_write.h"

#include <algorithm>
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

DataFile DescribeVector(const NewDeletes& deletes) {
  DataFile file;
  file.content = iceberg::FileContent::kPositionDeletes;
  file.format = iceberg::FileFormat::kPuffin;
  file.format_text = "PUFFIN";
  file.spec_id = deletes.data->spec_id;
  file.partition = deletes.data->partition;
  file.record_count = deletes.positions->cardinality();
  file.referenced_data_file = deletes.data->file_path;
  return file;
}

Bytes PathBytes(const NewDeletes& deletes) {
  const ByteView path = AsBytes(deletes.data->file_path);
  return {path.begin(), path.end()};
}

/// A file with the positions of data files of one partition.
DataFile DescribePositions(std::span<const NewDeletes> deletes) {
  DataFile file;
  file.content = iceberg::FileContent::kPositionDeletes;
  file.format = iceberg::FileFormat::kParquet;
  file.format_text = "PARQUET";
  file.spec_id = deletes.front().data->spec_id;
  file.partition = deletes.front().data->partition;
  if (deletes.size() == 1) file.referenced_data_file = deletes.front().data->file_path;
  std::int64_t first = deletes.front().positions->first(), last = deletes.front().positions->last();
  for (const NewDeletes& one : deletes) {
    file.record_count += one.positions->cardinality();
    first = std::min(first, one.positions->first());
    last = std::max(last, one.positions->last());
  }
  const iceberg::Type position_type{.kind = iceberg::TypeKind::kLong};
  file.value_counts = {{kDeletePosField, file.record_count}, {kDeletePathField, file.record_count}};
  file.null_value_counts = {{kDeletePosField, 0}, {kDeletePathField, 0}};
  file.lower_bounds = {{kDeletePosField, iceberg::EncodeBound(position_type, first)},
                       {kDeletePathField, PathBytes(deletes.front())}};
  file.upper_bounds = {{kDeletePosField, iceberg::EncodeBound(position_type, last)},
                       {kDeletePathField, PathBytes(deletes.back())}};
  return file;
}

Result<DataFile> WritePositions(const TableMetadata& metadata, MetadataFiles& files, const DataLocations& locations,
                                std::span<const NewDeletes> deletes) {
  DataFile file = DescribePositions(deletes);
  std::vector<DeletedPositions> positions;
  for (const NewDeletes& one : deletes) positions.push_back({&one.data->file_path, one.positions});
  FIRN_ASSIGN(const auto out,
              files.NewDeleteFile(locations, ChangedPartition(metadata, *deletes.front().data), ".parquet"));
  file.file_path = files.created().back();
  FIRN_TRY(WritePositionDeleteFile(*out, positions));
  file.file_size_bytes = static_cast<std::int64_t>(out->position());
  FIRN_TRY(out->Close());
  return file;
}

Result<std::vector<DataFile>> WriteVectors(MetadataFiles& files, const DataLocations& locations,
                                           const std::vector<NewDeletes>& deletes) {
  FIRN_ASSIGN(const auto out, files.NewDeleteFile(locations, "", ".puffin"));
  const std::string location = files.created().back();
  FIRN_ASSIGN(puffin::Writer writer, puffin::Writer::Begin(*out));
  std::vector<DataFile> written;
  for (const NewDeletes& one : deletes) {
    DataFile& file = written.emplace_back(DescribeVector(one));
    FIRN_ASSIGN(const Bytes blob, iceberg::EncodeDeletionVector(*one.positions));
    FIRN_ASSIGN(const puffin::BlobMetadata place,
                writer.Add(iceberg::DeletionVectorMetadata(one.data->file_path, file.record_count), blob));
    file.file_path = location;
    file.content_offset = static_cast<std::int64_t>(place.offset);
    file.content_size_bytes = static_cast<std::int64_t>(place.length_bytes);
  }
  FIRN_TRY(writer.Finish({{"created-by", kCreatedBy}}));
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
    FIRN_ASSIGN(written.emplace_back(), WritePositions(metadata, files, locations, std::span(&one, 1)));
  }
  return written;
}

Result<std::vector<SharedDeletes>> WriteSharedDeletes(const TableMetadata& metadata, MetadataFiles& files,
                                                      const std::vector<NewDeletes>& deletes,
                                                      std::int64_t positions_max) {
  FIRN_ASSIGN(const DataLocations locations, DataLocations::For(metadata));
  std::vector<SharedDeletes> written;
  std::vector<NewDeletes> pending;
  std::vector<std::size_t> inputs;
  std::int64_t count = 0;
  const auto flush = [&]() -> Status {
    if (pending.empty()) return Ok();
    FIRN_ASSIGN(DataFile file, WritePositions(metadata, files, locations, pending));
    written.push_back({std::move(file), std::exchange(inputs, {})});
    pending.clear();
    count = 0;
    return Ok();
  };
  for (std::size_t k = 0; k < 2 * deletes.size(); ++k) {
    const std::size_t i = k % deletes.size();
    const NewDeletes& one = deletes[i];
    if (one.positions->empty() || one.alone != (k >= deletes.size())) continue;
    const bool fits = !one.alone && !pending.empty() && pending.front().data->spec_id == one.data->spec_id &&
                      iceberg::SameTuple(pending.front().data->partition, one.data->partition) &&
                      count + one.positions->cardinality() <= positions_max;
    if (!fits) FIRN_TRY(flush());
    pending.push_back(one);
    inputs.push_back(i);
    count += one.positions->cardinality();
  }
  FIRN_TRY(flush());
  return written;
}

}  // namespace firn::act
