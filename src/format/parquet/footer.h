// SPDX-License-Identifier: Apache-2.0
//
// Reads and writes Parquet footers, page headers and page indexes in thrift's compact protocol.
//
// In: bytes of foreign files. Out: the values of metadata.h, checked.
// Guarantees: after ParseFooter every schema tree is well formed, every chunk lies inside the file and chunks do
//   not overlap, counts are not negative, column counts equal the number of leaves. Recursion and sizes are bounded.
// Cost: O(footer); no allocation proportional to a number in the file before that many bytes are there.
// Errors: kCorrupt with the offset inside the footer; kUnsupported for encrypted footers, and for column chunks that
//   lie in other files.
// Threads: pure.
// Source: parquet.thrift; README.md "File format"; Encryption.md (detection only).
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

#include "base/byte_io.h"
#include "format/parquet/metadata.h"

namespace firn::parquet {

inline constexpr std::uint64_t kFooterBytesMax = 128 << 20;

/// Reads the tail of a file: one read of `tail_bytes` if the footer fits in it, else two. A longer footer than
/// `footer_bytes_max` is refused with kLimit.
Result<FileMetaData> ReadFooter(RandomAccessSource& source, std::uint64_t tail_bytes = 64 << 10,
                                std::uint64_t footer_bytes_max = kFooterBytesMax);
/// `thrift` holds FileMetaData; `file_size_bytes` bounds the offsets in it.
Result<FileMetaData> ParseFooter(ByteView thrift, std::uint64_t file_size_bytes);
/// The thrift bytes, then their length and "PAR1".
Bytes WriteFooter(const FileMetaData& metadata);
/// The same for `count` row groups that come one by one instead of those of `metadata`, so that they need not be in
/// memory all at once.
Bytes WriteFooter(const FileMetaData& metadata, std::size_t count,
                  const std::function<RowGroup(std::size_t)>& row_group);

/// A row group as it stands in a footer: a tenth of the memory of the value.
Bytes PackRowGroup(const RowGroup& group);
Result<RowGroup> UnpackRowGroup(ByteView bytes);

/// Bytes of memory that a footer takes, those that it points to included.
std::int64_t MemoryBytesOf(const FileMetaData& metadata);

struct ParsedPageHeader {
  PageHeader header;
  std::size_t header_bytes = 0;
};
/// `bytes` starts at a page header and may go on behind it.
Result<ParsedPageHeader> ParsePageHeader(ByteView bytes);
/// Appends the header to `out`.
void WritePageHeader(const PageHeader& header, Bytes& out);

Result<OffsetIndex> ParseOffsetIndex(ByteView bytes);
Result<ColumnIndex> ParseColumnIndex(ByteView bytes, std::size_t page_count);
void WriteOffsetIndex(const OffsetIndex& index, Bytes& out);
void WriteColumnIndex(const ColumnIndex& index, Bytes& out);

}  // namespace firn::parquet
