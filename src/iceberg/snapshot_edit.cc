// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "iceberg/metadata_edit.h"
#include "iceberg/snapshot_json.h"

namespace firn::iceberg {
namespace {

constexpr std::string_view kMain = "main";
constexpr std::int64_t kClockSkewMaxMs = 60'000;  // as much as Java tolerates

Error Wrong(std::string message) { return {Code::kInvalidArgument, std::move(message)}; }

}  // namespace

Status MetadataEdit::CheckNewSnapshot(const Snapshot& snapshot) const {
  if (snapshot.id.value <= 0) return Wrong("its id is not positive");
  if (snapshots_.contains(snapshot.id)) return Wrong("its id exists already");
  if (snapshot.manifest_list.empty()) return Wrong("it has no manifest list");
  if (snapshot.FindSummary("operation") == nullptr) return Wrong("its summary has no operation");
  if (snapshot.key_id) return Error{Code::kUnsupported, "encrypted manifest lists are not written"};
  if (snapshot.schema_id && base_.FindSchema(*snapshot.schema_id) == nullptr) return Wrong("its schema is missing");
  if (base_.format_version() == 1 && snapshot.sequence_number.value != 0) {
    return Wrong("format version 1 has no sequence numbers");
  }
  if (base_.format_version() > 1 && snapshot.sequence_number <= last_sequence_number_) {
    return Wrong(fmt::format("its sequence number {} is not above the table's {}", snapshot.sequence_number.value,
                             last_sequence_number_.value));
  }
  if (snapshot.parent_id) {
    const auto parent = snapshots_.find(*snapshot.parent_id);
    if (parent == snapshots_.end()) return Wrong("its parent is missing");
    if (snapshot.timestamp.value < parent->second.value - kClockSkewMaxMs) {
      return Wrong("it is more than a minute older than its parent");
    }
  }
  return Ok();
}

Status MetadataEdit::CheckRowIds(const Snapshot& snapshot) const {
  if (base_.format_version() < 3) {
    if (snapshot.first_row_id || snapshot.added_rows) return Wrong("row ids need format version 3");
    return Ok();
  }
  if (!snapshot.first_row_id || !snapshot.added_rows) return Wrong("it has no row id range");
  if (*snapshot.first_row_id != next_row_id_) {
    return Wrong(
        fmt::format("its first row id {} is not the table's next row id {}", *snapshot.first_row_id, next_row_id_));
  }
  std::int64_t end = 0;
  if (*snapshot.added_rows < 0 || __builtin_add_overflow(next_row_id_, *snapshot.added_rows, &end)) {
    return Wrong("its row ids make no range");
  }
  return Ok();
}

Status MetadataEdit::operator()(const AddSnapshot& update) {
  const Snapshot& snapshot = update.snapshot;
  const std::string where = fmt::format("new snapshot {}", snapshot.id.value);
  FIRN_TRY(CheckNewSnapshot(snapshot).In(where));
  FIRN_TRY(CheckRowIds(snapshot).In(where));
  ListMember("snapshots").Append(SnapshotToJson(snapshot, base_.format_version()));
  snapshots_.emplace(snapshot.id, snapshot.timestamp);
  if (base_.format_version() > 1) {
    last_sequence_number_ = snapshot.sequence_number;
    tree_.Set("last-sequence-number", last_sequence_number_.value);
  }
  if (base_.format_version() >= 3) {
    next_row_id_ += *snapshot.added_rows;
    tree_.Set("next-row-id", next_row_id_);
  }
  return Ok();
}

json::Value& MetadataEdit::Refs() {
  json::Value& refs = ObjectMember("refs");
  if (current_ && refs.Find(kMain) == nullptr) {
    refs.Set(kMain, SnapshotRefToJson({.name = std::string(kMain), .snapshot_id = *current_}));
  }
  return refs;
}

Status MetadataEdit::operator()(const SetSnapshotRef& update) {
  const SnapshotRef& ref = update.ref;
  const bool is_main = ref.name == kMain;
  if (ref.name.empty()) return Wrong("a ref needs a name");
  if (!snapshots_.contains(ref.snapshot_id)) {
    return Wrong(
        fmt::format("ref `{}` cannot lead to snapshot {}, which does not exist", ref.name, ref.snapshot_id.value));
  }
  if (is_main && !ref.is_branch) return Wrong("ref `main` is a branch");
  if (!ref.is_branch && (ref.max_snapshot_age_ms || ref.min_snapshots_to_keep)) {
    return Wrong(fmt::format("tag `{}` cannot keep snapshots of a branch", ref.name));
  }
  json::Value& refs = Refs();
  if (const SnapshotRef* known = base_.FindRef(ref.name); known != nullptr && known->is_branch != ref.is_branch) {
    return Wrong(fmt::format("ref `{}` cannot change between branch and tag", ref.name));
  }
  json::Value* entry = refs.Find(ref.name);
  if (entry == nullptr) {
    refs.Set(ref.name, SnapshotRefToJson(ref));
  } else {
    for (const auto* retention : {"min-snapshots-to-keep", "max-snapshot-age-ms", "max-ref-age-ms"}) {
      entry->Remove(retention);
    }
    const json::Value members = SnapshotRefToJson(ref);
    for (const auto& [name, value] : members.members()) entry->Set(name, value);
  }
  if (is_main) {
    current_ = ref.snapshot_id;
    tree_.Set("current-snapshot-id", current_->value);
  }
  return Ok();
}

Status MetadataEdit::operator()(const RemoveSnapshotRef& update) {
  if (update.name == kMain) return Wrong("ref `main` cannot be removed");
  if (json::Value* refs = tree_.Find("refs")) refs->Remove(update.name);
  return Ok();
}

void MetadataEdit::DropStatistics(std::string_view member) {
  json::Value* list = tree_.Find(member);
  if (list == nullptr) return;
  std::erase_if(list->elements(), [this](const json::Value& entry) {
    const json::Value* id = entry.Find("snapshot-id");
    return id != nullptr && id->AsInt64() && base_.FindSnapshot(SnapshotId(*id->AsInt64())) != nullptr &&
           !snapshots_.contains(SnapshotId(*id->AsInt64()));
  });
}

Status MetadataEdit::operator()(const RemoveSnapshots& update) {
  for (const SnapshotId id : update.ids) snapshots_.erase(id);
  if (const json::Value* refs = tree_.Find("refs")) {
    for (const auto& [name, value] : refs->members()) {
      FIRN_ASSIGN(const SnapshotRef ref, SnapshotRefFromJson(name, value));
      if (snapshots_.contains(ref.snapshot_id)) continue;
      return Wrong(fmt::format("snapshot {} cannot be removed: ref `{}` leads to it", ref.snapshot_id.value, name));
    }
  }
  if (current_ && !snapshots_.contains(*current_)) return Wrong("the current snapshot cannot be removed");
  if (json::Value* list = tree_.Find("snapshots")) {
    std::erase_if(list->elements(), [this](const json::Value& entry) {
      const json::Value* id = entry.Find("snapshot-id");
      return id != nullptr && id->AsInt64() && !snapshots_.contains(SnapshotId(*id->AsInt64()));
    });
  }
  snapshots_removed_ = true;
  DropStatistics("statistics");
  DropStatistics("partition-statistics");
  return Ok();
}

}  // namespace firn::iceberg
