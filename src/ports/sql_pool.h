// SPDX-License-Identifier: Apache-2.0
//
// A few connections to one database behind one handle, so that a slow statement does not hold up all others.
//
// In: a way to connect, the largest number of connections. Out: the port, whose statements run beside each other.
// Guarantees: each statement has a connection of its own while it runs; there are never more than `size_max`, and those
//   that are there are used first. What one connection guarantees holds for each statement: nothing is kept from one
//   statement to the next. When no further connection can be made, the statement waits for one that is there.
// Cost: a connection that was made stays.
// Threads: any. Errors: of the connections. Open: of the first one.
// Source: what PostgresDatabase needs in a service of many tables.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "ports/sql_database.h"

namespace firn::ports {

class SqlPool final : public SqlDatabase {
 public:
  using Connect = std::function<Result<std::unique_ptr<SqlDatabase>>()>;
  /// `size_max` is at least 1.
  static Result<std::unique_ptr<SqlPool>> Open(Connect connect, std::size_t size_max);

  Result<SqlResult> Run(std::string_view sql, Values values = {}) override;
  Result<SqlResult> RunSettled(std::string_view sql, Values values) override;
  Result<SqlResult> WriteOnce(std::string_view sql, Values values) override;
  Result<std::vector<std::string>> Columns(std::string_view table) override;
  const std::string& place() const override { return place_; }

 private:
  SqlPool(Connect connect, std::size_t size_max) : connect_(std::move(connect)), size_max_(size_max) {}
  std::unique_ptr<SqlDatabase> Take();
  void Give(std::unique_ptr<SqlDatabase> connection);

  const Connect connect_;
  const std::size_t size_max_;
  std::string place_;
  std::mutex mutex_;
  std::condition_variable given_;
  std::vector<std::unique_ptr<SqlDatabase>> idle_;
  std::size_t count_ = 0;  // idle, in use, or being made; one at least is there
};

}  // namespace firn::ports
