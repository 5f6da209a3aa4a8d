// SPDX-License-Identifier: Apache-2.0
#include "act/plan_deletes.h"

#include <algorithm>
#include <map>
#include <utility>

#include "iceberg/delete_reach.h"
#include "observe/manifest_scan.h"

namespace firn::act {
namespace {

using iceberg::ManifestEntry;

class PositionRows final : public splice::DeletedRows {
 public:
  explicit PositionRows(std::shared_ptr<const roaring::PositionSet> positions) : positions_(std::move(positions)) {}

  std::int64_t CountDeleted(std::int64_t begin, std::int64_t end) const override {
    return positions_->CountIn({begin, end});
  }
  void VisitDeleted(std::int64_t begin, std::int64_t end, const splice::RowRangeVisitor& visit) const override {
    roaring::RangeCursor cursor(*positions_, {begin, end});
    for (roaring::PositionRange range; cursor.Next(range);) visit(range.begin, range.end);
  }

 private:
  std::shared_ptr<const roaring::PositionSet> positions_;
};

/// Lists of equality deletes, each once: thousands of files may have the same thousands of them.
class EqualityLists {
 public:
  using List = std::shared_ptr<const std::vector<iceberg::FileIdentity>>;

  List Of(const std::vector<const iceberg::DeleteEntry*>& equality) {
    if (equality.empty()) return nullptr;
    List& list = lists_[equality];
    if (list) return list;
    std::vector<iceberg::FileIdentity> identities;
    for (const iceberg::DeleteEntry* entry : equality) identities.push_back(iceberg::IdentityOf(entry->file));
    list = std::make_shared<const std::vector<iceberg::FileIdentity>>(std::move(identities));
    return list;
  }

 private:
  std::map<std::vector<const iceberg::DeleteEntry*>, List> lists_;
};

FileDeletes ToFileDeletes(const DataFileDeletes& planned, act::DeletedRows loaded, EqualityLists& lists) {
  FileDeletes deletes;
  deletes.deleted = loaded.positions.cardinality();
  std::vector<const iceberg::DeleteEntry*> equality;
  for (const iceberg::DeleteEntry* entry : planned.deletes) {
    if (iceberg::KindOf(entry->file) == iceberg::DeleteKind::kEquality) {
      equality.push_back(entry);
    } else {
      deletes.applied.push_back(iceberg::IdentityOf(entry->file));
    }
  }
  deletes.has_equality = !equality.empty();
  deletes.applied_equality = lists.Of(equality);
  if (deletes.deleted == 0) return deletes;
  deletes.positions = std::make_shared<const roaring::PositionSet>(std::move(loaded.positions));
  deletes.rows = std::make_shared<PositionRows>(deletes.positions);
  return deletes;
}

}  // namespace

Result<std::shared_ptr<PlanDeletes>> PlanDeletes::Read(const observe::Facts& facts, ports::FileIO& io,
                                                       const iceberg::TableMetadata& metadata,
                                                       std::int64_t cache_bytes) {
  if (!facts.snapshot_id) return std::shared_ptr<PlanDeletes>();
  std::shared_ptr<PlanDeletes> deletes(new PlanDeletes(io, metadata, *facts.snapshot_id, cache_bytes));
  const iceberg::Wanted wanted{.metrics = false, .split_offsets = false, .position_path_bounds = true};
  for (const observe::ManifestFacts& manifest : facts.manifests) {
    if (manifest.file.content != iceberg::ManifestContent::kDeletes || !MayHaveLiveFiles(manifest.file)) continue;
    const bool is_global = iceberg::IsGlobal(metadata, manifest.file.spec_id);
    FIRN_TRY(observe::ForEachEntry(
        io, manifest.file, metadata, wanted, [&](ManifestEntry& entry, std::int64_t ordinal) -> Result<bool> {
          if (entry.status == iceberg::EntryStatus::kDeleted) return true;
          if (!entry.sequence_number) {
            return observe::BadEntry(manifest.file, ordinal, "live file without a sequence number");
          }
          deletes->index_.Add({entry.file, *entry.sequence_number}, is_global);
          return true;
        }));
  }
  if (deletes->index_.empty()) return std::shared_ptr<PlanDeletes>();
  deletes->index_.Build();
  return deletes;
}

Status PlanDeletes::CheckPlaces(const ManifestEntry& file) const {
  if (!index_.FindMisplaced(file.file, file.sequence_number.value_or(SequenceNumber(0))).any()) return Ok();
  return Error{Code::kCorrupt,
               "a delete file names it, but its partition or sequence number does not fit: readers "
               "disagree about its rows"};
}

Result<std::vector<Result<FileDeletes>>> PlanDeletes::Load(const DeleteLoadContext& context,
                                                           const std::vector<const ManifestEntry*>& files) {
  std::vector<DataFileDeletes> planned;
  for (const ManifestEntry* entry : files) {
    planned.push_back(DeletesOf(index_, {&entry->file, entry->sequence_number.value_or(SequenceNumber(0))}));
  }
  // Files whose deletes cannot be read do not stop the others.
  DeleteLoadContext with_names = context;
  with_names.named_files = &named_files_;
  FIRN_ASSIGN(auto loaded, LoadEachDeletedRows(with_names, cache_, planned));
  std::vector<Result<FileDeletes>> results;
  EqualityLists lists;
  for (std::size_t i = 0; i < files.size(); ++i) {
    Status undisputed = named_files_.CheckUndisputed(files[i]->file.file_path);
    if (undisputed) undisputed = CheckPlaces(*files[i]);
    if (!undisputed) {
      results.emplace_back(std::move(undisputed.error()));
    } else if (loaded[i]) {
      results.emplace_back(ToFileDeletes(planned[i], std::move(*loaded[i]), lists));
    } else {
      results.emplace_back(std::move(loaded[i].error()));  // it names the file that is at fault
    }
  }
  return results;
}

}  // namespace firn::act
