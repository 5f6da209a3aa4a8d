// SPDX-License-Identifier: Apache-2.0
//
// A catalog in this process: the twin of real catalogs in tests.
//
// In: a FileIO for metadata files, a hook for faults. Out: the Catalog port.
// Guarantees: those of Catalog; compare-and-set under one lock.
// Threads: any.
#pragma once

#include <map>
#include <mutex>

#include "ports/io_hook.h"
#include "ports/pointer_catalog.h"

namespace firn::ports {

class MemoryCatalog final : public PointerCatalog {
 public:
  /// `clock` must live longer.
  MemoryCatalog(std::string name, std::shared_ptr<FileIO> io, Clock& clock, std::uint64_t seed = 1)
      : PointerCatalog(std::move(name), std::move(io), clock, seed) {}

  bool SwapsNames() const override { return true; }
  Result<std::vector<TableIdentifier>> ListTables() override;

  /// Makes a table of a metadata file that is there already; replaces a table of that name.
  void Register(const TableIdentifier& id, std::string metadata_location);
  /// Writes `metadata` as version 0 below its location and registers it.
  Status Create(const TableIdentifier& id, const iceberg::TableMetadata& metadata);
  void Drop(const TableIdentifier& id);
  /// Sees kLoadTable (reading the location) and kCommitTable (swapping it). Set it before use by several threads.
  void set_hook(IoHook hook) { hook_ = std::move(hook); }

 private:
  Result<std::string> ReadPointer(const TableIdentifier& id) override;
  Status SwapPointer(const PointerSwap& swap) override;

  IoHook hook_;
  std::mutex mutex_;
  std::map<std::string, std::pair<TableIdentifier, std::string>> tables_;
};

}  // namespace firn::ports
