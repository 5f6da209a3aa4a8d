// SPDX-License-Identifier: Apache-2.0
//
// A catalog that could not be reached when the program began: it is opened when it is asked for the first time, and
// again until it answers.
//
// In: a name, a way to open it. Out: the catalog of that name.
// Guarantees: opening is tried once a call at most, by one caller at a time. Once it is open it stays open.
// Cost: what opening costs. Threads: any.
// Errors: those of opening, with the catalog's name, as long as it is not open.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <string>

#include "ports/catalog.h"

namespace firn::ports {

class DeferredCatalog final : public Catalog {
 public:
  using Open = std::function<Result<std::shared_ptr<Catalog>>()>;
  DeferredCatalog(std::string name, Open open) : name_(std::move(name)), open_(std::move(open)) {}

  const std::string& name() const override { return name_; }
  Result<LoadedTable> LoadTable(const TableIdentifier& id) override;
  Result<LoadedTable> CommitTable(const LoadedTable& base, const TableCommit& commit) override;
  Status CheckWritable(const LoadedTable& table) const override;
  bool SwapsNames() const override;
  Result<std::vector<TableIdentifier>> ListTables() override;
  Result<std::shared_ptr<FileIO>> TableIO(const LoadedTable& table) override;

 private:
  Result<std::shared_ptr<Catalog>> Opened() const;

  const std::string name_;
  const Open open_;
  mutable std::mutex mutex_;
  mutable std::shared_ptr<Catalog> catalog_;
};

}  // namespace firn::ports
