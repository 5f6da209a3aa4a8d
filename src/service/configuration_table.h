// SPDX-License-Identifier: Apache-2.0
//
// From what a user calls a table to an open catalog and the table's name in it.
//
// In: "db.t" (default catalog), "catalog.db.t", a table directory, a metadata file, or a location such as
//   s3://bucket/table. Out: the catalog, ready to load the table.
// Guarantees: a directory is only writable if it is a Hadoop table, on local storage or S3, and nothing in it belongs
//   to another catalog; everything else that is given by location can only be read.
// Errors: kInvalidArgument, kNotFound, kUnsupported, each with what was looked for and where.
// Threads: the catalog is for any. Source: Java HadoopTableOperations (a stale version hint, an older pointer).
#pragma once

#include <atomic>
#include <memory>
#include <string>

#include "ports/catalog.h"
#include "ports/clock.h"
#include "ports/http.h"
#include "service/configuration.h"
#include "service/polaris_policies.h"

namespace firn::service {

/// What catalogs need beside their configuration. `clock` must live longer than they do.
struct CatalogEnvironment {
  ports::Clock& clock;
  std::uint64_t seed = 0;
  /// For tests; made from the properties when it is null.
  std::shared_ptr<ports::Http> http = nullptr;
  /// True: the program ends, and waits no longer for servers that do not answer (ports/http.h).
  const std::atomic<bool>* stop = nullptr;
};

struct OpenedTable {
  std::shared_ptr<ports::Catalog> catalog;
  ports::TableIdentifier id;
};

Result<std::shared_ptr<ports::Catalog>> OpenCatalog(const Configuration& configuration, const std::string& name,
                                                    const CatalogEnvironment& environment);
/// The policies that a catalog has for its tables; null if it is of no such kind, or is not to be asked. kUnsupported:
/// it has no such API now.
Result<std::shared_ptr<PolicySource>> OpenPolicies(const Configuration& configuration, const std::string& name,
                                                   const CatalogEnvironment& environment);
Result<OpenedTable> OpenTable(const Configuration& configuration, const std::string& table,
                              const CatalogEnvironment& environment);

}  // namespace firn::service
