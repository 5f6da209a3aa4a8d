// SPDX-License-Identifier: Apache-2.0
#include "iceberg/metadata_edit.h"

#include <fmt/format.h>

#include <algorithm>

namespace firn::iceberg {
namespace {

constexpr std::string_view kPreviousVersionsMax = "write.metadata.previous-versions-max";
constexpr std::int64_t kPreviousVersionsMaxDefault = 100;

json::Value LogEntry(TimestampMs time, std::string_view member, json::Value value) {
  json::Value entry = json::Value::Object();
  entry.Set("timestamp-ms", time.value);
  entry.Set(member, std::move(value));
  return entry;
}

/// The setting as the edited properties have it.
Result<std::int64_t> PreviousVersionsMax(const json::Value& tree) {
  const json::Value* properties = tree.Find("properties");
  const json::Value* text = properties == nullptr ? nullptr : properties->Find(kPreviousVersionsMax);
  if (text == nullptr) return kPreviousVersionsMaxDefault;
  const auto number = json::Value::Number(*text->AsString()).AsInt64();
  if (!number) {
    return Error{Code::kInvalidArgument, fmt::format("table property `{}` is no integer: `{}`", kPreviousVersionsMax,
                                                     text->AsString()->substr(0, 80))};
  }
  return std::max<std::int64_t>(1, *number);
}

}  // namespace

MetadataEdit::MetadataEdit(const TableMetadata& base)
    : base_(base),
      tree_(base.tree()),
      last_sequence_number_(base.last_sequence_number()),
      next_row_id_(base.next_row_id()) {
  for (const Snapshot& snapshot : base.snapshots()) snapshots_.emplace(snapshot.id, snapshot.timestamp);
  if (const Snapshot* current = base.current_snapshot()) current_ = current->id;
}

json::Value& MetadataEdit::ListMember(std::string_view name) {
  if (const json::Value* list = tree_.Find(name); list == nullptr || list->is_null()) {
    tree_.Set(name, json::Value::Array());
  }
  return *tree_.Find(name);
}

json::Value& MetadataEdit::ObjectMember(std::string_view name) {
  if (const json::Value* object = tree_.Find(name); object == nullptr || object->is_null()) {
    tree_.Set(name, json::Value::Object());
  }
  return *tree_.Find(name);
}

/// Rows get their ids with the first snapshot that comes after it.
Status MetadataEdit::operator()(const UpgradeFormatVersion& update) {
  if (base_.format_version() == update.format_version) return Ok();
  if (base_.format_version() != 2 || update.format_version != 3) {
    return Error{Code::kUnsupported,
                 fmt::format("an upgrade from format version {} to {}", base_.format_version(), update.format_version)};
  }
  tree_.Set("format-version", std::int64_t{update.format_version});
  tree_.Set("next-row-id", std::int64_t{0});
  return Ok();
}

Status MetadataEdit::operator()(const SetProperties& update) {
  json::Value& properties = ObjectMember("properties");
  for (const auto& [name, text] : update.values) properties.Set(name, text);
  return Ok();
}

Status MetadataEdit::operator()(const RemoveProperties& update) {
  json::Value* properties = tree_.Find("properties");
  if (properties == nullptr) return Ok();
  for (const std::string& key : update.keys) properties->Remove(key);
  return Ok();
}

Status MetadataEdit::AppendMetadataLog(const std::string& base_location) {
  FIRN_ASSIGN(const std::int64_t kept_max, PreviousVersionsMax(tree_));
  json::Value& log = ListMember("metadata-log");
  if (!base_location.empty()) log.Append(LogEntry(base_.last_updated(), "metadata-file", base_location));
  auto& entries = log.elements();
  const auto kept = static_cast<std::size_t>(std::min<std::int64_t>(kept_max, std::int64_t{1} << 31));
  if (entries.size() > kept) {
    entries.erase(entries.begin(), entries.end() - static_cast<std::ptrdiff_t>(kept));
  }
  return Ok();
}

void MetadataEdit::PruneSnapshotLog() {
  json::Value* log = tree_.Find("snapshot-log");
  if (log == nullptr) return;
  // History before a removed snapshot would tell time travel a wrong story: it goes with the snapshot.
  auto& entries = log->elements();
  const auto last_gone = std::find_if(entries.rbegin(), entries.rend(), [this](const json::Value& entry) {
    const json::Value* member = entry.Find("snapshot-id");
    const auto id = member == nullptr ? std::nullopt : member->AsInt64();
    return !id || !snapshots_.contains(SnapshotId(*id));
  });
  entries.erase(entries.begin(), last_gone.base());
}

Result<json::Value> MetadataEdit::Finish(const std::string& base_location, TimestampMs now) && {
  const Snapshot* before = base_.current_snapshot();
  const bool moved = current_ && (before == nullptr || before->id != *current_);
  TimestampMs updated = std::max(now, base_.last_updated());
  if (moved) updated = std::max(updated, snapshots_.at(*current_));  // readers want logs in order
  tree_.Set("last-updated-ms", updated.value);
  if (snapshots_removed_) PruneSnapshotLog();
  // One entry for the whole change: a snapshot that was current only between two updates was never seen.
  if (moved) ListMember("snapshot-log").Append(LogEntry(updated, "snapshot-id", current_->value));
  FIRN_TRY(AppendMetadataLog(base_location));
  return std::move(tree_);
}

Result<TableMetadata> ApplyUpdates(const TableMetadata& base, const std::string& base_location,
                                   const std::vector<TableUpdate>& updates, TimestampMs now) {
  MetadataEdit edit(base);
  for (const TableUpdate& update : updates) FIRN_TRY(std::visit(edit, update));
  FIRN_ASSIGN(json::Value tree, std::move(edit).Finish(base_location, now));
  return TableMetadata::FromTree(std::move(tree)).In("metadata after the updates");
}

}  // namespace firn::iceberg
