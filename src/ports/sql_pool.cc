// SPDX-License-Identifier: Apache-2.0
#include "ports/sql_pool.h"

#include <fmt/format.h>

#include <utility>

#include "base/check.h"
#include "base/log.h"

namespace firn::ports {

Result<std::unique_ptr<SqlPool>> SqlPool::Open(Connect connect, std::size_t size_max) {
  FIRN_CHECK(size_max > 0);
  FIRN_ASSIGN(auto first, connect());
  std::unique_ptr<SqlPool> pool(new SqlPool(std::move(connect), size_max));
  pool->place_ = first->place();
  pool->count_ = 1;
  pool->idle_.push_back(std::move(first));
  return pool;
}

std::unique_ptr<SqlDatabase> SqlPool::Take() {
  std::unique_lock lock(mutex_);
  bool may_connect = true;
  while (true) {
    if (!idle_.empty()) {
      auto taken = std::move(idle_.back());
      idle_.pop_back();
      return taken;
    }
    if (may_connect && count_ < size_max_) {
      ++count_;
      lock.unlock();
      auto made = connect_();
      if (made) return std::move(*made);
      Log(LogLevel::kInfo, fmt::format("{}: no further connection: {}", place_, made.error().message));
      lock.lock();
      --count_;
      may_connect = false;
      continue;
    }
    given_.wait(lock);
  }
}

void SqlPool::Give(std::unique_ptr<SqlDatabase> connection) {
  const std::lock_guard lock(mutex_);
  idle_.push_back(std::move(connection));
  given_.notify_one();
}

Result<SqlResult> SqlPool::Run(std::string_view sql, Values values) {
  auto connection = Take();
  auto result = connection->Run(sql, values);
  Give(std::move(connection));
  return result;
}

Result<SqlResult> SqlPool::RunSettled(std::string_view sql, Values values) {
  auto connection = Take();
  auto result = connection->RunSettled(sql, values);
  Give(std::move(connection));
  return result;
}

Result<SqlResult> SqlPool::WriteOnce(std::string_view sql, Values values) {
  auto connection = Take();
  auto result = connection->WriteOnce(sql, values);
  Give(std::move(connection));
  return result;
}

Result<std::vector<std::string>> SqlPool::Columns(std::string_view table) {
  auto connection = Take();
  auto result = connection->Columns(table);
  Give(std::move(connection));
  return result;
}

}  // namespace firn::ports
