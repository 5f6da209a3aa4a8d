// SPDX-License-Identifier: Apache-2.0
#include "splice/arrow_blooms_test.h"

#include <arrow/io/memory.h>
#include <gtest/gtest.h>
#include <parquet/bloom_filter.h>
#include <parquet/bloom_filter_reader.h>
#include <parquet/column_reader.h>
#include <parquet/file_reader.h>

#include <memory>
#include <span>
#include <vector>

namespace firn::splice::testing {
namespace {

std::unique_ptr<::parquet::ParquetFileReader> Open(const Bytes& file) {
  const auto buffer = std::make_shared<arrow::Buffer>(file.data(), static_cast<std::int64_t>(file.size()));
  return ::parquet::ParquetFileReader::Open(std::make_shared<arrow::io::BufferReader>(buffer));
}

std::uint64_t HashOf(const ::parquet::BloomFilter& filter, const auto& value, int length) {
  if constexpr (std::is_same_v<decltype(value), const ::parquet::FLBA&>) {
    return filter.Hash(&value, static_cast<std::uint32_t>(length));
  } else if constexpr (std::is_arithmetic_v<std::remove_cvref_t<decltype(value)>>) {
    return filter.Hash(value);
  } else {
    return filter.Hash(&value);
  }
}

/// Values of the chunk that its filter denies.
template <class Type>
std::int64_t CountDenied(::parquet::ColumnReader& column, const ::parquet::BloomFilter& filter, int length) {
  auto& reader = dynamic_cast<::parquet::TypedColumnReader<Type>&>(column);
  constexpr std::int64_t kBatch = 512;
  std::vector<std::int16_t> definition(kBatch), repetition(kBatch);
  const auto values = std::make_unique<typename Type::c_type[]>(kBatch);
  std::int64_t denied = 0;
  while (reader.HasNext()) {
    std::int64_t count = 0;
    reader.ReadBatch(kBatch, definition.data(), repetition.data(), values.get(), &count);
    for (const auto& value : std::span(values.get(), static_cast<std::size_t>(count))) {
      denied += filter.FindHash(HashOf(filter, value, length)) ? 0 : 1;
    }
  }
  return denied;
}

std::int64_t CountDenied(::parquet::ColumnReader& column, const ::parquet::BloomFilter& filter) {
  const int length = column.descr()->type_length();
  switch (column.type()) {
    case ::parquet::Type::INT32: return CountDenied<::parquet::Int32Type>(column, filter, length);
    case ::parquet::Type::INT64: return CountDenied<::parquet::Int64Type>(column, filter, length);
    case ::parquet::Type::INT96: return CountDenied<::parquet::Int96Type>(column, filter, length);
    case ::parquet::Type::FLOAT: return CountDenied<::parquet::FloatType>(column, filter, length);
    case ::parquet::Type::DOUBLE: return CountDenied<::parquet::DoubleType>(column, filter, length);
    case ::parquet::Type::BYTE_ARRAY: return CountDenied<::parquet::ByteArrayType>(column, filter, length);
    case ::parquet::Type::FIXED_LEN_BYTE_ARRAY: return CountDenied<::parquet::FLBAType>(column, filter, length);
    default: return -1;
  }
}

}  // namespace

std::string DeniedBy(const Bytes& file) {
  const auto reader = Open(file);
  for (int group = 0; group < reader->metadata()->num_row_groups(); ++group) {
    const auto filters = reader->GetBloomFilterReader().RowGroup(group);
    for (int leaf = 0; leaf < reader->metadata()->num_columns(); ++leaf) {
      const auto filter = filters == nullptr ? nullptr : filters->GetColumnBloomFilter(leaf);
      if (filter == nullptr) continue;
      const std::int64_t denied = CountDenied(*reader->RowGroup(group)->Column(leaf), *filter);
      if (denied != 0) {
        return "row group " + std::to_string(group) + ", leaf " + std::to_string(leaf) + ": " + std::to_string(denied) +
               " values are denied";
      }
    }
  }
  return "";
}

double ShareOfFound(const Bytes& file, int row_group, int leaf, std::int64_t first, std::int64_t count) {
  const auto reader = Open(file);
  const auto filters = reader->GetBloomFilterReader().RowGroup(row_group);
  const auto filter = filters == nullptr ? nullptr : filters->GetColumnBloomFilter(leaf);
  if (filter == nullptr) return -1;
  std::int64_t found = 0;
  for (std::int64_t value = first; value < first + count; ++value) {
    found += filter->FindHash(filter->Hash(value)) ? 1 : 0;
  }
  return static_cast<double>(found) / static_cast<double>(count);
}

}  // namespace firn::splice::testing
