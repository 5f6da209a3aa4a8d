// SPDX-License-Identifier: Apache-2.0
#include "ports/deferred_catalog.h"

namespace firn::ports {

Result<std::shared_ptr<Catalog>> DeferredCatalog::Opened() const {
  const std::lock_guard lock(mutex_);
  if (catalog_ == nullptr) {
    FIRN_ASSIGN(catalog_, open_());
  }
  return catalog_;
}

Result<LoadedTable> DeferredCatalog::LoadTable(const TableIdentifier& id) {
  FIRN_ASSIGN(const auto catalog, Opened());
  return catalog->LoadTable(id);
}

Result<LoadedTable> DeferredCatalog::CommitTable(const LoadedTable& base, const TableCommit& commit) {
  FIRN_ASSIGN(const auto catalog, Opened());
  return catalog->CommitTable(base, commit);
}

Status DeferredCatalog::CheckWritable(const LoadedTable& table) const {
  FIRN_ASSIGN(const auto catalog, Opened());
  return catalog->CheckWritable(table);
}

bool DeferredCatalog::SwapsNames() const {
  const auto catalog = Opened();
  return catalog && (*catalog)->SwapsNames();
}

Result<std::vector<TableIdentifier>> DeferredCatalog::ListTables() {
  FIRN_ASSIGN(const auto catalog, Opened());
  return catalog->ListTables();
}

Result<std::shared_ptr<FileIO>> DeferredCatalog::TableIO(const LoadedTable& table) {
  FIRN_ASSIGN(const auto catalog, Opened());
  return catalog->TableIO(table);
}

}  // namespace firn::ports
