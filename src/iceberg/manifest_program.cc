// SPDX-License-Identifier: Apache-2.0
#include "iceberg/manifest_program.h"

#include <algorithm>
#include <limits>

#include "iceberg/delete_reach.h"

namespace firn::iceberg {
namespace {

using avro::Cursor;

void ReadText(Cursor& cursor, std::string& text) { text.assign(AsText(cursor.ReadBytes())); }

void ReadBlob(Cursor& cursor, Bytes& bytes) {
  const ByteView view = cursor.ReadBytes();
  bytes.assign(view.begin(), view.end());
}

/// Calls `read` for every item of an array. The items take at least `item_size_min` bytes.
template <class ReadItem>
void ForEachItem(Cursor& cursor, std::uint64_t item_size_min, ReadItem read) {
  while (true) {
    const Cursor::ItemBlock block = cursor.ReadItemBlock(item_size_min);
    if (block.count == 0) return;
    for (std::uint64_t i = 0; i < block.count && cursor.ok(); ++i) read();
  }
}

/// False when the value of a map or list is null.
bool HasValue(Cursor& cursor, int null_branch) {
  if (null_branch < 0) return true;
  const std::int64_t branch = cursor.ReadLong();
  if (branch != 0 && branch != 1) cursor.Fail("no such branch of a union");
  return branch != null_branch;
}

template <class T, class ReadValue>
void ReadMap(Cursor& cursor, int null_branch, ByField<T>& map, ReadValue read) {
  ForEachItem(cursor, 2, [&] {
    const FieldId id = cursor.ReadInt();
    if (!HasValue(cursor, null_branch)) return;
    T& value = map.emplace_back(id, T()).second;
    read(value);
  });
  constexpr auto by_id = [](const auto& a, const auto& b) { return a.first < b.first; };
  if (!std::ranges::is_sorted(map, by_id)) std::ranges::stable_sort(map, by_id);
}

void ReadLongMap(Cursor& cursor, int null_branch, ByField<std::int64_t>& map) {
  ReadMap(cursor, null_branch, map, [&cursor](std::int64_t& value) { value = cursor.ReadLong(); });
}

void ReadBytesMap(Cursor& cursor, int null_branch, ByField<Bytes>& map) {
  ReadMap(cursor, null_branch, map, [&cursor](Bytes& value) { ReadBlob(cursor, value); });
}

/// Of a map of bounds, the one of the path that position deletes refer to.
void ReadPathBound(Cursor& cursor, int null_branch, ByField<Bytes>& map) {
  ForEachItem(cursor, 2, [&] {
    const FieldId id = cursor.ReadInt();
    if (!HasValue(cursor, null_branch)) return;
    const ByteView value = cursor.ReadBytes();
    if (id == kDeleteFilePathField) map.emplace_back(id, Bytes(value.begin(), value.end()));
  });
}

template <class T, class ReadItem>
void ReadList(Cursor& cursor, int null_branch, std::vector<T>& list, ReadItem read) {
  ForEachItem(cursor, 1, [&] {
    if (HasValue(cursor, null_branch)) list.push_back(read());
  });
}

/// Keeps the memory of strings and vectors.
void Clear(ManifestEntry& entry) {
  entry.snapshot_id.reset();
  entry.sequence_number.reset();
  entry.file_sequence_number.reset();
  DataFile& file = entry.file;
  file.content = FileContent::kData;
  file.file_path.clear();
  file.block_size_bytes.reset();
  file.column_sizes.clear();
  file.value_counts.clear();
  file.null_value_counts.clear();
  file.nan_value_counts.clear();
  file.distinct_counts.clear();
  file.lower_bounds.clear();
  file.upper_bounds.clear();
  file.key_metadata.reset();
  file.split_offsets.clear();
  file.equality_ids.clear();
  file.sort_order_id.reset();
  file.first_row_id.reset();
  file.referenced_data_file.reset();
  file.content_offset.reset();
  file.content_size_bytes.reset();
}

void ReadFormat(Cursor& cursor, DataFile& file) {
  const std::string_view text = AsText(cursor.ReadBytes());
  if (!text.empty() && text == file.format_text) return;
  file.format_text.assign(text);
  file.format = ParseFileFormat(text);
}

}  // namespace

void ManifestProgram::RunFileStep(const Step& step, Cursor& cursor, DataFile& file) {
  const int null_branch = step.value_null_branch;
  switch (step.op) {
    case Op::kContent: {
      const std::int64_t content = cursor.ReadLong();
      if (content < 0 || content > 2) cursor.Fail("content of a file is not 0, 1 or 2");
      file.content = static_cast<FileContent>(content);
      return;
    }
    case Op::kFilePath: ReadText(cursor, file.file_path); return;
    case Op::kFormat: ReadFormat(cursor, file); return;
    case Op::kRecordCount:
      file.record_count = cursor.ReadLong();
      if (file.record_count < 0) cursor.Fail("negative record count");
      return;
    case Op::kFileSize:
      file.file_size_bytes = cursor.ReadLong();
      if (file.file_size_bytes < 0) cursor.Fail("negative file size");
      return;
    case Op::kBlockSize: file.block_size_bytes = cursor.ReadLong(); return;
    case Op::kColumnSizes: ReadLongMap(cursor, null_branch, file.column_sizes); return;
    case Op::kValueCounts: ReadLongMap(cursor, null_branch, file.value_counts); return;
    case Op::kNullValueCounts: ReadLongMap(cursor, null_branch, file.null_value_counts); return;
    case Op::kNanValueCounts: ReadLongMap(cursor, null_branch, file.nan_value_counts); return;
    case Op::kDistinctCounts: ReadLongMap(cursor, null_branch, file.distinct_counts); return;
    case Op::kLowerBounds: ReadBytesMap(cursor, null_branch, file.lower_bounds); return;
    case Op::kUpperBounds: ReadBytesMap(cursor, null_branch, file.upper_bounds); return;
    case Op::kLowerPathBound: ReadPathBound(cursor, null_branch, file.lower_bounds); return;
    case Op::kUpperPathBound: ReadPathBound(cursor, null_branch, file.upper_bounds); return;
    case Op::kKeyMetadata: ReadBlob(cursor, file.key_metadata.emplace()); return;
    case Op::kSplitOffsets:
      ReadList(cursor, null_branch, file.split_offsets, [&cursor] { return cursor.ReadLong(); });
      return;
    case Op::kEqualityIds:
      ReadList(cursor, null_branch, file.equality_ids, [&cursor] { return cursor.ReadInt(); });
      return;
    case Op::kSortOrderId: file.sort_order_id = SortOrderId(cursor.ReadInt()); return;
    case Op::kFirstRowId: file.first_row_id = cursor.ReadLong(); return;
    case Op::kReferencedDataFile: ReadText(cursor, file.referenced_data_file.emplace()); return;
    case Op::kContentOffset: file.content_offset = cursor.ReadLong(); return;
    case Op::kContentSize: file.content_size_bytes = cursor.ReadLong(); return;
    case Op::kPartition: step.partition.Read(cursor, file.partition.values[step.partition_position]); return;
    default: return;
  }
}

void ManifestProgram::RunStep(const Step& step, Cursor& cursor, ManifestEntry& entry) const {
  switch (step.op) {
    case Op::kSkip: avro::Skip(*step.schema, cursor); return;
    case Op::kStatus: {
      const std::int64_t status = cursor.ReadLong();
      if (status < 0 || status > 2) cursor.Fail("status of an entry is not 0, 1 or 2");
      entry.status = static_cast<EntryStatus>(status);
      return;
    }
    case Op::kSnapshotId: entry.snapshot_id = SnapshotId(cursor.ReadLong()); return;
    case Op::kSequenceNumber: entry.sequence_number = SequenceNumber(cursor.ReadLong()); return;
    case Op::kFileSequenceNumber: entry.file_sequence_number = SequenceNumber(cursor.ReadLong()); return;
    case Op::kRecordOption: return;  // its union was read; the fields follow
    default: RunFileStep(step, cursor, entry.file); return;
  }
}

void ManifestProgram::Run(Cursor& cursor, ManifestEntry& entry) const {
  Clear(entry);
  std::vector<Literal>& partition = entry.file.partition.values;
  partition.resize(partition_size_);
  for (const std::uint32_t position : absent_partition_positions_) partition[position] = std::monostate();
  for (const Step& step : steps_) {
    if (step.null_branch >= 0) {
      const std::int64_t branch = cursor.ReadLong();
      if (branch == step.null_branch) {
        if (step.is_required) cursor.Fail("a required value is null");
        if (step.op == Op::kPartition) partition[step.partition_position] = std::monostate();
        continue;
      }
      if (branch != 0 && branch != 1) cursor.Fail("no such branch of a union");
    }
    RunStep(step, cursor, entry);
  }
}

}  // namespace firn::iceberg
