// SPDX-License-Identifier: Apache-2.0
#include "splice/column_scan.h"

#include <parquet/types.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <string>

#include "format/parquet/footer.h"
#include "format/parquet/promotion.h"
#include "splice/fallback_arrow.h"
#include "splice/fallback_values.h"

namespace firn::splice {
namespace {

/// The first read of a file: the whole of a small one.
constexpr std::uint64_t kTailBytes = 256 << 10;

Result<std::size_t> WidthOf(const parquet::SchemaElement& element) {
  switch (*element.type) {
    case parquet::PhysicalType::kBoolean: return 1;
    case parquet::PhysicalType::kInt32:
    case parquet::PhysicalType::kFloat: return 4;
    case parquet::PhysicalType::kInt64:
    case parquet::PhysicalType::kDouble: return 8;
    case parquet::PhysicalType::kByteArray: return 0;
    case parquet::PhysicalType::kFixedLenByteArray:
      if (element.type_length > 0) return static_cast<std::size_t>(element.type_length);
      break;
    case parquet::PhysicalType::kInt96: break;
  }
  return Error{Code::kUnsupported, "values cannot be read as " + parquet::TypeText(element)};
}

}  // namespace

/// Answers reads of the last bytes from memory: the footer is parsed twice, by us and by the Parquet library.
class ScanFile::TailSource final : public RandomAccessSource {
 public:
  explicit TailSource(std::unique_ptr<RandomAccessSource> source) : source_(std::move(source)) {}
  Status Hold() {
    tail_.resize(std::min(kTailBytes, source_->size()));
    start_ = source_->size() - tail_.size();
    return source_->ReadAt(start_, tail_);
  }
  const std::string& name() const override { return source_->name(); }
  std::uint64_t size() const override { return source_->size(); }
  Status ReadAt(std::uint64_t offset, std::span<std::uint8_t> out) override {
    if (offset < start_ || offset > size() || out.size() > size() - offset) return source_->ReadAt(offset, out);
    if (!out.empty()) std::memcpy(out.data(), tail_.data() + (offset - start_), out.size());
    return Ok();
  }

 private:
  std::unique_ptr<RandomAccessSource> source_;
  Bytes tail_;
  std::uint64_t start_ = 0;
};

ScanFile::ScanFile(std::unique_ptr<TailSource> source) : source_(std::move(source)) {}
ScanFile::~ScanFile() = default;
const std::string& ScanFile::name() const { return source_->name(); }

Result<std::unique_ptr<ScanFile>> ScanFile::Open(std::unique_ptr<RandomAccessSource> source) {
  auto tail = std::make_unique<TailSource>(std::move(source));
  FIRN_TRY(tail->Hold());
  std::unique_ptr<ScanFile> file(new ScanFile(std::move(tail)));
  FIRN_ASSIGN(file->footer_, parquet::ReadFooter(*file->source_));
  return file;
}

/// Fills one column of a batch.
class ScanLeafReader {
 public:
  static Result<std::unique_ptr<ScanLeafReader>> Make(const ScanFile& file, const ScanLeaf& wanted,
                                                      const ScanOptions& options) {
    const std::vector<parquet::Leaf> leaves = parquet::LeavesOf(file.footer().schema);
    if (wanted.leaf < 0 || static_cast<std::size_t>(wanted.leaf) >= leaves.size()) {
      return Error{Code::kInvalidArgument, "the file has no leaf " + std::to_string(wanted.leaf)};
    }
    const parquet::Leaf& leaf = leaves[static_cast<std::size_t>(wanted.leaf)];
    std::unique_ptr<ScanLeafReader> reader(new ScanLeafReader(wanted, leaf, options));
    if (leaf.max_repetition_level > 0) return Error{Code::kUnsupported, "column " + reader->name_ + " is repeated"};
    for (const parquet::RowGroup& group : file.footer().row_groups) {
      const parquet::ColumnChunk& chunk = group.columns[static_cast<std::size_t>(wanted.leaf)];
      if (chunk.encrypted || !chunk.meta) {
        return Error{Code::kUnsupported, "column " + reader->name_ + " is encrypted"};
      }
    }
    if (wanted.presence_level) return reader;
    const parquet::SchemaElement& from = file.footer().schema[static_cast<std::size_t>(leaf.schema_index)];
    if (!wanted.target.type) return Error{Code::kInvalidArgument, "the wanted type is a group"};
    auto converter = ValueConverter::Make(from, wanted.target);
    if (!converter) return std::move(converter.error()).In("column " + reader->name_);
    reader->converter_ = std::move(*converter);
    FIRN_ASSIGN(reader->column_.width_, WidthOf(wanted.target));
    return reader;
  }

