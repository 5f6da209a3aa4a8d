// SPDX-License-Identifier: Apache-2.0
#include "simulate/world.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace firn::simulate {
namespace {

auto FindId(std::vector<StoredFile>& files, std::uint32_t id) {
  const auto it = std::ranges::lower_bound(files, id, {}, &StoredFile::id);
  return it != files.end() && it->id == id ? it : files.end();
}

std::int64_t Share(std::int64_t bytes, std::int64_t part, std::int64_t whole) {
  if (whole <= 0 || part >= whole) return bytes;
  return std::llround(static_cast<double>(bytes) * static_cast<double>(part) / static_cast<double>(whole));
}

/// One of `parts` nearly equal parts of a sum; all of them add up to it.
std::int64_t Part(std::int64_t sum, std::int64_t index, std::int64_t parts) {
  return sum * (index + 1) / parts - sum * index / parts;
}

}  // namespace

World::World(std::uint32_t tables, std::int64_t healthy_size_bytes)
    : tables_(tables), healthy_size_bytes_(healthy_size_bytes) {}

std::int64_t World::EqualityDeletesOf(const StoredPartition& partition, const StoredFile& file) {
  const auto& deletes = partition.equality_deletes;
  return deletes.end() - std::ranges::upper_bound(deletes, file.sequence);
}

bool World::IsSmall(const StoredFile& file) const {
  return Share(file.size_bytes, file.rows - file.dead_rows, file.rows) < healthy_size_bytes_;
}

void World::Count(StoredPartition& partition, const StoredFile& file, std::int64_t sign) {
  totals_.files += sign;
  totals_.bytes += sign * file.size_bytes;
  totals_.rows += sign * LiveRows(file);
  if (file.dead_rows > 0) {
    totals_.vectors += sign;
    partition.vectors += static_cast<std::int32_t>(sign);
  }
  totals_.delete_reads += sign * DeleteReadsOf(partition, file);
  if (IsSmall(file)) {
    totals_.small_files += sign;
    partition.small_files += static_cast<std::int32_t>(sign);
  }
}

void World::Apply(Commit& commit) {
  Table& table = tables_[commit.table];
  ++table.sequence;
  for (PartitionCommit& change : commit.partitions) {
    if (change.partition >= table.partitions.size()) table.partitions.resize(change.partition + 1);
    StoredPartition& partition = table.partitions[change.partition];
    partition.vectors_added = partition.vectors_removed = 0;
    if (change.removes_all || !change.removed_sizes.empty()) Remove(partition, change);
    if (change.deletes != DeleteKind::kNone) Delete(partition, change, table.sequence);
    if (change.equality_deletes > 0) DeleteByKeys(partition, change, table.sequence);
    for (const NewFile& added : change.added) Add(partition, added, table.sequence);
  }
}

/// Files that come with deletes are older than these, each by as many as apply to it.
void World::DeleteByKeys(StoredPartition& partition, const PartitionCommit& change, std::int64_t sequence) {
  const bool is_history = std::ranges::any_of(change.added, [](const NewFile& f) { return f.equality_deletes > 0; });
  if (partition.files.empty() && !is_history) return;  // they delete nothing
  for (std::int64_t left = change.equality_deletes; left > 0; --left) {
    partition.equality_deletes.push_back(is_history ? sequence - left + 1 : sequence);
  }
  totals_.equality_deletes += change.equality_deletes;
  totals_.delete_reads += std::int64_t{change.equality_deletes} * static_cast<std::int64_t>(partition.files.size());
}

void World::Add(StoredPartition& partition, const NewFile& added, std::int64_t sequence) {
  StoredFile file;
  file.size_bytes = added.size_bytes;
  file.rows = added.rows;
  file.dead_rows = std::min(added.deleted_rows, added.rows);
  file.sequence = sequence - added.equality_deletes;
  file.id = partition.next_id++;
  partition.files.push_back(file);
  Count(partition, file, 1);
  partition.vectors_added += file.dead_rows > 0 ? 1 : 0;
  bytes_ingested_ += added.size_bytes;
  rows_added_ += added.rows;
  rows_deleted_ += file.dead_rows;
}

std::int64_t World::DeleteInFile(StoredPartition& partition, StoredFile& file, std::int64_t rows, DeleteKind kind) {
  const std::int64_t taken = std::min(rows, LiveRows(file));
  if (taken == 0) return 0;
  Count(partition, file, -1);
  if (kind == DeleteKind::kVectors) {
    ++partition.vectors_added;
    partition.vectors_removed += file.dead_rows > 0 ? 1 : 0;
    file.dead_rows += taken;
  } else {
    file.hidden_rows += taken;
  }
  Count(partition, file, 1);
  return taken;
}

