// SPDX-License-Identifier: Apache-2.0
#include "ports/sqlite_database.h"

#include <fmt/format.h>
#include <sqlite3.h>
#include <sys/stat.h>

#include <cerrno>
#include <utility>

namespace firn::ports {
namespace {

Code CodeOf(int sqlite_code) {
  switch (sqlite_code & 0xff) {
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB: return Code::kCorrupt;
    case SQLITE_FULL:
    case SQLITE_NOMEM:
    case SQLITE_TOOBIG: return Code::kLimit;
    case SQLITE_ERROR:
    case SQLITE_MISUSE:
    case SQLITE_RANGE: return Code::kInternal;
    case SQLITE_READONLY:
    case SQLITE_PERM:
    case SQLITE_AUTH: return Code::kInvalidArgument;  // missing rights do not come by waiting
    case SQLITE_CONSTRAINT: return Code::kConflict;
    default: return Code::kUnavailable;  // busy, locked, I/O
  }
}

constexpr std::size_t kPreparedMax = 128;

/// Makes a statement ready for its next use, which also lets go of the caller's values and of locks.
struct Reset {
  void operator()(sqlite3_stmt* statement) const {
    sqlite3_reset(statement);
    sqlite3_clear_bindings(statement);
  }
};
using Running = std::unique_ptr<sqlite3_stmt, Reset>;

SqlRow ReadRow(sqlite3_stmt* statement) {
  SqlRow row;
  const int count = sqlite3_column_count(statement);
  for (int i = 0; i < count; ++i) {
    const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(statement, i));
    const auto size = static_cast<std::size_t>(sqlite3_column_bytes(statement, i));
    row.push_back(text ? std::optional(std::string(text, size)) : std::nullopt);
  }
  return row;
}

}  // namespace

Result<std::unique_ptr<SqliteDatabase>> SqliteDatabase::Open(const std::string& path, Options options) {
  std::unique_ptr<SqliteDatabase> database(new SqliteDatabase(path, nullptr));
  database->options_ = options;
  FIRN_TRY(database->Connect());
  return database;
}

Status SqliteDatabase::Connect() {
  const int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_FULLMUTEX | (options_.create ? SQLITE_OPEN_CREATE : 0);
  const int code = sqlite3_open_v2(path_.c_str(), &connection_, flags, nullptr);
  if (code != SQLITE_OK) {
    Error error = LastError("open");
    // CANTOPEN stands for a missing file as well as for missing rights; the extended errno tells.
    if (code == SQLITE_CANTOPEN && connection_ && sqlite3_system_errno(connection_) == ENOENT) {
      error.code = Code::kNotFound;
      error.message = path_ + ": no such database file";
    }
    return error;
  }
  sqlite3_extended_result_codes(connection_, 1);
  sqlite3_busy_timeout(connection_, options_.busy_timeout_ms);
  struct stat file{};
  const bool is_on_disk = ::stat(path_.c_str(), &file) == 0;
  device_ = is_on_disk ? file.st_dev : 0;
  file_ = is_on_disk ? file.st_ino : 0;
  return Ok();
}

/// What is open may not be what others see below the path any more.
Status SqliteDatabase::FollowFile() {
  struct stat file{};
  if (file_ == 0) return Ok();
  if (::stat(path_.c_str(), &file) != 0) return Error{Code::kUnavailable, path_ + ": the database file is gone"};
  if (file.st_dev == device_ && file.st_ino == file_) return Ok();
  Close();
  return Connect();
}

void SqliteDatabase::Close() {
  for (const auto& [sql, statement] : prepared_) sqlite3_finalize(statement);
  prepared_.clear();
  sqlite3_close_v2(std::exchange(connection_, nullptr));
}

SqliteDatabase::~SqliteDatabase() { Close(); }

Error SqliteDatabase::LastError(std::string_view what) {
  const int code = connection_ ? sqlite3_extended_errcode(connection_) : SQLITE_NOMEM;
  const char* text = connection_ ? sqlite3_errmsg(connection_) : "out of memory";
  return {CodeOf(code), fmt::format("{}: {}: {} (SQLite code {})", path_, what, text, code)};
}

