// SPDX-License-Identifier: Apache-2.0
#include "act/rewrite.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>
#include <utility>

#include "act/manifest_carry.h"
#include "act/manifest_edit.h"
#include "observe/manifest_scan.h"

namespace firn::act {
namespace {

using iceberg::EntryStatus;
using iceberg::ManifestContent;
using iceberg::ManifestEntry;
using iceberg::ManifestFile;

SequenceNumber OrZero(std::optional<SequenceNumber> number) { return number.value_or(SequenceNumber(0)); }

bool SameLine(const ManifestFile& a, const ManifestFile& b) {
  return a.manifest_path == b.manifest_path && a.sequence_number == b.sequence_number &&
         a.added_snapshot_id == b.added_snapshot_id && a.first_row_id == b.first_row_id && a.spec_id == b.spec_id;
}

Error Broken(const RewriteGroup& group, std::string_view what) {
  return {Code::kInternal, fmt::format("rewrite of {}: {}", group.name, what)};
}

Status CheckGroup(const RewriteGroup& group, const Rewrite& rewrite) {
  if (group.removed.empty()) return Broken(group, "nothing is removed");
  std::int64_t rows_in = 0, rows_out = 0;
  SequenceNumber newest{0};
  for (const RemovedFile& file : group.removed) {
    rows_in += file.record_count;
    newest = std::max(newest, OrZero(file.data_sequence_number));
  }
  for (const AddedFile& added : group.added) {
    rows_out += added.file.record_count;
    if (added.data_sequence_number < newest || added.data_sequence_number > rewrite.plan_sequence_number) {
      return Broken(group,
                    fmt::format("data sequence number {} is not between {} and {}", added.data_sequence_number.value,
                                newest.value, rewrite.plan_sequence_number.value));
    }
  }
  if (rows_out != rows_in - group.deleted_rows) {
    return Broken(group, fmt::format("{} rows became {}, {} of them deleted", rows_in, rows_out, group.deleted_rows));
  }
  return Ok();
}

}  // namespace

RewriteChange::RewriteChange(Rewrite rewrite)
    : rewrite_(std::move(rewrite)), refused_(rewrite_.groups.size()), deletes_(rewrite_) {
  for (std::uint32_t g = 0; g < rewrite_.groups.size(); ++g) {
    const std::vector<RemovedFile>& removed = rewrite_.groups[g].removed;
    for (std::uint32_t f = 0; f < removed.size(); ++f) {
      const auto [at, is_new] = places_.try_emplace(removed[f].path, Place{g, f});
      if (is_new) continue;
      // The table names the file twice: readers see its rows twice or not, nobody can say what is right.
      Refuse(g, {Code::kCorrupt, fmt::format("data file {} is in the table more than once", removed[f].path)});
    }
  }
}

void RewriteChange::Refuse(std::size_t group, Error error) {
  if (refused_[group]) return;
  refused_[group] = true;
  refusals_.push_back({group, std::move(error)});
}

Error RewriteChange::NothingLeft() const {
  if (refusals_.empty()) return {Code::kInvalidArgument, "there is nothing to rewrite"};
  return refusals_.front().error;
}

void RewriteChange::Committed(std::size_t proposal) { refusals_.resize(refusals_after_.at(proposal)); }

std::vector<std::string> RewriteChange::own_files() const {
  std::vector<std::string> files;
  for (const RewriteGroup& group : rewrite_.groups) {
    for (const AddedFile& added : group.added) files.push_back(added.file.file_path);
  }
  return files;
}

std::vector<std::string> RewriteChange::unused_files() const {
  std::vector<std::string> files;
  for (const GroupRefusal& refusal : refusals_) {
    for (const AddedFile& added : rewrite_.groups[refusal.group].added) files.push_back(added.file.file_path);
  }
  return files;
}

Status RewriteChange::CheckGroups() const {
  for (const RewriteGroup& group : rewrite_.groups) FIRN_TRY(CheckGroup(group, rewrite_));
  return Ok();
}

Status RewriteChange::CheckHistory(const CommitBase& base) const {
  FIRN_TRY(CheckPlanHolds(base, rewrite_.plan_snapshot_id, rewrite_.format_version));
  // Their rows got ids since; those that were written would get others.
  if (rewrite_.format_version >= 3 && base.head->id != rewrite_.plan_snapshot_id &&
      !base.metadata.FindSnapshot(rewrite_.plan_snapshot_id)->first_row_id) {
    return Error{Code::kConflict,
                 fmt::format("row ids were assigned after snapshot {} of the plan", rewrite_.plan_snapshot_id.value)};
  }
  return Ok();
}

Result<Proposal> RewriteChange::Propose(const CommitBase& base, MetadataFiles& files) {
  FIRN_TRY(CheckGroups());
  FIRN_TRY(CheckHistory(base));
  FIRN_ASSIGN(const Manifests head, observe::ReadManifests(files.io(), *base.head, base.metadata));
  FIRN_TRY(deletes_.Extend(base, files.io(), head));
  FIRN_TRY(CheckDeletes(base, files.io()));
  FIRN_TRY(Relocate(base, files.io(), head));
  if (refusals_.size() == rewrite_.groups.size()) return NothingLeft();

  FIRN_ASSIGN(DeleteEdits edits, deletes_.Edits(base, files.io(), head, TakingPart()));
  Manifests touched = TouchedManifests(head, edits);
  if (!CanReuse(base, touched, edits)) {
    FIRN_TRY(WriteManifests(base, files, std::move(touched), std::move(edits)));
  }
  FIRN_ASSIGN(Proposal proposal, Assemble(base, files.io(), head));
  refusals_after_.push_back(refusals_.size());
  return proposal;
}

/// Refuses groups that would lose the effect of a delete.
Status RewriteChange::CheckDeletes(const CommitBase& base, ports::FileIO& io) {
  for (std::size_t g = 0; g < rewrite_.groups.size(); ++g) {
    if (refused_[g]) continue;
    FIRN_ASSIGN(std::optional<Error> error, deletes_.Check(base, io, g));
    if (error) Refuse(g, std::move(*error));
  }
  return Ok();
}

std::vector<bool> RewriteChange::TakingPart() const {
  std::vector<bool> taking_part = refused_;
  taking_part.flip();
  return taking_part;
}

/// Finds removed files whose manifest was replaced since the plan, and refuses groups whose files are gone.
Status RewriteChange::Relocate(const CommitBase& base, ports::FileIO& io, const Manifests& head) {
  std::unordered_set<std::string_view> head_paths;
  for (const ManifestFile& line : head) head_paths.insert(line.manifest_path);
  std::unordered_map<std::string_view, Place> missing;
  for (const auto& [path, place] : places_) {
    const RemovedFile& file = rewrite_.groups[place.group].removed[place.file];
    if (refused_[place.group] || head_paths.contains(rewrite_.manifests[file.manifest])) continue;
    missing.emplace(path, place);
  }
  if (missing.empty()) return Ok();

  for (const ManifestFile& line : head) {
    if (line.content != ManifestContent::kData || deletes_.InPlan(line.manifest_path) ||
        !iceberg::MayHaveLiveFiles(line)) {
      continue;
    }
    std::optional<std::uint32_t> index;  // of this manifest in rewrite_.manifests
    const auto look = [&](ManifestEntry& entry, std::int64_t) -> Result<bool> {
      if (entry.status == EntryStatus::kDeleted) return true;
      const auto found = missing.find(entry.file.file_path);
      if (found == missing.end()) return true;
      RemovedFile& file = rewrite_.groups[found->second.group].removed[found->second.file];
      // A file that was removed and added again is another file, with other deletes.
      if (OrZero(entry.sequence_number) != OrZero(file.data_sequence_number) ||
          OrZero(entry.file_sequence_number) != OrZero(file.file_sequence_number)) {
        return true;
      }
      if (!index) {
        index = static_cast<std::uint32_t>(rewrite_.manifests.size());
        rewrite_.manifests.push_back(line.manifest_path);
      }
      file.manifest = *index;
      missing.erase(found);
      return !missing.empty();
    };
    FIRN_TRY(observe::ForEachEntry(io, line, base.metadata, iceberg::Wanted::planning(), look));
  }
  for (const auto& [path, place] : missing) {
    Refuse(place.group, {Code::kConflict, fmt::format("data file {} is no longer in the table", path)});
  }
  return Ok();
}

RewriteChange::Manifests RewriteChange::TouchedManifests(const Manifests& head, const DeleteEdits& edits) const {
  std::unordered_set<std::string_view> wanted(edits.manifests.begin(), edits.manifests.end());
  for (std::size_t g = 0; g < rewrite_.groups.size(); ++g) {
    if (refused_[g]) continue;
    for (const RemovedFile& file : rewrite_.groups[g].removed) wanted.insert(rewrite_.manifests[file.manifest]);
  }
  Manifests touched;
  for (const ManifestFile& line : head) {
    if (wanted.contains(line.manifest_path)) touched.push_back(line);
  }
  return touched;
}

bool RewriteChange::CanReuse(const CommitBase& base, const Manifests& touched, const DeleteEdits& edits) const {
  return written_.schema_id == base.metadata.current_schema().id() && written_.refusals == refusals_.size() &&
         written_.edits == edits &&
         std::equal(written_.read.begin(), written_.read.end(), touched.begin(), touched.end(), SameLine);
}

Status RewriteChange::WriteManifests(const CommitBase& base, MetadataFiles& files, Manifests touched,
                                     DeleteEdits edits) {
  written_ = Written();
  written_.edits = std::move(edits);
  for (auto& [path, place] : places_) place.seen = false;
  FIRN_TRY(WriteAdded(base, files));

  FIRN_ASSIGN(const std::int64_t target, ManifestTargetSize(base.metadata));
  ManifestCarrier carrier(files, base.metadata, base.new_snapshot_id, target);
  for (const ManifestFile& line : touched) {
    FIRN_TRY(carrier.Carry(line, [this](const ManifestEntry& entry) { return IsRemoved(entry); }));
  }
  for (const auto& [path, place] : places_) {
    if (place.seen || refused_[place.group]) continue;
    return Error{Code::kInternal, fmt::format("data file {} is not in the manifest where it was planned", path)};
  }
  if (written_.deletes_seen != written_.edits.removed) {
    return Error{Code::kInternal, "a delete file is not in the manifest where it was found"};
  }
  FIRN_ASSIGN(written_.carried, carrier.Finish());
  written_.counts.Merge(carrier.counts());
  written_.read = std::move(touched);
  written_.refusals = refusals_.size();
  written_.schema_id = base.metadata.current_schema().id();
  return Ok();
}

Result<bool> RewriteChange::IsRemoved(const ManifestEntry& entry) {
  if (entry.file.content != iceberg::FileContent::kData) {
    const iceberg::FileIdentity identity = iceberg::IdentityOf(entry.file);
    if (!written_.edits.removed.contains(identity)) return false;
    written_.deletes_seen.insert(identity);
    return true;
  }
  const auto found = places_.find(entry.file.file_path);
  if (found == places_.end() || refused_[found->second.group]) return false;
  Place& place = found->second;
  const RewriteGroup& group = rewrite_.groups[place.group];
  const RemovedFile& file = group.removed[place.file];
  if (place.seen) {
    return Error{Code::kCorrupt, fmt::format("data file {} is in the table more than once", file.path)};
  }
  if (OrZero(entry.sequence_number) != OrZero(file.data_sequence_number) ||
      entry.file.record_count != file.record_count || entry.file.spec_id != group.spec_id ||
      !iceberg::SameTuple(entry.file.partition, group.partition)) {
    return Error{Code::kInternal, fmt::format("the manifest entry of {} is not the planned one", file.path)};
  }
  place.seen = true;
  return true;
}

Status RewriteChange::WriteAdded(const CommitBase& base, MetadataFiles& files) {
  std::vector<AddedEntry> data, deletes;
  for (std::size_t g = 0; g < rewrite_.groups.size(); ++g) {
    if (refused_[g]) continue;
    for (const AddedFile& added : rewrite_.groups[g].added) {
      data.push_back({&added.file, added.data_sequence_number});
    }
  }
  FIRN_ASSIGN(written_.added, WriteAddedEntries(base, files, ManifestContent::kData, data, written_.counts));
  // Translated deletes get the sequence number of the commit.
  FIRN_ASSIGN(const std::vector<iceberg::DataFile> translated, deletes_.Write(base, files, written_.edits));
  for (const iceberg::DataFile& file : translated) {
    deletes.push_back({&file, std::nullopt});
    written_.delete_files.push_back(file.file_path);
  }
  FIRN_ASSIGN(Manifests lines, WriteAddedEntries(base, files, ManifestContent::kDeletes, deletes, written_.counts));
  for (ManifestFile& line : lines) written_.added.push_back(std::move(line));
  return Ok();
}

/// The new list: what was written, then what others wrote and still has live files.
Result<Proposal> RewriteChange::Assemble(const CommitBase& base, ports::FileIO& io, const Manifests& head) const {
  NewSnapshot snapshot;
  snapshot.operation = "replace";
  snapshot.counts = written_.counts;
  snapshot.delete_files = written_.delete_files;
  snapshot.summary = rewrite_.summary;
  snapshot.manifests = written_.added;
  snapshot.manifests.insert(snapshot.manifests.end(), written_.carried.begin(), written_.carried.end());
  std::unordered_set<std::string_view> replaced;
  for (const ManifestFile& line : written_.read) replaced.insert(line.manifest_path);
  FIRN_TRY(KeepManifests(base, io, head, replaced, snapshot));
  Proposal proposal;
  proposal.snapshot = std::move(snapshot);
  return proposal;
}

}  // namespace firn::act
