// SPDX-License-Identifier: Apache-2.0
#include "act/rebase.h"

#include <fmt/format.h>

#include <optional>
#include <set>
#include <span>
#include <utility>

#include "act/delete_scope.h"

namespace firn::act {
namespace {

using iceberg::DeleteEntry;
using iceberg::DeleteKind;
using roaring::PositionSet;

constexpr std::int64_t kCacheBytes = 64 << 20;

bool IsEquality(const DeleteEntry& entry) { return iceberg::KindOf(entry.file) == DeleteKind::kEquality; }

/// A file of positions in several data files that is older than this one cannot know its path.
bool CannotName(const RemovedFile& file, const DeleteEntry& entry) {
  return iceberg::KindOf(entry.file) == DeleteKind::kPositions && !entry.file.referenced_data_file &&
         file.file_sequence_number && entry.sequence_number < *file.file_sequence_number;
}

bool Contains(const PositionSet& all, const PositionSet& some) {
  PositionSet both = all;
  both.Union(some);
  return both.cardinality() == all.cardinality();
}

Status CheckReachesAdded(const iceberg::TableMetadata& metadata, const DeleteEntry& equality, const RemovedFile& file,
                         const RewriteGroup& group) {
  for (const AddedFile& added : group.added) {
    if (Reaches(metadata, equality, added.file.spec_id, added.file.partition, added.data_sequence_number)) continue;
    return DeleteConflict("would no longer apply to the rows of", equality, file.path);
  }
  return Ok();
}

Status AddTranslated(const RewriteGroup& group, const RemovedFile& file, const PositionSet& positions,
                     std::vector<PositionSet>& out) {
  const RowMap& map = *file.row_map;
  roaring::RangeCursor cursor(positions, {0, file.record_count});
  for (roaring::PositionRange range; cursor.Next(range);) {
    for (std::int64_t position = range.begin; position < range.end; ++position) {
      if (map.deleted().Contains(position)) continue;
      const std::optional<RowPlace> place = map.Find(position);
      if (!place || place->added >= out.size() || place->row < 0 ||
          place->row >= group.added[place->added].file.record_count || out[place->added].Contains(place->row)) {
        return Error{Code::kInternal, fmt::format("row {} of {} has no place of its own in the files that replace it",
                                                  position, file.path)};
      }
      out[place->added].Add(place->row);
    }
  }
  return Ok();
}

}  // namespace

DeleteRebase::DeleteRebase() : cache_(kCacheBytes) {}

/// Divides the deletes that apply on the base, and those that did at the plan.
Result<DeleteRebase::Work> DeleteRebase::WorkOf(const iceberg::TableMetadata& metadata, const RewriteGroup& group,
                                                const RemovedFile& file, const iceberg::DeleteIndex& live,
                                                const DeleteWindow& window) {
  Work work;
  work.file = &file;
  work.data.spec_id = group.spec_id;
  work.data.partition = group.partition;
  work.data.file_path = file.path;
  work.data.record_count = file.record_count;
  const SequenceNumber sequence_number = file.data_sequence_number.value_or(SequenceNumber(0));
  std::set<iceberg::FileIdentity> gone(file.applied_deletes.begin(), file.applied_deletes.end());
  if (file.applied_equality) gone.insert(file.applied_equality->begin(), file.applied_equality->end());
  for (const std::uint32_t i : live.Find(work.data, sequence_number)) {
    const DeleteEntry& entry = live.entries()[i];
    const bool applied = gone.erase(iceberg::IdentityOf(entry.file)) > 0;
    if (IsEquality(entry)) {
      if (!applied) FIRN_TRY(CheckReachesAdded(metadata, entry, file, group));
      continue;
    }
    if (CannotName(file, entry)) continue;
    work.live.push_back(&entry);
    if (applied) continue;
    work.has_new = true;
    if (file.row_map == nullptr) return DeleteConflict("was added since the plan and applies to", entry, file.path);
  }
  if (gone.empty()) return work;
  for (const DeleteEntry* entry : window.Lost(work.data, sequence_number)) {
    if (gone.erase(iceberg::IdentityOf(entry->file)) > 0) work.lost.push_back(entry);
  }
  // Position deletes are still there but stopped to apply when a vector came.
  for (const DeleteEntry& entry : live.entries()) {
    if (!gone.empty() && gone.erase(iceberg::IdentityOf(entry.file)) > 0) work.lost.push_back(&entry);
  }
  if (!gone.empty()) {
    return Error{Code::kConflict, fmt::format("delete file {}, which was applied to data file {}, is not in the table",
                                              gone.begin()->path, file.path)};
  }
  if (file.row_map == nullptr) {
    return DeleteConflict("was removed since the plan; it applied to", *work.lost.front(), file.path);
  }
  return work;
}

Result<std::vector<PositionSet>> DeleteRebase::Translate(const iceberg::TableMetadata& metadata, ports::FileIO& io,
                                                         const RewriteGroup& group, const iceberg::DeleteIndex& live,
                                                         const DeleteWindow& window) {
  std::vector<Work> works;
  for (const RemovedFile& file : group.removed) {
    FIRN_ASSIGN(Work work, WorkOf(metadata, group, file, live, window));
    if (work.has_new || !work.lost.empty()) works.push_back(std::move(work));
  }

  std::vector<PositionSet> translated(group.added.size());
  FIRN_TRY(Load(metadata, io, works));
  for (const Work& work : works) {
    const PositionSet& positions = loaded_.at(work.file->path).positions;
    FIRN_TRY(CheckLost(metadata, io, work, positions));
    FIRN_TRY(AddTranslated(group, *work.file, positions, translated));
  }
  return translated;
}

/// Reads the positions of all live deletes of the files, as far as they are not the same as for an earlier base.
Status DeleteRebase::Load(const iceberg::TableMetadata& metadata, ports::FileIO& io, const std::vector<Work>& works) {
  std::vector<DataFileDeletes> wanted;
  std::vector<Loaded*> targets;
  for (const Work& work : works) {
    Loaded& loaded = loaded_[work.file->path];
    std::vector<iceberg::FileIdentity> deletes;
    for (const DeleteEntry* entry : work.live) deletes.push_back(iceberg::IdentityOf(entry->file));
    if (loaded.deletes == deletes) continue;
    loaded.deletes = std::move(deletes);
    targets.push_back(&loaded);
    wanted.push_back({{&work.data, work.file->data_sequence_number.value_or(SequenceNumber(0))}, work.live});
  }
  if (wanted.empty()) return Ok();
  const DeleteLoadContext context{metadata, io};
  Result<std::vector<DeletedRows>> rows = LoadDeletedRows(context, cache_, wanted);
  if (!rows) {
    for (Loaded* target : targets) *target = Loaded();
    return std::move(rows.error());
  }
  for (std::size_t i = 0; i < targets.size(); ++i) targets[i]->positions = std::move((*rows)[i].positions);
  return Ok();
}

/// What was applied and is gone must still be deleted on the base: by a newer vector, a merged delete file, or vectors
/// that an equality delete was converted to.
Status DeleteRebase::CheckLost(const iceberg::TableMetadata& metadata, ports::FileIO& io, const Work& work,
                               const PositionSet& live) {
  if (work.lost.empty() || Contains(live, work.file->row_map->deleted())) return Ok();
  for (const DeleteEntry* entry : work.lost) {
    const Error conflict = DeleteConflict("was removed since the plan; it applied to", *entry, work.file->path);
    if (IsEquality(*entry)) return conflict;
    const DeleteLoadContext context{metadata, io};
    const DataFileDeletes lost{{&work.data, work.file->data_sequence_number.value_or(SequenceNumber(0))}, {entry}};
    FIRN_ASSIGN(const std::vector<DeletedRows> rows, LoadDeletedRows(context, cache_, std::span(&lost, 1)));
    if (!Contains(live, rows.front().positions)) return conflict;
  }
  return Ok();
}

}  // namespace firn::act
