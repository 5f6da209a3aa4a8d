// SPDX-License-Identifier: Apache-2.0
#include "observe/partitioning.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace firn::observe {
namespace {

/// FNV-1a.
std::uint64_t HashOf(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325ULL;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
  return hash;
}

}  // namespace

std::uint64_t PartitioningOf(const iceberg::TableMetadata& metadata) {
  // Files of version 3 have row ids, older ones get them with the version: what the entry of a file tells changes.
  std::vector<std::string> lines{metadata.format_version() >= 3 ? "row ids" : ""};
  for (const iceberg::PartitionSpec& spec : metadata.specs()) {
    const std::vector<iceberg::Type> types = iceberg::PartitionTypes(spec, metadata.current_schema());
    std::string line = std::to_string(spec.id.value);
    for (std::size_t i = 0; i < spec.fields.size(); ++i) {
      const iceberg::PartitionField& field = spec.fields[i];
      line += '|' + std::to_string(field.field_id) + ' ' + field.transform.text + ' ' + iceberg::ToString(types[i]);
    }
    lines.push_back(std::move(line));
  }
  std::ranges::sort(lines);
  std::string text;
  for (const std::string& line : lines) text += line + '\n';
  return std::max<std::uint64_t>(HashOf(text), 1);
}

}  // namespace firn::observe
