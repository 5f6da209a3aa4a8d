// SPDX-License-Identifier: Apache-2.0
//
// The catalog in a SQL database that Java's JdbcCatalog and PyIceberg's SqlCatalog share: SQLite or PostgreSQL.
//
// In: table iceberg_tables with or without the column iceberg_type (schema V1 or V0). Out: the Catalog port.
// Guarantees: a commit is one UPDATE with the old location as a condition, and counts only when it changed exactly
//   one row. When the answer to it is lost, the database is asked what became of it. Views are not seen. The schema
//   of the database is never changed.
// Threads: any. Other processes may use the database at the same time.
// Errors: kNotFound (database, catalog or table), kConflict, kUnavailable (busy), kUnsupported (other databases).
// Source: Java JdbcTableOperations and JdbcUtil; PyIceberg catalog/sql.py.
#pragma once

#include <atomic>
#include <memory>

#include "ports/pointer_catalog.h"
#include "ports/routed_file_io.h"
#include "ports/sql_database.h"

namespace firn::ports {

class SqlCatalog final : public PointerCatalog {
 public:
  /// `properties`: uri ("sqlite:///relative", "sqlite:////absolute", "jdbc:sqlite:path", or as postgres_uri.h says),
  /// and those of storage. `clock` must live longer.
  static Result<std::shared_ptr<Catalog>> Open(std::string name, const Properties& properties,
                                               const FileIOFactory& make_io, Clock& clock, std::uint64_t seed);

  bool SwapsNames() const override { return true; }
  Result<std::vector<TableIdentifier>> ListTables() override;

 private:
  SqlCatalog(std::string name, std::shared_ptr<FileIO> io, Clock& clock, std::uint64_t seed,
             std::unique_ptr<SqlDatabase> database, bool has_type)
      : PointerCatalog(std::move(name), std::move(io), clock, seed),
        database_(std::move(database)),
        type_condition_(has_type ? " AND (iceberg_type = 'TABLE' OR iceberg_type IS NULL)" : "") {}

  Result<std::string> ReadPointer(const TableIdentifier& id) override;
  Result<std::string> PointerOf(const TableIdentifier& id, const Result<SqlResult>& found);
  Status SwapPointer(const PointerSwap& swap) override;
  Status Reconcile(const TableIdentifier& id, const std::string& from, const std::string& to, Error fault);
  Error NoSuchTable(const TableIdentifier& id);
  std::string OtherNamesText();

  std::unique_ptr<SqlDatabase> database_;
  std::string type_condition_;
  std::atomic<bool> told_of_others_ = false;
};

/// Path of a SQLite URI; kUnsupported for other databases, kInvalidArgument for other text.
Result<std::string> SqlitePath(const std::string& uri);

}  // namespace firn::ports
