// SPDX-License-Identifier: Apache-2.0
#include "iceberg/delete_index.h"

#include <algorithm>
#include <iterator>
#include <optional>

#include "iceberg/delete_reach.h"

namespace firn::iceberg {
namespace {

std::string ScopeKey(const DataFile& file) {
  std::string key = std::to_string(file.spec_id.value);
  key += ':';
  key += TupleKey(file.partition);
  return key;
}

bool SameScope(const DataFile& a, const DataFile& b) {
  return a.spec_id == b.spec_id && SameTuple(a.partition, b.partition);
}

/// False only when the bounds show that no row of the delete file names `path`. An upper bound that was cut without
/// being raised is a prefix of paths that it should cover.
bool BoundsCover(const DataFile& deletes, std::string_view path) {
  const auto lower = PathBound(deletes.lower_bounds), upper = PathBound(deletes.upper_bounds);
  if (lower && upper && *lower > *upper) return true;
  if (lower && path < *lower) return false;
  return !upper || path <= *upper || path.starts_with(*upper);
}

std::size_t CommonPrefix(std::string_view a, std::string_view b) {
  return static_cast<std::size_t>(std::ranges::mismatch(a, b).in1 - a.begin());
}

constexpr auto kBefore = [](std::string_view path, const auto& entry) { return path < entry.first; };

}  // namespace

DeleteKind KindOf(const DataFile& delete_file) {
  if (delete_file.content == FileContent::kEqualityDeletes) return DeleteKind::kEquality;
  return delete_file.format == FileFormat::kPuffin ? DeleteKind::kVector : DeleteKind::kPositions;
}

bool EntryAllows(const DataFile& position_deletes, std::string_view path) {
  if (position_deletes.referenced_data_file) return path == *position_deletes.referenced_data_file;
  return BoundsCover(position_deletes, path);
}

void DeleteIndex::Add(DeleteEntry entry, bool spec_is_unpartitioned) {
  const auto index = static_cast<std::uint32_t>(entries_.size());
  const DataFile& file = entry.file;
  const DeleteKind kind = KindOf(file);
  if (kind == DeleteKind::kEquality) {
    (spec_is_unpartitioned ? global_equality_ : equality_by_scope_[ScopeKey(file)]).push_back(index);
  } else if (file.referenced_data_file) {
    (kind == DeleteKind::kVector ? vectors_by_path_ : positions_by_path_)[*file.referenced_data_file].push_back(index);
  } else if (const auto path = OnlyBound(file)) {
    positions_by_bound_.emplace_back(*path, index);
  } else {
    positions_by_scope_[ScopeKey(file)].push_back(index);
  }
  entries_.push_back(std::move(entry));
}

void DeleteIndex::Build() {
  const auto newest_first = [this](std::uint32_t a, std::uint32_t b) {
    return entries_[a].sequence_number > entries_[b].sequence_number;
  };
  for (auto* groups : {&vectors_by_path_, &positions_by_path_, &positions_by_scope_, &equality_by_scope_}) {
    for (auto& [key, group] : *groups) std::ranges::stable_sort(group, newest_first);
  }
  std::ranges::stable_sort(global_equality_, newest_first);
  std::ranges::sort(positions_by_bound_);
}

bool DeleteIndex::PositionsApply(std::uint32_t index, const DataFile& file, SequenceNumber sequence_number) const {
  const DeleteEntry& entry = entries_[index];
  return sequence_number <= entry.sequence_number && SameScope(entry.file, file);
}

template <class Visitor>
bool DeleteIndex::ForEachBoundThatCouldBe(std::string_view path, Visitor visit) const {
  // Keys that are the path or begin it. Of the keys up to the path, those between a common prefix and the next key
  // below it cannot: they are jumped over.
  auto end = std::upper_bound(positions_by_bound_.begin(), positions_by_bound_.end(), path, kBefore);
  while (end != positions_by_bound_.begin()) {
    --end;
    if (path.starts_with(end->first)) {
      if (!visit(end->second)) return false;
      continue;
    }
    const std::string_view common = path.substr(0, CommonPrefix(path, end->first));
    end = std::upper_bound(positions_by_bound_.begin(), end, common, kBefore);
  }
  return true;
}

template <class Visitor>
bool DeleteIndex::ForEachPosition(const DataFile& file, SequenceNumber sequence_number, Visitor visit) const {
  if (!positions_by_path_.empty()) {
    if (const auto found = positions_by_path_.find(file.file_path); found != positions_by_path_.end()) {
      for (const std::uint32_t index : found->second) {
        if (PositionsApply(index, file, sequence_number) && !visit(index)) return false;
      }
    }
  }
  const bool go_on = ForEachBoundThatCouldBe(file.file_path, [&](std::uint32_t index) {
    return !PositionsApply(index, file, sequence_number) || visit(index);
  });
  if (!go_on) return false;
  if (positions_by_scope_.empty()) return true;
  const auto found = positions_by_scope_.find(ScopeKey(file));
  if (found == positions_by_scope_.end()) return true;
  for (const std::uint32_t index : found->second) {
    if (entries_[index].sequence_number < sequence_number) return true;
    if (BoundsCover(entries_[index].file, file.file_path) && !visit(index)) return false;
  }
  return true;
}

template <class Visitor>
bool DeleteIndex::ForEachPositional(const DataFile& file, SequenceNumber sequence_number, Visitor visit) const {
  bool has_vector = false;
  if (!vectors_by_path_.empty()) {
    if (const auto found = vectors_by_path_.find(file.file_path); found != vectors_by_path_.end()) {
      for (const std::uint32_t index : found->second) {
        if (!PositionsApply(index, file, sequence_number)) continue;
        has_vector = true;
        if (!visit(index)) return false;
      }
    }
  }
  return has_vector || ForEachPosition(file, sequence_number, visit);
}

template <class Visitor>
void DeleteIndex::ForEach(const DataFile& file, SequenceNumber sequence_number, Visitor visit) const {
  if (!ForEachPositional(file, sequence_number, visit)) return;
  const auto visit_newer = [&](const Group& group) {
    for (const std::uint32_t index : group) {
      if (entries_[index].sequence_number <= sequence_number) return true;
      if (!visit(index)) return false;
    }
    return true;
  };
  if (!visit_newer(global_equality_) || equality_by_scope_.empty()) return;
  const auto found = equality_by_scope_.find(ScopeKey(file));
  if (found != equality_by_scope_.end()) (void)visit_newer(found->second);
}

std::vector<std::uint32_t> DeleteIndex::Find(const DataFile& file, SequenceNumber sequence_number) const {
  std::vector<std::uint32_t> found;
  ForEach(file, sequence_number, [&found](std::uint32_t index) {
    found.push_back(index);
    return true;
  });
  std::ranges::sort(found);
  return found;
}

std::vector<std::uint32_t> DeleteIndex::FindPositional(const DataFile& file, SequenceNumber sequence_number) const {
  std::vector<std::uint32_t> found;
  ForEachPositional(file, sequence_number, [&found](std::uint32_t index) {
    found.push_back(index);
    return true;
  });
  std::ranges::sort(found);
  return found;
}

bool DeleteIndex::AnyEquality(const DataFile& file, SequenceNumber sequence_number) const {
  const auto reaches = [&](const Group& newest_first) {
    return !newest_first.empty() && entries_[newest_first.front()].sequence_number > sequence_number;
  };
  if (reaches(global_equality_)) return true;
  if (equality_by_scope_.empty()) return false;
  const auto found = equality_by_scope_.find(ScopeKey(file));
  return found != equality_by_scope_.end() && reaches(found->second);
}

bool DeleteIndex::Any(const DataFile& file, SequenceNumber sequence_number) const {
  bool any = false;
  ForEach(file, sequence_number, [&any](std::uint32_t) {
    any = true;
    return false;
  });
  return any;
}

DeleteIndex::Kinds DeleteIndex::FindKinds(const DataFile& file, SequenceNumber sequence_number) const {
  Kinds kinds;
  ForEach(file, sequence_number, [&](std::uint32_t index) {
    switch (KindOf(entries_[index].file)) {
      case DeleteKind::kPositions: kinds.positions = true; break;
      case DeleteKind::kVector: kinds.vector = true; break;
      case DeleteKind::kEquality: kinds.equality = true; break;
    }
    return true;
  });
  return kinds;
}

DeleteIndex::Tally DeleteIndex::Count(const DataFile& file, SequenceNumber sequence_number,
                                      SequenceNumber file_sequence_number) const {
  Tally tally;
  ForEach(file, sequence_number, [&](std::uint32_t index) {
    const DeleteEntry& entry = entries_[index];
    const bool names_it = entry.file.referenced_data_file || OnlyBound(entry.file) == file.file_path;
    if (entry.file.content == FileContent::kEqualityDeletes) {
      tally.may_delete_more = true;
    } else if (names_it) {
      const std::int64_t rows = std::max<std::int64_t>(entry.file.record_count, 0);
      tally.deleted_rows = std::min(tally.deleted_rows + std::min(rows, file.record_count), file.record_count);
    } else if (entry.sequence_number < file_sequence_number) {
      return true;
    } else {
      tally.may_delete_more = true;
    }
    ++tally.delete_files;
    return true;
  });
  return tally;
}

std::vector<std::uint32_t> DeleteIndex::Misplaced(const DataFile& file, SequenceNumber sequence_number) const {
  std::vector<std::uint32_t> misplaced;
  const auto add_if_elsewhere = [&](std::uint32_t index) {
    if (!SameScope(entries_[index].file, file)) misplaced.push_back(index);
  };
  if (const auto found = vectors_by_path_.find(file.file_path); found != vectors_by_path_.end()) {
    std::ranges::copy_if(found->second, std::back_inserter(misplaced),
                         [&](std::uint32_t index) { return !PositionsApply(index, file, sequence_number); });
  }
  if (const auto found = positions_by_path_.find(file.file_path); found != positions_by_path_.end()) {
    std::ranges::for_each(found->second, add_if_elsewhere);
  }
  const auto [first, last] =
      std::ranges::equal_range(positions_by_bound_, file.file_path, {}, &std::pair<std::string, std::uint32_t>::first);
  std::for_each(first, last, [&](const auto& entry) { add_if_elsewhere(entry.second); });
  return misplaced;
}

DeleteIndex::Kinds DeleteIndex::FindMisplaced(const DataFile& file, SequenceNumber sequence_number) const {
  Kinds kinds;
  for (const std::uint32_t index : Misplaced(file, sequence_number)) {
    (KindOf(entries_[index].file) == DeleteKind::kVector ? kinds.vector : kinds.positions) = true;
  }
  return kinds;
}

}  // namespace firn::iceberg
