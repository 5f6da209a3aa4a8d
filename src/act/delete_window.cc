// SPDX-License-Identifier: Apache-2.0
#include "act/delete_window.h"

#include <fmt/format.h>

#include <utility>

#include "observe/manifest_scan.h"

namespace firn::act {
namespace {

using iceberg::DeleteEntry;
using iceberg::DeleteIndex;
using iceberg::FileContent;
using iceberg::FileIdentity;
using iceberg::ManifestContent;
using iceberg::ManifestFile;

bool IsGlobal(const iceberg::TableMetadata& metadata, SpecId spec_id) {
  const iceberg::PartitionSpec* spec = metadata.FindSpec(spec_id);
  return spec != nullptr && spec->is_unpartitioned();
}

/// Equality deletes reach strictly older files of their own partition, or of all if their spec has none.
bool Reaches(const iceberg::TableMetadata& metadata, const DeleteEntry& equality, SpecId spec_id,
             const iceberg::PartitionTuple& partition, SequenceNumber sequence_number) {
  if (sequence_number >= equality.sequence_number) return false;
  if (IsGlobal(metadata, equality.file.spec_id)) return true;
  return spec_id == equality.file.spec_id && iceberg::SameTuple(partition, equality.file.partition);
}

std::string_view NameOfKind(const iceberg::DataFile& file) {
  switch (iceberg::KindOf(file)) {
    case iceberg::DeleteKind::kPositions: return "position delete";
    case iceberg::DeleteKind::kVector: return "deletion vector";
    case iceberg::DeleteKind::kEquality: return "equality delete";
  }
  return "delete";
}

Error Conflict(std::string_view what, const DeleteEntry& found, const std::string& path) {
  return {Code::kConflict,
          fmt::format("{} {} {} data file {}", NameOfKind(found.file), found.file.file_path, what, path)};
}

}  // namespace

DeleteWindow::DeleteWindow(SnapshotId plan, const std::vector<ManifestFile>& plan_manifests) : plan_(plan) {
  for (const ManifestFile& manifest : plan_manifests) {
    plan_paths_.insert(manifest.manifest_path);
    if (manifest.content == ManifestContent::kDeletes) plan_deletes_.emplace(manifest.manifest_path, manifest);
  }
  walked_.insert(plan);
}

Status DeleteWindow::Extend(ports::FileIO& io, const iceberg::TableMetadata& metadata, const iceberg::Snapshot& head,
                            const std::vector<ManifestFile>& head_manifests) {
  FIRN_TRY(Walk(io, metadata, head));
  Note(head_manifests);
  walked_.insert(head.id);
  return Compare(io, metadata, head_manifests);
}

/// Notes the delete manifests of every snapshot between the last head and this one.
Status DeleteWindow::Walk(ports::FileIO& io, const iceberg::TableMetadata& metadata, const iceberg::Snapshot& head) {
  std::set<SnapshotId> visited;
  for (const iceberg::Snapshot* at = &head; !walked_.contains(at->id);) {
    if (!visited.insert(at->id).second) return Error{Code::kCorrupt, "snapshots are their own ancestors"};
    if (at != &head) {
      FIRN_ASSIGN(const std::vector<ManifestFile> manifests, observe::ReadManifests(io, *at, metadata));
      Note(manifests);
    }
    const iceberg::Snapshot* parent = at->parent_id ? metadata.FindSnapshot(*at->parent_id) : nullptr;
    if (parent == nullptr) {
      return Error{Code::kConflict,
                   fmt::format("cannot determine the history between snapshots {} and {}", plan_.value, head.id.value)};
    }
    at = parent;
  }
  walked_.merge(std::unordered_set<SnapshotId>(visited.begin(), visited.end()));
  return Ok();
}

void DeleteWindow::Note(const std::vector<ManifestFile>& manifests) {
  for (const ManifestFile& manifest : manifests) {
    if (manifest.content != ManifestContent::kDeletes || plan_paths_.contains(manifest.manifest_path)) continue;
    new_manifests_.emplace(manifest.manifest_path, manifest);
  }
}

Result<const DeleteWindow::Entries*> DeleteWindow::Live(ports::FileIO& io, const iceberg::TableMetadata& metadata,
                                                        const ManifestFile& manifest) {
  const auto found = read_.find(manifest.manifest_path);
  if (found != read_.end()) return &found->second;
  Entries entries;
  const iceberg::Wanted wanted{
      .metrics = false, .file_path = true, .split_offsets = false, .position_path_bounds = true};
  FIRN_TRY(observe::ForEachEntry(io, manifest, metadata, wanted,
                                 [&](iceberg::ManifestEntry& entry, std::int64_t) -> Result<bool> {
                                   if (entry.status == iceberg::EntryStatus::kDeleted) return true;
                                   entries.push_back({entry.file, entry.sequence_number.value_or(SequenceNumber(0))});
                                   return true;
                                 }));
  return &read_.emplace(manifest.manifest_path, std::move(entries)).first->second;
}

Status DeleteWindow::Compare(ports::FileIO& io, const iceberg::TableMetadata& metadata,
                             const std::vector<ManifestFile>& head_manifests) {
  live_.clear();
  fresh_ = DeleteIndex();
  lost_ = DeleteIndex();
  std::unordered_set<std::string> head_paths;
  for (const ManifestFile& manifest : head_manifests) {
    if (manifest.content != ManifestContent::kDeletes) continue;
    head_paths.insert(manifest.manifest_path);
    if (plan_paths_.contains(manifest.manifest_path)) continue;
    FIRN_ASSIGN(const Entries* entries, Live(io, metadata, manifest));
    for (const DeleteEntry& entry : *entries) live_.insert(IdentityOf(entry.file));
  }

  std::set<FileIdentity> carried;  // live in manifests of the plan that the head does not have any more
  for (const auto& [path, manifest] : plan_deletes_) {
    if (head_paths.contains(path)) continue;
    FIRN_ASSIGN(const Entries* entries, Live(io, metadata, manifest));
    for (const DeleteEntry& entry : *entries) {
      carried.insert(IdentityOf(entry.file));
      if (!live_.contains(IdentityOf(entry.file))) lost_.Add(entry, IsGlobal(metadata, entry.file.spec_id));
    }
  }

  std::set<FileIdentity> seen;
  for (const auto& [path, manifest] : new_manifests_) {
    FIRN_ASSIGN(const Entries* entries, Live(io, metadata, manifest));
    for (const DeleteEntry& entry : *entries) {
      const FileIdentity identity = IdentityOf(entry.file);
      if (carried.contains(identity) || !seen.insert(identity).second) continue;
      fresh_.Add(entry, IsGlobal(metadata, entry.file.spec_id));
    }
  }
  fresh_.Build();
  lost_.Build();
  return Ok();
}

std::optional<Error> DeleteWindow::Check(const iceberg::TableMetadata& metadata, const Replacement& replacement) const {
  iceberg::DataFile probe;
  probe.spec_id = replacement.spec_id;
  probe.partition = *replacement.partition;
  for (const Replacement::File& removed : replacement.removed) {
    probe.file_path = *removed.path;
    for (const std::uint32_t i : lost_.Find(probe, removed.sequence_number)) {
      return Conflict("was removed since the plan; it applied to", lost_.entries()[i], *removed.path);
    }
    if (fresh_.FindMisplaced(probe, removed.sequence_number).any()) {
      return Error{Code::kConflict, fmt::format("a delete that was added since the plan names data file {}, but its "
                                                "partition or sequence number does not fit",
                                                *removed.path)};
    }
    for (const std::uint32_t i : fresh_.Find(probe, removed.sequence_number)) {
      const DeleteEntry& found = fresh_.entries()[i];
      if (found.file.content != FileContent::kEqualityDeletes) {
        return Conflict("was added since the plan and applies to", found, *removed.path);
      }
      if (!live_.contains(IdentityOf(found.file))) {
        return Conflict("came and went since the plan; it applied to", found, *removed.path);
      }
      for (const DeleteEntry& added : replacement.added) {
        if (!Reaches(metadata, found, added.file.spec_id, added.file.partition, added.sequence_number)) {
          return Conflict("would no longer apply to the rows of", found, *removed.path);
        }
      }
    }
  }
  for (const DeleteEntry& added : replacement.added) {
    for (const std::uint32_t i : fresh_.Find(added.file, added.sequence_number)) {
      const DeleteEntry& found = fresh_.entries()[i];
      if (found.file.content != FileContent::kEqualityDeletes) continue;
      for (const Replacement::File& removed : replacement.removed) {
        if (!Reaches(metadata, found, replacement.spec_id, *replacement.partition, removed.sequence_number)) {
          return Conflict("would begin to apply to the rows of", found, *removed.path);
        }
      }
    }
  }
  return std::nullopt;
}

}  // namespace firn::act
