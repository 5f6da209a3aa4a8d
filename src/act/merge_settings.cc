// SPDX-License-Identifier: Apache-2.0
#include "act/merge_settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <string_view>

#include "splice/names.h"

namespace firn::act {
namespace {

Result<std::int64_t> SizeProperty(const iceberg::TableMetadata& metadata, std::string_view key, std::int64_t fallback,
                                  std::int64_t least, std::int64_t most) {
  FIRN_ASSIGN(const std::int64_t value, metadata.IntProperty(key, fallback));
  if (value <= 0) return Error{Code::kInvalidArgument, fmt::format("{}: {} is no size", key, value)};
  return std::clamp(value, least, most);
}

using ColumnSetter = Status (*)(std::string_view text, splice::ColumnOptions& column);

/// As Java reads it: whatever is not "true" is false.
bool IsTrue(std::string_view text) {
  constexpr std::string_view kTrue = "true";
  return std::ranges::equal(text, kTrue, [](char a, char b) { return (a | 0x20) == b; });
}

Status SetBloomFilter(std::string_view text, splice::ColumnOptions& column) {
  column.bloom_filter = IsTrue(text);
  return Ok();
}
Status SetFpp(std::string_view text, splice::ColumnOptions& column) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !(value > 0 && value < 1)) {
    return Error{Code::kInvalidArgument, fmt::format("{} is not between 0 and 1", text)};
  }
  column.bloom_filter_fpp = value;
  return Ok();
}
Status SetDistinct(std::string_view text, splice::ColumnOptions& column) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value <= 0) {
    return Error{Code::kInvalidArgument, fmt::format("{} is no number of values", text)};
  }
  column.bloom_filter_distinct = value;
  return Ok();
}
Status SetDictionary(std::string_view text, splice::ColumnOptions& column) {
  column.dictionary = IsTrue(text);
  return Ok();
}
Status SetStatistics(std::string_view text, splice::ColumnOptions& column) {
  column.statistics = IsTrue(text);
  return Ok();
}

/// Properties of single columns: the column's name follows.
constexpr std::array<std::pair<std::string_view, ColumnSetter>, 5> kColumnProperties = {{
    {"write.parquet.bloom-filter-enabled.column.", SetBloomFilter},
    {"write.parquet.bloom-filter-fpp.column.", SetFpp},
    {"write.parquet.bloom-filter-ndv.column.", SetDistinct},
    {"write.parquet.dict-encoding-enabled.column.", SetDictionary},
    {"write.parquet.stats-enabled.column.", SetStatistics},
}};

/// Calls `visit(setter, key, value, field)` for each property of a column; the field is null where the name is none.
Status VisitColumnProperties(const iceberg::TableMetadata& metadata, const auto& visit) {
  for (const auto& [prefix, setter] : kColumnProperties) {
    for (auto at = metadata.properties().lower_bound(prefix); at != metadata.properties().end(); ++at) {
      if (!at->first.starts_with(prefix)) break;
      const std::string_view name = std::string_view(at->first).substr(prefix.size());
      FIRN_TRY(visit(setter, at->first, at->second, metadata.current_schema().FindByName(name)));
    }
  }
  return Ok();
}

Result<std::map<std::int32_t, splice::ColumnOptions>> ColumnOptionsOf(const iceberg::TableMetadata& metadata) {
  std::map<std::int32_t, splice::ColumnOptions> columns;
  FIRN_TRY(VisitColumnProperties(metadata,
                                 [&](ColumnSetter setter, const std::string& key, const std::string& value,
                                     const iceberg::Field* field) -> Status {
                                   if (field == nullptr) return Ok();
                                   return setter(value, columns[field->id]).In(key);
                                 }));
  return columns;
}

}  // namespace

Result<splice::Options> SpliceOptionsOf(const iceberg::TableMetadata& metadata, const std::string& effort) {
  constexpr std::int64_t kKiB = 1 << 10, kMiB = 1 << 20, kGiB = 1 << 30;
  splice::Options options;
  FIRN_ASSIGN(options.effort, splice::ParseEffort(effort));
  const std::string codec = metadata.Property("write.parquet.compression-codec", "");
  if (!codec.empty() || options.effort != splice::Effort::kFast) {
    FIRN_ASSIGN(options.codec,
                splice::ParseCodec(codec.empty() ? "zstd" : codec).In("write.parquet.compression-codec"));
  }
  // Java writes the word "null" for a property that was set to nothing.
  const std::string level = metadata.Property("write.parquet.compression-level", "");
  if (!level.empty() && level != "null") {
    FIRN_ASSIGN(const std::int64_t value, metadata.IntProperty("write.parquet.compression-level", 0));
    constexpr std::int64_t kLowest = -7, kHighest = 22;
    if (value < kLowest || value > kHighest) {
      return Error{Code::kInvalidArgument, fmt::format("write.parquet.compression-level: {}", value)};
    }
    options.codec_level = static_cast<int>(value);
  }
  FIRN_ASSIGN(options.row_group_size_bytes,
              SizeProperty(metadata, "write.parquet.row-group-size-bytes", 128 * kMiB, kKiB, kGiB));
  FIRN_ASSIGN(options.page_size_bytes,
              SizeProperty(metadata, "write.parquet.page-size-bytes", kMiB, 4 * kKiB, 64 * kMiB));
  // Java ends its pages at 20,000 rows if nothing is set: at a limit of bytes, pages of numbers are better larger.
  if (!metadata.Property("write.parquet.page-row-limit", "").empty()) {
    constexpr std::int64_t kLeast = 100, kMost = 1 << 24;
    FIRN_ASSIGN(options.page_row_count_max,
                SizeProperty(metadata, "write.parquet.page-row-limit", kMost, kLeast, kMost));
  }
  FIRN_ASSIGN(options.dictionary_size_bytes,
              SizeProperty(metadata, "write.parquet.dict-size-bytes", 2 * kMiB, kKiB, 64 * kMiB));
  FIRN_ASSIGN(options.bloom_filter_bytes_max,
              SizeProperty(metadata, "write.parquet.bloom-filter-max-bytes", kMiB, 32, 128 * kMiB));
  FIRN_ASSIGN(options.columns, ColumnOptionsOf(metadata));
  return options;
}

std::vector<std::string> UnusedSettings(const iceberg::TableMetadata& metadata) {
  std::vector<std::string> notes;
  static_cast<void>(VisitColumnProperties(
      metadata, [&](ColumnSetter, const std::string& key, const std::string&, const iceberg::Field* field) {
        if (field == nullptr) {
          notes.push_back(key + " has no effect: the table has no such column");
        } else if (!field->type.is_primitive()) {
          notes.push_back(key + " has no effect: the column is not of a primitive type");
        }
        return Ok();
      }));
  const std::string version = metadata.Property("write.parquet.page-version", "");
  if (!version.empty()) {
    notes.push_back("write.parquet.page-version has no effect: pages keep the version that those of the inputs have");
  }
  if (IsTrue(metadata.Property("write.parquet.shred-variants", ""))) {
    notes.push_back("write.parquet.shred-variants has no effect: variants keep the form that those of the inputs have");
  }
  if (IsTrue(metadata.Property("write.parquet.row-group-size-track-uncompressed", ""))) {
    notes.push_back(
        "write.parquet.row-group-size-track-uncompressed has no effect: row groups are measured as they are stored");
  }
  return notes;
}

}  // namespace firn::act
