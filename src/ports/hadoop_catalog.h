// SPDX-License-Identifier: Apache-2.0
//
// Tables that are directories, with one metadata file a version, as Java's HadoopCatalog and HadoopTables keep them.
//
// In: TableIdentifier with the directory as its name and no namespace, or names below the property `warehouse`.
// Out: the Catalog port.
// Guarantees: a commit makes vN+1.metadata.json, which fails if it exists: by link(2) on local storage, by a
//   conditional request on object stores; storage that cannot do that is refused. version-hint.text is then replaced,
//   best effort. Old versions are never removed. A table whose metadata says another location than its directory was
//   moved, and is read only; so are tables that keep their metadata elsewhere.
// Cost: a load reads the hint and looks for three names a version behind it. ListTables reads the names of all
//   objects of the warehouse on an object store.
// Threads: any; processes too. Java's own Hadoop catalog renames over existing files, so no guarantee can be given
//   while it writes to the same table at the same time.
// Errors: kNotFound, kConflict, kUnsupported (storage without exclusive creation, moved tables), kOutcomeUnknown.
// Source: Java HadoopTableOperations.
#pragma once

#include <memory>

#include "ports/catalog.h"
#include "ports/clock.h"
#include "ports/routed_file_io.h"

namespace firn::ports {

class HadoopCatalog final : public Catalog {
 public:
  /// `clock` must live longer.
  static Result<std::shared_ptr<Catalog>> Open(std::string name, const Properties& properties,
                                               const FileIOFactory& make_io, Clock& clock);

  const std::string& name() const override { return name_; }
  Result<LoadedTable> LoadTable(const TableIdentifier& id) override;
  Result<LoadedTable> CommitTable(const LoadedTable& base, const TableCommit& commit) override;
  Status CheckWritable(const LoadedTable& table) const override;
  /// The part of it that asks nobody: stores are asked by making an object.
  Status CheckUnmoved(const LoadedTable& table) const;
  bool SwapsNames() const override { return true; }
  /// Of the warehouse; empty without one.
  Result<std::vector<TableIdentifier>> ListTables() override;
  Result<std::shared_ptr<FileIO>> TableIO(const LoadedTable&) override { return io_; }

 private:
  HadoopCatalog(std::string name, std::string warehouse, std::shared_ptr<FileIO> io, Clock& clock)
      : name_(std::move(name)), warehouse_(std::move(warehouse)), io_(std::move(io)), clock_(clock) {}

  Result<std::string> DirectoryOf(const TableIdentifier& id) const;
  Status CheckPlace(const LoadedTable& base, const std::string& directory, const iceberg::TableMetadata& updated) const;
  Status Publish(const LoadedTable& base, const std::string& location, std::int64_t version, ByteView bytes);
  Status ConfirmVisible(const LoadedTable& base, const std::string& location, std::int64_t version);
  Error SettleFailedWrite(const std::string& location, ByteView bytes, Error failure);
  void WriteHint(const std::string& folder, std::int64_t version);

  std::string name_;
  std::string warehouse_;
  std::shared_ptr<FileIO> io_;
  Clock& clock_;
};

/// Whether two locations are one directory of the local file system, also through links.
bool SameDirectory(const std::string& a, const std::string& b);

}  // namespace firn::ports
