// SPDX-License-Identifier: Apache-2.0
#include "iceberg/metadata_check.h"

#include <fmt/format.h>

#include <unordered_set>

namespace firn::iceberg {
namespace {

Error Contradiction(std::string message) { return {Code::kCorrupt, std::move(message)}; }

/// The first id that two values share, by `id_of`.
template <class T, class IdOf>
auto FindTwice(const std::vector<T>& values, IdOf id_of) -> std::optional<decltype(id_of(values.front()))> {
  std::unordered_set<decltype(id_of(values.front()))> seen;
  for (const T& value : values) {
    if (!seen.insert(id_of(value)).second) return id_of(value);
  }
  return std::nullopt;
}

template <class T, class IdOf>
Status CheckUnique(const std::vector<T>& values, IdOf id_of, std::string_view what) {
  if (const auto twice = FindTwice(values, id_of)) {
    return Contradiction(fmt::format("{} {} appears twice", what, twice->value));
  }
  return Ok();
}

Status CheckSpecs(const TableMetadata& metadata) {
  FIRN_TRY(CheckUnique(metadata.specs(), [](const PartitionSpec& spec) { return spec.id; }, "partition spec"));
  for (const PartitionSpec& spec : metadata.specs()) {
    const auto twice = FindTwice(spec.fields, [](const PartitionField& field) { return field.field_id; });
    if (twice) {
      return Contradiction(fmt::format("partition spec {}: field id {} is used twice", spec.id.value, *twice));
    }
  }
  return Ok();
}

Status CheckSortOrders(const TableMetadata& metadata) {
  FIRN_TRY(CheckUnique(metadata.sort_orders(), [](const SortOrder& order) { return order.id; }, "sort order"));
  // Id 0 is reserved for "unsorted" and need not be listed.
  const SortOrderId default_id = metadata.default_sort_order_id();
  if (default_id.value != 0 && metadata.FindSortOrder(default_id) == nullptr) {
    return Contradiction(
        fmt::format("`default-sort-order-id` is {}, but there is no such sort order", default_id.value));
  }
  return Ok();
}

Status CheckSnapshot(const TableMetadata& metadata, const Snapshot& snapshot) {
  const auto where = [&snapshot] { return fmt::format("snapshot {}", snapshot.id.value); };
  if (metadata.format_version() > 1 && snapshot.sequence_number > metadata.last_sequence_number()) {
    return Contradiction(fmt::format("{}: its sequence number {} is above `last-sequence-number` {}", where(),
                                     snapshot.sequence_number.value, metadata.last_sequence_number().value));
  }
  if (snapshot.key_id) return Error{Code::kUnsupported, where() + ": its manifest list is encrypted"};
  if (!snapshot.first_row_id) return Ok();
  std::int64_t end = 0;
  if (*snapshot.first_row_id < 0 || !snapshot.added_rows || *snapshot.added_rows < 0 ||
      __builtin_add_overflow(*snapshot.first_row_id, *snapshot.added_rows, &end)) {
    return Contradiction(where() + ": `first-row-id` and `added-rows` make no range");
  }
  if (metadata.format_version() >= 3 && end > metadata.next_row_id()) {
    return Contradiction(
        fmt::format("{}: its row ids end at {}, above `next-row-id` {}", where(), end, metadata.next_row_id()));
  }
  return Ok();
}

Status CheckRefs(const TableMetadata& metadata, std::optional<SnapshotId> current) {
  for (const SnapshotRef& ref : metadata.refs()) {
    if (metadata.FindSnapshot(ref.snapshot_id) == nullptr) {
      return Contradiction(fmt::format("ref `{}` leads to snapshot {}, which does not exist", ref.name.substr(0, 80),
                                       ref.snapshot_id.value));
    }
  }
  const SnapshotRef* main = metadata.FindRef("main");
  if (main == nullptr) return Ok();
  if (!main->is_branch) return Contradiction("ref `main` is a tag");
  if (!current) return Contradiction("`current-snapshot-id` is not set, but ref `main` is");
  if (main->snapshot_id != *current) {
    return Contradiction(fmt::format("`current-snapshot-id` is {}, but ref `main` leads to {}", current->value,
                                     main->snapshot_id.value));
  }
  return Ok();
}

}  // namespace

Status CheckNotEncrypted(const json::Value& tree) {
  const json::Value* keys = tree.Find("encryption-keys");
  if (keys != nullptr && !keys->elements().empty()) {
    return Error{Code::kUnsupported, "the table is encrypted (`encryption-keys`)"};
  }
  const json::Value* properties = tree.Find("properties");
  if (properties != nullptr && properties->Find("encryption.key-id") != nullptr) {
    return Error{Code::kUnsupported, "the table is encrypted (property `encryption.key-id`)"};
  }
  return Ok();
}

Status CheckMetadata(const TableMetadata& metadata, std::optional<SnapshotId> current) {
  FIRN_TRY(CheckUnique(metadata.schemas(), [](const Schema& schema) { return schema.id(); }, "schema"));
  FIRN_TRY(CheckSpecs(metadata));
  FIRN_TRY(CheckSortOrders(metadata));
  FIRN_TRY(CheckUnique(metadata.snapshots(), [](const Snapshot& snapshot) { return snapshot.id; }, "snapshot"));
  for (const Snapshot& snapshot : metadata.snapshots()) FIRN_TRY(CheckSnapshot(metadata, snapshot));
  return CheckRefs(metadata, current);
}

}  // namespace firn::iceberg
