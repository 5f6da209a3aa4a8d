// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "iceberg/table_update.h"

namespace firn::iceberg {
namespace {

Error Fails(std::string message) { return {Code::kConflict, std::move(message)}; }

template <class Id>
Status CheckId(std::string_view what, Id wanted, Id found) {
  if (wanted == found) return Ok();
  return Fails(fmt::format("{} changed: expected {}, found {}", what, wanted.value, found.value));
}

/// Writers differ in the case of the digits.
bool SameUuid(std::string_view a, std::string_view b) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'F' ? static_cast<char>(c - 'A' + 'a') : c; };
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [lower](char x, char y) { return lower(x) == lower(y); });
}

struct RequirementChecker {
  const TableMetadata& base;

  Status operator()(const AssertTableUuid& requirement) const {
    if (SameUuid(requirement.uuid, base.table_uuid())) return Ok();
    return Fails(
        fmt::format("the table was replaced: expected UUID {}, found {}", requirement.uuid, base.table_uuid()));
  }
  Status operator()(const AssertRefSnapshotId& requirement) const {
    const SnapshotRef* ref = base.FindRef(requirement.ref);
    if (!requirement.snapshot_id) {
      if (ref == nullptr) return Ok();
      return Fails(fmt::format("ref `{}` was created concurrently", requirement.ref));
    }
    if (ref == nullptr) {
      return Fails(
          fmt::format("ref `{}` is missing, expected snapshot {}", requirement.ref, requirement.snapshot_id->value));
    }
    return CheckId(fmt::format("ref `{}`", requirement.ref), *requirement.snapshot_id, ref->snapshot_id);
  }
  Status operator()(const AssertCurrentSchemaId& requirement) const {
    return CheckId("current schema", requirement.schema_id, base.current_schema().id());
  }
  Status operator()(const AssertDefaultSpecId& requirement) const {
    return CheckId("default partition spec", requirement.spec_id, base.default_spec().id);
  }
  Status operator()(const AssertDefaultSortOrderId& requirement) const {
    return CheckId("default sort order", requirement.sort_order_id, base.default_sort_order_id());
  }
};

}  // namespace

Status CheckRequirements(const TableMetadata& base, const std::vector<TableRequirement>& requirements) {
  for (const TableRequirement& requirement : requirements) {
    FIRN_TRY(std::visit(RequirementChecker{base}, requirement));
  }
  return Ok();
}

}  // namespace firn::iceberg
