// SPDX-License-Identifier: Apache-2.0
//
// One metadata file as a table that can only be read.
//
// In: TableIdentifier with the location of a metadata file as its name. Out: the Catalog port.
// Guarantees: never writes; CommitTable is kUnsupported.
// Threads: any. Errors: kNotFound, kCorrupt, kUnsupported.
#pragma once

#include <memory>

#include "ports/catalog.h"

namespace firn::ports {

class StaticCatalog final : public Catalog {
 public:
  explicit StaticCatalog(std::shared_ptr<FileIO> io) : io_(std::move(io)) {}

  const std::string& name() const override { return name_; }
  Result<LoadedTable> LoadTable(const TableIdentifier& id) override;
  Result<LoadedTable> CommitTable(const LoadedTable& base, const TableCommit& commit) override;
  Status CheckWritable(const LoadedTable& table) const override;
  bool SwapsNames() const override { return false; }
  Result<std::vector<TableIdentifier>> ListTables() override { return std::vector<TableIdentifier>{}; }
  Result<std::shared_ptr<FileIO>> TableIO(const LoadedTable&) override { return io_; }

 private:
  std::string name_ = "metadata-file";
  std::shared_ptr<FileIO> io_;
};

}  // namespace firn::ports
