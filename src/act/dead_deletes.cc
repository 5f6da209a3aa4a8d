// SPDX-License-Identifier: Apache-2.0
#include "act/dead_deletes.h"

#include <set>
#include <utility>

#include "act/delete_scope.h"
#include "observe/manifest_scan.h"

namespace firn::act {
namespace {

using iceberg::DeleteEntry;
using iceberg::DeleteIndex;
using iceberg::ManifestFile;

/// Which manifests can hold files that a candidate applies to.
struct Reach {
  std::set<SpecId> specs;
  bool all_specs = false;

  // The least sequence number of the line is not asked: not all writers count files with explicit older ones.
  bool MayMatter(const ManifestFile& line) const {
    return line.content == iceberg::ManifestContent::kData && iceberg::MayHaveLiveFiles(line) &&
           (all_specs || specs.contains(line.spec_id));
  }
};

}  // namespace

Result<std::vector<bool>> DeadDeletes::Find(ports::FileIO& io, const iceberg::TableMetadata& metadata,
                                            const std::vector<ManifestFile>& head_manifests,
                                            const std::vector<DeleteEntry>& candidates, const DataEdit& edit) {
  Question question;
  question.version = edit.version;
  DeleteIndex index;
  for (const DeleteEntry& candidate : candidates) {
    question.candidates.push_back(iceberg::IdentityOf(candidate.file));
    index.Add(candidate, IsGlobal(metadata, candidate.file.spec_id));
  }
  index.Build();
  if (question != question_) needed_.clear();
  question_ = std::move(question);

  std::vector<bool> dead(candidates.size(), true);
  for (const DeleteEntry& added : edit.added) {
    for (const std::uint32_t i : index.Find(added.file, added.sequence_number)) {
      if (candidates[i].file.content == iceberg::FileContent::kEqualityDeletes) dead[i] = false;
    }
  }
  for (const ManifestFile& line : head_manifests) {
    Reach reach;
    for (std::size_t i = 0; i < candidates.size(); ++i) {
      if (!dead[i]) continue;
      const DeleteEntry& candidate = candidates[i];
      const bool is_equality = candidate.file.content == iceberg::FileContent::kEqualityDeletes;
      reach.specs.insert(candidate.file.spec_id);
      reach.all_specs |= is_equality && IsGlobal(metadata, candidate.file.spec_id);
    }
    if (reach.specs.empty()) break;
    if (!reach.MayMatter(line)) continue;
    FIRN_ASSIGN(const Indexes* needed, NeededBy(io, metadata, line, index, edit));
    for (const std::uint32_t i : *needed) dead[i] = false;
  }
  return dead;
}

Result<const DeadDeletes::Indexes*> DeadDeletes::NeededBy(ports::FileIO& io, const iceberg::TableMetadata& metadata,
                                                          const ManifestFile& manifest, const DeleteIndex& index,
                                                          const DataEdit& edit) {
  const auto known = needed_.find(manifest.manifest_path);
  if (known != needed_.end()) return &known->second;
  std::set<std::uint32_t> needed;
  const auto look = [&](iceberg::ManifestEntry& entry, std::int64_t) -> Result<bool> {
    if (entry.status == iceberg::EntryStatus::kDeleted) return true;
    const SequenceNumber sequence_number = entry.sequence_number.value_or(SequenceNumber(0));
    const std::vector<std::uint32_t> found = index.Find(entry.file, sequence_number);
    if (found.empty() || edit.is_removed(entry.file, sequence_number)) return true;
    needed.insert(found.begin(), found.end());
    return needed.size() < index.entries().size();
  };
  FIRN_TRY(observe::ForEachEntry(io, manifest, metadata, iceberg::Wanted::planning(), look));
  return &needed_.emplace(manifest.manifest_path, Indexes(needed.begin(), needed.end())).first->second;
}

}  // namespace firn::act
