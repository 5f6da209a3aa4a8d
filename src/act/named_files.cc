// SPDX-License-Identifier: Apache-2.0
#include "act/named_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "observe/manifest_scan.h"

namespace firn::act {

Status LivePaths::Read() {
  const iceberg::Snapshot* const snapshot = metadata_.FindSnapshot(snapshot_);
  if (snapshot == nullptr) return Error{Code::kInternal, "a snapshot is not in the metadata"};
  FIRN_ASSIGN(const std::vector<iceberg::ManifestFile> lines, observe::ReadManifests(io_, *snapshot, metadata_));
  std::vector<std::uint64_t> keys;
  for (const iceberg::ManifestFile& line : lines) {
    if (line.content != iceberg::ManifestContent::kData || !iceberg::MayHaveLiveFiles(line)) continue;
    FIRN_TRY(observe::ForEachEntry(io_, line, metadata_, iceberg::Wanted::planning(),
                                   [&](iceberg::ManifestEntry& entry, std::int64_t) -> Result<bool> {
                                     if (entry.status != iceberg::EntryStatus::kDeleted) {
                                       keys.push_back(PathKey(entry.file.file_path));
                                     }
                                     return true;
                                   }));
  }
  std::ranges::sort(keys);
  keys_ = std::move(keys);
  return Ok();
}

Result<bool> LivePaths::Contains(std::uint64_t path_key) {
  const std::lock_guard lock(mutex_);
  if (!keys_) FIRN_TRY(Read());
  return std::ranges::binary_search(*keys_, path_key);
}

Status NamedFiles::Note(const iceberg::DataFile& delete_file, const PathKeys& keys) {
  if (!keys.is_complete) return Check(delete_file);
  {
    const std::lock_guard lock(mutex_);
    if (const auto known = noted_.find(delete_file.file_path); known != noted_.end()) return known->second.verdict;
  }
  std::vector<std::uint64_t> live;
  for (const std::uint64_t key : keys.excluded) {
    FIRN_ASSIGN(const bool is_live, live_.Contains(key));
    if (is_live) live.push_back(key);
  }
  Status verdict = Ok();
  if (!live.empty()) {
    verdict = Error{Code::kCorrupt,
                    fmt::format("{}: rows name data files that its manifest entry excludes, such as {}: readers "
                                "disagree about them",
                                delete_file.file_path, keys.example)};
  }
  const std::lock_guard lock(mutex_);
  for (const std::uint64_t key : live) disputed_.try_emplace(key, delete_file.file_path);
  const auto all = std::make_shared<const std::vector<std::uint64_t>>(keys.all);
  return noted_.try_emplace(delete_file.file_path, Noted{all, std::move(verdict)}).first->second.verdict;
}

Status NamedFiles::CheckUndisputed(const std::string& data_file_path) const {
  const std::lock_guard lock(mutex_);
  if (disputed_.empty()) return Ok();
  const auto found = disputed_.find(PathKey(data_file_path));
  if (found == disputed_.end()) return Ok();
  return Error{Code::kCorrupt, fmt::format("{}: rows of {} name it, whose manifest entry excludes it: readers disagree",
                                           data_file_path, found->second)};
}

Status NamedFiles::Check(const iceberg::DataFile& delete_file) const {
  const std::lock_guard lock(mutex_);
  const auto known = noted_.find(delete_file.file_path);
  return known == noted_.end() ? Ok() : known->second.verdict;
}

NamedFiles::Keys NamedFiles::Find(const std::string& delete_file_path) const {
  const std::lock_guard lock(mutex_);
  const auto known = noted_.find(delete_file_path);
  return known == noted_.end() ? nullptr : known->second.keys;
}

}  // namespace firn::act
