// SPDX-License-Identifier: Apache-2.0
#include "format/parquet/footer.h"

#include <algorithm>

#include "format/parquet/quirks.h"
#include "format/parquet/schema_tree.h"
#include "format/parquet/thrift_structs.h"

namespace firn::parquet {

namespace {

constexpr std::uint64_t kMagicBytes = 4, kTrailerBytes = 8;
/// All leaf paths together: names of shared parents are repeated in LeavesOf.
constexpr std::uint64_t kPathBytesMax = 64 << 20;

Error Corrupt(std::string message) { return {Code::kCorrupt, "footer: " + std::move(message)}; }

std::string ChunkName(std::size_t group, std::size_t column) {
  return "row group " + std::to_string(group) + ", column " + std::to_string(column);
}

/// The physical types of the leaves, in column order.
Result<std::vector<PhysicalType>> CheckSchema(const std::vector<SchemaElement>& schema) {
  std::vector<PhysicalType> types;
  std::uint64_t path_bytes = 0;
  const Status walked = WalkLeaves(schema, [&](const LeafPlace& place) {
    const SchemaElement& element = schema[static_cast<std::size_t>(place.schema_index)];
    types.push_back(*element.type);
    path_bytes += element.name.size() + sizeof(std::string);
    for (const std::int32_t group : *place.groups) {
      path_bytes += schema[static_cast<std::size_t>(group)].name.size() + sizeof(std::string);
    }
  });
  if (!walked) return Error(walked.error()).In("footer");
  if (path_bytes > kPathBytesMax) return Error{Code::kLimit, "footer: column paths are too long together"};
  return types;
}

struct ChunkChecker {
  const std::vector<PhysicalType>& types;
  std::uint64_t data_end = 0;
  std::vector<ByteRange> ranges;

  Status Check(const ColumnChunk& chunk, std::size_t column) {
    if (chunk.file_path && !chunk.file_path->empty()) {
      return Error{Code::kUnsupported, "the chunk lies in another file: " + *chunk.file_path};
    }
    if (!chunk.meta) return Ok();
    const ColumnMetaData& meta = *chunk.meta;
    if (meta.type != types[column]) return Error{Code::kCorrupt, "its physical type is not the schema's"};
    if (meta.num_values < 0 || meta.total_compressed_size < 0 || meta.total_uncompressed_size < 0 ||
        meta.data_page_offset < 0) {
      return Error{Code::kCorrupt, "a negative count, size or offset"};
    }
    const ByteRange range = ChunkRange(meta, {}, data_end);
    if (range.size == 0) return Ok();
    if (range.offset < kMagicBytes || range.offset > data_end || range.size > data_end - range.offset) {
      return Error{Code::kCorrupt, "bytes " + std::to_string(range.offset) + " to " +
                                       std::to_string(range.offset + range.size) + " are outside of the data"};
    }
    ranges.push_back(range);
    return Ok();
  }