  Status BeginGroup(DecodedFile& decoded, int row_group) {
    reader_.reset();
    FIRN_ASSIGN(reader_, decoded.Leaf(row_group, leaf_, batch_rows_));
    return Ok();
  }

  /// `ends_group`: the row group has no more rows.
  Status Read(std::size_t rows, bool ends_group) {
    Status read = ReadRows(rows);
    if (read && ends_group) read = ExpectEnd();
    if (!read) return std::move(read.error()).In("column " + name_);
    return Ok();
  }

  const ScanColumn& column() const { return column_; }

 private:
  ScanLeafReader(const ScanLeaf& wanted, const parquet::Leaf& leaf, const ScanOptions& options)
      : leaf_(wanted.leaf),
        max_level_(leaf.max_definition_level),
        presence_level_(wanted.presence_level),
        type_(wanted.target.type.value_or(parquet::PhysicalType::kBoolean)),
        batch_rows_(options.batch_rows),
        arena_bytes_max_(static_cast<std::size_t>(
            std::clamp<std::int64_t>(options.memory_bytes, 0, std::numeric_limits<std::int32_t>::max()))),
        definition_(options.batch_rows),
        repetition_(options.batch_rows) {
    for (const std::string& part : leaf.path) name_ += (name_.empty() ? "" : ".") + part;
  }

  Status ReadRows(std::size_t rows) {
    column_.null_count_ = 0;
    column_.valid_.assign(rows, 1);
    column_.fixed_.assign(rows * column_.width_, 0);
    column_.arena_.clear();
    column_.slices_.assign(column_.width_ == 0 ? rows : 0, Slice{});
    for (std::size_t done = 0; done < rows;) {
      const std::span<std::int16_t> definition = std::span(definition_).first(rows - done);
      FIRN_ASSIGN(const std::size_t count, reader_->Read(definition, std::span(repetition_).first(rows - done)));
      if (count == 0) return Error{Code::kCorrupt, "its pages hold fewer rows than the row group"};
      FIRN_TRY(presence_level_ ? TakePresence(done, count) : TakeValues(done, count));
      done += count;
    }
    return Ok();
  }

  Status ExpectEnd() {
    FIRN_ASSIGN(const std::size_t more,
                reader_->Read(std::span(definition_).first(1), std::span(repetition_).first(1)));
    if (more == 0) return Ok();
    return Error{Code::kCorrupt, "its pages hold more rows than the row group"};
  }

  Status TakePresence(std::size_t first, std::size_t count) {
    if (max_level_ == 0) return Ok();
    for (std::size_t i = 0; i < count; ++i) {
      if (definition_[i] >= *presence_level_) continue;
      column_.valid_[first + i] = 0;
      ++column_.null_count_;
    }
    return Ok();
  }

  Status TakeValues(std::size_t first, std::size_t count) {
    std::size_t present = count;
    if (max_level_ > 0) {
      std::uint8_t* const valid = column_.valid_.data() + first;
      present = 0;
      for (std::size_t i = 0; i < count; ++i) {
        valid[i] = definition_[i] == max_level_ ? 1 : 0;
        present += valid[i];
      }
      column_.null_count_ += count - present;
    }
    if (present != reader_->value_count()) return Error{Code::kCorrupt, "values and levels do not agree"};
    FIRN_ASSIGN(const void* const values, converter_->Convert(reader_->values(), present));
    if (type_ == parquet::PhysicalType::kByteArray) return TakeByteArrays(values, first, count);
    if (type_ == parquet::PhysicalType::kFixedLenByteArray) {
      const auto* const from = static_cast<const ::parquet::FLBA*>(values);
      ForEachPresent(first, count, [&](std::size_t row, std::size_t index) {
        std::memcpy(column_.fixed_.data() + row * column_.width_, from[index].ptr, column_.width_);
      });
    } else {
      TakeNumbers(static_cast<const std::uint8_t*>(values), first, count, present);
    }
    return Ok();
  }

  template <class Visitor>
  void ForEachPresent(std::size_t first, std::size_t count, Visitor visit) {
    std::size_t index = 0;
    for (std::size_t row = first; row < first + count; ++row) {
      if (column_.valid_[row] != 0) visit(row, index++);
    }
  }

