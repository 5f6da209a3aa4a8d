// SPDX-License-Identifier: Apache-2.0
#include "act/delete_change.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <set>

#include "act/delete_scope.h"
#include "act/delete_write.h"
#include "act/manifest_carry.h"
#include "observe/manifest_scan.h"

namespace firn::act {
namespace {

using iceberg::DataFile;
using iceberg::DeleteEntry;
using iceberg::DeleteKind;
using iceberg::ManifestContent;
using iceberg::ManifestFile;
using roaring::PositionSet;

/// Rows stay where they are.
class SameRows final : public RowMap {
 public:
  SameRows(PositionSet deleted, std::int64_t row_count) : deleted_(std::move(deleted)), row_count_(row_count) {}
  std::optional<RowPlace> Find(std::int64_t position) const override {
    if (position < 0 || position >= row_count_ || deleted_.Contains(position)) return std::nullopt;
    return RowPlace{0, position};
  }
  const PositionSet& deleted() const override { return deleted_; }

 private:
  PositionSet deleted_;
  std::int64_t row_count_;
};

}  // namespace

DeleteChange::DeleteChange(DeleteRewrite rewrite)
    : rewrite_(std::move(rewrite)),
      needed_by_unread_(rewrite_.facts.deletes.entries().size(), false),
      is_planned_(needed_by_unread_) {
  for (const std::uint32_t i : rewrite_.plan.deletes) is_planned_[i] = true;
  for (const std::uint32_t i : rewrite_.kept) {
    is_planned_[i] = false;
    needed_by_unread_[i] = true;
  }
  std::vector<bool> was_read(rewrite_.facts.targets.size(), false);
  for (std::uint32_t r = 0; r < rewrite_.read.size(); ++r) {
    was_read[rewrite_.read[r].target] = true;
    read_by_path_.emplace(TargetOf(r).path, r);
  }
  for (std::size_t t = 0; t < was_read.size(); ++t) {
    const observe::DeleteTarget& target = rewrite_.facts.targets[t];
    if (!was_read[t]) Need(DataFileOf(rewrite_.facts, target), target.sequence_number, needed_by_unread_);
  }
}

const observe::DeleteTarget& DeleteChange::TargetOf(std::uint32_t read) const {
  return rewrite_.facts.targets[rewrite_.read[read].target];
}

bool DeleteChange::has_work() const {
  return !rewrite_.written.empty() ||
         std::ranges::any_of(rewrite_.plan.deletes, [this](std::uint32_t i) { return !needed_by_unread_[i]; });
}

const DeleteChange::Done& DeleteChange::done() const {
  static const Done kNothing;
  return done_.empty() ? kNothing : done_[committed_.value_or(done_.size() - 1)];
}

std::vector<std::string> DeleteChange::unused_files() const {
  std::vector<std::string> unused;
  for (const std::string& location : rewrite_.files) {
    if (!done().used.contains(location)) unused.push_back(location);
  }
  return unused;
}

/// Planned deletes that a live data file needs because they were not read for it.
void DeleteChange::Need(const DataFile& file, SequenceNumber sequence_number, std::vector<bool>& is_needed) const {
  for (const std::uint32_t i : rewrite_.facts.deletes.Find(file, sequence_number)) {
    if (is_planned_[i]) is_needed[i] = true;
  }
}

/// Planned deletes whose rows name a data file that was not there at the plan.
void DeleteChange::NeedForPath(const std::string& path, std::vector<bool>& is_needed) const {
  if (rewrite_.dangling.empty()) return;
  const std::uint64_t key = PathKey(path);
  auto at = std::ranges::lower_bound(rewrite_.dangling, std::pair(key, std::uint32_t{0}));
  for (; at != rewrite_.dangling.end() && at->first == key; ++at) is_needed[at->second] = true;
}

Result<Proposal> DeleteChange::Propose(const CommitBase& base, MetadataFiles& files) {
  FIRN_TRY(CheckPlanHolds(base, *rewrite_.plan.base_snapshot_id, rewrite_.plan.format_version));
  FIRN_ASSIGN(const Manifests head, observe::ReadManifests(files.io(), *base.head, base.metadata));
  if (!window_) {
    const iceberg::Snapshot& plan = *base.metadata.FindSnapshot(*rewrite_.plan.base_snapshot_id);
    FIRN_ASSIGN(const Manifests planned, observe::ReadManifests(files.io(), plan, base.metadata));
    window_.emplace(plan.id, planned, manifests_);
  }
  FIRN_TRY(window_->Extend(files.io(), base.metadata, *base.head, head));
  FIRN_TRY(live_.Load(files.io(), base.metadata, head, manifests_));
  Edit edit;
  Done done;
  FIRN_TRY(Survey(base, files.io(), head, edit));
  FIRN_TRY(CheckAll(base, files.io(), edit, done));
  FIRN_TRY(Add(base, files, edit, done));
  Remove(edit, done);
  if (edit.added.empty() && edit.removed.empty()) {
    if (!done.conflicts.empty()) return done.conflicts.front().error;
    return Error{Code::kConflict, "others have rewritten these delete files, or need them"};
  }
  FIRN_ASSIGN(Proposal proposal, Write(base, files, head, edit, done));
  done_.push_back(std::move(done));
  return proposal;
}

/// Which of the data files are still there, and what others need that came meanwhile.
Status DeleteChange::Survey(const CommitBase& base, ports::FileIO& io, const Manifests& head, Edit& edit) {
  std::unordered_set<std::string_view> head_paths;
  for (const ManifestFile& line : head) head_paths.insert(line.manifest_path);
  edit.is_live.resize(rewrite_.read.size());
  edit.is_dropped.resize(rewrite_.read.size());
  for (std::uint32_t r = 0; r < rewrite_.read.size(); ++r) {
    edit.is_live[r] = head_paths.contains(rewrite_.facts.manifests[TargetOf(r).manifest]);
  }
  edit.is_needed = needed_by_unread_;
  for (const ManifestFile& line : head) {
    if (line.content != ManifestContent::kData || window_->InPlan(line.manifest_path)) continue;
    if (!iceberg::MayHaveLiveFiles(line)) continue;
    FIRN_ASSIGN(const NewManifest* found, Look(base, io, line));
    for (const std::uint32_t r : found->read) edit.is_live[r] = true;
    for (const std::uint32_t i : found->needed) edit.is_needed[i] = true;
  }
  return Ok();
}

Result<const DeleteChange::NewManifest*> DeleteChange::Look(const CommitBase& base, ports::FileIO& io,
                                                            const ManifestFile& line) {
  const auto known = new_manifests_.find(line.manifest_path);
  if (known != new_manifests_.end()) return &known->second;
  NewManifest found;
  std::vector<bool> is_needed(is_planned_.size(), false);
  const auto look = [&](iceberg::ManifestEntry& entry, std::int64_t) -> Result<bool> {
    if (entry.status == iceberg::EntryStatus::kDeleted) return true;
    NeedForPath(entry.file.file_path, is_needed);
    const SequenceNumber number = entry.sequence_number.value_or(SequenceNumber(0));
    const auto read = read_by_path_.find(entry.file.file_path);
    // A file that was removed and added again is another file, with other deletes.
    if (read != read_by_path_.end() && TargetOf(read->second).sequence_number == number &&
        TargetOf(read->second).file_sequence_number == entry.file_sequence_number.value_or(SequenceNumber(0))) {
      found.read.push_back(read->second);
    } else {
      Need(entry.file, number, is_needed);
    }
    return true;
  };
  FIRN_TRY(observe::ForEachEntry(io, line, base.metadata, iceberg::Wanted::planning(), look));
  for (std::uint32_t i = 0; i < is_needed.size(); ++i) {
    if (is_needed[i]) found.needed.push_back(i);
  }
  return &new_manifests_.emplace(line.manifest_path, std::move(found)).first->second;
}

/// A data file whose deletes must stay as they are.
Status DeleteChange::Drop(std::uint32_t read, Error error, Edit& edit, Done& done) const {
  if (IsOfTheAttempt(error.code)) return error;
  done.conflicts.push_back({read, std::move(error)});
  std::vector<std::uint32_t> dropped{read};
  // A file for several data files goes as a whole.
  if (!rewrite_.plan.writes_vectors && rewrite_.read[read].written) {
    dropped = rewrite_.written[*rewrite_.read[read].written].read;
  }
  for (const std::uint32_t r : dropped) {
    edit.is_dropped[r] = true;
    if (edit.is_live[r]) Need(FileOf(r), TargetOf(r).sequence_number, edit.is_needed);
  }
  return Ok();
}

/// Brings what was written up to the base where others changed deletes of the same data files.
Status DeleteChange::CheckAll(const CommitBase& base, ports::FileIO& io, Edit& edit, Done& done) {
  if (window_->unchanged()) return Ok();
  for (std::uint32_t r = 0; r < rewrite_.read.size(); ++r) {
    if (!edit.is_live[r] || edit.is_dropped[r]) continue;
    const DataFile file = FileOf(r);
    const SequenceNumber number = TargetOf(r).sequence_number;
    if (!window_->Affects(file, number)) continue;
    if (!rewrite_.plan.writes_vectors) {
      // Position delete files add up: only what is gone matters.
      const std::vector<const DeleteEntry*> lost = window_->Lost(file, number);
      if (lost.empty()) continue;
      FIRN_TRY(Drop(r, DeleteConflict("was removed since the plan; it applied to", *lost.front(), file.file_path), edit,
                    done));
      continue;
    }
    Result<std::optional<PositionSet>> remade = Rebase(base, io, r);
    if (!remade) {
      FIRN_TRY(Drop(r, std::move(remade.error()), edit, done));
    } else if (*remade) {
      edit.remade.push_back({r, std::move(**remade)});
    }
  }
  return Ok();
}

/// The positions that were deleted in the data file by all deletes that were read for it.
Result<PositionSet> DeleteChange::Applied(const CommitBase& base, ports::FileIO& io, std::uint32_t read) const {
  const DataFile file = FileOf(read);
  const DeleteLoadContext context{base.metadata, io};
  if (const std::optional<std::uint32_t> written = rewrite_.read[read].written) {
    return LoadDeletionVector(context, rewrite_.written[*written].file, file.file_path);
  }
  // Without a new vector it is the old one, or nothing.
  for (const std::uint32_t i : rewrite_.facts.deletes.FindPositional(file, TargetOf(read).sequence_number)) {
    const DataFile& old = rewrite_.facts.deletes.entries()[i].file;
    if (iceberg::KindOf(old) == DeleteKind::kVector) return LoadDeletionVector(context, old, file.file_path);
  }
  return PositionSet();
}

/// All positions that a new vector must hold; nothing if what was written, or what the base has, is right.
Result<std::optional<PositionSet>> DeleteChange::Rebase(const CommitBase& base, ports::FileIO& io, std::uint32_t read) {
  FIRN_ASSIGN(PositionSet applied, Applied(base, io, read));
  const observe::DeleteTarget& target = TargetOf(read);
  RewriteGroup group;
  AddedFile& same = group.added.emplace_back();
  same.file = FileOf(read);
  same.data_sequence_number = target.sequence_number;
  group.spec_id = same.file.spec_id;
  group.partition = same.file.partition;
  RemovedFile& removed = group.removed.emplace_back();
  removed.path = target.path;
  removed.record_count = target.record_count;
  removed.data_sequence_number = target.sequence_number;
  removed.file_sequence_number = target.file_sequence_number;
  for (const std::uint32_t i : rewrite_.facts.deletes.Find(same.file, target.sequence_number)) {
    const DataFile& deletes = rewrite_.facts.deletes.entries()[i].file;
    if (is_planned_[i] || iceberg::KindOf(deletes) != DeleteKind::kEquality) {
      removed.applied_deletes.push_back(iceberg::IdentityOf(deletes));
    }
  }
  const auto map = std::make_shared<SameRows>(std::move(applied), target.record_count);
  removed.row_map = map;
  FIRN_ASSIGN(std::vector<PositionSet> more, rebase_.Translate(base.metadata, io, group, live_.index(), *window_));
  if (more.front().empty() || !rewrite_.read[read].written) return std::optional<PositionSet>();
  more.front().Union(map->deleted());
  return std::optional(std::move(more.front()));
}

/// The new delete files, and the vectors in whose place they come.
Status DeleteChange::Add(const CommitBase& base, MetadataFiles& files, Edit& edit, Done& done) const {
  std::vector<DataFile> data;
  data.reserve(edit.remade.size());
  std::vector<NewDeletes> remade;
  for (const Remade& one : edit.remade) {
    data.push_back(FileOf(one.read));
    remade.push_back({&data.back(), &one.positions});
  }
  FIRN_ASSIGN(edit.remade_files, WriteDeletes(base.metadata, files, remade));

  std::unordered_map<std::uint32_t, const DataFile*> instead;  // of what was written for a data file
  for (std::size_t i = 0; i < edit.remade.size(); ++i) instead[edit.remade[i].read] = &edit.remade_files[i];
  std::unordered_set<std::string_view> with_vector;
  for (const WrittenDeletes& written : rewrite_.written) {
    const auto wanted = std::ranges::find_if(written.read, [&](std::uint32_t r) { return edit.is_live[r]; });
    if (wanted == written.read.end() || edit.is_dropped[*wanted]) continue;
    edit.is_row_change |= written.replaces_equality;
    if (rewrite_.plan.writes_vectors) with_vector.insert(TargetOf(*wanted).path);
    const auto other = instead.find(*wanted);
    if (other != instead.end()) {
      edit.added.push_back({other->second, std::nullopt});
    } else {
      edit.added.push_back({&written.file, written.data_sequence_number});
      done.used.insert(written.file.file_path);
    }
  }
  const std::vector<DeleteEntry>& entries = live_.index().entries();
  for (std::uint32_t i = 0; i < entries.size(); ++i) {
    const DataFile& file = entries[i].file;
    if (iceberg::KindOf(file) != DeleteKind::kVector || !file.referenced_data_file) continue;
    if (!with_vector.contains(*file.referenced_data_file)) continue;
    edit.removed.insert(iceberg::IdentityOf(file));
    edit.manifests.insert(live_.ManifestOf(i));
  }
  return Ok();
}

/// Planned deletes that nothing needs any more.
void DeleteChange::Remove(Edit& edit, Done& done) const {
  std::map<iceberg::FileIdentity, std::uint32_t> planned;
  for (const std::uint32_t i : rewrite_.plan.deletes) {
    planned.emplace(iceberg::IdentityOf(rewrite_.facts.deletes.entries()[i].file), i);
  }
  const std::vector<DeleteEntry>& entries = live_.index().entries();
  for (std::uint32_t i = 0; i < entries.size(); ++i) {
    const auto found = planned.find(iceberg::IdentityOf(entries[i].file));
    if (found == planned.end()) continue;
    if (edit.is_needed[found->second]) {
      ++done.kept;
      continue;
    }
    edit.removed.insert(found->first);
    edit.manifests.insert(live_.ManifestOf(i));
  }
}

Result<Proposal> DeleteChange::Write(const CommitBase& base, MetadataFiles& files, const Manifests& head,
                                     const Edit& edit, Done& done) const {
  NewSnapshot snapshot;
  snapshot.operation = edit.is_row_change ? "delete" : "replace";
  snapshot.summary = rewrite_.summary;
  for (const DataFile& file : edit.remade_files) snapshot.delete_files.push_back(file.file_path);
  FIRN_ASSIGN(snapshot.manifests,
              WriteAddedEntries(base, files, ManifestContent::kDeletes, edit.added, snapshot.counts));
  FIRN_ASSIGN(const std::int64_t target, ManifestTargetSize(base.metadata));
  ManifestCarrier carrier(files, base.metadata, base.new_snapshot_id, target);
  std::set<iceberg::FileIdentity> seen;
  for (const ManifestFile& line : head) {
    if (!edit.manifests.contains(line.manifest_path)) continue;
    FIRN_TRY(carrier.Carry(line, [&](const iceberg::ManifestEntry& entry) -> Result<bool> {
      const iceberg::FileIdentity identity = iceberg::IdentityOf(entry.file);
      return edit.removed.contains(identity) && seen.insert(identity).second;
    }));
  }
  if (seen != edit.removed) return Error{Code::kInternal, "a delete file is not in the manifest where it was found"};
  FIRN_ASSIGN(Manifests carried, carrier.Finish());
  for (ManifestFile& line : carried) snapshot.manifests.push_back(std::move(line));
  snapshot.counts.Merge(carrier.counts());
  FIRN_TRY(KeepManifests(base, files.io(), head, edit.manifests, snapshot));
  done.counts = snapshot.counts;
  Proposal proposal;
  proposal.snapshot = std::move(snapshot);
  return proposal;
}

}  // namespace firn::act