/// Deletes the rows at the places of the change, and goes on with older files where a file has too few.
void World::Delete(StoredPartition& partition, const PartitionCommit& change, std::int64_t sequence) {
  std::int64_t live = 0;
  for (const StoredFile& file : partition.files) live += LiveRows(file);
  const std::int64_t rows = std::min(change.deleted_rows, live);
  const auto places = static_cast<std::int64_t>(change.places.size());
  for (std::int64_t i = 0; i < places; ++i) {
    std::int64_t left = Part(rows, i, places);
    auto before = static_cast<std::int64_t>(change.places[static_cast<std::size_t>(i)] * static_cast<float>(live));
    std::size_t at = 0;
    while (at + 1 < partition.files.size() && before >= LiveRows(partition.files[at])) {
      before -= LiveRows(partition.files[at++]);
    }
    for (std::size_t seen = 0; seen < partition.files.size() && left > 0; ++seen) {
      left -= DeleteInFile(partition, partition.files[at], left, change.deletes);
      at = at == 0 ? partition.files.size() - 1 : at - 1;
    }
  }
  rows_deleted_ += rows;
  if (change.deletes == DeleteKind::kEquality && !partition.files.empty()) {
    partition.equality_deletes.push_back(sequence);
    ++totals_.equality_deletes;
    totals_.delete_reads += static_cast<std::int64_t>(partition.files.size());
  }
}

/// The bytes that are gone.
std::int64_t World::TakeAway(StoredPartition& partition, std::vector<StoredFile>::iterator file) {
  const std::int64_t size_bytes = file->size_bytes;
  rows_deleted_ += LiveRows(*file);
  Count(partition, *file, -1);
  partition.vectors_removed += file->dead_rows > 0 ? 1 : 0;
  partition.files.erase(file);
  return size_bytes;
}

void World::Remove(StoredPartition& partition, PartitionCommit& change) {
  std::vector<std::int64_t> removed;
  auto& files = partition.files;
  for (const std::int64_t size_bytes : change.removed_sizes) {
    if (change.removes_all || files.empty()) break;
    const auto same = std::ranges::find(files, size_bytes, &StoredFile::size_bytes);
    if (same != files.end()) {
      removed.push_back(TakeAway(partition, same));
      continue;
    }
    ++removals_redirected_;
    std::int64_t left = std::max<std::int64_t>(size_bytes, 1);
    while (left > 0 && !files.empty()) {
      const auto largest = std::ranges::max_element(files, {}, &StoredFile::size_bytes);
      if (const std::int64_t rest = largest->size_bytes - left; rest > 0) {
        change.added.push_back({.size_bytes = rest, .rows = Share(LiveRows(*largest), rest, largest->size_bytes)});
        bytes_ingested_ -= rest;
      }
      removed.push_back(TakeAway(partition, largest));
      left -= std::max<std::int64_t>(removed.back(), 1);
    }
  }
  while (change.removes_all && !files.empty()) removed.push_back(TakeAway(partition, files.end() - 1));
  change.removed_sizes = std::move(removed);
}

void World::DropDeadDeletes(StoredPartition& partition, Applied& applied) {
  std::int64_t oldest = INT64_MAX;
  for (const StoredFile& file : partition.files) oldest = std::min(oldest, file.sequence);
  auto& deletes = partition.equality_deletes;
  const auto end = std::ranges::upper_bound(deletes, oldest);
  applied.equality_deletes_removed = end - deletes.begin();
  totals_.equality_deletes -= applied.equality_deletes_removed;
  deletes.erase(deletes.begin(), end);
}

