// SPDX-License-Identifier: Apache-2.0
#include "act/commit_request.h"

#include <algorithm>
#include <limits>
#include <unordered_set>
#include <utility>

#include "iceberg/manifest_writer.h"

namespace firn::act {
namespace {

using iceberg::ManifestFile;
using iceberg::Snapshot;
using iceberg::TableMetadata;

constexpr std::int32_t kRowLineageVersion = 3;

std::vector<std::pair<std::string, std::string>> SummaryMembersOf(const CommitBase& base, const Change& change,
                                                                  const NewSnapshot& proposed) {
  std::vector<std::pair<std::string, std::string>> summary;
  summary.emplace_back("operation", proposed.operation);
  if (!change.plan_id().empty()) summary.emplace_back("firn.plan-id", change.plan_id());
  if (!change.fence().empty()) summary.emplace_back("firn.fence", change.fence());
  summary.insert(summary.end(), proposed.summary.begin(), proposed.summary.end());
  for (auto& member : SummaryOf(proposed.counts, base.head)) summary.push_back(std::move(member));
  return summary;
}

Result<Snapshot> WriteSnapshot(const CommitBase& base, const Change& change, NewSnapshot& proposed, TimestampMs now,
                               int attempt, MetadataFiles& files) {
  const TableMetadata& metadata = base.metadata;
  Snapshot snapshot;
  snapshot.id = base.new_snapshot_id;
  if (base.head != nullptr) snapshot.parent_id = base.head->id;
  if (metadata.format_version() > 1) {
    snapshot.sequence_number = SequenceNumber(metadata.last_sequence_number().value + 1);
  }
  snapshot.timestamp = std::max(now, metadata.last_updated());
  if (base.head != nullptr) snapshot.timestamp = std::max(snapshot.timestamp, base.head->timestamp);
  snapshot.schema_id = metadata.current_schema().id();
  snapshot.summary = SummaryMembersOf(base, change, proposed);

  FIRN_ASSIGN(const auto file, files.NewManifestList(metadata, snapshot.id, attempt));
  snapshot.manifest_list = files.created().back();
  const std::int64_t first_row_id = metadata.next_row_id();
  FIRN_ASSIGN(const std::int64_t next_row_id,
              iceberg::WriteManifestList(*file, metadata, snapshot.id, snapshot.parent_id, snapshot.sequence_number,
                                         first_row_id, "deflate", proposed.manifests));
  FIRN_TRY(file->Close());
  if (metadata.format_version() >= kRowLineageVersion) {
    snapshot.first_row_id = first_row_id;
    snapshot.added_rows = next_row_id - first_row_id;
  }
  return snapshot;
}

}  // namespace

SnapshotId NewSnapshotId(const TableMetadata& metadata, Random& random) {
  while (true) {
    const auto value = static_cast<std::int64_t>(random.Next() & std::numeric_limits<std::int64_t>::max());
    if (value > 0 && metadata.FindSnapshot(SnapshotId(value)) == nullptr) return SnapshotId(value);
  }
}

Result<PreparedCommit> PrepareCommit(const CommitBase& base, const Change& change, Proposal proposal, TimestampMs now,
                                     int attempt, MetadataFiles& files) {
  PreparedCommit prepared;
  std::vector<iceberg::TableRequirement>& requirements = prepared.commit.requirements;
  if (!base.metadata.table_uuid().empty()) {
    requirements.push_back(iceberg::AssertTableUuid{base.metadata.table_uuid()});
  }
  iceberg::AssertRefSnapshotId same_head{base.ref, std::nullopt};
  if (base.head != nullptr) same_head.snapshot_id = base.head->id;
  requirements.push_back(std::move(same_head));
  for (auto& requirement : proposal.requirements) requirements.push_back(std::move(requirement));

  if (proposal.snapshot) {
    FIRN_ASSIGN(Snapshot snapshot, WriteSnapshot(base, change, *proposal.snapshot, now, attempt, files));
    prepared.manifest_list = snapshot.manifest_list;
    prepared.metadata_files.push_back(snapshot.manifest_list);
    const std::unordered_set<std::string_view> created(files.created().begin(), files.created().end());
    for (const ManifestFile& line : proposal.snapshot->manifests) {
      if (created.contains(line.manifest_path)) prepared.metadata_files.push_back(line.manifest_path);
    }
    const std::vector<std::string>& delete_files = proposal.snapshot->delete_files;
    prepared.metadata_files.insert(prepared.metadata_files.end(), delete_files.begin(), delete_files.end());
    iceberg::SnapshotRef ref;
    if (const iceberg::SnapshotRef* before = base.metadata.FindRef(base.ref)) ref = *before;
    ref.name = base.ref;
    ref.snapshot_id = snapshot.id;
    prepared.commit.updates.push_back(iceberg::AddSnapshot{std::move(snapshot)});
    prepared.commit.updates.push_back(iceberg::SetSnapshotRef{std::move(ref)});
  }
  for (auto& update : proposal.updates) prepared.commit.updates.push_back(std::move(update));
  return prepared;
}

}  // namespace firn::act
