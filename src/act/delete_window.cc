// SPDX-License-Identifier: Apache-2.0
#include "act/delete_window.h"

#include <fmt/format.h>

#include <utility>

#include "act/delete_scope.h"
#include "observe/manifest_scan.h"

namespace firn::act {
namespace {

using iceberg::DeleteEntry;
using iceberg::DeleteIndex;
using iceberg::FileContent;
using iceberg::FileIdentity;
using iceberg::ManifestContent;
using iceberg::ManifestFile;

}  // namespace

DeleteWindow::DeleteWindow(SnapshotId plan, const std::vector<ManifestFile>& plan_manifests, DeleteManifests& manifests)
    : plan_(plan), manifests_(manifests) {
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
    if (plan_paths_.contains(manifest.manifest_path)) continue;
    if (manifest.content == ManifestContent::kDeletes) {
      new_manifests_.emplace(manifest.manifest_path, manifest);
    } else if (manifest.deleted_files_count != 0) {  // unknown counts as some
      removals_.emplace(manifest.manifest_path, manifest);
    }
  }
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
    FIRN_ASSIGN(const DeleteManifests::Entries* entries, manifests_.Live(io, metadata, manifest));
    for (const DeleteEntry& entry : *entries) live_.insert(IdentityOf(entry.file));
  }

  std::set<FileIdentity> carried;  // live in manifests of the plan that the head does not have any more
  for (const auto& [path, manifest] : plan_deletes_) {
    if (head_paths.contains(path)) continue;
    FIRN_ASSIGN(const DeleteManifests::Entries* entries, manifests_.Live(io, metadata, manifest));
    for (const DeleteEntry& entry : *entries) {
      carried.insert(IdentityOf(entry.file));
      if (!live_.contains(IdentityOf(entry.file))) lost_.Add(entry, IsGlobal(metadata, entry.file.spec_id));
    }
  }

  std::set<FileIdentity> seen;
  for (const auto& [path, manifest] : new_manifests_) {
    FIRN_ASSIGN(const DeleteManifests::Entries* entries, manifests_.Live(io, metadata, manifest));
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

std::vector<const DeleteEntry*> DeleteWindow::Lost(const iceberg::DataFile& file,
                                                   SequenceNumber sequence_number) const {
  std::vector<const DeleteEntry*> found;
  for (const std::uint32_t i : lost_.Find(file, sequence_number)) found.push_back(&lost_.entries()[i]);
  return found;
}

std::vector<const DeleteEntry*> DeleteWindow::FreshPositional(const iceberg::DataFile& file,
                                                              SequenceNumber sequence_number) const {
  std::vector<const DeleteEntry*> found;
  for (const std::uint32_t i : fresh_.FindPositional(file, sequence_number)) found.push_back(&fresh_.entries()[i]);
  return found;
}

bool DeleteWindow::Affects(const iceberg::DataFile& file, SequenceNumber sequence_number) const {
  return !fresh_.FindPositional(file, sequence_number).empty() || lost_.Any(file, sequence_number);
}

std::optional<Error> DeleteWindow::Check(const iceberg::TableMetadata& metadata, const Replacement& replacement) const {
  iceberg::DataFile probe;
  probe.spec_id = replacement.spec_id;
  probe.partition = *replacement.partition;
  for (const Replacement::File& removed : replacement.removed) {
    probe.file_path = *removed.path;
    for (const std::uint32_t i : lost_.Find(probe, removed.sequence_number)) {
      if (removed.has_row_map) break;
      return DeleteConflict("was removed since the plan; it applied to", lost_.entries()[i], *removed.path);
    }
    if (fresh_.FindMisplaced(probe, removed.sequence_number).any()) {
      return Error{Code::kConflict, fmt::format("a delete that was added since the plan names data file {}, but its "
                                                "partition or sequence number does not fit",
                                                *removed.path)};
    }
    for (const std::uint32_t i : fresh_.Find(probe, removed.sequence_number)) {
      const DeleteEntry& found = fresh_.entries()[i];
      if (found.file.content != FileContent::kEqualityDeletes) {
        if (removed.has_row_map) continue;
        return DeleteConflict("was added since the plan and applies to", found, *removed.path);
      }
      if (!live_.contains(IdentityOf(found.file))) {
        if (removed.has_row_map) continue;
        return DeleteConflict("came and went since the plan; it applied to", found, *removed.path);
      }
      for (const DeleteEntry& added : replacement.added) {
        if (!Reaches(metadata, found, added.file.spec_id, added.file.partition, added.sequence_number)) {
          return DeleteConflict("would no longer apply to the rows of", found, *removed.path);
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
          return DeleteConflict("would begin to apply to the rows of", found, *removed.path);
        }
      }
    }
  }
  return std::nullopt;
}

}  // namespace firn::act
