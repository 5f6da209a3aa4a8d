// SPDX-License-Identifier: Apache-2.0
//
// The members of table metadata that firn reads, one function a kind, with the defaults of older format versions.
//
// In: the root object and its format version. Out: values.
// Guarantees: v1's `schema` and `partition-spec` stand in for the lists that older writers left out; what a version
//   requires and does not have is kCorrupt; the current schema and the default spec exist.
// Threads: pure. Cost: one pass over the member.
// Source: Iceberg table spec, "Table Metadata Fields", Appendix E; Java TableMetadataParser for the defaults.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "format/json/json.h"
#include "iceberg/metadata.h"

namespace firn::iceberg {

struct SchemaSet {
  std::vector<Schema> schemas;
  SchemaId current{0};
};
Result<SchemaSet> SchemasFromTree(const json::Value& tree, std::int32_t format_version);

struct SpecSet {
  std::vector<PartitionSpec> specs;
  SpecId default_id{0};
};
Result<SpecSet> SpecsFromTree(const json::Value& tree, std::int32_t format_version);

struct SortOrderSet {
  std::vector<SortOrder> orders;
  SortOrderId default_id{0};
};
Result<SortOrderSet> SortOrdersFromTree(const json::Value& tree, std::int32_t format_version);

/// Absent when missing, null, or Java's -1.
Result<std::optional<SnapshotId>> CurrentSnapshotFromTree(const json::Value& tree);
Result<std::vector<Snapshot>> SnapshotsFromTree(const json::Value& tree);
/// Adds main when only `current` tells of it.
Result<std::vector<SnapshotRef>> RefsFromTree(const json::Value& tree, std::optional<SnapshotId> current);
/// Table statistics, then partition statistics.
Result<std::vector<StatisticsFile>> StatisticsFromTree(const json::Value& tree);
Result<std::vector<std::string>> MetadataLogFromTree(const json::Value& tree);

}  // namespace firn::iceberg
