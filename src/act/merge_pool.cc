// SPDX-License-Identifier: Apache-2.0
#include "act/merge_pool.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "act/foreign_changes.h"
#include "act/offset_row_map.h"
#include "base/memory.h"
#include "base/threads.h"
#include "observe/resolve.h"

namespace firn::act {
namespace {

/// Entries without metrics take less than 1 kB each.
constexpr std::size_t kResolvedFilesMax = 4096;

std::size_t BytesOf(const iceberg::ManifestEntry& entry) {
  const iceberg::DataFile& file = entry.file;
  const std::size_t counts = file.column_sizes.size() + file.value_counts.size() + file.null_value_counts.size() +
                             file.nan_value_counts.size() + file.distinct_counts.size() + file.split_offsets.size();
  std::size_t bytes = sizeof entry + file.file_path.size() + counts * sizeof(std::pair<FieldId, std::int64_t>);
  for (const auto* bounds : {&file.lower_bounds, &file.upper_bounds}) {
    constexpr std::size_t kHeapBytes = 16;  // what each small block costs besides
    for (const auto& bound : *bounds) bytes += sizeof bound + bound.second.size() + kHeapBytes;
  }
  return bytes;
}

Error CancelledError() { return {Code::kCancelled, "the work was cancelled"}; }

}  // namespace

MergePool::MergePool(const MergeContext& context, const decide::Plan& plan, const observe::Facts& facts, int workers,
                     const std::atomic<bool>* cancelled, Progress progress)
    : context_(context),
      plan_(plan),
      facts_(facts),
      cancelled_(cancelled),
      progress_(std::move(progress)),
      results_(plan.groups.size()),
      ended_(plan.groups.size()) {
  StartThreads(workers_, static_cast<std::size_t>(std::max(workers, 1)), [this] { Work(); });
  if (!workers_.empty()) return;
  for (std::size_t i = 0; i < plan.groups.size(); ++i) Fail(i, {Code::kLimit, "no thread could be started"});
}

MergePool::~MergePool() {
  stop_ = true;
  changed_.notify_all();
}

void MergePool::Work() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return !ready_.empty() || !resolving_; });
    if (!ready_.empty()) {
      Job job = std::move(ready_.front());
      ready_.pop_front();
      lock.unlock();
      const std::size_t group = job.group;
      std::vector<std::string> leftovers;
      MergedGroup result = Merge(std::move(job), leftovers);
      Finish(group, std::move(result), std::move(leftovers));
      ReturnMemoryAfter(group);
      lock.lock();
      continue;
    }
    if (next_ == plan_.groups.size()) return;
    resolving_ = true;
    const std::size_t begin = next_;
    next_ = ChunkEnd(begin);
    const std::size_t end = next_;
    lock.unlock();
    Resolve(begin, end);
    lock.lock();
    resolving_ = false;
    changed_.notify_all();
  }
}

std::size_t MergePool::ChunkEnd(std::size_t begin) const {
  // Groups whose metrics fit into memory together; one that is larger has a chunk of its own.
  const std::size_t fitting = entry_bytes_ == 0 ? kResolvedFilesMax : kEntryBytesMax / entry_bytes_;
  std::size_t files = plan_.groups[begin].files.size(), end = begin + 1;
  for (; end < plan_.groups.size(); ++end) {
    files += plan_.groups[end].files.size();
    if (files > std::min(kResolvedFilesMax, fitting)) break;
  }
  return end;
}

/// What many merges have freed lies in pieces between what is kept: the next ones would take new memory beside it.
void MergePool::ReturnMemoryAfter(std::size_t group) {
  constexpr std::int64_t kInputBytes = 1024, kReturnBytes = 16 << 20;
  const decide::MergeGroup& planned = plan_.groups[group];
  const std::int64_t used = planned.input_bytes + static_cast<std::int64_t>(planned.files.size()) * kInputBytes;
  std::int64_t now = freed_bytes_.fetch_add(used) + used;
  if (now >= kReturnBytes && freed_bytes_.compare_exchange_strong(now, 0)) ReturnFreeMemory();
}

