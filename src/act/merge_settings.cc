// SPDX-License-Identifier: Apache-2.0
#include "act/merge_settings.h"

#include <fmt/format.h>

#include <algorithm>
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
  return options;
}

std::vector<std::string> UnusedSettings(const iceberg::TableMetadata& metadata) {
  constexpr std::string_view kBloom = "write.parquet.bloom-filter-enabled.column.";
  std::vector<std::string> notes;
  for (const auto& [key, value] : metadata.properties()) {
    if (key.starts_with(kBloom) && value != "false")
      notes.push_back(key + " has no effect: Bloom filters are not written");
  }
  const std::string version = metadata.Property("write.parquet.page-version", "");
  if (!version.empty()) {
    notes.push_back("write.parquet.page-version has no effect: pages keep the version that those of the inputs have");
  }
  return notes;
}

}  // namespace firn::act
