// SPDX-License-Identifier: Apache-2.0
#include "ports/sql_catalog.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/log.h"
#include "base/text_parts.h"
#include "ports/location.h"
#include "ports/metadata_file.h"
#include "ports/postgres_database.h"
#include "ports/postgres_uri.h"
#include "ports/sql_pool.h"
#include "ports/sqlite_database.h"

namespace firn::ports {
namespace {

const std::string kReadPointer =
    "SELECT metadata_location FROM iceberg_tables WHERE catalog_name = ?1 AND table_namespace = ?2 AND table_name = ?3";

std::string NamespaceText(const TableIdentifier& id) { return fmt::format("{}", fmt::join(id.name_space, ".")); }

/// Whether iceberg_tables has the column iceberg_type.
Result<bool> HasTypeColumn(SqlDatabase& database) {
  FIRN_ASSIGN(const auto columns, database.Columns("iceberg_tables"));
  if (columns.empty()) {
    return Error{Code::kNotFound, database.place() + ": has no table iceberg_tables, so it is no Iceberg SQL catalog"};
  }
  return std::ranges::find(columns, "iceberg_type") != columns.end();
}

/// "mysql" of "mysql://user:password@host/db", "jdbc:mysql" of "jdbc:mysql:...".
std::string KindOf(std::string_view uri) {
  const std::size_t begin = uri.starts_with("jdbc:") ? 5 : 0;
  return std::string(uri.substr(0, uri.find(':', begin)));
}

Result<std::unique_ptr<SqlDatabase>> OpenDatabase(const Properties& properties) {
  const std::string uri = PropertyOr(properties, "uri", "");
  if (uri.empty()) return Error{Code::kInvalidArgument, "SQL catalog: property `uri` is not set"};
  if (IsPostgresUri(uri)) {
    FIRN_ASSIGN(const std::string made, PostgresUri(properties));
    constexpr std::size_t kConnectionsMax = 4;  // statements are short; servers have few to give
    const auto connect = [made]() -> Result<std::unique_ptr<SqlDatabase>> {
      FIRN_ASSIGN(auto connection, PostgresDatabase::Open(made, {}));
      return std::unique_ptr<SqlDatabase>(std::move(connection));
    };
    FIRN_ASSIGN(auto pool, SqlPool::Open(connect, kConnectionsMax));
    return std::unique_ptr<SqlDatabase>(std::move(pool));
  }
  FIRN_ASSIGN(const std::string path, SqlitePath(uri));
  FIRN_ASSIGN(auto database, SqliteDatabase::Open(path, {}));
  return std::unique_ptr<SqlDatabase>(std::move(database));
}

}  // namespace

Result<std::string> SqlitePath(const std::string& uri) {
  std::string_view rest = uri;
  const auto strip = [&rest](std::string_view prefix) {
    if (!rest.starts_with(prefix)) return false;
    rest.remove_prefix(prefix.size());
    return true;
  };
  if (!strip("jdbc:sqlite:") && !strip("sqlite:///") && !strip("sqlite+pysqlite:///")) {
    const bool other = uri.starts_with("jdbc:") || uri.find("://") != std::string::npos;
    return Error{other ? Code::kUnsupported : Code::kInvalidArgument,
                 fmt::format("SQL catalog: uri `{}`: only SQLite (sqlite:///FILE, jdbc:sqlite:FILE) and PostgreSQL "
                             "(postgresql://HOST/DB, jdbc:postgresql://HOST/DB) are supported",
                             other ? KindOf(uri) + ":..." : std::string("..."))};
  }
  rest = rest.substr(0, rest.find('?'));
  if (rest.empty() || rest == ":memory:" || rest.starts_with("file:")) {
    return Error{Code::kUnsupported, fmt::format("SQL catalog `{}`: only a plain file is supported", uri)};
  }
  return std::string(rest);
}

Result<std::shared_ptr<Catalog>> SqlCatalog::Open(std::string name, const Properties& properties,
                                                  const FileIOFactory& make_io, Clock& clock, std::uint64_t seed) {
  FIRN_ASSIGN(auto database, OpenDatabase(properties));
  FIRN_ASSIGN(const bool has_type, HasTypeColumn(*database));
  FIRN_ASSIGN(auto io, make_io(properties));
  return std::shared_ptr<Catalog>(
      new SqlCatalog(std::move(name), std::move(io), clock, seed, std::move(database), has_type));
}

Result<std::vector<TableIdentifier>> SqlCatalog::ListTables() {
  FIRN_ASSIGN(const SqlResult found,
              database_->Run("SELECT table_namespace, table_name FROM iceberg_tables WHERE catalog_name = ?1" +
                                 type_condition_ + " ORDER BY 1, 2",
                             {name()}));
  std::vector<TableIdentifier> ids;
  for (const SqlRow& row : found.rows) {
    if (!row[0] || !row[1]) continue;
    TableIdentifier id;
    for (const std::string_view level : Split(*row[0], '.')) id.name_space.emplace_back(level);
    id.name = *row[1];
    ids.push_back(std::move(id));
  }
  if (ids.empty() && !told_of_others_.exchange(true)) {
    const std::string others = OtherNamesText();
    if (!others.empty()) Log(LogLevel::kWarn, fmt::format("no tables in catalog `{}`{}", name(), others));
  }
  return ids;
}

Result<std::string> SqlCatalog::ReadPointer(const TableIdentifier& id) {
  return PointerOf(id, database_->Run(kReadPointer + type_condition_, {name(), NamespaceText(id), id.name}));
}

Result<std::string> SqlCatalog::PointerOf(const TableIdentifier& id, const Result<SqlResult>& found) {
  if (!found) {
    Error error = found.error();
    if (error.code == Code::kNotFound) error.code = Code::kUnavailable;  // of the database: says nothing of the table
    return error;
  }
  if (found->rows.empty()) return NoSuchTable(id);
  if (!found->rows[0][0] || found->rows[0][0]->empty()) {
    return Error{Code::kCorrupt, fmt::format("{}: catalog `{}` has no metadata location for it in {}", ToString(id),
                                             name(), database_->place())};
  }
  return *found->rows[0][0];
}

Error SqlCatalog::NoSuchTable(const TableIdentifier& id) {
  return {Code::kNotFound, fmt::format("no table `{}` in catalog `{}` ({})", ToString(id), name(), database_->place()) +
                               OtherNamesText()};
}

/// The usual mistake: the rows were written under another catalog name.
std::string SqlCatalog::OtherNamesText() {
  const auto names = database_->Run("SELECT DISTINCT catalog_name FROM iceberg_tables ORDER BY 1 LIMIT 20");
  std::vector<std::string> others;
  bool known = !names.has_value();
  for (const SqlRow& row : names ? names->rows : std::vector<SqlRow>{}) {
    known = known || row[0] == name();
    if (row[0]) others.push_back(*row[0]);
  }
  if (known || others.empty()) return "";
  return fmt::format("; the database holds only the catalogs named: {}", fmt::join(others, ", "));
}

Status SqlCatalog::SwapPointer(const PointerSwap& swap) {
  const auto& [id, from, to, base, updated] = swap;
  auto changed = database_->WriteOnce(
      "UPDATE iceberg_tables SET metadata_location = ?1, previous_metadata_location = ?2 WHERE catalog_name = ?3 "
      "AND table_namespace = ?4 AND table_name = ?5 AND metadata_location = ?2" +
          type_condition_,
      {to, from, name(), NamespaceText(id), id.name});
  if (!changed) {
    if (changed.error().code != Code::kOutcomeUnknown) return std::move(changed.error());
    return Reconcile(id, from, to, std::move(changed.error()));
  }
  if (changed->changed_rows == 1) return Ok();
  if (changed->changed_rows == 0) return Error{Code::kConflict, "another commit came first"};
  return Error{Code::kOutcomeUnknown,
               fmt::format("{}: the update changed {} rows instead of one", database_->place(), changed->changed_rows)};
}

/// After a commit that may or may not count: what the database says once it is settled decides, if it can be read.
Status SqlCatalog::Reconcile(const TableIdentifier& id, const std::string& from, const std::string& to, Error fault) {
  const auto location =
      PointerOf(id, database_->RunSettled(kReadPointer + type_condition_, {name(), NamespaceText(id), id.name}));
  if (location && *location == to) return Ok();
  if (location && *location == from) {
    fault.code = Code::kUnavailable;
    return fault;
  }
  if (!location) return fault;
  return DecideByLog(*location, from, to, std::move(fault));
}

}  // namespace firn::ports
