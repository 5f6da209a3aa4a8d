// SPDX-License-Identifier: Apache-2.0
//
// One connection to a PostgreSQL database, through libpq.
//
// In: a URI of libpq; what it leaves out comes from libpq's own places (PGHOST, PGPASSWORD, ~/.pgpass, ...). SQL and
//   values as sql_database.h says. Out: rows of text, number of changed rows.
// Guarantees: a statement is sent once. A connection that ended while it was idle is made anew before the next
//   statement, one that ends during it is an error. A write is BEGIN, the statement, COMMIT: when the connection ends
//   before COMMIT is sent, nothing changed; when it ends after that, the outcome is unknown. A write that
//   loses its client gives up its locks after a minute.
// Cost: a read is one round trip, a write four.
// Threads: any; statements run one after the other. The connection does not survive fork().
// Errors: as sql_database.h, with the server's SQLSTATE. Nothing waits longer than connect_timeout_s and
//   statement_timeout_ms allow.
// Source: https://www.postgresql.org/docs/15/libpq.html, errcodes-appendix.html, explicit-locking.html
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>

#include "ports/sql_database.h"

struct pg_conn;
struct pg_result;

namespace firn::ports {

class PostgresDatabase final : public SqlDatabase {
 public:
  struct Options {
    int connect_timeout_s = 10;  // the URI's connect_timeout is above it
    int statement_timeout_ms = 30'000;
  };
  static Result<std::unique_ptr<PostgresDatabase>> Open(const std::string& uri, Options options);
  ~PostgresDatabase() override;
  PostgresDatabase(const PostgresDatabase&) = delete;
  PostgresDatabase& operator=(const PostgresDatabase&) = delete;

  Result<SqlResult> Run(std::string_view sql, Values values = {}) override;
  /// Takes a lock on the rows, which is free only when the other transaction has ended.
  Result<SqlResult> RunSettled(std::string_view sql, Values values) override;
  Result<SqlResult> WriteOnce(std::string_view sql, Values values) override;
  Result<std::vector<std::string>> Columns(std::string_view table) override;
  const std::string& place() const override { return place_; }

 private:
  struct EndConnection {
    void operator()(pg_conn* connection) const;
  };
  struct EndResult {
    void operator()(pg_result* result) const;
  };
  using ResultPtr = std::unique_ptr<pg_result, EndResult>;

  PostgresDatabase(std::string uri, Options options) : uri_(std::move(uri)), options_(options) {}
  Status Connect();
  Status Ready();
  Error ConnectError();
  Result<SqlResult> Execute(std::string_view sql, std::span<const std::string_view> values);
  Status Begin();
  Status Commit();
  Status Send(std::string_view sql, std::span<const std::string_view> values);
  Result<ResultPtr> Await();
  Status Wait(short events, std::int64_t end_ms);
  Error Lost(std::string_view what);
  Error Refused(const ResultPtr& result);

  std::string uri_;
  Options options_;
  static constexpr std::string_view kNoPlace = "PostgreSQL";
  std::string place_{kNoPlace};
  std::mutex mutex_;
  std::unique_ptr<pg_conn, EndConnection> connection_;  // null: to be made anew
};

}  // namespace firn::ports
