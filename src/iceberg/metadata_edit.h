// SPDX-License-Identifier: Apache-2.0
//
// Edits the JSON tree of table metadata, one update after the other, with the state that they share.
//
// In: base metadata, updates in order. Out: the edited tree.
// Guarantees: only named members change; what an update adds is visible to the ones after it.
// Errors: kInvalidArgument when an update makes no sense.
// Threads: one owner. Cost: a copy of the tree, then O(snapshots) an update at most.
// Source: Iceberg table spec, "Table Metadata Fields", "Snapshot Row IDs"; Java TableMetadata.Builder for the order of
//   log entries.
#pragma once

#include <optional>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "format/json/json.h"
#include "iceberg/metadata.h"
#include "iceberg/table_update.h"

namespace firn::iceberg {

class MetadataEdit {
 public:
  explicit MetadataEdit(const TableMetadata& base);

  Status operator()(const UpgradeFormatVersion& update);
  Status operator()(const AddSnapshot& update);
  Status operator()(const SetSnapshotRef& update);
  Status operator()(const RemoveSnapshotRef& update);
  Status operator()(const RemoveSnapshots& update);
  Status operator()(const SetProperties& update);
  Status operator()(const RemoveProperties& update);

  /// Writes times and logs: last-updated-ms, snapshot-log, metadata-log; then gives the tree away.
  Result<json::Value> Finish(const std::string& base_location, TimestampMs now) &&;

 private:
  Status CheckNewSnapshot(const Snapshot& snapshot) const;
  Status CheckRowIds(const Snapshot& snapshot) const;
  /// The list or object under `name`, made when it is missing or null.
  json::Value& ListMember(std::string_view name);
  json::Value& ObjectMember(std::string_view name);
  json::Value& Refs();
  void DropStatistics(std::string_view member);
  void PruneSnapshotLog();
  Status AppendMetadataLog(const std::string& base_location);

  const TableMetadata& base_;
  json::Value tree_;
  /// Timestamps of the snapshots that exist at this point.
  std::unordered_map<SnapshotId, TimestampMs> snapshots_;
  SequenceNumber last_sequence_number_;
  std::int64_t next_row_id_;
  std::optional<SnapshotId> current_;
  bool snapshots_removed_ = false;
};

}  // namespace firn::iceberg
