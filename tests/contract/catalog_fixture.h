// SPDX-License-Identifier: Apache-2.0
//
// The catalogs that the suite runs on, and how tables come into them.
//
// In: environment variables for servers. Out: stores by name; each can be opened many times.
// Guarantees: tables are empty, of format version 2, with one unknown member in their metadata.
// Threads: Open may be called from any thread.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "ports/catalog.h"
#include "ports/clock.h"
#include "ports/properties.h"

namespace firn::contract {

class CatalogStore {
 public:
  virtual ~CatalogStore() = default;
  /// A handle of its own, where there can be more than one.
  virtual Result<std::shared_ptr<ports::Catalog>> Open() = 0;
  virtual Result<ports::TableIdentifier> MakeTable(const std::string& name, const ports::Properties& properties) = 0;
  virtual Status DropTable(const ports::TableIdentifier& id) = 0;
  virtual ports::TableIdentifier MissingTable() const { return {{"db"}, "missing"}; }

  /// Other processes can open it.
  bool has_processes = false;
  /// The client writes metadata files; unknown members survive.
  bool writes_files = true;
  /// Names are NNNNN-UUID.metadata.json and files of refused commits are removed.
  bool has_unique_names = true;
  /// Of each writer in a race.
  int race_commits = 25;
  /// A stale base is refused although the requirements hold.
  bool checks_base = true;

 protected:
  ports::SystemClock clock_;
};

struct CatalogCase {
  std::string name;
  std::function<std::unique_ptr<CatalogStore>()> make;
};

std::vector<CatalogCase> CatalogCases();
/// Lines that say what is left out and which variable is missing.
std::vector<std::string> CatalogsLeftOut();

/// Writes the first metadata file of a new, empty table at a "file:" location, and returns where.
Result<std::string> WriteEmptyTable(const std::string& location, const ports::Properties& properties);

}  // namespace firn::contract
