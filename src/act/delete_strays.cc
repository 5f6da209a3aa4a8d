// SPDX-License-Identifier: Apache-2.0
#include "act/delete_strays.h"

#include <algorithm>

namespace firn::act {

/// With mutex_ held.
bool DeleteStrays::AppliesTo(std::uint32_t entry, std::uint64_t path_key) {
  if (targets_.empty()) {
    targets_.reserve(facts_.targets.size());
    for (std::uint32_t t = 0; t < facts_.targets.size(); ++t) targets_.emplace_back(PathKey(facts_.targets[t].path), t);
    std::ranges::sort(targets_);
  }
  const iceberg::DataFile& deletes = facts_.deletes.entries()[entry].file;
  const auto begin = std::ranges::lower_bound(targets_, std::pair(path_key, std::uint32_t{0}));
  for (auto at = begin; at != targets_.end() && at->first == path_key; ++at) {
    const observe::DeleteTarget& target = facts_.targets[at->second];
    const iceberg::DataFile file = DataFileOf(facts_, target);
    if (file.spec_id != deletes.spec_id || !iceberg::SameTuple(file.partition, deletes.partition)) continue;
    if (target.kinds.vector) return true;
    const std::vector<std::uint32_t> applying = facts_.deletes.FindPositional(file, target.sequence_number);
    if (std::ranges::binary_search(applying, entry)) return true;
  }
  return false;
}

Status DeleteStrays::Check(std::uint32_t entry, const std::vector<std::uint64_t>& path_keys) {
  const std::lock_guard lock(mutex_);
  for (const std::uint64_t key : path_keys) {
    if (AppliesTo(entry, key)) continue;
    FIRN_ASSIGN(const bool is_live, live_.Contains(key));
    if (is_live) {
      return Error{Code::kCorrupt, facts_.deletes.entries()[entry].file.file_path +
                                       ": rows name a live data file that it does not apply to: readers disagree"};
    }
    dangling_.emplace_back(key, entry);
  }
  return Ok();
}

DeleteStrays::Dangling DeleteStrays::TakeDangling() {
  const std::lock_guard lock(mutex_);
  std::ranges::sort(dangling_);
  const auto twice = std::ranges::unique(dangling_);
  dangling_.erase(twice.begin(), twice.end());
  return std::move(dangling_);
}

}  // namespace firn::act
