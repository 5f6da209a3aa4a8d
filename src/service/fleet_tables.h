// SPDX-License-Identifier: Apache-2.0
//
// The tables that the service knows, with what it knows of each.
//
// In: names from catalogs, records from the state. Out: tables by id, by location, by uuid.
// Guarantees: a table stays valid while somebody holds it. What a look changes is guarded by `mutex`, which is held as
//   long as the look takes; what others have to read or add meanwhile by `news_mutex`, which is never held for long.
//   Whoever wants both takes `mutex` first. The name, the catalog and the database never change.
// Cost: O(log tables) a look-up. Threads: any.
// Errors: none.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ports/event_source.h"
#include "service/look.h"

namespace firn::service {

/// What scan reports say about the reading of a table.
struct ReadRate {
  double scans_a_day = 0;   // decaying mean
  double files_a_scan = 0;  // decaying mean of data files opened
  std::int64_t last_ms = 0;
  /// Files that readers would open less each day if the table had `removed` of its `files` less.
  double ReadsSaved(std::int64_t removed, std::int64_t files) const;
  void Add(const ports::ScanFigures& scan, std::int64_t now_ms);
};

struct FleetTable {
  FleetTable(std::string table_id, std::string table_database, ports::TableIdentifier table_name,
             std::shared_ptr<ports::Catalog> table_catalog)
      : id(std::move(table_id)),
        database(std::move(table_database)),
        name(std::move(table_name)),
        catalog(std::move(table_catalog)) {}

  const std::string id;        // "catalog/ns.name"
  const std::string database;  // "catalog/ns"
  const ports::TableIdentifier name;
  const std::shared_ptr<ports::Catalog> catalog;

  std::timed_mutex mutex;
  WatchedTable watched;

  std::mutex news_mutex;
  ReadRate reads;
  Savings savings;  // of jobs that have ended since the last look
  std::int64_t seen_snapshot_id = -1;
  bool was_seen = false;
};

class FleetTables {
 public:
  explicit FleetTables(std::vector<std::shared_ptr<ports::Catalog>> catalogs);

  const std::vector<std::shared_ptr<ports::Catalog>>& catalogs() const { return catalogs_; }
  /// The table of that name, made if it is new.
  struct Added {
    std::shared_ptr<FleetTable> table;
    bool is_new = false;
  };
  Added Add(const std::shared_ptr<ports::Catalog>& catalog, const ports::TableIdentifier& name);
  /// From the state of an earlier run. Null if its catalog is not configured any more.
  std::shared_ptr<FleetTable> Restore(TableRecord record);
  std::shared_ptr<FleetTable> Find(std::string_view id) const;
  /// By whatever people call it; see table_name.h.
  Result<std::shared_ptr<FleetTable>> FindNamed(std::string_view given) const;
  /// Of what an event tells; several if it names no catalog.
  std::vector<std::shared_ptr<FleetTable>> FindFor(const ports::TableEvent& event) const;
  void NoteLocation(const std::string& location, const std::shared_ptr<FleetTable>& table);
  void Remove(std::string_view id);
  std::vector<std::shared_ptr<FleetTable>> All() const;
  std::size_t size() const;

 private:
  std::shared_ptr<ports::Catalog> CatalogOf(std::string_view name) const;

  const std::vector<std::shared_ptr<ports::Catalog>> catalogs_;
  mutable std::mutex mutex_;
  std::map<std::string, std::shared_ptr<FleetTable>, std::less<>> tables_;
  std::map<std::string, std::weak_ptr<FleetTable>, std::less<>> by_location_;
};

}  // namespace firn::service
