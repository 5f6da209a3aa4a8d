// SPDX-License-Identifier: Apache-2.0
#include "act/foreign_changes.h"

#include <fmt/format.h>

#include <utility>

#include "act/delete_scope.h"
#include "act/plan_base.h"
#include "base/log.h"
#include "observe/manifest_scan.h"

namespace firn::act {
namespace {

using iceberg::DeleteEntry;
using iceberg::DeleteKind;

/// Whether the positions in it can be read, and so be translated.
bool IsReadable(const iceberg::DataFile& deletes) {
  return !deletes.key_metadata &&
         (iceberg::KindOf(deletes) == DeleteKind::kVector || deletes.format == iceberg::FileFormat::kParquet);
}

}  // namespace

ForeignChanges::ForeignChanges(CommitEnvironment& environment, CommitTarget target, std::int32_t format_version,
                               SnapshotId plan, std::int64_t interval_ms)
    : env_(environment),
      target_(std::move(target)),
      format_version_(format_version),
      plan_(plan),
      interval_ns_(interval_ms * 1'000'000),
      looked_ns_(environment.clock.MonotonicNs()),
      head_(plan) {}

std::uint64_t ForeignChanges::LookIfDue() {
  const std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock.owns_lock()) return found_;
  const std::int64_t now_ns = env_.clock.MonotonicNs();
  if (ended_ || now_ns - looked_ns_ < interval_ns_) return found_;
  looked_ns_ = now_ns;
  if (const Status looked = Look(); !looked) {
    Log(LogLevel::kInfo,
        fmt::format("{}: looking for commits of others: {}", ToString(target_.table), ToString(looked.error())));
  }
  return found_;
}

Status ForeignChanges::Look() {
  FIRN_ASSIGN(const ports::LoadedTable table, env_.catalog.LoadTable(target_.table));
  const iceberg::TableMetadata& metadata = *table.metadata;
  const iceberg::Snapshot* const head = metadata.RefSnapshot(target_.ref);
  const iceberg::Snapshot* const plan = metadata.FindSnapshot(plan_);
  if (metadata.table_uuid() != target_.table_uuid || metadata.format_version() != format_version_ ||
      !IsInHistory(metadata, plan_, head)) {
    ended_ = Error{Code::kConflict, "the table is no longer one on which the plan can be committed"};
    ++found_;
    return Ok();
  }
  if (head_ == head->id) return Ok();
  if (!window_) {
    FIRN_ASSIGN(const auto planned, observe::ReadManifests(env_.io, *plan, metadata));
    window_.emplace(plan_, planned, manifests_);
  }
  FIRN_ASSIGN(const auto lines, observe::ReadManifests(env_.io, *head, metadata));
  FIRN_TRY(window_->Extend(env_.io, metadata, *head, lines));
  FIRN_TRY(NoteRemoved(metadata));
  head_ = head->id;
  ++found_;
  return Ok();
}

Status ForeignChanges::NoteRemoved(const iceberg::TableMetadata& metadata) {
  for (const auto& [path, line] : window_->removals()) {
    if (read_.contains(path)) continue;
    FIRN_TRY(observe::ForEachEntry(env_.io, line, metadata, iceberg::Wanted::planning(),
                                   [this](iceberg::ManifestEntry& entry, std::int64_t) -> Result<bool> {
                                     if (entry.status != iceberg::EntryStatus::kDeleted) return true;
                                     removed_[entry.file.file_path] = entry.sequence_number.value_or(SequenceNumber(0));
                                     return true;
                                   }));
    read_.insert(path);
  }
  return Ok();
}

std::optional<Error> ForeignChanges::Why(const iceberg::ManifestEntry& entry) {
  const std::lock_guard lock(mutex_);
  if (ended_) return ended_;
  const SequenceNumber number = entry.sequence_number.value_or(SequenceNumber(0));
  const std::string& path = entry.file.file_path;
  if (const auto found = removed_.find(path); found != removed_.end() && found->second == number) {
    return Error{Code::kConflict, fmt::format("data file {} was removed while it was rewritten", path)};
  }
  if (!window_) return std::nullopt;
  for (const DeleteEntry* deletes : window_->FreshPositional(entry.file, number)) {
    if (IsReadable(deletes->file)) continue;
    return DeleteConflict("was added since the plan, cannot be read, and applies to", *deletes, path);
  }
  return std::nullopt;
}

}  // namespace firn::act