void World::ApplyMerge(StoredPartition& partition, const Merge& merge, const Job& job, Applied& applied) {
  StoredFile sum;
  std::int64_t hidden = 0;
  bool folds_equality = false;
  for (const MergeInput& input : merge.inputs) {
    const auto it = FindId(partition.files, input.id);
    if (it == partition.files.end()) {
      ++applied.overtaken;
      return;
    }
    sum.rows += it->rows - input.dead_rows - input.hidden_rows;
    sum.dead_rows += it->dead_rows - input.dead_rows;
    sum.hidden_rows += it->hidden_rows - input.hidden_rows;
    sum.sequence = std::max(sum.sequence, it->sequence);
    hidden += input.hidden_rows;
    const auto& deletes = partition.equality_deletes;
    folds_equality |=
        std::ranges::upper_bound(deletes, it->sequence) != std::ranges::upper_bound(deletes, job.sequence);
  }
  if (folds_equality) sum.sequence = job.sequence;
  for (const MergeInput& input : merge.inputs) {
    const auto it = FindId(partition.files, input.id);
    Count(partition, *it, -1);
    applied.bytes_read += it->size_bytes;
    applied.removed.push_back({it->size_bytes, it->rows});
    applied.vectors_removed += it->dead_rows > 0 ? 1 : 0;
    partition.files.erase(it);
  }
  ++applied.merges;
  applied.files_replaced += static_cast<std::int64_t>(merge.inputs.size());
  if (sum.rows == 0) return;
  for (std::int32_t i = 0; i < merge.outputs; ++i) {
    StoredFile file = sum;
    file.dead_rows = Part(sum.dead_rows, i, merge.outputs);
    file.hidden_rows = Part(sum.hidden_rows, i, merge.outputs);
    file.rows = file.dead_rows + file.hidden_rows + Part(LiveRows(sum), i, merge.outputs);
    file.size_bytes = Share(merge.output_bytes, sum.rows, sum.rows + hidden);
    file.id = partition.next_id++;
    partition.files.push_back(file);
    Count(partition, file, 1);
    applied.bytes_written += file.size_bytes;
    applied.added.push_back({file.size_bytes, file.rows});
    applied.vectors_removed -= file.dead_rows > 0 ? 1 : 0;  // that of what was carried over
    ++applied.files_made;
  }
}

/// Deletes up to the job's snapshot become vectors; younger ones stay as they are.
void World::ApplyConversion(StoredPartition& partition, const Job& job, Applied& applied) {
  for (const StoredFile& file : partition.files) Count(partition, file, -1);
  for (const MergeInput& target : job.targets) {
    const auto it = FindId(partition.files, target.id);
    if (it == partition.files.end()) continue;  // a writer has taken it away, and its deletes with it
    applied.bytes_read += it->rows * kKeyBytes;
    if (target.hidden_rows == 0) continue;
    applied.vectors_removed += it->dead_rows > 0 ? 1 : 0;
    ++applied.vectors_added;
    it->hidden_rows -= target.hidden_rows;
    it->dead_rows += target.hidden_rows;
    applied.bytes_written += it->dead_rows * kPositionBytes;
  }
  auto& deletes = partition.equality_deletes;
  const auto end = std::ranges::upper_bound(deletes, job.sequence);
  applied.equality_deletes_removed = end - deletes.begin();
  totals_.equality_deletes -= applied.equality_deletes_removed;
  deletes.erase(deletes.begin(), end);
  for (const StoredFile& file : partition.files) Count(partition, file, 1);
}

Applied World::Apply(const Job& job) {
  Table& table = tables_[job.table];
  StoredPartition& partition = table.partitions[job.partition];
  ++table.sequence;
  Applied applied;
  if (job.converts_deletes) {
    ApplyConversion(partition, job, applied);
    return applied;
  }
  for (const Merge& merge : job.merges) ApplyMerge(partition, merge, job, applied);
  DropDeadDeletes(partition, applied);
  return applied;
}

Status World::Check() const {
  World recount(0, healthy_size_bytes_);
  for (std::size_t t = 0; t < tables_.size(); ++t) {
    for (std::size_t p = 0; p < tables_[t].partitions.size(); ++p) {
      StoredPartition partition = tables_[t].partitions[p];
      const std::int32_t small = std::exchange(partition.small_files, 0);
      const std::int32_t vectors = std::exchange(partition.vectors, 0);
      const StoredFile* before = nullptr;
      for (const StoredFile& file : partition.files) {
        recount.Count(partition, file, 1);
        if ((before != nullptr && before->id >= file.id) || file.id >= partition.next_id || LiveRows(file) < 0) {
          return Error{Code::kInternal, fmt::format("table {} partition {}: file {} is twice there, or has fewer rows "
                                                    "than none",
                                                    t, p, file.id)};
        }
        before = &file;
      }
      recount.totals_.equality_deletes += static_cast<std::int64_t>(partition.equality_deletes.size());
      if (small != partition.small_files || vectors != partition.vectors) {
        return Error{Code::kInternal,
                     fmt::format("table {} partition {}: {} small files and {} vectors counted as {} and {}", t, p,
                                 partition.small_files, partition.vectors, small, vectors)};
      }
    }
  }
  if (recount.totals_ != totals_)
    return Error{Code::kInternal, "the sums of the simulation are not those of its files"};
  if (totals_.rows != rows_added_ - rows_deleted_) {
    return Error{Code::kInternal, fmt::format("{} rows are there, {} were added and {} deleted", totals_.rows,
                                              rows_added_, rows_deleted_)};
  }
  return Ok();
}

}  // namespace firn::simulate