  template <std::size_t kWidth>
  void Spread(const std::uint8_t* from, std::size_t first, std::size_t count) {
    ForEachPresent(first, count, [&](std::size_t row, std::size_t index) {
      std::memcpy(column_.fixed_.data() + row * kWidth, from + index * kWidth, kWidth);
    });
  }

  void TakeNumbers(const std::uint8_t* from, std::size_t first, std::size_t count, std::size_t present) {
    if (present == 0) return;
    if (present == count) {
      std::memcpy(column_.fixed_.data() + first * column_.width_, from, count * column_.width_);
      return;
    }
    switch (column_.width_) {
      case 1: return Spread<1>(from, first, count);
      case 4: return Spread<4>(from, first, count);
      default: return Spread<8>(from, first, count);
    }
  }

  Status TakeByteArrays(const void* values, std::size_t first, std::size_t count) {
    const auto* const from = static_cast<const ::parquet::ByteArray*>(values);
    const std::uint8_t* last = nullptr;  // of a dictionary, the same entry is the same memory
    Slice slice;
    bool fits = true;
    ForEachPresent(first, count, [&](std::size_t row, std::size_t index) {
      const ::parquet::ByteArray& value = from[index];
      if (last == nullptr || value.ptr != last || value.len != slice.size) {
        fits = fits && value.len <= arena_bytes_max_ - column_.arena_.size();
        if (!fits) return;
        slice = {static_cast<std::uint32_t>(column_.arena_.size()), value.len};
        if (value.len > 0) column_.arena_.insert(column_.arena_.end(), value.ptr, value.ptr + value.len);
        last = value.ptr;
      }
      column_.slices_[row] = slice;
    });
    if (!fits) return Error{Code::kLimit, "values of a batch do not fit in memory"};
    return Ok();
  }

  std::string name_;
  std::int32_t leaf_;
  std::int16_t max_level_;
  std::optional<std::int16_t> presence_level_;
  parquet::PhysicalType type_;
  std::size_t batch_rows_, arena_bytes_max_;
  std::vector<std::int16_t> definition_, repetition_;
  std::optional<ValueConverter> converter_;
  std::unique_ptr<LeafReader> reader_;
  ScanColumn column_;
};

ColumnScan::ColumnScan(ScanFile& file, ScanOptions options) : file_(file), options_(std::move(options)) {}
ColumnScan::~ColumnScan() = default;
const ScanColumn& ColumnScan::column(std::size_t index) const { return leaves_[index]->column(); }

Result<std::unique_ptr<ColumnScan>> ColumnScan::Open(ScanFile& file, std::vector<ScanLeaf> leaves,
                                                     ScanOptions options) {
  std::unique_ptr<ColumnScan> scan(new ColumnScan(file, std::move(options)));
  if (scan->options_.batch_rows == 0 || leaves.empty()) {
    return Error{Code::kInvalidArgument, "a scan without rows or leaves"};
  }
  if (file.footer().encrypted) return Error{Code::kUnsupported, file.name() + ": columns are encrypted"};
  for (const ScanLeaf& leaf : leaves) {
    FIRN_ASSIGN(auto reader, ScanLeafReader::Make(file, leaf, scan->options_).In(file.name()));
    scan->leaves_.push_back(std::move(reader));
  }
  FIRN_ASSIGN(scan->decoded_, DecodedFile::Open(*file.source_, scan->options_.memory_bytes).In(file.name()));
  return scan;
}

Result<std::size_t> ColumnScan::Next() { return Read().In(file_.name()); }

Result<std::size_t> ColumnScan::Read() {
  const std::vector<parquet::RowGroup>& groups = file_.footer().row_groups;
  while (next_row_ == group_end_) {
    if (next_group_ == groups.size()) return std::size_t{0};
    const std::size_t index = next_group_++;
    const parquet::RowGroup& group = groups[index];
    const std::int64_t start = group_start_;
    group_start_ += group.num_rows;
    if (group.num_rows == 0 || (options_.wants_row_group && !options_.wants_row_group(group))) continue;
    for (const auto& leaf : leaves_) FIRN_TRY(leaf->BeginGroup(*decoded_, static_cast<int>(index)));
    next_row_ = start;
    group_end_ = group_start_;
  }
  const std::size_t rows = std::min(options_.batch_rows, static_cast<std::size_t>(group_end_ - next_row_));
  first_row_ = next_row_;
  next_row_ += static_cast<std::int64_t>(rows);
  for (const auto& leaf : leaves_) FIRN_TRY(leaf->Read(rows, next_row_ == group_end_));
  return rows;
}

}  // namespace firn::splice
