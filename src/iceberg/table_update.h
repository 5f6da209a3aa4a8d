// SPDX-License-Identifier: Apache-2.0
//
// Changes to table metadata and the conditions under which they may be made, as the REST protocol names them.
//
// In: metadata, requirements, updates. Out: new metadata (catalogs that write files), or JSON (REST).
// Guarantees: ApplyUpdates touches only what the updates name; every other member of the tree stays as it was.
// Errors: kConflict when a requirement does not hold; kInvalidArgument when an update makes no sense.
// Threads: pure.
// Source: Iceberg REST OpenAPI, TableRequirement, TableUpdate; table spec, Appendix F for snapshot-log,
//   metadata-log and last-updated-ms.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "iceberg/metadata.h"

namespace firn::iceberg {

struct AssertTableUuid {
  std::string uuid;
};
/// `snapshot_id` absent: the ref must not exist.
struct AssertRefSnapshotId {
  std::string ref;
  std::optional<SnapshotId> snapshot_id;
};
struct AssertCurrentSchemaId {
  SchemaId schema_id{0};
};
struct AssertDefaultSpecId {
  SpecId spec_id{0};
};
struct AssertDefaultSortOrderId {
  SortOrderId sort_order_id{0};
};
using TableRequirement = std::variant<AssertTableUuid, AssertRefSnapshotId, AssertCurrentSchemaId, AssertDefaultSpecId,
                                      AssertDefaultSortOrderId>;

/// The snapshot must be new, its parent known and not more than a minute after it, its sequence number (v2) above the
/// table's, its first row id (v3) the table's next.
struct AddSnapshot {
  Snapshot snapshot;
};
/// Replaces the whole ref: take retention members from the base to keep them. A ref never changes between branch and
/// tag.
struct SetSnapshotRef {
  SnapshotRef ref;
};
struct RemoveSnapshotRef {
  std::string name;
};
/// No ref may lead to one of them. Unknown ids are no error. Takes their statistics and their history along.
struct RemoveSnapshots {
  std::vector<SnapshotId> ids;
};
struct SetProperties {
  std::vector<std::pair<std::string, std::string>> values;
};
struct RemoveProperties {
  std::vector<std::string> keys;
};
/// From version 2 to 3 only.
struct UpgradeFormatVersion {
  std::int32_t format_version = 3;
};
using TableUpdate = std::variant<UpgradeFormatVersion, AddSnapshot, SetSnapshotRef, RemoveSnapshotRef, RemoveSnapshots,
                                 SetProperties, RemoveProperties>;

/// A snapshot as a member of `snapshots`, for the table's format version.
json::Value SnapshotToJson(const Snapshot& snapshot, std::int32_t format_version);
json::Value ToJson(const TableRequirement& requirement);
json::Value ToJson(const TableUpdate& update, std::int32_t format_version);

Status CheckRequirements(const TableMetadata& base, const std::vector<TableRequirement>& requirements);

/// New metadata after `updates`. `now` becomes last-updated-ms (never lower than the base's or the time of a new
/// current snapshot);
/// `base_location` is put into the metadata-log, which is cut to write.metadata.previous-versions-max.
Result<TableMetadata> ApplyUpdates(const TableMetadata& base, const std::string& base_location,
                                   const std::vector<TableUpdate>& updates, TimestampMs now);

}  // namespace firn::iceberg
