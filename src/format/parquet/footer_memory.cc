// SPDX-License-Identifier: Apache-2.0
#include "format/parquet/footer.h"

namespace firn::parquet {

namespace {

/// What the allocator adds to each piece.
constexpr std::size_t kPieceBytes = 16;
/// Texts up to this size lie inside their object.
constexpr std::size_t kInsideBytes = 15;

std::size_t Heap(const SchemaElement& element);
std::size_t Heap(const KeyValue& pair);
std::size_t Heap(const Statistics& statistics);
std::size_t Heap(const SizeStatistics& statistics);
std::size_t Heap(const ColumnMetaData& meta);
std::size_t Heap(const RowGroup& group);

std::size_t Heap(const std::string& text) {
  return text.capacity() <= kInsideBytes ? 0 : text.capacity() + kPieceBytes;
}
/// Of the elements themselves, not of what they point to.
template <class T>
std::size_t Heap(const std::vector<T>& values) {
  return values.capacity() == 0 ? 0 : values.capacity() * sizeof(T) + kPieceBytes;
}
template <class T>
std::size_t Heap(const std::optional<T>& value) {
  return value ? Heap(*value) : 0;
}

template <class T>
std::size_t HeapOfAll(const std::vector<T>& values) {
  std::size_t bytes = Heap(values);
  for (const T& value : values) bytes += Heap(value);
  return bytes;
}

std::size_t Heap(const KeyValue& pair) { return Heap(pair.key) + Heap(pair.value); }

std::size_t Heap(const SchemaElement& element) {
  return Heap(element.name) + Heap(element.logical.raw) + Heap(element.unknown);
}

std::size_t Heap(const Statistics& statistics) {
  return Heap(statistics.min) + Heap(statistics.max) + Heap(statistics.min_value) + Heap(statistics.max_value) +
         Heap(statistics.unknown);
}

std::size_t Heap(const SizeStatistics& statistics) {
  return Heap(statistics.repetition_level_histogram) + Heap(statistics.definition_level_histogram);
}

std::size_t Heap(const ColumnMetaData& meta) {
  return Heap(meta.encodings) + HeapOfAll(meta.path_in_schema) + HeapOfAll(meta.key_value_metadata) +
         Heap(meta.statistics) + Heap(meta.encoding_stats) + Heap(meta.size_statistics) + Heap(meta.unknown);
}

std::size_t Heap(const RowGroup& group) {
  std::size_t bytes = Heap(group.columns) + Heap(group.sorting_columns) + Heap(group.unknown);
  for (const ColumnChunk& chunk : group.columns)
    bytes += Heap(chunk.file_path) + Heap(chunk.meta) + Heap(chunk.unknown);
  return bytes;
}

}  // namespace

std::int64_t MemoryBytesOf(const FileMetaData& metadata) {
  return static_cast<std::int64_t>(sizeof metadata + HeapOfAll(metadata.schema) + HeapOfAll(metadata.row_groups) +
                                   HeapOfAll(metadata.key_value_metadata) + Heap(metadata.created_by) +
                                   Heap(metadata.column_orders) + Heap(metadata.unknown));
}

}  // namespace firn::parquet
