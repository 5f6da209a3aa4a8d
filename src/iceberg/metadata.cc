// SPDX-License-Identifier: Apache-2.0
#include "iceberg/metadata.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/check.h"
#include "format/gzip/gzip.h"
#include "iceberg/metadata_check.h"
#include "iceberg/metadata_parse.h"
#include "iceberg/snapshot_json.h"

namespace firn::iceberg {
namespace {

constexpr std::size_t kMetadataBytesMax = std::size_t{1} << 30;

Result<std::int32_t> FormatVersionOf(const json::Value& tree) {
  if (!tree.is_object()) return Error{Code::kCorrupt, "table metadata is no JSON object"};
  FIRN_ASSIGN(const std::int32_t version, json::GetInt32(tree, "format-version"));
  if (version < 1) return Error{Code::kCorrupt, fmt::format("`format-version` is {}", version)};
  if (version > kFormatVersionMax) {
    return Error{Code::kUnsupported,
                 fmt::format("format version {} (this version of firn knows up to {})", version, kFormatVersionMax)};
  }
  return version;
}

/// A member that newer format versions require and older ones may leave out.
Result<std::int64_t> RequiredFrom(std::int32_t since, std::int32_t format_version, const json::Value& tree,
                                  std::string_view name) {
  if (format_version < since) return std::int64_t{0};
  FIRN_ASSIGN(const std::int64_t value, json::GetInt64(tree, name));
  if (value < 0) return Error{Code::kCorrupt, fmt::format("`{}` is negative", name)};
  return value;
}

template <class T, class Id>
const T* FindById(const std::vector<T>& values, Id id) {
  const auto found = std::find_if(values.begin(), values.end(), [id](const T& value) { return value.id == id; });
  return found == values.end() ? nullptr : &*found;
}

}  // namespace

std::string Snapshot::operation() const {
  if (const std::string* text = FindSummary("operation")) return *text;
  return summary.empty() ? "" : "overwrite";
}

const std::string* Snapshot::FindSummary(std::string_view key) const {
  for (const auto& [name, text] : summary) {
    if (name == key) return &text;
  }
  return nullptr;
}

Result<TableMetadata> TableMetadata::FromTree(json::Value tree) {
  TableMetadata metadata;
  FIRN_ASSIGN(metadata.format_version_, FormatVersionOf(tree));
  FIRN_TRY(CheckNotEncrypted(tree));
  const std::int32_t version = metadata.format_version_;

  FIRN_ASSIGN(auto uuid, json::FindString(tree, "table-uuid"));
  if (!uuid && version > 1) return Error{Code::kCorrupt, "`table-uuid` is missing"};
  metadata.table_uuid_ = std::move(uuid).value_or("");
  FIRN_ASSIGN(metadata.location_, json::GetString(tree, "location"));
  FIRN_ASSIGN(metadata.last_updated_.value, json::GetInt64(tree, "last-updated-ms"));
  FIRN_TRY(json::GetInt32(tree, "last-column-id"));
  FIRN_ASSIGN(metadata.last_sequence_number_.value, RequiredFrom(2, version, tree, "last-sequence-number"));
  FIRN_ASSIGN(metadata.next_row_id_, RequiredFrom(3, version, tree, "next-row-id"));

  FIRN_ASSIGN(SchemaSet schemas, SchemasFromTree(tree, version));
  metadata.schemas_ = std::move(schemas.schemas);
  metadata.current_schema_id_ = schemas.current;
  FIRN_ASSIGN(SpecSet specs, SpecsFromTree(tree, version));
  metadata.specs_ = std::move(specs.specs);
  metadata.default_spec_id_ = specs.default_id;
  FIRN_ASSIGN(SortOrderSet orders, SortOrdersFromTree(tree, version));
  metadata.sort_orders_ = std::move(orders.orders);
  metadata.default_sort_order_id_ = orders.default_id;

  FIRN_ASSIGN(metadata.snapshots_, SnapshotsFromTree(tree));
  for (std::size_t i = 0; i < metadata.snapshots_.size(); ++i) {
    metadata.snapshot_index_.emplace(metadata.snapshots_[i].id, i);
  }
  FIRN_ASSIGN(metadata.current_snapshot_id_, CurrentSnapshotFromTree(tree));
  FIRN_ASSIGN(metadata.refs_, RefsFromTree(tree, metadata.current_snapshot_id_));
  if (const json::Value* properties = tree.Find("properties"); properties != nullptr && !properties->is_null()) {
    FIRN_ASSIGN(auto pairs, StringMapFromJson(*properties).In("`properties`"));
    for (auto& [name, text] : pairs) metadata.properties_.emplace(std::move(name), std::move(text));
  }
  FIRN_ASSIGN(metadata.statistics_, StatisticsFromTree(tree));
  FIRN_ASSIGN(metadata.metadata_log_, MetadataLogFromTree(tree));
  FIRN_TRY(CheckMetadata(metadata, metadata.current_snapshot_id_));
  metadata.tree_ = std::move(tree);
  return metadata;
}

Result<TableMetadata> TableMetadata::Parse(ByteView bytes) {
  Bytes expanded;
  if (gzip::IsGzip(bytes)) {
    FIRN_ASSIGN(expanded, gzip::Expand(bytes, kMetadataBytesMax));
    bytes = expanded;
  }
  FIRN_ASSIGN(json::Value tree, json::Parse(AsText(bytes)));
  return FromTree(std::move(tree));
}

const Schema* TableMetadata::FindSchema(SchemaId id) const {
  const auto found =
      std::find_if(schemas_.begin(), schemas_.end(), [id](const Schema& schema) { return schema.id() == id; });
  return found == schemas_.end() ? nullptr : &*found;
}

const Schema& TableMetadata::current_schema() const {
  const Schema* schema = FindSchema(current_schema_id_);
  FIRN_CHECK(schema != nullptr);  // FromTree has refused metadata without it
  return *schema;
}

const PartitionSpec* TableMetadata::FindSpec(SpecId id) const { return FindById(specs_, id); }

const PartitionSpec& TableMetadata::default_spec() const {
  const PartitionSpec* spec = FindSpec(default_spec_id_);
  FIRN_CHECK(spec != nullptr);  // as above
  return *spec;
}

const SortOrder* TableMetadata::FindSortOrder(SortOrderId id) const { return FindById(sort_orders_, id); }

const Snapshot* TableMetadata::FindSnapshot(SnapshotId id) const {
  const auto found = snapshot_index_.find(id);
  return found == snapshot_index_.end() ? nullptr : &snapshots_[found->second];
}

const Snapshot* TableMetadata::current_snapshot() const {
  return current_snapshot_id_ ? FindSnapshot(*current_snapshot_id_) : nullptr;
}

const SnapshotRef* TableMetadata::FindRef(std::string_view name) const {
  const auto found =
      std::find_if(refs_.begin(), refs_.end(), [name](const SnapshotRef& ref) { return ref.name == name; });
  return found == refs_.end() ? nullptr : &*found;
}

const Snapshot* TableMetadata::RefSnapshot(std::string_view name) const {
  const SnapshotRef* ref = FindRef(name);
  return ref == nullptr ? nullptr : FindSnapshot(ref->snapshot_id);
}

bool TableMetadata::IsAncestor(SnapshotId ancestor, SnapshotId descendant) const {
  std::optional<SnapshotId> at = descendant;
  // Bounded by the number of snapshots: a broken table may hold a circle of parents.
  for (std::size_t steps = 0; at && steps <= snapshots_.size(); ++steps) {
    if (*at == ancestor) return true;
    const Snapshot* snapshot = FindSnapshot(*at);
    at = snapshot == nullptr ? std::nullopt : snapshot->parent_id;
  }
  return false;
}

std::string TableMetadata::Property(std::string_view key, std::string_view fallback) const {
  const auto found = properties_.find(key);
  return found == properties_.end() ? std::string(fallback) : found->second;
}

Result<std::int64_t> TableMetadata::IntProperty(std::string_view key, std::int64_t fallback) const {
  const auto found = properties_.find(key);
  if (found == properties_.end()) return fallback;
  const std::string& text = found->second;
  std::int64_t number = 0;
  const auto [stop, fault] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (fault != std::errc() || stop != text.data() + text.size()) {
    return Error{Code::kInvalidArgument,
                 fmt::format("table property `{}` is no integer: `{}`", key, text.substr(0, 80))};
  }
  return number;
}

}  // namespace firn::iceberg
