// SPDX-License-Identifier: Apache-2.0
#include "act/equality_match_keys.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <cmath>
#include <cstring>
#include <limits>

namespace firn::act {
namespace {

constexpr std::uint8_t kNull = 0, kValue = 1;

/// Another number for every number: the last steps of MurmurHash3, which can be undone.
std::uint64_t Mixed(std::uint64_t value) {
  value = (value ^ value >> 33) * 0xff51afd7ed558ccdULL;
  value = (value ^ value >> 33) * 0xc4ceb9fe1a85ec53ULL;
  return value ^ value >> 33;
}

/// The values of one key column in a batch.
struct KeyColumn {
  const splice::ScanColumn* scanned = nullptr;  // of a constant: whether it is there
  const KeySource* source = nullptr;
  const KeyField* field = nullptr;

  bool IsNull(std::size_t row) const {
    if (source->is_constant && !source->constant) return true;
    return scanned != nullptr && scanned->IsNull(row);
  }
  ByteView Value(std::size_t row) const {
    if (source->is_constant) return *source->constant;
    if (field->width == 0) return scanned->bytes(row);
    return {scanned->fixed() + row * field->width, field->width};
  }
};

std::vector<KeyColumn> ColumnsOf(const KeyLayout& layout, const KeySources& sources, const splice::ColumnScan& scan) {
  std::vector<KeyColumn> columns;
  for (std::size_t i = 0; i < layout.fields().size(); ++i) {
    KeyColumn& column = columns.emplace_back();
    column.source = &sources.columns[i];
    column.field = &layout.fields()[i];
    if (column.source->leaf) column.scanned = &scan.column(*column.source->leaf);
  }
  return columns;
}

/// All NaN become one.
template <class T>
void JoinNaN(std::uint8_t* bytes) {
  if (std::isnan(LoadLittle<T>(bytes))) StoreLittle(bytes, std::numeric_limits<T>::quiet_NaN());
}

void Canonize(const KeyField& field, std::uint8_t* bytes) {
  if (field.type.kind == iceberg::TypeKind::kFloat) JoinNaN<float>(bytes);
  if (field.type.kind == iceberg::TypeKind::kDouble) JoinNaN<double>(bytes);
}

bool IsFloating(const KeyField& field) {
  return field.type.kind == iceberg::TypeKind::kFloat || field.type.kind == iceberg::TypeKind::kDouble;
}

/// Copies the values of one fixed-width column into keys that are `stride` bytes apart. kWidth 0: any width.
template <std::size_t kWidth>
void PutColumn(const splice::ScanColumn& column, std::size_t any_width, std::size_t stride, std::size_t rows,
               std::uint8_t* to) {
  const std::size_t width = kWidth > 0 ? kWidth : any_width;
  const std::uint8_t* valid = column.valid().data();
  const std::uint8_t* from = column.fixed();  // zeros where it is null
  for (std::size_t row = 0; row < rows; ++row, to += stride, from += width) {
    *to = valid[row];
    std::memcpy(to + 1, from, width);
  }
}

void PutConstant(const KeyColumn& column, std::size_t stride, std::size_t rows, std::uint8_t* to) {
  for (std::size_t row = 0; row < rows; ++row, to += stride) {
    if (column.IsNull(row)) {
      std::memset(to, kNull, 1 + column.field->width);
      continue;
    }
    *to = kValue;
    std::memcpy(to + 1, column.source->constant->data(), column.field->width);
  }
}

}  // namespace

void KeyBatch::BuildFixed(const splice::ColumnScan& scan, const KeySources& sources, std::size_t rows) {
  const std::size_t stride = layout_->key_bytes();
  bytes_.resize(rows * stride);
  std::uint8_t* to = bytes_.data();
  for (const KeyColumn& column : ColumnsOf(*layout_, sources, scan)) {
    const std::size_t width = column.field->width;
    if (column.source->is_constant) {
      PutConstant(column, stride, rows, to);
    } else if (width == 8) {
      PutColumn<8>(*column.scanned, width, stride, rows, to);
    } else if (width == 4) {
      PutColumn<4>(*column.scanned, width, stride, rows, to);
    } else {
      PutColumn<0>(*column.scanned, width, stride, rows, to);
    }
    if (IsFloating(*column.field)) {
      for (std::size_t row = 0; row < rows; ++row) Canonize(*column.field, to + row * stride + 1);
    }
    to += 1 + width;
  }
}

void KeyBatch::BuildVarying(const splice::ColumnScan& scan, const KeySources& sources, std::size_t rows) {
  const std::vector<KeyColumn> columns = ColumnsOf(*layout_, sources, scan);
  bytes_.clear();
  offsets_.assign(1, 0);
  for (std::size_t row = 0; row < rows; ++row) {
    for (const KeyColumn& column : columns) {
      if (column.IsNull(row)) {
        bytes_.push_back(kNull);
        continue;
      }
      const ByteView value = column.Value(row);
      bytes_.push_back(kValue);
      if (column.field->width == 0) {
        std::uint8_t size[sizeof(std::uint32_t)];
        StoreLittle(size, static_cast<std::uint32_t>(value.size()));
        bytes_.insert(bytes_.end(), std::begin(size), std::end(size));
      }
      bytes_.insert(bytes_.end(), value.begin(), value.end());
      Canonize(*column.field, bytes_.data() + bytes_.size() - value.size());
    }
    offsets_.push_back(bytes_.size());
  }
}

void KeyBatch::HashNumbers(std::size_t rows) {
  const std::size_t stride = layout_->key_bytes(), width = stride - 1;
  const std::uint8_t* from = bytes_.data() + 1;
  for (std::size_t row = 0; row < rows; ++row, from += stride) {
    std::uint64_t value = 0;
    std::memcpy(&value, from, width == 8 ? 8 : width);  // a constant size is one load
    hashes_[row] = Mixed(value);
  }
}

void KeyBatch::HashBytes(std::size_t rows) {
  for (std::size_t row = 0; row < rows; ++row) {
    const ByteView bytes = key(row);
    hashes_[row] = XXH3_64bits(bytes.data(), bytes.size());
  }
}

Status KeyBatch::Build(const splice::ColumnScan& scan, const KeySources& sources, std::size_t rows) {
  hashes_.resize(rows);
  if (rows == 0) return Ok();  // without rows there are no bytes to point into
  if (layout_->key_bytes() > 0) {
    BuildFixed(scan, sources, rows);
  } else {
    BuildVarying(scan, sources, rows);
  }
  if (layout_->is_number()) {
    HashNumbers(rows);
  } else {
    HashBytes(rows);
  }
  return Ok();
}

Status KeyReader::Start(const RowGroupFilter* filter) {
  splice::ScanOptions options;
  options.memory_bytes = ScanMemoryBytes(context_);
  if (filter != nullptr && *filter) {
    options.wants_row_group = [this, filter](const parquet::RowGroup& group) {
      return (*filter)(*file_, sources_, group);
    };
  }
  FIRN_ASSIGN(scan_, splice::ColumnScan::Open(*file_, sources_.leaves, std::move(options)));
  return Ok();
}

Result<std::unique_ptr<KeyReader>> KeyReader::OpenData(const DeleteLoadContext& context, const KeyLayout& layout,
                                                       const iceberg::DataFile& file, const RowGroupFilter& filter) {
  FIRN_ASSIGN(std::unique_ptr<splice::ScanFile> opened, OpenForScan(context, file));
  const iceberg::PartitionSpec* const spec = context.metadata.FindSpec(file.spec_id);
  if (spec == nullptr) return Error{Code::kCorrupt, file.file_path + ": its partition spec is not in the metadata"};
  FIRN_ASSIGN(
      KeySources sources,
      ResolveDataKeys(layout, opened->footer(), context.name_mapping, *spec, file.partition).In(file.file_path));
  std::unique_ptr<KeyReader> reader(new KeyReader(context, layout, std::move(opened), std::move(sources)));
  FIRN_TRY(reader->Start(&filter));
  return reader;
}

Result<std::unique_ptr<KeyReader>> KeyReader::OpenDeletes(const DeleteLoadContext& context, const KeyLayout& layout,
                                                          const iceberg::DataFile& file) {
  FIRN_ASSIGN(std::unique_ptr<splice::ScanFile> opened, OpenForScan(context, file));
  FIRN_ASSIGN(KeySources sources, ResolveDeleteKeys(layout, opened->footer(), context.name_mapping).In(file.file_path));
  std::unique_ptr<KeyReader> reader(new KeyReader(context, layout, std::move(opened), std::move(sources)));
  FIRN_TRY(reader->Start(nullptr));
  return reader;
}

Result<std::size_t> KeyReader::Next() {
  FIRN_TRY(CheckGoesOn(context_));
  FIRN_ASSIGN(const std::size_t rows, scan_->Next());
  FIRN_TRY(batch_.Build(*scan_, sources_, rows));
  return rows;
}

}  // namespace firn::act
