// SPDX-License-Identifier: Apache-2.0
#include "iceberg/metadata_parse.h"

#include <fmt/format.h>

#include <algorithm>

#include "iceberg/partition_spec_json.h"
#include "iceberg/schema_json.h"
#include "iceberg/snapshot_json.h"
#include "iceberg/transform_source.h"

namespace firn::iceberg {
namespace {

/// The list under `name`; null when it is missing or null, kCorrupt when it is something else.
Result<const json::Value*> FindList(const json::Value& tree, std::string_view name) {
  const json::Value* list = tree.Find(name);
  if (list == nullptr || list->is_null()) return static_cast<const json::Value*>(nullptr);
  if (!list->is_array()) return Error{Code::kCorrupt, fmt::format("`{}` is no list", name)};
  return list;
}

Error RequiredSince2(std::string_view name, std::int32_t format_version) {
  return {Code::kCorrupt, fmt::format("`{}` is missing, which format version {} requires", name, format_version)};
}

Result<SortField> SortFieldFromJson(const json::Value& value) {
  SortField field;
  FIRN_ASSIGN(TransformSource source, TransformSourceFromJson(value));
  field.source_id = source.source_id;
  field.transform = std::move(source.transform);
  FIRN_ASSIGN(const std::string direction, json::GetString(value, "direction"));
  FIRN_ASSIGN(const std::string nulls, json::GetString(value, "null-order"));
  field.ascending = direction == "asc" || direction == "ASC";
  field.nulls_first = nulls == "nulls-first" || nulls == "NULLS_FIRST";
  if (!field.ascending && direction != "desc" && direction != "DESC") {
    return Error{Code::kCorrupt, "`direction` is neither asc nor desc"};
  }
  if (!field.nulls_first && nulls != "nulls-last" && nulls != "NULLS_LAST") {
    return Error{Code::kCorrupt, "`null-order` is neither nulls-first nor nulls-last"};
  }
  return field;
}

Result<SortOrder> SortOrderFromJson(const json::Value& value) {
  SortOrder order;
  FIRN_ASSIGN(order.id.value, json::GetInt32(value, "order-id").In("sort order"));
  const std::string where = fmt::format("sort order {}", order.id.value);
  const json::Value* fields = value.Find("fields");
  if (fields == nullptr || !fields->is_array()) return Error{Code::kCorrupt, where + ": `fields` is no list"};
  for (const json::Value& element : fields->elements()) {
    FIRN_ASSIGN(SortField field, SortFieldFromJson(element).In(where));
    order.fields.push_back(std::move(field));
  }
  return order;
}

/// v1 without `schemas`, or with `schemas` but no `current-schema-id`: the deprecated member says which is current.
Result<Schema> DeprecatedSchema(const json::Value& tree) {
  const json::Value* schema = tree.Find("schema");
  if (schema == nullptr) return Error{Code::kCorrupt, "neither `current-schema-id` nor `schema` is there"};
  return SchemaFromJson(*schema).In("`schema`");
}

}  // namespace

Result<SchemaSet> SchemasFromTree(const json::Value& tree, std::int32_t format_version) {
  SchemaSet set;
  FIRN_ASSIGN(const json::Value* list, FindList(tree, "schemas"));
  FIRN_ASSIGN(const auto current, json::FindInt32(tree, "current-schema-id"));
  if (format_version > 1 && list == nullptr) return RequiredSince2("schemas", format_version);
  if (format_version > 1 && !current) return RequiredSince2("current-schema-id", format_version);
  if (list != nullptr) {
    for (const json::Value& element : list->elements()) {
      FIRN_ASSIGN(Schema schema, SchemaFromJson(element));
      set.schemas.push_back(std::move(schema));
    }
  }
  if (list != nullptr && current) {
    set.current = SchemaId(*current);
  } else {
    FIRN_ASSIGN(Schema deprecated, DeprecatedSchema(tree));
    set.current = deprecated.id();
    if (list == nullptr) set.schemas.push_back(std::move(deprecated));
  }
  const auto is_current = [&set](const Schema& schema) { return schema.id() == set.current; };
  if (std::none_of(set.schemas.begin(), set.schemas.end(), is_current)) {
    return Error{Code::kCorrupt,
                 fmt::format("the current schema is {}, but there is no such schema", set.current.value)};
  }
  return set;
}

Result<SpecSet> SpecsFromTree(const json::Value& tree, std::int32_t format_version) {
  SpecSet set;
  FIRN_ASSIGN(const json::Value* list, FindList(tree, "partition-specs"));
  FIRN_ASSIGN(const auto default_id, json::FindInt32(tree, "default-spec-id"));
  FIRN_ASSIGN(const auto last_partition_id, json::FindInt32(tree, "last-partition-id"));
  if (format_version > 1) {
    if (list == nullptr) return RequiredSince2("partition-specs", format_version);
    if (!default_id) return RequiredSince2("default-spec-id", format_version);
    if (!last_partition_id) return RequiredSince2("last-partition-id", format_version);
  }
  if (list != nullptr) {
    for (const json::Value& element : list->elements()) {
      FIRN_ASSIGN(PartitionSpec spec, PartitionSpecFromJson(element));
      set.default_id = std::max(set.default_id, spec.id);  // the newest, if nothing says more
      set.specs.push_back(std::move(spec));
    }
    if (default_id) set.default_id = SpecId(*default_id);
    const auto is_default = [&set](const PartitionSpec& spec) { return spec.id == set.default_id; };
    if (std::none_of(set.specs.begin(), set.specs.end(), is_default)) {
      return Error{Code::kCorrupt,
                   fmt::format("the default partition spec is {}, but there is no such spec", set.default_id.value)};
    }
    return set;
  }
  const json::Value* fields = tree.Find("partition-spec");
  if (fields == nullptr) return Error{Code::kCorrupt, "neither `partition-specs` nor `partition-spec` is there"};
  PartitionSpec spec;
  FIRN_ASSIGN(spec.fields, PartitionFieldsFromJson(*fields).In("`partition-spec`"));
  set.specs.push_back(std::move(spec));
  return set;
}

Result<SortOrderSet> SortOrdersFromTree(const json::Value& tree, std::int32_t format_version) {
  SortOrderSet set;
  FIRN_ASSIGN(const json::Value* list, FindList(tree, "sort-orders"));
  FIRN_ASSIGN(const auto default_id, json::FindInt32(tree, "default-sort-order-id"));
  if (format_version > 1 && list == nullptr) return RequiredSince2("sort-orders", format_version);
  if (format_version > 1 && !default_id) return RequiredSince2("default-sort-order-id", format_version);
  if (list == nullptr) return set;
  set.default_id = SortOrderId(default_id.value_or(0));
  for (const json::Value& element : list->elements()) {
    FIRN_ASSIGN(SortOrder order, SortOrderFromJson(element));
    set.orders.push_back(std::move(order));
  }
  return set;
}

Result<std::optional<SnapshotId>> CurrentSnapshotFromTree(const json::Value& tree) {
  FIRN_ASSIGN(const auto id, json::FindInt64(tree, "current-snapshot-id"));
  if (!id || *id == -1) return std::optional<SnapshotId>();
  return std::optional<SnapshotId>(*id);
}

Result<std::vector<Snapshot>> SnapshotsFromTree(const json::Value& tree) {
  std::vector<Snapshot> snapshots;
  FIRN_ASSIGN(const json::Value* list, FindList(tree, "snapshots"));
  if (list == nullptr) return snapshots;
  snapshots.reserve(list->elements().size());
  for (const json::Value& element : list->elements()) {
    FIRN_ASSIGN(Snapshot snapshot, SnapshotFromJson(element));
    snapshots.push_back(std::move(snapshot));
  }
  return snapshots;
}

Result<std::vector<SnapshotRef>> RefsFromTree(const json::Value& tree, std::optional<SnapshotId> current) {
  std::vector<SnapshotRef> refs;
  bool has_main = false;
  if (const json::Value* map = tree.Find("refs"); map != nullptr && !map->is_null()) {
    if (!map->is_object()) return Error{Code::kCorrupt, "`refs` is no object"};
    for (const auto& [name, value] : map->members()) {
      FIRN_ASSIGN(SnapshotRef ref, SnapshotRefFromJson(name, value));
      has_main = has_main || name == "main";
      refs.push_back(std::move(ref));
    }
  }
  if (!has_main && current) refs.push_back(SnapshotRef{.name = "main", .snapshot_id = *current});
  return refs;
}

Result<std::vector<StatisticsFile>> StatisticsFromTree(const json::Value& tree) {
  std::vector<StatisticsFile> files;
  for (const bool is_partition_statistics : {false, true}) {
    const std::string_view name = is_partition_statistics ? "partition-statistics" : "statistics";
    FIRN_ASSIGN(const json::Value* list, FindList(tree, name));
    if (list == nullptr) continue;
    for (const json::Value& element : list->elements()) {
      FIRN_ASSIGN(StatisticsFile file,
                  StatisticsFileFromJson(element, is_partition_statistics).In(fmt::format("`{}`", name)));
      files.push_back(std::move(file));
    }
  }
  return files;
}

Result<std::vector<std::string>> MetadataLogFromTree(const json::Value& tree) {
  std::vector<std::string> locations;
  FIRN_ASSIGN(const json::Value* list, FindList(tree, "metadata-log"));
  if (list == nullptr) return locations;
  for (const json::Value& element : list->elements()) {
    FIRN_ASSIGN(std::string location, json::GetString(element, "metadata-file").In("`metadata-log`"));
    locations.push_back(std::move(location));
  }
  return locations;
}

}  // namespace firn::iceberg
