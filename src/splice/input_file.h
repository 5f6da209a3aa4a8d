// SPDX-License-Identifier: Apache-2.0
//
// An opened input: its footer, what its writer is known for, and its bytes if they are held in memory.
//
// In: a source. Out: views of byte ranges.
// Guarantees: a small file is read once, whole; a row group that is held is read once; ranges that are not held are
//   read into a buffer of the caller. RawBuffer's slack is readable behind every view.
// Cost: one read for files up to kWholeFileBytes, else the footer's reads.
// Threads: after Open and Hold, View may be called from several threads, each with a buffer of its own.
// Errors: kCorrupt with the input's name; those of the source.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/byte_io.h"
#include "base/range_copies.h"
#include "format/parquet/metadata.h"
#include "format/parquet/quirks.h"
#include "splice/raw_buffer.h"

namespace firn::splice {

/// Files up to this size are read whole.
inline constexpr std::uint64_t kWholeFileBytes = 8 << 20;

class InputFile {
 public:
  /// `keep_alive` may own the source. A longer footer than `footer_bytes_max` is kLimit. A large file is marked by
  /// `copies`, unless that is null, before anything is read.
  static Result<std::shared_ptr<InputFile>> Open(RandomAccessSource& source, std::shared_ptr<void> keep_alive,
                                                 std::uint64_t footer_bytes_max, RangeCopies* copies = nullptr);
  /// A whole file in memory.
  static Result<std::shared_ptr<InputFile>> FromBytes(std::string name, ByteView bytes);

  const std::string& name() const { return name_; }
  const parquet::FileMetaData& footer() const { return footer_; }
  const parquet::Quirks& quirks() const { return quirks_; }
  const std::vector<parquet::Leaf>& leaves() const { return leaves_; }
  std::uint64_t size_bytes() const { return size_bytes_; }
  /// Where the footer starts: no page reaches beyond it.
  std::uint64_t data_end() const { return data_end_; }
  bool whole() const { return !whole_.empty(); }
  /// Of the file whose footer was read; null: ranges of it cannot be copied.
  const FileMark* mark() const { return mark_ ? &*mark_ : nullptr; }
  RandomAccessSource& source() const { return *source_; }
  /// What the footer takes in memory, and the file if it is whole.
  std::int64_t memory_bytes() const { return memory_bytes_; }

  parquet::ColumnOrder OrderOf(std::size_t leaf) const;
  const parquet::SchemaElement& ElementOf(std::size_t leaf) const {
    return footer_.schema[static_cast<std::size_t>(leaves_[leaf].schema_index)];
  }
  /// The range's bytes: held ones, or read into `scratch`.
  Result<ByteView> View(std::uint64_t offset, std::uint64_t size, RawBuffer& scratch) const;
  Status Read(std::uint64_t offset, std::span<std::uint8_t> out) const;
  Error Corrupt(std::uint64_t offset, std::string_view what) const;

 private:
  InputFile() = default;
  Status ReadFooter(std::uint64_t footer_bytes_max);
  Status ParseWhole(std::uint64_t footer_bytes_max);

  std::string name_;
  RandomAccessSource* source_ = nullptr;
  std::shared_ptr<void> keep_alive_;
  std::uint64_t size_bytes_ = 0, data_end_ = 0;
  RawBuffer whole_;
  parquet::FileMetaData footer_;
  std::vector<parquet::Leaf> leaves_;
  parquet::Quirks quirks_;
  std::int64_t memory_bytes_ = 0;
  std::optional<FileMark> mark_;
};

/// One row group of an input, and its bytes if they were read ahead.
class SourceGroup {
 public:
  SourceGroup(std::shared_ptr<const InputFile> file, std::size_t row_group)
      : file_(std::move(file)), row_group_(row_group) {}

  const InputFile& file() const { return *file_; }
  const std::shared_ptr<const InputFile>& shared_file() const { return file_; }
  std::size_t row_group() const { return row_group_; }
  const parquet::RowGroup& meta() const { return file_->footer().row_groups[row_group_]; }
  const parquet::ColumnMetaData& chunk(std::size_t leaf) const { return *meta().columns[leaf].meta; }
  parquet::ByteRange ChunkRange(std::size_t leaf) const;
  /// From the first to the last byte of the chunks of `leaves`.
  parquet::ByteRange SpanOf(const std::vector<std::int32_t>& leaves) const;

  /// Reads the span of `leaves` with one request, unless the file is held already.
  Status Hold(const std::vector<std::int32_t>& leaves);
  /// Reads the page indexes of `leaves` with one request for those of each kind, if they lie close together.
  void HoldIndexes(const std::vector<std::int32_t>& leaves);
  bool holds(std::uint64_t offset, std::uint64_t size) const { return file_->whole() || held_.Has(offset, size); }
  Result<ByteView> View(std::uint64_t offset, std::uint64_t size, RawBuffer& scratch) const;

 private:
  std::shared_ptr<const InputFile> file_;
  std::size_t row_group_ = 0;
  struct Held {
    std::uint64_t offset = 0;
    RawBuffer bytes;
    bool Has(std::uint64_t at, std::uint64_t size) const {
      return at >= offset && at - offset <= bytes.size() && size <= bytes.size() - (at - offset);
    }
    ByteView View(std::uint64_t at, std::uint64_t size) const {
      return bytes.view().subspan(static_cast<std::size_t>(at - offset), static_cast<std::size_t>(size));
    }
  };
  Held held_;
  Held column_indexes_, offset_indexes_;
};

}  // namespace firn::splice