  Status CheckOverlap() {
    const auto by_offset = [](const ByteRange& a, const ByteRange& b) { return a.offset < b.offset; };
    if (!std::is_sorted(ranges.begin(), ranges.end(), by_offset)) {
      std::sort(ranges.begin(), ranges.end(), by_offset);
    }
    for (std::size_t i = 1; i < ranges.size(); ++i) {
      if (ranges[i - 1].offset + ranges[i - 1].size > ranges[i].offset) {
        return Corrupt("column chunks overlap at offset " + std::to_string(ranges[i].offset));
      }
    }
    return Ok();
  }
};

Status CheckRowGroups(FileMetaData& metadata, const std::vector<PhysicalType>& types, std::uint64_t data_end) {
  ChunkChecker checker{types, data_end, {}};
  std::int64_t rows = 0;
  for (std::size_t i = 0; i < metadata.row_groups.size(); ++i) {
    const RowGroup& group = metadata.row_groups[i];
    if (group.columns.size() != types.size()) {
      return Corrupt("row group " + std::to_string(i) + " has " + std::to_string(group.columns.size()) +
                     " columns, the schema has " + std::to_string(types.size()));
    }
    if (group.num_rows < 0 || __builtin_add_overflow(rows, group.num_rows, &rows)) {
      return Corrupt("row group " + std::to_string(i) + " has an impossible row count");
    }
    for (std::size_t column = 0; column < types.size(); ++column) {
      if (Status checked = checker.Check(group.columns[column], column); !checked) {
        return std::move(checked.error()).In("footer: " + ChunkName(i, column));
      }
    }
  }
  if (metadata.num_rows == 0) metadata.num_rows = rows;  // some writers leave it out
  if (rows != metadata.num_rows) {
    return Corrupt(std::to_string(metadata.num_rows) + " rows, but " + std::to_string(rows) + " in the row groups");
  }
  return checker.CheckOverlap();
}

/// The footer, its length, the magic bytes.
Bytes Framed(const FileMetaData& metadata, std::size_t count, const GroupWriter& write_group) {
  Bytes out;
  Write(metadata, count, write_group, out);
  const auto length = static_cast<std::uint32_t>(out.size());
  out.resize(out.size() + kTrailerBytes);
  StoreLittle(out.data() + out.size() - kTrailerBytes, length);
  std::memcpy(out.data() + out.size() - kMagicBytes, "PAR1", kMagicBytes);
  return out;
}

}  // namespace

Result<FileMetaData> ParseFooter(ByteView thrift, std::uint64_t file_size_bytes) {
  ThriftReader reader(thrift);
  FileMetaData metadata;
  Read(reader, metadata);
  if (Status read = reader.status(); !read) return std::move(read.error()).In("footer");
  const std::uint64_t tail_bytes = thrift.size() + kTrailerBytes;
  if (file_size_bytes < tail_bytes) return Corrupt("longer than the file");
  FIRN_ASSIGN(const std::vector<PhysicalType> types, CheckSchema(metadata.schema));
  FIRN_TRY(CheckRowGroups(metadata, types, file_size_bytes - tail_bytes));
  return metadata;
}

Result<FileMetaData> ReadFooter(RandomAccessSource& source, std::uint64_t tail_bytes, std::uint64_t footer_bytes_max) {
  const std::uint64_t size = source.size();
  if (size < kMagicBytes + kTrailerBytes) {
    return Error{Code::kCorrupt, source.name() + ": " + std::to_string(size) + " bytes are too few for Parquet"};
  }
  Bytes tail(static_cast<std::size_t>(std::min(size, std::max(tail_bytes, kTrailerBytes))));
  FIRN_TRY(source.ReadAt(size - tail.size(), tail));
  const std::string_view magic = AsText(ByteView(tail).last(kMagicBytes));
  if (magic == "PARE") return Error{Code::kUnsupported, source.name() + ": the footer is encrypted"};
  if (magic != "PAR1") return Error{Code::kCorrupt, source.name() + ": does not end like a Parquet file"};
  const std::uint64_t length = LoadLittle<std::uint32_t>(tail.data() + tail.size() - kTrailerBytes);
  if (length > size - kMagicBytes - kTrailerBytes) {
    return Error{Code::kCorrupt, source.name() + ": the footer is longer than the file"};
  }
  if (length > std::min(footer_bytes_max, kFooterBytesMax)) {
    return Error{Code::kLimit, source.name() + ": its footer of " + std::to_string(length) +
                                   " bytes is more than the memory limit allows"};
  }
  const std::size_t footer_bytes = static_cast<std::size_t>(length);
  if (footer_bytes + kTrailerBytes > tail.size()) {
    tail.assign(footer_bytes + kTrailerBytes, 0);
    FIRN_TRY(source.ReadAt(size - tail.size(), tail));
  }
  const ByteView thrift(tail.data() + tail.size() - kTrailerBytes - footer_bytes, footer_bytes);
  return ParseFooter(thrift, size).In(source.name());
}

Bytes WriteFooter(const FileMetaData& metadata) {
  return Framed(metadata, metadata.row_groups.size(),
                [&](std::size_t group, Bytes& out) { Write(metadata.row_groups[group], out); });
}

Bytes WriteFooter(const FileMetaData& metadata, std::size_t count,
                  const std::function<RowGroup(std::size_t)>& row_group) {
  return Framed(metadata, count, [&](std::size_t group, Bytes& out) { Write(row_group(group), out); });
}

Bytes PackRowGroup(const RowGroup& group) {
  Bytes out;
  Write(group, out);
  return out;
}

Result<RowGroup> UnpackRowGroup(ByteView bytes) {
  ThriftReader reader(bytes);
  RowGroup group;
  Read(reader, group);
  FIRN_TRY(reader.status());
  return group;
}

}  // namespace firn::parquet
