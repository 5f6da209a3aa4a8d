// SPDX-License-Identifier: Apache-2.0
//
// One connection to a SQLite file.
//
// In: SQL with ?1, ?2, ... and text values. Out: rows of text, number of changed rows.
// Guarantees: a file that was replaced by another one is opened anew; one that was moved away is an error. Other
//   processes are waited for, up to the busy timeout. Failures say whether the file may have changed only where a
//   transaction is committed; see WriteOnce.
// Threads: any; statements of one connection run one after the other.
// Errors: kNotFound (no such file), kUnavailable (busy, no permission), kLimit (disk full), kCorrupt (no database).
// Source: https://sqlite.org/rescode.html, https://sqlite.org/lang_transaction.html
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "ports/sql_database.h"

struct sqlite3;
struct sqlite3_stmt;

namespace firn::ports {

struct SqlStatement {
  std::string sql;
  std::vector<std::string> values;
};

class SqliteDatabase final : public SqlDatabase {
 public:
  struct Options {
    bool create = false;
    int busy_timeout_ms = 30'000;
  };
  static Result<std::unique_ptr<SqliteDatabase>> Open(const std::string& path, Options options);
  ~SqliteDatabase() override;
  SqliteDatabase(const SqliteDatabase&) = delete;
  SqliteDatabase& operator=(const SqliteDatabase&) = delete;

  Result<SqlResult> Run(std::string_view sql, Values values = {}) override;
  /// Nothing is left of a transaction once it has failed.
  Result<SqlResult> RunSettled(std::string_view sql, Values values) override { return Run(sql, values); }
  Result<SqlResult> WriteOnce(std::string_view sql, Values values) override;
  Result<std::vector<std::string>> Columns(std::string_view table) override;
  /// All of them or none, in their order, in one transaction; errors as those of WriteOnce.
  Status WriteAll(std::span<const SqlStatement> statements);

  const std::string& place() const override { return path_; }
  const std::string& path() const { return path_; }

 private:
  SqliteDatabase(std::string path, sqlite3* connection) : path_(std::move(path)), connection_(connection) {}
  Result<SqlResult> RunLocked(std::string_view sql, std::span<const std::string_view> values);
  Status WriteLocked(const std::function<Status()>& write);
  Result<sqlite3_stmt*> Prepare(std::string_view sql);
  void Close();
  Error LastError(std::string_view what);
  Status Connect();
  Status FollowFile();

  std::string path_;
  sqlite3* connection_;
  std::map<std::string, sqlite3_stmt*, std::less<>> prepared_;  // kept: parsing costs more than most statements do
  Options options_;
  std::uint64_t device_ = 0, file_ = 0;  // of the open file; 0: not on disk
  std::mutex mutex_;
};

}  // namespace firn::ports
