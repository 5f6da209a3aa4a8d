// SPDX-License-Identifier: Apache-2.0
#include "ports/hadoop_versions.h"

#include <fmt/format.h>

#include <charconv>
#include <limits>

#include "base/text_parts.h"
#include "ports/location.h"

namespace firn::ports {
namespace {

constexpr std::int64_t kVersionMax = std::numeric_limits<std::int32_t>::max();

std::optional<std::int64_t> ParseVersion(std::string_view digits) {
  std::int64_t number = 0;
  const auto [end, fault] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (fault != std::errc{} || end != digits.data() + digits.size()) return std::nullopt;
  return number >= 0 && number < kVersionMax ? std::optional(number) : std::nullopt;
}

/// The highest version in the folder itself.
Result<std::optional<std::int64_t>> ListedVersion(FileIO& io, const std::string& metadata_folder) {
  std::optional<std::int64_t> highest;
  std::string page;
  do {
    FIRN_ASSIGN(const ListPage files, io.List(AsPrefix(metadata_folder), page));
    for (const FileInfo& file : files.files) {
      if (ParentOf(file.location) != metadata_folder) continue;
      highest = std::max(highest, HadoopVersionNumber(file.location));
    }
    page = files.next_page;
  } while (!page.empty());
  return highest;
}

}  // namespace

std::optional<std::int64_t> HadoopVersionNumber(std::string_view location) {
  std::string_view name = FileNameOf(location);
  if (!name.starts_with('v')) return std::nullopt;
  for (const std::string_view suffix : {".gz.metadata.json", ".metadata.json.gz", ".metadata.json"}) {
    if (name.ends_with(suffix)) return ParseVersion(name.substr(1, name.size() - 1 - suffix.size()));
  }
  return std::nullopt;
}

Result<std::optional<std::string>> FindHadoopVersion(FileIO& io, const std::string& metadata_folder,
                                                     std::int64_t number) {
  for (const std::string_view suffix : {".metadata.json", ".gz.metadata.json", ".metadata.json.gz"}) {
    std::string location = Join(metadata_folder, fmt::format("v{}{}", number, suffix));
    FIRN_ASSIGN(const bool exists, io.Exists(location));
    if (exists) return std::optional(std::move(location));
  }
  return std::optional<std::string>();
}

std::optional<std::int64_t> ReadVersionHint(FileIO& io, const std::string& metadata_folder) {
  constexpr std::uint64_t kHintBytesMax = 1024;
  const auto bytes = ReadFile(io, Join(metadata_folder, "version-hint.text"), kHintBytesMax);
  if (!bytes) return std::nullopt;
  std::string_view text = AsText(*bytes);
  return ParseVersion(Trimmed(NextPart(text, '\n'), " \t\r"));
}

Result<HadoopVersion> CurrentHadoopVersion(FileIO& io, const std::string& metadata_folder) {
  std::optional<std::int64_t> number = ReadVersionHint(io, metadata_folder);
  std::optional<std::string> found;
  if (number) {
    FIRN_ASSIGN(found, FindHadoopVersion(io, metadata_folder, *number));
  }
  if (!found) {
    FIRN_ASSIGN(number, ListedVersion(io, metadata_folder));
    if (number) {
      FIRN_ASSIGN(found, FindHadoopVersion(io, metadata_folder, *number));
    }
  }
  if (!found) {
    return Error{Code::kNotFound, fmt::format("{}: no version of a table there (vN.metadata.json)", metadata_folder)};
  }
  HadoopVersion current{*number, *found};
  while (true) {
    FIRN_ASSIGN(auto next, FindHadoopVersion(io, metadata_folder, current.number + 1));
    if (!next) return current;
    current = {current.number + 1, std::move(*next)};
  }
}

}  // namespace firn::ports
