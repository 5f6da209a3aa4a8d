// SPDX-License-Identifier: Apache-2.0
//
// Reads a few leaves of a Parquet file row by row, a batch at a time, and nothing else of it.
//
// In: a file; leaves that are not below lists or maps, each with the type that its values are wanted in.
// Out: batches: one value or null a row and leaf, and the position of the batch's first row in the file.
// Guarantees: positions count all rows of the file, also those of row groups that were passed over; values are
//   widened as promotion.h allows and never cut; every leaf gives as many rows as its row group has, or an error.
//   A row is null where the leaf or a struct above it is null.
// Cost: the column chunks of the leaves and one read of the tail (all of a small file). Memory: `memory_bytes` for
//   what the Parquet library holds, and as much again at most for the byte arrays of a batch.
// Errors: kUnsupported (encrypted, repeated leaf, type), kCorrupt, kLimit; with the file's name.
// Threads: one owner.
// Source: README.md "Nested Encoding"; LogicalTypes.md; positions count rows of the file before any filter.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/byte_io.h"
#include "format/parquet/metadata.h"

namespace firn::splice {

/// An opened file. The tail that was read for the footer is kept until the file is closed.
class ScanFile {
 public:
  static Result<std::unique_ptr<ScanFile>> Open(std::unique_ptr<RandomAccessSource> source);
  ~ScanFile();
  const std::string& name() const;
  const parquet::FileMetaData& footer() const { return footer_; }

 private:
  friend class ColumnScan;
  class TailSource;
  explicit ScanFile(std::unique_ptr<TailSource> source);
  std::unique_ptr<TailSource> source_;
  parquet::FileMetaData footer_;
};

struct ScanLeaf {
  std::int32_t leaf = 0;  // column index in the file
  parquet::SchemaElement target;
  /// If given, only whether rows have at least this definition level is read: whether a struct above the leaf is there.
  std::optional<std::int16_t> presence_level;
};

struct ScanOptions {
  std::size_t batch_rows = 8192;
  std::int64_t memory_bytes = 64 << 20;
  /// Row groups for which it is false are passed over. May be empty.
  std::function<bool(const parquet::RowGroup&)> wants_row_group;
};

/// Place of a byte array in a batch. Equal slices are equal values; the reverse does not hold.
struct Slice {
  std::uint32_t offset = 0, size = 0;
  friend bool operator==(const Slice&, const Slice&) = default;
};

/// One leaf of a batch. Null rows hold zeros.
class ScanColumn {
 public:
  bool has_nulls() const { return null_count_ > 0; }
  bool IsNull(std::size_t row) const { return valid_[row] == 0; }
  /// 1 for rows that are not null.
  std::span<const std::uint8_t> valid() const { return valid_; }
  /// Bytes of a value: 1 for booleans, 0 for byte arrays.
  std::size_t width() const { return width_; }
  /// Fixed widths: the values after each other, little-endian numbers or bytes.
  const std::uint8_t* fixed() const { return fixed_.data(); }
  /// Byte arrays.
  std::span<const Slice> slices() const { return slices_; }
  ByteView bytes(std::size_t row) const { return ByteView(arena_).subspan(slices_[row].offset, slices_[row].size); }

 private:
  friend class ScanLeafReader;
  std::size_t width_ = 0;
  std::size_t null_count_ = 0;
  Bytes valid_, fixed_, arena_;
  std::vector<Slice> slices_;
};

class ScanLeafReader;
class DecodedFile;

class ColumnScan {
 public:
  /// `file` must outlive the scan. At least one leaf: pages, not the footer, tell how many rows there are.
  static Result<std::unique_ptr<ColumnScan>> Open(ScanFile& file, std::vector<ScanLeaf> leaves, ScanOptions options);
  ~ColumnScan();
  /// Reads the next batch; the number of its rows, 0 at the end.
  Result<std::size_t> Next();
  /// Position of the batch's first row in the file.
  std::int64_t first_row() const { return first_row_; }
  const ScanColumn& column(std::size_t index) const;

 private:
  ColumnScan(ScanFile& file, ScanOptions options);
  Result<std::size_t> Read();

  ScanFile& file_;
  ScanOptions options_;
  std::unique_ptr<DecodedFile> decoded_;
  std::vector<std::unique_ptr<ScanLeafReader>> leaves_;
  std::size_t next_group_ = 0;
  std::int64_t group_start_ = 0;  // first row of next_group_
  std::int64_t next_row_ = 0, group_end_ = 0;
  std::int64_t first_row_ = 0;
};

}  // namespace firn::splice
