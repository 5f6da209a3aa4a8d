// SPDX-License-Identifier: Apache-2.0
#include "act/plan_deletes.h"

#include <algorithm>
#include <utility>

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

FileDeletes ToFileDeletes(const DataFileDeletes& planned, act::DeletedRows loaded) {
  FileDeletes deletes;
  deletes.deleted = loaded.positions.cardinality();
  for (const iceberg::DeleteEntry* entry : planned.deletes) {
    deletes.applied.push_back(iceberg::IdentityOf(entry->file));
    deletes.has_equality |= iceberg::KindOf(entry->file) == iceberg::DeleteKind::kEquality;
  }
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
    const iceberg::PartitionSpec* spec = metadata.FindSpec(manifest.file.spec_id);
    const bool is_global = spec != nullptr && spec->is_unpartitioned();
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
  for (std::size_t i = 0; i < files.size(); ++i) {
    Status undisputed = named_files_.CheckUndisputed(files[i]->file.file_path);
    if (!undisputed) {
      results.emplace_back(std::move(undisputed.error()));
    } else if (loaded[i]) {
      results.emplace_back(ToFileDeletes(planned[i], std::move(*loaded[i])));
    } else {
      results.emplace_back(std::move(loaded[i].error()).In(files[i]->file.file_path));
    }
  }
  return results;
}

}  // namespace firn::act