/// Complete entries, or entries without metrics if those were too many bytes.
Result<std::vector<iceberg::ManifestEntry>> MergePool::ReadEntries(const std::vector<std::uint32_t>& files,
                                                                   bool& complete) {
  std::vector<iceberg::ManifestEntry> entries(files.size());
  const auto read = [&](iceberg::Wanted wanted) {
    std::size_t bytes = 0, count = 0;
    const auto take = [&](std::size_t place, const iceberg::ManifestEntry& entry) -> Status {
      bytes += BytesOf(entry);
      entry_bytes_ = bytes / ++count;
      if (wanted.metrics && bytes > kEntryBytesMax) {
        complete = false;
        return Error{Code::kLimit, "more metrics than memory"};
      }
      entries[place] = entry;
      return Ok();
    };
    return observe::ForEachFile(facts_, files, context_.io, context_.metadata, wanted, take);
  };
  complete = files.size() * entry_bytes_ <= kEntryBytesMax;
  if (complete) {
    Status done = read(iceberg::Wanted::everything());
    if (done) return entries;
    if (complete) return std::move(done.error());
    std::ranges::fill(entries, iceberg::ManifestEntry());
  }
  const std::size_t entry_bytes = entry_bytes_;
  Status done = read({.metrics = false, .split_offsets = false});
  entry_bytes_ = entry_bytes;
  if (!done) return std::move(done.error());
  return entries;
}

/// Reads the entries of several groups at once: their manifests are mostly the same.
void MergePool::Resolve(std::size_t begin, std::size_t end) {
  std::vector<std::uint32_t> indexes;
  std::vector<std::size_t> good;
  for (std::size_t g = begin; g < end; ++g) {
    Status status = Cancelled() ? Status(CancelledError()) : CheckGroup(g);
    if (!status) {
      Fail(g, std::move(status.error()));
      continue;
    }
    good.push_back(g);
    indexes.insert(indexes.end(), plan_.groups[g].files.begin(), plan_.groups[g].files.end());
  }
  if (good.empty()) return;
  bool complete = false;
  auto entries = ReadEntries(indexes, complete);
  if (!entries) {
    // Perhaps one manifest is broken: the groups that do not need it shall go on.
    if (good.size() > 1) {
      for (const std::size_t g : good) Resolve(g, g + 1);
      return;
    }
    return Fail(good.front(), std::move(entries.error()));
  }
  auto from = std::make_move_iterator(entries->begin());
  const std::lock_guard lock(mutex_);
  for (const std::size_t g : good) {
    const auto to = from + static_cast<std::ptrdiff_t>(plan_.groups[g].files.size());
    Job& job = ready_.emplace_back(g, MergeInputs{std::vector<iceberg::ManifestEntry>(from, to)});
    from = to;
    if (complete) continue;
    job.inputs.for_each_complete = [this, g](const MergeInputs::Visitor& visit) {
      return observe::ForEachFile(facts_, plan_.groups[g].files, context_.io, context_.metadata,
                                  iceberg::Wanted::everything(), visit);
    };
  }
  changed_.notify_all();
}

Status MergePool::CheckGroup(std::size_t group) const {
  const decide::MergeGroup& planned = plan_.groups[group];
  const auto invalid = [](std::string_view what) { return Error{Code::kInvalidArgument, std::string(what)}; };
  if (planned.files.empty()) return invalid("the group has no files");
  if (planned.partition >= facts_.partitions.size()) return invalid("the group's partition is not in the facts");
  const iceberg::PartitionSpec* spec = context_.metadata.FindSpec(facts_.partitions[planned.partition].spec_id);
  if (spec == nullptr) return invalid("the group's partition spec is not in the table");
  for (const iceberg::PartitionField& field : spec->fields) {
    if (field.transform.kind != iceberg::TransformKind::kUnknown) continue;
    return Error{Code::kUnsupported,
                 fmt::format("transform {} of partition field {} is not known", field.transform.text, field.name)};
  }
  for (const std::uint32_t index : planned.files) {
    if (index >= facts_.files.size()) return invalid("a file of the group is not in the facts");
    const observe::DataFileFacts& file = facts_.files[index];
    if (file.partition != planned.partition) return invalid("a file of the group is in another partition");
    if (planned.files.size() < 2 && (file.flags & observe::kDeleteFlags) == 0) {
      return invalid("the group is one file without deletes");
    }
    if ((file.flags & ~observe::kRewritableFlags) != 0) {
      return Error{Code::kUnsupported, "a file of the group has misplaced deletes, encryption or another format"};
    }
  }
  return Ok();
}

