// SPDX-License-Identifier: Apache-2.0
//
// A database that holds an Iceberg SQL catalog: what the catalog needs of it, and no more.
//
// In: SQL with ?1, ?2, ... and text values; no other question marks. Out: rows of text, number of changed rows.
// Guarantees: a failed write says whether the database may have changed: only kOutcomeUnknown leaves it open.
// Threads: any.
// Errors: kNotFound (no such database), kInvalidArgument (rights), kUnavailable (busy, not reached), kLimit (full).
// Source: what Java's JdbcCatalog and PyIceberg's SqlCatalog ask of a database.
#pragma once

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace firn::ports {

using SqlRow = std::vector<std::optional<std::string>>;

struct SqlResult {
  std::vector<SqlRow> rows;
  int changed_rows = 0;
};

class SqlDatabase {
 public:
  using Values = std::initializer_list<std::string_view>;
  virtual ~SqlDatabase() = default;

  /// One statement outside of a transaction of the caller: for reading and for set-up.
  virtual Result<SqlResult> Run(std::string_view sql, Values values = {}) = 0;
  /// A SELECT that waits for the end of every transaction that has changed its rows, also of one whose connection was
  /// lost: what it returns cannot be overtaken by it any more.
  virtual Result<SqlResult> RunSettled(std::string_view sql, Values values) = 0;
  /// One changing statement in a transaction of its own. kOutcomeUnknown only when the commit itself failed in a
  /// way that leaves open whether it counts; any other error: nothing changed.
  virtual Result<SqlResult> WriteOnce(std::string_view sql, Values values) = 0;
  /// Columns of a table; empty if there is no such table.
  virtual Result<std::vector<std::string>> Columns(std::string_view table) = 0;
  /// The database in messages: never with a password.
  virtual const std::string& place() const = 0;
};

}  // namespace firn::ports
