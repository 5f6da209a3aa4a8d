// SPDX-License-Identifier: Apache-2.0
//
// Where the current metadata of a table is found and replaced: one compare-and-set.
//
// In: identifiers, requirements, updates. Out: table metadata and the location of its file.
// Guarantees: CommitTable either made the change visible (Ok), or did not (kConflict and every other code but one),
//   or cannot tell (kOutcomeUnknown: the caller deletes nothing and reloads). It never retries by itself
//   what may have been applied.
// Threads: any.
// Errors: kNotFound, kConflict, kOutcomeUnknown, kUnavailable, kUnsupported, with the table's name.
// Source: Iceberg REST OpenAPI; Java JdbcTableOperations and HadoopTableOperations for the others.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "iceberg/metadata.h"
#include "iceberg/table_update.h"
#include "ports/file_io.h"

namespace firn::ports {

struct TableIdentifier {
  std::vector<std::string> name_space;
  std::string name;
};

/// "db.t"
std::string ToString(const TableIdentifier& id);
Result<TableIdentifier> ParseTableIdentifier(std::string_view text);

struct LoadedTable {
  TableIdentifier id;
  std::string metadata_location;
  iceberg::MetadataPtr metadata;
  /// Table-level configuration from a REST catalog (credentials, endpoints): goes into the table's FileIO.
  std::vector<std::pair<std::string, std::string>> config;
};

struct TableCommit {
  std::vector<iceberg::TableRequirement> requirements;
  std::vector<iceberg::TableUpdate> updates;
  /// How the UUID of a metadata file begins that the client writes: see act/run_journal.h. Empty: anyhow.
  std::string run = {};
};

class Catalog {
 public:
  virtual ~Catalog() = default;
  virtual const std::string& name() const = 0;
  /// Always from the source of truth, never from a cache.
  virtual Result<LoadedTable> LoadTable(const TableIdentifier& id) = 0;
  /// Applies `commit` on `base`, if nobody else has committed since.
  virtual Result<LoadedTable> CommitTable(const LoadedTable& base, const TableCommit& commit) = 0;
  /// Why CommitTable can never change this table, known before any work is done for it.
  virtual Status CheckWritable(const LoadedTable& table) const = 0;
  /// A commit is the swap of a name for another by the client: one that arrives after any other commit is refused, for
  /// ever. Otherwise a late request may be applied when the branch is back where it was.
  virtual bool SwapsNames() const = 0;
  virtual Result<std::vector<TableIdentifier>> ListTables() = 0;
  /// Files of a table of this catalog; honours the table's own configuration. Lives as long as the catalog.
  virtual Result<std::shared_ptr<FileIO>> TableIO(const LoadedTable& table) = 0;
};

}  // namespace firn::ports
