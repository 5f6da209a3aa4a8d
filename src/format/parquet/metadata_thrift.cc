// SPDX-License-Identifier: Apache-2.0
#include "format/parquet/thrift_structs.h"

namespace firn::parquet {

namespace {

Bytes ReadBytes(ThriftReader& in) {
  const ByteView view = in.ReadBinary();
  return Bytes(view.begin(), view.end());
}

ColumnOrder ReadColumnOrder(ThriftReader& in) {
  ColumnOrder order = ColumnOrder::kUndefined;
  ThriftStruct fields(in);
  while (fields.Next()) {
    const bool known = fields.type() == ThriftType::kStruct && fields.id() >= 1 && fields.id() <= 3;
    order = known ? static_cast<ColumnOrder>(fields.id()) : ColumnOrder::kOther;
    fields.Skip();
  }
  return order;
}

void WriteColumnOrder(ColumnOrder order, Bytes& out) {
  ThriftWriter writer(out);
  if (order != ColumnOrder::kUndefined && order != ColumnOrder::kOther) writer.EmptyStruct(static_cast<int>(order));
  writer.End();
}

void ReadColumnOrders(ThriftReader& in, std::vector<ColumnOrder>& orders) {
  const std::size_t count = in.BeginList(ThriftType::kStruct);
  orders.clear();
  for (std::size_t i = 0; i < count && in.ok(); ++i) orders.push_back(ReadColumnOrder(in));
}

void ReadPath(ThriftReader& in, std::vector<std::string>& path) {
  const std::size_t count = in.BeginList(ThriftType::kBinary);
  path.clear();
  for (std::size_t i = 0; i < count && in.ok(); ++i) path.push_back(in.ReadString());
}

void ReadEncodings(ThriftReader& in, std::vector<Encoding>& encodings) {
  const std::size_t count = in.BeginList(ThriftType::kI32);
  encodings.clear();
  for (std::size_t i = 0; i < count && in.ok(); ++i) encodings.push_back(ReadEnum<Encoding>(in));
}

constexpr std::uint32_t kColumnMetaDataRequired = Bit(1) | Bit(2) | Bit(3) | Bit(4) | Bit(5) | Bit(6) | Bit(7) | Bit(9);

}  // namespace

void Read(ThriftReader& in, Statistics& value) {
  value = Statistics{};
  ThriftStruct fields(in);
  while (fields.Next()) {
    switch (fields.key()) {
      case ThriftKey(1, ThriftType::kBinary): value.max = ReadBytes(in); break;
      case ThriftKey(2, ThriftType::kBinary): value.min = ReadBytes(in); break;
      case ThriftKey(3, ThriftType::kI64): value.null_count = in.ReadI64(); break;
      case ThriftKey(4, ThriftType::kI64): value.distinct_count = in.ReadI64(); break;
      case ThriftKey(5, ThriftType::kBinary): value.max_value = ReadBytes(in); break;
      case ThriftKey(6, ThriftType::kBinary): value.min_value = ReadBytes(in); break;
      case ThriftKey(7, ThriftType::kTrue):
      case ThriftKey(7, ThriftType::kFalse): value.is_max_value_exact = fields.boolean(); break;
      case ThriftKey(8, ThriftType::kTrue):
      case ThriftKey(8, ThriftType::kFalse): value.is_min_value_exact = fields.boolean(); break;
      case ThriftKey(9, ThriftType::kI64): value.nan_count = in.ReadI64(); break;
      default: fields.Keep(value.unknown);
    }
  }
}

void Write(const Statistics& value, Bytes& out) {
  ThriftWriter writer(out);
  if (value.max) writer.Binary(1, *value.max);
  if (value.min) writer.Binary(2, *value.min);
  if (value.null_count) writer.I64(3, *value.null_count);
  if (value.distinct_count) writer.I64(4, *value.distinct_count);
  if (value.max_value) writer.Binary(5, *value.max_value);
  if (value.min_value) writer.Binary(6, *value.min_value);
  if (value.is_max_value_exact) writer.Bool(7, *value.is_max_value_exact);
  if (value.is_min_value_exact) writer.Bool(8, *value.is_min_value_exact);
  if (value.nan_count) writer.I64(9, *value.nan_count);
  writer.Kept(value.unknown);
  writer.End();
}

void Read(ThriftReader& in, KeyValue& value) {
  value = KeyValue{};
  ThriftStruct fields(in);
  bool has_key = false;
  while (fields.Next()) {
    switch (fields.key()) {
      case ThriftKey(1, ThriftType::kBinary): value.key = in.ReadString(), has_key = true; break;
      case ThriftKey(2, ThriftType::kBinary): value.value = in.ReadString(); break;
      default: fields.Skip();
    }
  }
  if (!has_key) in.Fail("KeyValue lacks its key");
}

void Write(const KeyValue& value, Bytes& out) {
  ThriftWriter writer(out);
  writer.Text(1, value.key);
  if (value.value) writer.Text(2, *value.value);
  writer.End();
}

void Read(ThriftReader& in, SizeStatistics& value) {
  value = SizeStatistics{};
  ThriftStruct fields(in);
  while (fields.Next()) {
    switch (fields.key()) {
      case ThriftKey(1, ThriftType::kI64): value.unencoded_byte_array_data_bytes = in.ReadI64(); break;
      case ThriftKey(2, ThriftType::kList): value.repetition_level_histogram = ReadI64List(in); break;
      case ThriftKey(3, ThriftType::kList): value.definition_level_histogram = ReadI64List(in); break;
      default: fields.Skip();
    }
  }
}

void Write(const SizeStatistics& value, Bytes& out) {
  ThriftWriter writer(out);
  if (value.unencoded_byte_array_data_bytes) writer.I64(1, *value.unencoded_byte_array_data_bytes);
  if (!value.repetition_level_histogram.empty()) writer.I64List(2, value.repetition_level_histogram);
  if (!value.definition_level_histogram.empty()) writer.I64List(3, value.definition_level_histogram);
  writer.End();
}

void Read(ThriftReader& in, PageEncodingStats& value) {
  value = PageEncodingStats{};
  ThriftStruct fields(in);
  while (fields.Next()) {
    switch (fields.key()) {
      case ThriftKey(1, ThriftType::kI32): value.page_type = ReadEnum<PageType>(in); break;
      case ThriftKey(2, ThriftType::kI32): value.encoding = ReadEnum<Encoding>(in); break;
      case ThriftKey(3, ThriftType::kI32): value.count = in.ReadI32(); break;
      default: fields.Skip();
    }
  }
  Require(in, fields, Bit(1) | Bit(2) | Bit(3), "PageEncodingStats lacks a member");
}

void Write(const PageEncodingStats& value, Bytes& out) {
  ThriftWriter writer(out);
  writer.I32(1, static_cast<std::int32_t>(value.page_type));
  writer.I32(2, static_cast<std::int32_t>(value.encoding));
  writer.I32(3, value.count);
  writer.End();
}

void Read(ThriftReader& in, ColumnMetaData& value) {
  value = ColumnMetaData{};
  ThriftStruct fields(in);
  while (fields.Next()) {
    switch (fields.key()) {
      case ThriftKey(1, ThriftType::kI32): value.type = ReadEnum<PhysicalType>(in); break;
      case ThriftKey(2, ThriftType::kList): ReadEncodings(in, value.encodings); break;
      case ThriftKey(3, ThriftType::kList): ReadPath(in, value.path_in_schema); break;
      case ThriftKey(4, ThriftType::kI32): value.codec = ReadEnum<Codec>(in); break;
      case ThriftKey(5, ThriftType::kI64): value.num_values = in.ReadI64(); break;
      case ThriftKey(6, ThriftType::kI64): value.total_uncompressed_size = in.ReadI64(); break;
      case ThriftKey(7, ThriftType::kI64): value.total_compressed_size = in.ReadI64(); break;
      case ThriftKey(8, ThriftType::kList): ReadList(in, value.key_value_metadata); break;
      case ThriftKey(9, ThriftType::kI64): value.data_page_offset = in.ReadI64(); break;
      case ThriftKey(10, ThriftType::kI64): value.index_page_offset = in.ReadI64(); break;
      case ThriftKey(11, ThriftType::kI64): value.dictionary_page_offset = in.ReadI64(); break;
      case ThriftKey(12, ThriftType::kStruct): Read(in, value.statistics.emplace()); break;
      case ThriftKey(13, ThriftType::kList): ReadList(in, value.encoding_stats); break;
      case ThriftKey(14, ThriftType::kI64): value.bloom_filter_offset = in.ReadI64(); break;
      case ThriftKey(15, ThriftType::kI32): value.bloom_filter_length = in.ReadI32(); break;
      case ThriftKey(16, ThriftType::kStruct): Read(in, value.size_statistics.emplace()); break;
      default: fields.Keep(value.unknown);
    }
  }
  Require(in, fields, kColumnMetaDataRequired, "ColumnMetaData lacks a member");
}

void Write(const ColumnMetaData& value, Bytes& out) {
  ThriftWriter writer(out);
  writer.I32(1, static_cast<std::int32_t>(value.type));
  writer.List(2, ThriftType::kI32, value.encodings.size());
  for (const Encoding encoding : value.encodings) AppendZigzag(out, static_cast<std::int32_t>(encoding));
  writer.List(3, ThriftType::kBinary, value.path_in_schema.size());
  for (const std::string& part : value.path_in_schema) writer.BinaryElement(AsBytes(part));
  writer.I32(4, static_cast<std::int32_t>(value.codec));
  writer.I64(5, value.num_values);
  writer.I64(6, value.total_uncompressed_size);
  writer.I64(7, value.total_compressed_size);
  if (!value.key_value_metadata.empty()) WriteList(writer, 8, value.key_value_metadata);
  writer.I64(9, value.data_page_offset);
  if (value.index_page_offset) writer.I64(10, *value.index_page_offset);
  if (value.dictionary_page_offset) writer.I64(11, *value.dictionary_page_offset);
  if (value.statistics) writer.Field(12, ThriftType::kStruct), Write(*value.statistics, out);
  if (!value.encoding_stats.empty()) WriteList(writer, 13, value.encoding_stats);
  if (value.bloom_filter_offset) writer.I64(14, *value.bloom_filter_offset);
  if (value.bloom_filter_length) writer.I32(15, *value.bloom_filter_length);
  if (value.size_statistics) writer.Field(16, ThriftType::kStruct), Write(*value.size_statistics, out);
  writer.Kept(value.unknown);
  writer.End();
}

void Read(ThriftReader& in, ColumnChunk& value) {
  value = ColumnChunk{};
  ThriftStruct fields(in);
  while (fields.Next()) {
    switch (fields.key()) {
      case ThriftKey(1, ThriftType::kBinary): value.file_path = in.ReadString(); break;
      case ThriftKey(2, ThriftType::kI64): value.file_offset = in.ReadI64(); break;
      case ThriftKey(3, ThriftType::kStruct): Read(in, value.meta.emplace()); break;
      case ThriftKey(4, ThriftType::kI64): value.offset_index_offset = in.ReadI64(); break;
      case ThriftKey(5, ThriftType::kI32): value.offset_index_length = in.ReadI32(); break;
      case ThriftKey(6, ThriftType::kI64): value.column_index_offset = in.ReadI64(); break;
      case ThriftKey(7, ThriftType::kI32): value.column_index_length = in.ReadI32(); break;
      case ThriftKey(8, ThriftType::kStruct):
      case ThriftKey(9, ThriftType::kBinary): value.encrypted = true; [[fallthrough]];
      default: fields.Keep(value.unknown);
    }
  }
  Require(in, fields, Bit(2), "ColumnChunk lacks its file offset");
  if (!value.meta && !value.encrypted) in.Fail("ColumnChunk lacks its metadata");
}

void Write(const ColumnChunk& value, Bytes& out) {
  ThriftWriter writer(out);
  if (value.file_path) writer.Text(1, *value.file_path);
  writer.I64(2, value.file_offset);
  if (value.meta) writer.Field(3, ThriftType::kStruct), Write(*value.meta, out);
  if (value.offset_index_offset) writer.I64(4, *value.offset_index_offset);
  if (value.offset_index_length) writer.I32(5, *value.offset_index_length);
  if (value.column_index_offset) writer.I64(6, *value.column_index_offset);
  if (value.column_index_length) writer.I32(7, *value.column_index_length);
  writer.Kept(value.unknown);
  writer.End();
}

void Read(ThriftReader& in, SortingColumn& value) {
  value = SortingColumn{};
  ThriftStruct fields(in);
  while (fields.Next()) {
    switch (fields.key()) {
      case ThriftKey(1, ThriftType::kI32): value.column_index = in.ReadI32(); break;
      case ThriftKey(2, ThriftType::kTrue):
      case ThriftKey(2, ThriftType::kFalse): value.descending = fields.boolean(); break;
      case ThriftKey(3, ThriftType::kTrue):
      case ThriftKey(3, ThriftType::kFalse): value.nulls_first = fields.boolean(); break;
      default: fields.Skip();
    }
  }
  Require(in, fields, Bit(1) | Bit(2) | Bit(3), "SortingColumn lacks a member");
}

void Write(const SortingColumn& value, Bytes& out) {
  ThriftWriter writer(out);
  writer.I32(1, value.column_index);
  writer.Bool(2, value.descending);
  writer.Bool(3, value.nulls_first);
  writer.End();
}

void Read(ThriftReader& in, RowGroup& value) {
  value = RowGroup{};
  ThriftStruct fields(in);
  while (fields.Next()) {
    switch (fields.key()) {
      case ThriftKey(1, ThriftType::kList): ReadList(in, value.columns); break;
      case ThriftKey(2, ThriftType::kI64): value.total_byte_size = in.ReadI64(); break;
      case ThriftKey(3, ThriftType::kI64): value.num_rows = in.ReadI64(); break;
      case ThriftKey(4, ThriftType::kList): ReadList(in, value.sorting_columns); break;
      case ThriftKey(5, ThriftType::kI64): value.file_offset = in.ReadI64(); break;
      case ThriftKey(6, ThriftType::kI64): value.total_compressed_size = in.ReadI64(); break;
      case ThriftKey(7, ThriftType::kI16): value.ordinal = in.ReadI16(); break;
      default: fields.Keep(value.unknown);
    }
  }
  Require(in, fields, Bit(1) | Bit(2) | Bit(3), "RowGroup lacks a member");
}

void Write(const RowGroup& value, Bytes& out) {
  ThriftWriter writer(out);
  WriteList(writer, 1, value.columns);
  writer.I64(2, value.total_byte_size);
  writer.I64(3, value.num_rows);
  if (!value.sorting_columns.empty()) WriteList(writer, 4, value.sorting_columns);
  if (value.file_offset) writer.I64(5, *value.file_offset);
  if (value.total_compressed_size) writer.I64(6, *value.total_compressed_size);
  if (value.ordinal) writer.I16(7, *value.ordinal);
  writer.Kept(value.unknown);
  writer.End();
}

void Read(ThriftReader& in, FileMetaData& value) {
  value = FileMetaData{};
  ThriftStruct fields(in);
  while (fields.Next()) {
    switch (fields.key()) {
      case ThriftKey(1, ThriftType::kI32): value.version = in.ReadI32(); break;
      case ThriftKey(2, ThriftType::kList): ReadList(in, value.schema); break;
      case ThriftKey(3, ThriftType::kI64): value.num_rows = in.ReadI64(); break;
      case ThriftKey(4, ThriftType::kList): ReadList(in, value.row_groups); break;
      case ThriftKey(5, ThriftType::kList): ReadList(in, value.key_value_metadata); break;
      case ThriftKey(6, ThriftType::kBinary): value.created_by = in.ReadString(); break;
      case ThriftKey(7, ThriftType::kList): ReadColumnOrders(in, value.column_orders); break;
      case ThriftKey(8, ThriftType::kStruct): value.encrypted = true; [[fallthrough]];
      default: fields.Keep(value.unknown);
    }
  }
  Require(in, fields, Bit(1) | Bit(2) | Bit(3) | Bit(4), "FileMetaData lacks a member");
}

void Write(const FileMetaData& value, std::size_t count, const GroupWriter& write_group, Bytes& out) {
  ThriftWriter writer(out);
  writer.I32(1, value.version);
  WriteList(writer, 2, value.schema);
  writer.I64(3, value.num_rows);
  writer.List(4, ThriftType::kStruct, count);
  for (std::size_t i = 0; i < count; ++i) write_group(i, out);
  if (!value.key_value_metadata.empty()) WriteList(writer, 5, value.key_value_metadata);
  if (!value.created_by.empty()) writer.Text(6, value.created_by);
  if (!value.column_orders.empty()) {
    writer.List(7, ThriftType::kStruct, value.column_orders.size());
    for (const ColumnOrder order : value.column_orders) WriteColumnOrder(order, out);
  }
  writer.Kept(value.unknown);
  writer.End();
}

}  // namespace firn::parquet
