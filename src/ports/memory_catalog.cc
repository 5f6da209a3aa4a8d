// SPDX-License-Identifier: Apache-2.0
#include "ports/memory_catalog.h"

#include "ports/metadata_file.h"

namespace firn::ports {

void MemoryCatalog::Register(const TableIdentifier& id, std::string metadata_location) {
  const std::lock_guard lock(mutex_);
  tables_.insert_or_assign(ToString(id), std::pair(id, std::move(metadata_location)));
}

Status MemoryCatalog::Create(const TableIdentifier& id, const iceberg::TableMetadata& metadata) {
  FIRN_ASSIGN(std::string location, NextMetadataLocation(metadata, "", NewUuid()));
  FIRN_ASSIGN(const MetadataCodec codec, CodecOf(metadata));
  FIRN_ASSIGN(const Bytes bytes, EncodeMetadata(metadata, codec));
  FIRN_TRY(WriteFile(io(), location, bytes));
  Register(id, std::move(location));
  return Ok();
}

void MemoryCatalog::Drop(const TableIdentifier& id) {
  const std::lock_guard lock(mutex_);
  tables_.erase(ToString(id));
}

Result<std::vector<TableIdentifier>> MemoryCatalog::ListTables() {
  const std::lock_guard lock(mutex_);
  std::vector<TableIdentifier> ids;
  for (const auto& [text, table] : tables_) ids.push_back(table.first);
  return ids;
}

Result<std::string> MemoryCatalog::ReadPointer(const TableIdentifier& id) {
  const std::string table = ToString(id);
  if (hook_) FIRN_TRY(hook_({IoOperation::kLoadTable, IoMoment::kBefore, table}));
  std::string location;
  {
    const std::lock_guard lock(mutex_);
    const auto found = tables_.find(table);
    if (found != tables_.end()) location = found->second.second;
  }
  if (hook_) FIRN_TRY(hook_({IoOperation::kLoadTable, IoMoment::kAfter, table}));
  if (location.empty()) return Error{Code::kNotFound, "no table `" + table + "` in catalog `" + name() + "`"};
  return location;
}

Status MemoryCatalog::SwapPointer(const PointerSwap& swap) {
  const auto& [id, from, to, base, updated] = swap;
  const std::string table = ToString(id);
  if (hook_) FIRN_TRY(hook_({IoOperation::kCommitTable, IoMoment::kBefore, table}));
  bool swapped = false;
  {
    const std::lock_guard lock(mutex_);
    const auto found = tables_.find(table);
    swapped = found != tables_.end() && found->second.second == from;
    if (swapped) found->second.second = to;
  }
  if (hook_) {
    Status reply = hook_({IoOperation::kCommitTable, IoMoment::kAfter, table});
    if (!reply && swapped) reply.error().code = Code::kOutcomeUnknown;
    FIRN_TRY(std::move(reply));
  }
  if (!swapped) return Error{Code::kConflict, "another commit came first"};
  return Ok();
}

}  // namespace firn::ports
