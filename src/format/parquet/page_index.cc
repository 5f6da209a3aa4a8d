// SPDX-License-Identifier: Apache-2.0
#include "format/parquet/footer.h"
#include "format/parquet/thrift_structs.h"

namespace firn::parquet {

namespace {

void Read(ThriftReader& in, PageLocation& value) {
  ThriftStruct fields(in);
  while (fields.Next()) {
    switch (fields.key()) {
      case ThriftKey(1, ThriftType::kI64): value.offset = in.ReadI64(); break;
      case ThriftKey(2, ThriftType::kI32): value.compressed_size = in.ReadI32(); break;
      case ThriftKey(3, ThriftType::kI64): value.first_row_index = in.ReadI64(); break;
      default: fields.Skip();
    }
  }
  Require(in, fields, Bit(1) | Bit(2) | Bit(3), "PageLocation lacks a member");
  if (value.offset < 0 || value.compressed_size < 0 || value.first_row_index < 0) {
    in.Fail("PageLocation has a negative member");
  }
}

void ReadPages(ThriftReader& in, std::vector<PageLocation>& pages) {
  const std::size_t count = in.BeginList(ThriftType::kStruct);
  pages.clear();
  for (std::size_t i = 0; i < count && in.ok(); ++i) {
    Read(in, pages.emplace_back());
    if (i > 0 && pages[i].first_row_index < pages[i - 1].first_row_index) in.Fail("pages are not in row order");
  }
}

void ReadBinaries(ThriftReader& in, std::vector<Bytes>& values) {
  const std::size_t count = in.BeginList(ThriftType::kBinary);
  values.clear();
  for (std::size_t i = 0; i < count && in.ok(); ++i) {
    const ByteView view = in.ReadBinary();
    values.emplace_back(view.begin(), view.end());
  }
}

void ReadBools(ThriftReader& in, std::vector<bool>& values) {
  const std::size_t count = in.BeginList(ThriftType::kTrue);
  values.clear();
  for (std::size_t i = 0; i < count && in.ok(); ++i) values.push_back(in.ReadBoolElement());
}

/// `per_page` numbers for each page, or none at all.
bool Fits(const std::vector<std::int64_t>& values, std::size_t page_count, bool several_per_page) {
  if (values.empty()) return true;
  if (page_count == 0) return false;
  return several_per_page ? values.size() % page_count == 0 : values.size() == page_count;
}

const char* FaultOf(const ColumnIndex& index, std::size_t page_count) {
  if (index.null_pages.size() != page_count || index.min_values.size() != page_count ||
      index.max_values.size() != page_count) {
    return "ColumnIndex does not have one entry a page";
  }
  if (!Fits(index.null_counts, page_count, false) || !Fits(index.nan_counts, page_count, false) ||
      !Fits(index.repetition_level_histograms, page_count, true) ||
      !Fits(index.definition_level_histograms, page_count, true)) {
    return "ColumnIndex has counts for another number of pages";
  }
  if (index.boundary_order < BoundaryOrder::kUnordered || index.boundary_order > BoundaryOrder::kDescending) {
    return "ColumnIndex has an unknown order";
  }
  return nullptr;
}

}  // namespace

Result<OffsetIndex> ParseOffsetIndex(ByteView bytes) {
  ThriftReader reader(bytes);
  OffsetIndex index;
  bool has_pages = false;
  ThriftStruct fields(reader);
  while (fields.Next()) {
    switch (fields.key()) {
      case ThriftKey(1, ThriftType::kList): ReadPages(reader, index.pages), has_pages = true; break;
      case ThriftKey(2, ThriftType::kList): index.unencoded_byte_array_data_bytes = ReadI64List(reader); break;
      default: fields.Skip();
    }
  }
  if (!has_pages) reader.Fail("OffsetIndex lacks its pages");
  if (!Fits(index.unencoded_byte_array_data_bytes, index.pages.size(), false)) {
    reader.Fail("OffsetIndex has sizes for another number of pages");
  }
  if (Status read = reader.status(); !read) return std::move(read.error()).In("offset index");
  return index;
}

Result<ColumnIndex> ParseColumnIndex(ByteView bytes, std::size_t page_count) {
  ThriftReader reader(bytes);
  ColumnIndex index;
  ThriftStruct fields(reader);
  while (fields.Next()) {
    switch (fields.key()) {
      case ThriftKey(1, ThriftType::kList): ReadBools(reader, index.null_pages); break;
      case ThriftKey(2, ThriftType::kList): ReadBinaries(reader, index.min_values); break;
      case ThriftKey(3, ThriftType::kList): ReadBinaries(reader, index.max_values); break;
      case ThriftKey(4, ThriftType::kI32): index.boundary_order = ReadEnum<BoundaryOrder>(reader); break;
      case ThriftKey(5, ThriftType::kList): index.null_counts = ReadI64List(reader); break;
      case ThriftKey(6, ThriftType::kList): index.repetition_level_histograms = ReadI64List(reader); break;
      case ThriftKey(7, ThriftType::kList): index.definition_level_histograms = ReadI64List(reader); break;
      case ThriftKey(8, ThriftType::kList): index.nan_counts = ReadI64List(reader); break;
      default: fields.Skip();
    }
  }
  Require(reader, fields, Bit(1) | Bit(2) | Bit(3) | Bit(4), "ColumnIndex lacks a member");
  if (const char* fault = FaultOf(index, page_count); fault != nullptr) reader.Fail(fault);
  if (Status read = reader.status(); !read) return std::move(read.error()).In("column index");
  return index;
}

void WriteOffsetIndex(const OffsetIndex& index, Bytes& out) {
  ThriftWriter writer(out);
  writer.List(1, ThriftType::kStruct, index.pages.size());
  for (const PageLocation& page : index.pages) {
    ThriftWriter location(out);
    location.I64(1, page.offset);
    location.I32(2, page.compressed_size);
    location.I64(3, page.first_row_index);
    location.End();
  }
  if (!index.unencoded_byte_array_data_bytes.empty()) writer.I64List(2, index.unencoded_byte_array_data_bytes);
  writer.End();
}

void WriteColumnIndex(const ColumnIndex& index, Bytes& out) {
  ThriftWriter writer(out);
  writer.List(1, ThriftType::kTrue, index.null_pages.size());
  for (const bool null_page : index.null_pages) out.push_back(null_page ? 1 : 2);
  writer.List(2, ThriftType::kBinary, index.min_values.size());
  for (const Bytes& value : index.min_values) writer.BinaryElement(value);
  writer.List(3, ThriftType::kBinary, index.max_values.size());
  for (const Bytes& value : index.max_values) writer.BinaryElement(value);
  writer.I32(4, static_cast<std::int32_t>(index.boundary_order));
  if (!index.null_counts.empty()) writer.I64List(5, index.null_counts);
  if (!index.repetition_level_histograms.empty()) writer.I64List(6, index.repetition_level_histograms);
  if (!index.definition_level_histograms.empty()) writer.I64List(7, index.definition_level_histograms);
  if (!index.nan_counts.empty()) writer.I64List(8, index.nan_counts);
  writer.End();
}

}  // namespace firn::parquet
