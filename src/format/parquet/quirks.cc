// SPDX-License-Identifier: Apache-2.0
#include "format/parquet/quirks.h"

#include <algorithm>
#include <charconv>
#include <tuple>

namespace firn::parquet {

namespace {

constexpr std::uint64_t kDictionaryHeaderBytesMax = 100;
constexpr std::int64_t kMagicBytes = 4;

/// Reads "1.8.1rc2-SNAPSHOT" as 1, 8, 1.
bool ParseVersion(std::string_view text, Writer& writer) {
  int* const parts[] = {&writer.major, &writer.minor, &writer.patch};
  const char* at = text.data();
  const char* const end = text.data() + text.size();
  for (int i = 0; i < 3; ++i) {
    const auto [next, error] = std::from_chars(at, end, *parts[i]);
    if (error != std::errc{}) return i > 0;
    at = next;
    if (at == end || *at != '.') return true;
    ++at;
  }
  return true;
}

bool IsByteArray(PhysicalType type) {
  return type == PhysicalType::kByteArray || type == PhysicalType::kFixedLenByteArray;
}

/// Types whose values compare as signed numbers, the only order of the deprecated members.
bool HasSignedOrder(const SchemaElement& element) {
  constexpr std::int32_t kUint8 = 11, kUint64 = 14;
  if (!element.type || *element.type == PhysicalType::kInt96 || IsByteArray(*element.type)) return false;
  if (element.logical.kind == LogicalKind::kInteger && !element.logical.is_signed) return false;
  return !(element.converted_type >= kUint8 && element.converted_type <= kUint64);
}

/// Types for which the specification defines no order at all.
bool HasNoOrder(const SchemaElement& element) {
  constexpr std::int32_t kInterval = 21;
  const LogicalKind kind = element.logical.kind;
  return element.type == PhysicalType::kInt96 || element.converted_type == kInterval || kind == LogicalKind::kVariant ||
         kind == LogicalKind::kGeometry || kind == LogicalKind::kGeography || kind == LogicalKind::kOther ||
         kind == LogicalKind::kUnknown;
}

}  // namespace

bool Writer::Before(std::string_view name, int major_version, int minor_version, int patch_version) const {
  return has_version && application == name &&
         std::tie(major, minor, patch) < std::tie(major_version, minor_version, patch_version);
}

Writer ParseCreatedBy(std::string_view created_by) {
  constexpr std::string_view kVersion = " version ";
  Writer writer;
  const std::size_t at = created_by.find(kVersion);
  writer.application = std::string(created_by.substr(0, std::min(at, created_by.find(" ("))));
  while (!writer.application.empty() && writer.application.back() == ' ') writer.application.pop_back();
  if (at != std::string_view::npos) {
    writer.has_version = ParseVersion(created_by.substr(at + kVersion.size()), writer);
  }
  return writer;
}

Quirks QuirksOf(std::string_view created_by) {
  const Writer writer = ParseCreatedBy(created_by);
  Quirks quirks;
  const bool parquet_mr = writer.application == "parquet-mr";
  quirks.byte_array_statistics_wrong =
      created_by.empty() || (parquet_mr && !writer.has_version) || writer.Before("parquet-mr", 1, 8, 0);
  quirks.delta_byte_array_broken = (parquet_mr && !writer.has_version) || writer.Before("parquet-mr", 1, 8, 0);
  quirks.chunk_size_omits_dictionary_header = writer.Before("parquet-mr", 1, 2, 9);
  quirks.v2_is_compressed_flag_wrong =
      writer.Before("parquet-cpp", 2, 0, 0) || writer.Before("parquet-cpp-arrow", 3, 0, 0);
  return quirks;
}

bool HasReliableBounds(const Quirks& quirks, const SchemaElement& element, ColumnOrder order, bool deprecated) {
  if (HasNoOrder(element)) return false;
  if (quirks.byte_array_statistics_wrong && element.type && IsByteArray(*element.type)) return false;
  if (deprecated) return HasSignedOrder(element);
  return order == ColumnOrder::kTypeDefined || order == ColumnOrder::kIeee754TotalOrder;
}

ByteRange ChunkRange(const ColumnMetaData& chunk, const Quirks& quirks, std::uint64_t data_end) {
  ByteRange range;
  std::int64_t start = chunk.data_page_offset;
  if (const std::int64_t dictionary = chunk.dictionary_page_offset.value_or(0); dictionary > 0) {
    // Without data pages (no rows) Arrow gives them the offset 0.
    start = start < kMagicBytes ? dictionary : std::min(start, dictionary);
  }
  range.offset = static_cast<std::uint64_t>(start);
  range.size = static_cast<std::uint64_t>(chunk.total_compressed_size);
  if (quirks.chunk_size_omits_dictionary_header && range.offset + range.size < data_end) {
    range.size += std::min(kDictionaryHeaderBytesMax, data_end - range.offset - range.size);
  }
  return range;
}

}  // namespace firn::parquet
