// SPDX-License-Identifier: Apache-2.0
#include "act/group_deletes.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "act/delete_write.h"
#include "observe/manifest_scan.h"

namespace firn::act {
namespace {

using iceberg::DataFile;
using iceberg::DeleteEntry;

SequenceNumber OrZero(std::optional<SequenceNumber> number) { return number.value_or(SequenceNumber(0)); }

}  // namespace

bool GroupDeletes::HasApplied() const {
  return std::ranges::any_of(rewrite_.groups, [](const RewriteGroup& group) {
    return std::ranges::any_of(group.removed, [](const RemovedFile& file) {
      return !file.applied_deletes.empty() || file.applied_equality != nullptr;
    });
  });
}

Status GroupDeletes::Extend(const CommitBase& base, ports::FileIO& io, const Manifests& head) {
  if (!window_) {
    const iceberg::Snapshot& plan = *base.metadata.FindSnapshot(rewrite_.plan_snapshot_id);
    FIRN_ASSIGN(const Manifests planned, observe::ReadManifests(io, plan, base.metadata));
    window_.emplace(rewrite_.plan_snapshot_id, planned, manifests_);
  }
  FIRN_TRY(window_->Extend(io, base.metadata, *base.head, head));
  translated_.clear();
  is_concerned_ = !window_->unchanged() || HasApplied();
  if (!is_concerned_) return Ok();
  return live_.Load(io, base.metadata, head, manifests_);
}

Result<std::optional<Error>> GroupDeletes::Check(const CommitBase& base, ports::FileIO& io, std::size_t group) {
  const RewriteGroup& checked = rewrite_.groups[group];
  for (const RemovedFile& file : checked.removed) {
    if (!rewrite_.named_files) break;
    Status undisputed = rewrite_.named_files->CheckUndisputed(file.path);
    if (!undisputed) return std::optional(std::move(undisputed.error()));
  }
  if (!is_concerned_) return std::optional<Error>();
  if (std::optional<Error> error = CheckWindow(base, checked)) return error;
  Result<std::vector<roaring::PositionSet>> translated =
      rebase_.Translate(base.metadata, io, checked, live_.index(), *window_);
  if (translated) {
    translated_[group] = std::move(*translated);
    return std::optional<Error>();
  }
  if (IsOfTheAttempt(translated.error().code)) return std::move(translated.error());
  return std::optional(std::move(translated.error()));
}

std::optional<Error> GroupDeletes::CheckWindow(const CommitBase& base, const RewriteGroup& group) const {
  if (window_->unchanged()) return std::nullopt;
  Replacement replacement;
  replacement.spec_id = group.spec_id;
  replacement.partition = &group.partition;
  for (const RemovedFile& file : group.removed) {
    replacement.removed.push_back({&file.path, OrZero(file.data_sequence_number), file.row_map != nullptr});
  }
  for (const AddedFile& added : group.added) replacement.added.push_back({added.file, added.data_sequence_number});
  return window_->Check(base.metadata, replacement);
}

/// The deletes of the base that have to do with removed files.
GroupDeletes::Found GroupDeletes::FindTouched(const std::vector<bool>& takes_part) const {
  Found found;
  std::unordered_map<std::string_view, bool> removed;
  for (std::size_t g = 0; g < rewrite_.groups.size(); ++g) {
    if (!takes_part[g]) continue;
    const RewriteGroup& group = rewrite_.groups[g];
    DataFile probe;
    probe.spec_id = group.spec_id;
    probe.partition = group.partition;
    for (const RemovedFile& file : group.removed) {
      removed.emplace(file.path, true);
      probe.file_path = file.path;
      for (const std::uint32_t i : live_.index().Find(probe, OrZero(file.data_sequence_number))) {
        found.applying.insert(i);
      }
    }
  }
  const std::vector<DeleteEntry>& entries = live_.index().entries();
  for (std::uint32_t i = 0; i < entries.size(); ++i) {
    const DataFile& file = entries[i].file;
    if (file.content != iceberg::FileContent::kPositionDeletes || !file.referenced_data_file) continue;
    if (removed.contains(*file.referenced_data_file)) found.named.insert(i);
    found.applying.erase(i);
  }
  return found;
}

/// Keys of the data files that rows name; null if the file cannot be read.
Result<NamedFiles::Keys> GroupDeletes::NamedBy(const CommitBase& base, ports::FileIO& io, const DataFile& delete_file) {
  NamedFiles::Keys known = rewrite_.named_files ? rewrite_.named_files->Find(delete_file.file_path) : nullptr;
  if (known) return known;
  if (const auto found = named_.find(delete_file.file_path); found != named_.end()) return found->second;
  Result<PathKeys> keys = LoadPathKeys({base.metadata, io}, delete_file);
  if (!keys && !IsOfOneFile(keys.error().code)) return std::move(keys.error());
  if (keys) known = std::make_shared<const std::vector<std::uint64_t>>(std::move(keys->all));
  return named_.emplace(delete_file.file_path, known).first->second;
}

/// Takes position deletes out of `gone` whose rows name live data files besides the removed ones.
Status GroupDeletes::KeepWanted(const CommitBase& base, ports::FileIO& io, std::vector<std::uint64_t> removed,
                                std::set<std::uint32_t>& gone) {
  std::ranges::sort(removed);
  LivePaths live(base.metadata, io, base.head->id);
  for (auto at = gone.begin(); at != gone.end();) {
    const DataFile& file = live_.index().entries()[*at].file;
    bool is_wanted = false;
    if (iceberg::KindOf(file) == iceberg::DeleteKind::kPositions) {
      FIRN_ASSIGN(const NamedFiles::Keys keys, NamedBy(base, io, file));
      is_wanted = keys == nullptr;
      for (std::size_t k = 0; keys != nullptr && k < keys->size() && !is_wanted; ++k) {
        if (std::ranges::binary_search(removed, (*keys)[k])) continue;
        FIRN_ASSIGN(is_wanted, live.Contains((*keys)[k]));
      }
    }
    at = is_wanted ? gone.erase(at) : std::next(at);
  }
  return Ok();
}

Result<DeleteEdits> GroupDeletes::Edits(const CommitBase& base, ports::FileIO& io, const Manifests& head,
                                        const std::vector<bool>& takes_part) {
  DeleteEdits edits;
  if (!is_concerned_) return edits;
  for (auto& [group, positions] : translated_) {
    if (!takes_part[group]) continue;
    for (std::size_t added = 0; added < positions.size(); ++added) {
      if (!positions[added].empty()) edits.rebased.push_back({group, added, positions[added]});
    }
  }

  DataEdit edit;
  edit.version = static_cast<std::size_t>(std::ranges::count(takes_part, true));
  std::unordered_map<std::string_view, SequenceNumber> removed;
  std::vector<std::uint64_t> removed_keys;
  for (std::size_t g = 0; g < rewrite_.groups.size(); ++g) {
    if (!takes_part[g]) continue;
    const RewriteGroup& group = rewrite_.groups[g];
    for (const RemovedFile& file : group.removed) {
      removed.emplace(file.path, OrZero(file.data_sequence_number));
      removed_keys.push_back(PathKey(file.path));
    }
    for (const AddedFile& added : group.added) edit.added.push_back({added.file, added.data_sequence_number});
  }
  edit.is_removed = [&removed](const DataFile& file, SequenceNumber sequence_number) {
    const auto at = removed.find(file.file_path);
    return at != removed.end() && at->second == sequence_number;
  };

  const Found found = FindTouched(takes_part);
  std::set<std::uint32_t> gone = found.named;
  std::vector<DeleteEntry> candidates;
  for (const std::uint32_t i : found.applying) candidates.push_back(live_.index().entries()[i]);
  if (!candidates.empty()) {
    FIRN_ASSIGN(const std::vector<bool> dead, dead_.Find(io, base.metadata, head, candidates, edit));
    std::size_t at = 0;
    for (const std::uint32_t i : found.applying) {
      if (dead[at++]) gone.insert(i);
    }
  }
  FIRN_TRY(KeepWanted(base, io, std::move(removed_keys), gone));
  for (const std::uint32_t i : gone) {
    edits.removed.insert(iceberg::IdentityOf(live_.index().entries()[i].file));
    edits.manifests.insert(live_.ManifestOf(i));
  }
  return edits;
}

Result<std::vector<DataFile>> GroupDeletes::Write(const CommitBase& base, MetadataFiles& files,
                                                  const DeleteEdits& edits) {
  if (edits.rebased == written_for_) return written_;
  std::vector<NewDeletes> deletes;
  for (const DeleteEdits::Rebased& rebased : edits.rebased) {
    deletes.push_back({&rewrite_.groups[rebased.group].added[rebased.added].file, &rebased.positions});
  }
  written_for_.clear();
  written_.clear();
  FIRN_ASSIGN(written_, WriteDeletes(base.metadata, files, deletes));
  written_for_ = edits.rebased;
  return written_;
}

}  // namespace firn::act
