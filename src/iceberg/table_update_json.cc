// SPDX-License-Identifier: Apache-2.0
#include "iceberg/snapshot_json.h"
#include "iceberg/table_update.h"

namespace firn::iceberg {
namespace {

json::Value Tagged(std::string_view member, std::string_view name) {
  json::Value value = json::Value::Object();
  value.Set(member, name);
  return value;
}

struct RequirementWriter {
  json::Value operator()(const AssertTableUuid& requirement) const {
    json::Value value = Tagged("type", "assert-table-uuid");
    value.Set("uuid", requirement.uuid);
    return value;
  }
  json::Value operator()(const AssertRefSnapshotId& requirement) const {
    json::Value value = Tagged("type", "assert-ref-snapshot-id");
    value.Set("ref", requirement.ref);
    // null is a statement of its own: the ref must not exist.
    value.Set("snapshot-id", requirement.snapshot_id ? json::Value(requirement.snapshot_id->value) : json::Value());
    return value;
  }
  json::Value operator()(const AssertCurrentSchemaId& requirement) const {
    json::Value value = Tagged("type", "assert-current-schema-id");
    value.Set("current-schema-id", requirement.schema_id.value);
    return value;
  }
  json::Value operator()(const AssertDefaultSpecId& requirement) const {
    json::Value value = Tagged("type", "assert-default-spec-id");
    value.Set("default-spec-id", requirement.spec_id.value);
    return value;
  }
  json::Value operator()(const AssertDefaultSortOrderId& requirement) const {
    json::Value value = Tagged("type", "assert-default-sort-order-id");
    value.Set("default-sort-order-id", requirement.sort_order_id.value);
    return value;
  }
};

struct UpdateWriter {
  std::int32_t format_version;

  json::Value operator()(const AddSnapshot& update) const {
    json::Value value = Tagged("action", "add-snapshot");
    value.Set("snapshot", SnapshotToJson(update.snapshot, format_version));
    return value;
  }
  json::Value operator()(const SetSnapshotRef& update) const {
    json::Value value = Tagged("action", "set-snapshot-ref");
    value.Set("ref-name", update.ref.name);
    const json::Value members = SnapshotRefToJson(update.ref);
    for (const auto& [name, member] : members.members()) value.Set(name, member);
    return value;
  }
  json::Value operator()(const RemoveSnapshotRef& update) const {
    json::Value value = Tagged("action", "remove-snapshot-ref");
    value.Set("ref-name", update.name);
    return value;
  }
  json::Value operator()(const RemoveSnapshots& update) const {
    json::Value value = Tagged("action", "remove-snapshots");
    json::Value ids = json::Value::Array();
    for (const SnapshotId id : update.ids) ids.Append(id.value);
    value.Set("snapshot-ids", std::move(ids));
    return value;
  }
  json::Value operator()(const UpgradeFormatVersion& update) const {
    json::Value value = Tagged("action", "upgrade-format-version");
    value.Set("format-version", std::int64_t{update.format_version});
    return value;
  }
  json::Value operator()(const SetProperties& update) const {
    json::Value value = Tagged("action", "set-properties");
    json::Value map = json::Value::Object();
    for (const auto& [name, text] : update.values) map.Set(name, text);
    value.Set("updates", std::move(map));
    return value;
  }
  json::Value operator()(const RemoveProperties& update) const {
    json::Value value = Tagged("action", "remove-properties");
    json::Value keys = json::Value::Array();
    for (const std::string& key : update.keys) keys.Append(key);
    value.Set("removals", std::move(keys));
    return value;
  }
};

}  // namespace

json::Value ToJson(const TableRequirement& requirement) { return std::visit(RequirementWriter(), requirement); }

json::Value ToJson(const TableUpdate& update, std::int32_t format_version) {
  return std::visit(UpdateWriter{format_version}, update);
}

}  // namespace firn::iceberg
