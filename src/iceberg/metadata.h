// SPDX-License-Identifier: Apache-2.0
//
// Table metadata: the JSON tree as it was read, and typed views of the parts that firn uses.
//
// In: JSON text, plain or gzip (told by the magic bytes). Out: views; text again after edits.
// Guarantees: whatever firn does not understand survives a round trip in place. Format version above 3,
//   encryption keys and contradictory metadata (current schema missing, ref to a missing snapshot, ...) are refused.
// Cost: about 10 times the text in memory. Views are built once; snapshots are found by id in O(1).
// Threads: immutable after parsing; edits make a new object (table_update.h).
// Errors: kCorrupt (with the member), kUnsupported (what and why).
// Source: Iceberg table spec, "Table Metadata", Appendix C, Appendix F.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "base/time.h"
#include "format/json/json.h"
#include "iceberg/partition_spec.h"
#include "iceberg/types.h"

namespace firn::iceberg {

inline constexpr std::int32_t kFormatVersionMax = 3;

struct SortField {
  FieldId source_id = 0;
  Transform transform;
  bool ascending = true;
  bool nulls_first = true;
};

struct SortOrder {
  SortOrderId id{0};
  std::vector<SortField> fields;
};

struct Snapshot {
  SnapshotId id{0};
  std::optional<SnapshotId> parent_id;
  SequenceNumber sequence_number{0};  // 0 for v1
  TimestampMs timestamp;
  std::string manifest_list;                                 // empty for v1 snapshots with inline manifests
  std::vector<std::string> manifests;                        // v1 inline manifests
  std::vector<std::pair<std::string, std::string>> summary;  // includes "operation"
  std::optional<SchemaId> schema_id;
  std::optional<std::int64_t> first_row_id;
  std::optional<std::int64_t> added_rows;
  std::optional<std::string> key_id;

  /// "overwrite" when there is a summary without one, as Java has it; empty without a summary.
  std::string operation() const;
  const std::string* FindSummary(std::string_view key) const;
};

struct SnapshotRef {
  std::string name;
  SnapshotId snapshot_id{0};
  bool is_branch = true;
  std::optional<std::int64_t> max_ref_age_ms{}, max_snapshot_age_ms{};
  std::optional<std::int32_t> min_snapshots_to_keep{};
};

struct StatisticsFile {
  SnapshotId snapshot_id{0};
  std::string path;
  std::int64_t file_size_bytes = 0;
  std::int64_t footer_size_bytes = 0;
  bool is_partition_statistics = false;
};

class TableMetadata {
 public:
  /// Builds the views and validates. Keeps `tree`.
  static Result<TableMetadata> FromTree(json::Value tree);
  /// From the bytes of a metadata file, gzip or plain. kLimit when gzip expands above 1 GiB.
  static Result<TableMetadata> Parse(ByteView bytes);

  const json::Value& tree() const { return tree_; }
  /// Compact JSON text of the tree.
  std::string ToJsonText() const { return json::Write(tree_); }

  std::int32_t format_version() const { return format_version_; }
  const std::string& table_uuid() const { return table_uuid_; }  // may be empty in v1
  const std::string& location() const { return location_; }
  SequenceNumber last_sequence_number() const { return last_sequence_number_; }
  TimestampMs last_updated() const { return last_updated_; }
  std::int64_t next_row_id() const { return next_row_id_; }  // v3, else 0

  const std::vector<Schema>& schemas() const { return schemas_; }
  const Schema& current_schema() const;
  const Schema* FindSchema(SchemaId id) const;
  const std::vector<PartitionSpec>& specs() const { return specs_; }
  const PartitionSpec& default_spec() const;
  const PartitionSpec* FindSpec(SpecId id) const;
  const std::vector<SortOrder>& sort_orders() const { return sort_orders_; }
  SortOrderId default_sort_order_id() const { return default_sort_order_id_; }
  const SortOrder* FindSortOrder(SortOrderId id) const;

  const std::vector<Snapshot>& snapshots() const { return snapshots_; }
  const Snapshot* FindSnapshot(SnapshotId id) const;
  /// Head of main; null for an empty table.
  const Snapshot* current_snapshot() const;
  const std::vector<SnapshotRef>& refs() const { return refs_; }  // main included, also when only implied
  const SnapshotRef* FindRef(std::string_view name) const;
  /// Snapshot of a ref; null if the ref does not exist.
  const Snapshot* RefSnapshot(std::string_view name) const;
  /// True if `ancestor` is `descendant` or reachable from it over parents that are still known.
  bool IsAncestor(SnapshotId ancestor, SnapshotId descendant) const;

  const std::map<std::string, std::string, std::less<>>& properties() const { return properties_; }
  /// Property text, or `fallback`.
  std::string Property(std::string_view key, std::string_view fallback) const;
  /// Property as an integer; the fallback when it is missing, kInvalidArgument when it is no integer.
  Result<std::int64_t> IntProperty(std::string_view key, std::int64_t fallback) const;
  const std::vector<StatisticsFile>& statistics() const { return statistics_; }
  /// Metadata files of the metadata log, oldest first.
  const std::vector<std::string>& metadata_log() const { return metadata_log_; }

 private:
  json::Value tree_;
  std::int32_t format_version_ = 0;
  std::string table_uuid_, location_;
  SequenceNumber last_sequence_number_{0};
  TimestampMs last_updated_;
  std::int64_t next_row_id_ = 0;
  std::vector<Schema> schemas_;
  SchemaId current_schema_id_{0};
  std::vector<PartitionSpec> specs_;
  SpecId default_spec_id_{0};
  std::vector<SortOrder> sort_orders_;
  SortOrderId default_sort_order_id_{0};
  std::vector<Snapshot> snapshots_;
  std::unordered_map<SnapshotId, std::size_t> snapshot_index_;
  std::optional<SnapshotId> current_snapshot_id_;
  std::vector<SnapshotRef> refs_;
  std::map<std::string, std::string, std::less<>> properties_;
  std::vector<StatisticsFile> statistics_;
  std::vector<std::string> metadata_log_;
};

using MetadataPtr = std::shared_ptr<const TableMetadata>;

}  // namespace firn::iceberg
