// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <utility>

#include "format/puffin/puffin_writer.h"
#include "iceberg/deletion_vector.h"
#include "ports/location.h"
#include "sim/table_builder.h"

namespace firn::sim {
namespace {

using iceberg::DataFile;
using iceberg::FileContent;

constexpr FieldId kPathField = 2147483546;

Bytes BytesOf(std::string_view text) {
  const ByteView view = AsBytes(text);
  return {view.begin(), view.end()};
}

std::int32_t PartOf(const DataFile& file) { return std::get<std::int32_t>(file.partition.values.at(0)); }

}  // namespace

Result<DataFile> SimTable::NewPositionDeletes(std::vector<Position> positions) {
  FIRN_ASSIGN(const DataFile target, FindLive(positions.front().first));
  std::ranges::sort(positions);
  FIRN_ASSIGN(const Bytes bytes, WritePositions(positions));
  FIRN_ASSIGN(DataFile file, NewFile(PartOf(target), bytes, static_cast<std::int64_t>(positions.size())));
  file.content = FileContent::kPositionDeletes;
  return file;
}

Status SimTable::AddPositionsTo(Edit& edit, const std::vector<Position>& positions, bool referenced) {
  FIRN_ASSIGN(DataFile file, NewPositionDeletes(positions));
  const auto [first, last] = std::ranges::minmax(positions);
  file.lower_bounds = {{kPathField, BytesOf(first.first)}};
  file.upper_bounds = {{kPathField, BytesOf(last.first)}};
  if (referenced && first.first == last.first) file.referenced_data_file = first.first;
  edit.added_deletes.push_back(std::move(file));
  return Ok();
}

Status SimTable::AddPositionDeletesSaying(const std::vector<Position>& positions, const std::string& lower_path,
                                          const std::string& upper_path) {
  FIRN_ASSIGN(DataFile file, NewPositionDeletes(positions));
  if (!lower_path.empty()) file.lower_bounds = {{kPathField, BytesOf(lower_path)}};
  if (!upper_path.empty()) file.upper_bounds = {{kPathField, BytesOf(upper_path)}};
  Edit edit;
  edit.operation = "delete";
  edit.added_deletes.push_back(std::move(file));
  return Commit(edit);
}

Status SimTable::AddPositionDeleteIn(std::int32_t part, const std::string& path, std::int64_t row) {
  FIRN_ASSIGN(DataFile file, NewPositionDeletes({{path, row}}));
  file.partition.values = {part};
  file.referenced_data_file = path;
  Edit edit;
  edit.operation = "delete";
  edit.added_deletes.push_back(std::move(file));
  return Commit(edit);
}

Status SimTable::AddPositionDeletes(const std::vector<Position>& positions, bool referenced) {
  Edit edit;
  edit.operation = "delete";
  FIRN_TRY(AddPositionsTo(edit, positions, referenced));
  return Commit(edit);
}

Status SimTable::AddVectorsTo(Edit& edit, const std::vector<Position>& positions) {
  FIRN_ASSIGN(const Contents contents, ReadHead());
  std::map<std::string, roaring::PositionSet> by_path;
  for (const auto& [path, row] : positions) by_path[path].Add(row);
  MemorySink sink("vectors");
  FIRN_ASSIGN(puffin::Writer writer, puffin::Writer::Begin(sink));
  std::vector<DataFile> vectors;
  for (auto& [path, rows] : by_path) {
    const LiveFile& target = contents.files.at(path);
    for (const LiveFile& live : contents.deletes) {
      if (live.file.format != iceberg::FileFormat::kPuffin || live.file.referenced_data_file != path) continue;
      edit.removed_deletes.insert(iceberg::IdentityOf(live.file));
    }
    // A vector takes the place of all position deletes, and must not bring back what they hide.
    for (std::size_t i = 0; i < target.visible.size(); ++i) {
      if (!target.visible[i]) rows.Add(static_cast<std::int64_t>(i));
    }
    FIRN_ASSIGN(const Bytes blob, iceberg::EncodeDeletionVector(rows));
    FIRN_ASSIGN(const puffin::BlobMetadata place,
                writer.Add(iceberg::DeletionVectorMetadata(path, rows.cardinality()), blob));
    DataFile& file = vectors.emplace_back();
    file.content = FileContent::kPositionDeletes;
    file.format = iceberg::FileFormat::kPuffin;
    file.format_text = "PUFFIN";
    file.partition = target.file.partition;
    file.record_count = rows.cardinality();
    file.referenced_data_file = path;
    file.content_offset = static_cast<std::int64_t>(place.offset);
    file.content_size_bytes = static_cast<std::int64_t>(place.length_bytes);
  }
  FIRN_TRY(writer.Finish({}));
  const std::string location = NewName("data", ".puffin");
  FIRN_TRY(ports::WriteFile(io_, location, sink.bytes()));
  for (DataFile& file : vectors) {
    file.file_path = location;
    file.file_size_bytes = static_cast<std::int64_t>(sink.bytes().size());
    edit.added_deletes.push_back(std::move(file));
  }
  return Ok();
}

Status SimTable::AddVectors(const std::vector<Position>& positions) {
  Edit edit;
  edit.operation = "delete";
  FIRN_TRY(AddVectorsTo(edit, positions));
  return Commit(edit);
}

Status SimTable::ConvertEqualityDeletes() {
  FIRN_ASSIGN(const ports::LoadedTable table, Load());
  FIRN_ASSIGN(const Contents contents, ReadHead());
  Edit edit;
  edit.operation = "replace";
  for (const LiveFile& live : contents.deletes) {
    if (live.file.content == FileContent::kEqualityDeletes) edit.removed_deletes.insert(iceberg::IdentityOf(live.file));
  }
  if (edit.removed_deletes.empty()) return Ok();
  std::vector<Position> all;
  for (const auto& [path, live] : contents.files) {
    const bool reached = std::ranges::any_of(
        live.deletes, [&](const iceberg::FileIdentity& identity) { return edit.removed_deletes.contains(identity); });
    if (!reached) continue;
    std::vector<Position> hidden;
    for (std::size_t i = 0; i < live.visible.size(); ++i) {
      if (!live.visible[i]) hidden.emplace_back(path, static_cast<std::int64_t>(i));
    }
    if (hidden.empty()) continue;
    if (table.metadata->format_version() < 3) FIRN_TRY(AddPositionsTo(edit, hidden, true));
    all.insert(all.end(), hidden.begin(), hidden.end());
  }
  if (table.metadata->format_version() >= 3 && !all.empty()) FIRN_TRY(AddVectorsTo(edit, all));
  return Commit(edit);
}

}  // namespace firn::sim