Result<SqlResult> SqliteDatabase::Run(std::string_view sql, Values values) {
  const std::lock_guard lock(mutex_);
  FIRN_TRY(FollowFile());
  return RunLocked(sql, std::span(values.begin(), values.size()));
}

Result<sqlite3_stmt*> SqliteDatabase::Prepare(std::string_view sql) {
  if (const auto known = prepared_.find(sql); known != prepared_.end()) return known->second;
  sqlite3_stmt* prepared = nullptr;
  if (sqlite3_prepare_v3(connection_, sql.data(), static_cast<int>(sql.size()), SQLITE_PREPARE_PERSISTENT, &prepared,
                         nullptr) != SQLITE_OK) {
    return LastError("prepare");
  }
  if (prepared_.size() == kPreparedMax) {
    sqlite3_finalize(prepared_.begin()->second);
    prepared_.erase(prepared_.begin());
  }
  prepared_.emplace(sql, prepared);
  return prepared;
}

Result<SqlResult> SqliteDatabase::RunLocked(std::string_view sql, std::span<const std::string_view> values) {
  FIRN_ASSIGN(sqlite3_stmt* const prepared, Prepare(sql));
  const Running running(prepared);
  int index = 0;
  for (const std::string_view value : values) {
    // A null pointer would be NULL, which equals nothing.
    const char* text = value.data() == nullptr ? "" : value.data();
    if (sqlite3_bind_text64(prepared, ++index, text, value.size(), SQLITE_STATIC, SQLITE_UTF8) != SQLITE_OK) {
      return LastError("bind");
    }
  }
  SqlResult result;
  int code = sqlite3_step(prepared);
  for (; code == SQLITE_ROW; code = sqlite3_step(prepared)) result.rows.push_back(ReadRow(prepared));
  if (code != SQLITE_DONE) return LastError("run");
  result.changed_rows = sqlite3_changes(connection_);
  return result;
}

Result<SqlResult> SqliteDatabase::WriteOnce(std::string_view sql, Values values) {
  const std::lock_guard lock(mutex_);
  SqlResult result;
  FIRN_TRY(WriteLocked([&]() -> Status {
    FIRN_ASSIGN(result, RunLocked(sql, std::span(values.begin(), values.size())));
    return Ok();
  }));
  return result;
}

Result<std::vector<std::string>> SqliteDatabase::Columns(std::string_view table) {
  FIRN_ASSIGN(const SqlResult found, Run("SELECT name FROM pragma_table_info(?1)", {table}));
  std::vector<std::string> names;
  for (const SqlRow& row : found.rows) names.push_back(row[0].value_or(""));
  return names;
}

Status SqliteDatabase::WriteAll(std::span<const SqlStatement> statements) {
  const std::lock_guard lock(mutex_);
  return WriteLocked([&]() -> Status {
    std::vector<std::string_view> values;
    for (const SqlStatement& statement : statements) {
      values.assign(statement.values.begin(), statement.values.end());
      FIRN_TRY(RunLocked(statement.sql, values));
    }
    return Ok();
  });
}

Status SqliteDatabase::WriteLocked(const std::function<Status()>& write) {
  FIRN_TRY(FollowFile());
  // IMMEDIATE takes the write lock first: waiting for it can then not end in a deadlock with readers.
  FIRN_TRY(RunLocked("BEGIN IMMEDIATE", {}));
  if (Status written = write(); !written) {
    if (!sqlite3_get_autocommit(connection_)) (void)RunLocked("ROLLBACK", {});
    return written;
  }
  auto committed = RunLocked("COMMIT", {});
  if (committed) return Ok();
  Error error = std::move(committed.error());
  // A commit that found the file busy has done nothing and the transaction is still open.
  const bool busy = (sqlite3_extended_errcode(connection_) & 0xff) == SQLITE_BUSY;
  if (!sqlite3_get_autocommit(connection_)) (void)RunLocked("ROLLBACK", {});
  if (!busy) error.code = Code::kOutcomeUnknown;
  return error;
}

}  // namespace firn::ports