MergedGroup MergePool::Merge(Job job, std::vector<std::string>& leftovers) {
  const decide::MergeGroup& planned = plan_.groups[job.group];
  MergedGroup result;
  if (Cancelled()) {
    Report(planned.input_bytes, 1);
    result.error = CancelledError();
    return result;
  }
  std::int64_t reported = 0;
  std::uint64_t seen = 0;
  std::optional<Error> overtaken;
  const auto progress = [&](std::int64_t done_bytes) {
    Report(done_bytes - reported, 0);
    reported = done_bytes;
    if (!overtaken) overtaken = Overtaken(job, seen);
    return !overtaken && !Cancelled();
  };
  if ((overtaken = Overtaken(job, seen))) {
    Report(planned.input_bytes, 1);
    result.error = std::move(overtaken);
    return result;
  }
  Result<MergedFile> merged = MergeFiles(context_, job.inputs, static_cast<std::int64_t>(job.group),
                                         SortOrderId(planned.sort_order_id), progress, leftovers);
  // What was not read any more is done as well.
  Report(planned.input_bytes - reported, 1);
  if (!merged) {
    result.error = overtaken ? std::move(*overtaken) : std::move(merged.error());
    return result;
  }
  for (LeftOutFile& file : merged->left_out) result.left_out.push_back(std::move(file.error));
  for (const std::size_t i : merged->used) result.input_bytes += job.inputs.entries[i].file.file_size_bytes;
  result.group = GroupOf(job, *merged);
  result.report = std::move(merged->report);
  return result;
}

/// Why the group could not be committed any more, if others committed since `seen`.
std::optional<Error> MergePool::Overtaken(const Job& job, std::uint64_t& seen) const {
  if (context_.foreign == nullptr) return std::nullopt;
  if (const std::uint64_t found = context_.foreign->LookIfDue(); std::exchange(seen, found) == found) return {};
  for (const iceberg::ManifestEntry& entry : job.inputs.entries) {
    if (std::optional<Error> why = context_.foreign->Why(entry)) return why;
  }
  return std::nullopt;
}

RewriteGroup MergePool::GroupOf(const Job& job, MergedFile& merged) const {
  const decide::MergeGroup& planned = plan_.groups[job.group];
  const observe::PartitionFacts& partition = facts_.partitions[planned.partition];
  RewriteGroup group;
  group.name = partition.text;
  group.spec_id = partition.spec_id;
  group.partition = partition.tuple;
  for (std::size_t k = 0; k < merged.used.size(); ++k) {
    const std::size_t i = merged.used[k];
    const iceberg::ManifestEntry& entry = job.inputs.entries[i];
    RemovedFile removed;
    removed.path = entry.file.file_path;
    removed.manifest = facts_.files[planned.files[i]].manifest;
    removed.record_count = entry.file.record_count;
    removed.data_sequence_number = entry.sequence_number;
    removed.file_sequence_number = entry.file_sequence_number;
    std::shared_ptr<const roaring::PositionSet> deleted;
    if (!merged.deletes.empty()) {
      deleted = merged.deletes[k].positions;
      removed.applied_deletes = std::move(merged.deletes[k].applied);
      removed.applied_equality = std::move(merged.deletes[k].applied_equality);
    }
    removed.row_map = std::make_shared<OffsetRowMap>(0, merged.row_bases[k], removed.record_count, std::move(deleted));
    group.removed.push_back(std::move(removed));
  }
  if (merged.added) group.added.push_back(std::move(*merged.added));
  group.deleted_rows = merged.deleted_rows;
  return group;
}

/// Of a group that was not begun.
void MergePool::Fail(std::size_t group, Error error) {
  MergedGroup result;
  result.error = std::move(error);
  Report(plan_.groups[group].input_bytes, 1);
  Finish(group, std::move(result), {});
}

void MergePool::Finish(std::size_t group, MergedGroup result, std::vector<std::string> leftovers) {
  {
    const std::lock_guard lock(mutex_);
    results_[group] = std::move(result);
    ended_[group] = true;
    leftovers_.insert(leftovers_.end(), std::make_move_iterator(leftovers.begin()),
                      std::make_move_iterator(leftovers.end()));
  }
  changed_.notify_all();
}

void MergePool::Report(std::int64_t more_bytes, std::int64_t more_groups) {
  const std::lock_guard lock(progress_mutex_);
  bytes_done_ += more_bytes;
  groups_done_ += more_groups;
  if (progress_) progress_(bytes_done_, groups_done_);
}

std::size_t MergePool::WaitForAny(const std::vector<std::pair<std::size_t, std::size_t>>& ranges) {
  std::unique_lock lock(mutex_);
  std::size_t found = 0;
  changed_.wait(lock, [&] {
    for (found = 0; found < ranges.size(); ++found) {
      const auto [begin, end] = ranges[found];
      if (begin < end && std::all_of(
                             ended_.begin() + static_cast<std::ptrdiff_t>(begin),
                             ended_.begin() + static_cast<std::ptrdiff_t>(end), [](bool x) { return x; })) {
        return true;
      }
    }
    return false;
  });
  return found;
}

MergedGroup MergePool::Take(std::size_t group) {
  const std::lock_guard lock(mutex_);
  MergedGroup result = std::move(*results_[group]);
  results_[group].reset();
  return result;
}

std::vector<std::string> MergePool::leftovers() {
  const std::lock_guard lock(mutex_);
  return leftovers_;
}

}  // namespace firn::act
