// SPDX-License-Identifier: Apache-2.0
#include "format/parquet/footer.h"
#include "format/parquet/thrift_structs.h"

namespace firn::parquet {

namespace {

void ReadDataHeader(ThriftReader& in, PageHeader& header) {
  ThriftStruct fields(in);
  while (fields.Next()) {
    switch (fields.key()) {
      case ThriftKey(1, ThriftType::kI32): header.num_values = in.ReadI32(); break;
      case ThriftKey(2, ThriftType::kI32): header.encoding = ReadEnum<Encoding>(in); break;
      case ThriftKey(3, ThriftType::kI32): header.definition_level_encoding = ReadEnum<Encoding>(in); break;
      case ThriftKey(4, ThriftType::kI32): header.repetition_level_encoding = ReadEnum<Encoding>(in); break;
      case ThriftKey(5, ThriftType::kStruct): Read(in, header.statistics.emplace()); break;
      default: fields.Skip();
    }
  }
  Require(in, fields, Bit(1) | Bit(2) | Bit(3) | Bit(4), "DataPageHeader lacks a member");
}

void ReadDictionaryHeader(ThriftReader& in, PageHeader& header) {
  ThriftStruct fields(in);
  while (fields.Next()) {
    switch (fields.key()) {
      case ThriftKey(1, ThriftType::kI32): header.num_values = in.ReadI32(); break;
      case ThriftKey(2, ThriftType::kI32): header.encoding = ReadEnum<Encoding>(in); break;
      case ThriftKey(3, ThriftType::kTrue):
      case ThriftKey(3, ThriftType::kFalse): header.is_sorted = fields.boolean(); break;
      default: fields.Skip();
    }
  }
  Require(in, fields, Bit(1) | Bit(2), "DictionaryPageHeader lacks a member");
}

void ReadDataHeaderV2(ThriftReader& in, PageHeader& header) {
  ThriftStruct fields(in);
  while (fields.Next()) {
    switch (fields.key()) {
      case ThriftKey(1, ThriftType::kI32): header.num_values = in.ReadI32(); break;
      case ThriftKey(2, ThriftType::kI32): header.num_nulls = in.ReadI32(); break;
      case ThriftKey(3, ThriftType::kI32): header.num_rows = in.ReadI32(); break;
      case ThriftKey(4, ThriftType::kI32): header.encoding = ReadEnum<Encoding>(in); break;
      case ThriftKey(5, ThriftType::kI32): header.definition_levels_bytes = in.ReadI32(); break;
      case ThriftKey(6, ThriftType::kI32): header.repetition_levels_bytes = in.ReadI32(); break;
      case ThriftKey(7, ThriftType::kTrue):
      case ThriftKey(7, ThriftType::kFalse): header.is_compressed = fields.boolean(); break;
      case ThriftKey(8, ThriftType::kStruct): Read(in, header.statistics.emplace()); break;
      default: fields.Skip();
    }
  }
  Require(in, fields, Bit(1) | Bit(2) | Bit(3) | Bit(4) | Bit(5) | Bit(6), "DataPageHeaderV2 lacks a member");
}

const char* FaultOf(const PageHeader& header) {
  if (header.uncompressed_size < 0 || header.compressed_size < 0) return "page size is negative";
  if (header.num_values < 0) return "page value count is negative";
  if (header.type != PageType::kDataV2) return nullptr;
  if (header.num_nulls < 0 || header.num_nulls > header.num_values) return "page null count is impossible";
  if (header.num_rows < 0 || header.num_rows > header.num_values) return "page row count is impossible";
  const std::int64_t levels =
      std::int64_t{header.definition_levels_bytes} + std::int64_t{header.repetition_levels_bytes};
  if (header.definition_levels_bytes < 0 || header.repetition_levels_bytes < 0 || levels > header.compressed_size ||
      levels > header.uncompressed_size) {
    return "page levels are longer than the page";
  }
  return nullptr;
}

/// The bit of the struct that a page of this type must have; 0 for types without one that is needed.
std::uint32_t BodyBit(PageType type) {
  switch (type) {
    case PageType::kData: return Bit(5);
    case PageType::kDictionary: return Bit(7);
    case PageType::kDataV2: return Bit(8);
    default: return 0;
  }
}

void Read(ThriftReader& in, PageHeader& header) {
  ThriftStruct fields(in);
  while (fields.Next()) {
    switch (fields.key()) {
      case ThriftKey(1, ThriftType::kI32): header.type = ReadEnum<PageType>(in); break;
      case ThriftKey(2, ThriftType::kI32): header.uncompressed_size = in.ReadI32(); break;
      case ThriftKey(3, ThriftType::kI32): header.compressed_size = in.ReadI32(); break;
      case ThriftKey(4, ThriftType::kI32): header.crc = in.ReadI32(); break;
      case ThriftKey(5, ThriftType::kStruct): ReadDataHeader(in, header); break;
      case ThriftKey(7, ThriftType::kStruct): ReadDictionaryHeader(in, header); break;
      case ThriftKey(8, ThriftType::kStruct): ReadDataHeaderV2(in, header); break;
      default: fields.Skip();
    }
  }
  Require(in, fields, Bit(1) | Bit(2) | Bit(3), "PageHeader lacks a member");
  Require(in, fields, BodyBit(header.type), "PageHeader lacks the struct of its type");
  if (const char* fault = FaultOf(header); fault != nullptr) in.Fail(fault);
}

void WriteDataHeader(const PageHeader& header, Bytes& out) {
  ThriftWriter writer(out);
  writer.I32(1, header.num_values);
  writer.I32(2, static_cast<std::int32_t>(header.encoding));
  writer.I32(3, static_cast<std::int32_t>(header.definition_level_encoding));
  writer.I32(4, static_cast<std::int32_t>(header.repetition_level_encoding));
  if (header.statistics) writer.Field(5, ThriftType::kStruct), Write(*header.statistics, out);
  writer.End();
}

void WriteDataHeaderV2(const PageHeader& header, Bytes& out) {
  ThriftWriter writer(out);
  writer.I32(1, header.num_values);
  writer.I32(2, header.num_nulls);
  writer.I32(3, header.num_rows);
  writer.I32(4, static_cast<std::int32_t>(header.encoding));
  writer.I32(5, header.definition_levels_bytes);
  writer.I32(6, header.repetition_levels_bytes);
  writer.Bool(7, header.is_compressed);
  if (header.statistics) writer.Field(8, ThriftType::kStruct), Write(*header.statistics, out);
  writer.End();
}

void WriteDictionaryHeader(const PageHeader& header, Bytes& out) {
  ThriftWriter writer(out);
  writer.I32(1, header.num_values);
  writer.I32(2, static_cast<std::int32_t>(header.encoding));
  if (header.is_sorted) writer.Bool(3, true);
  writer.End();
}

}  // namespace

Result<ParsedPageHeader> ParsePageHeader(ByteView bytes) {
  ThriftReader reader(bytes);
  ParsedPageHeader parsed;
  Read(reader, parsed.header);
  if (Status read = reader.status(); !read) return std::move(read.error()).In("page header");
  parsed.header_bytes = reader.position();
  return parsed;
}

void WritePageHeader(const PageHeader& header, Bytes& out) {
  ThriftWriter writer(out);
  writer.I32(1, static_cast<std::int32_t>(header.type));
  writer.I32(2, header.uncompressed_size);
  writer.I32(3, header.compressed_size);
  if (header.crc) writer.I32(4, *header.crc);
  switch (header.type) {
    case PageType::kData: writer.Field(5, ThriftType::kStruct), WriteDataHeader(header, out); break;
    case PageType::kIndex: writer.EmptyStruct(6); break;
    case PageType::kDictionary: writer.Field(7, ThriftType::kStruct), WriteDictionaryHeader(header, out); break;
    case PageType::kDataV2: writer.Field(8, ThriftType::kStruct), WriteDataHeaderV2(header, out); break;
  }
  writer.End();
}

}  // namespace firn::parquet
