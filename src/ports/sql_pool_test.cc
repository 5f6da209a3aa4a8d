// SPDX-License-Identifier: Apache-2.0
#include "ports/sql_pool.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <future>
#include <thread>

namespace firn::ports {
namespace {

/// Statements "slow" last until they are released.
class SqlPoolTest : public testing::Test {
 protected:
  class OneConnection final : public SqlDatabase {
   public:
    explicit OneConnection(SqlPoolTest& test) : test_(test) {}
    Result<SqlResult> Run(std::string_view sql, Values = {}) override {
      EXPECT_EQ(++now_, 1) << "one statement at a time";
      if (sql == "slow") {
        ++test_.slow_;
        test_.released_.wait();
      }
      --now_;
      return SqlResult{.rows = {}, .changed_rows = static_cast<int>(sql.size())};
    }
    Result<SqlResult> RunSettled(std::string_view sql, Values values) override { return Run(sql, values); }
    Result<SqlResult> WriteOnce(std::string_view, Values) override { return Error{Code::kOutcomeUnknown, "lost"}; }
    Result<std::vector<std::string>> Columns(std::string_view) override { return std::vector<std::string>{"a"}; }
    const std::string& place() const override { return place_; }

   private:
    SqlPoolTest& test_;
    std::atomic<int> now_ = 0;
    const std::string place_ = "postgresql://host";
  };

  std::unique_ptr<SqlPool> Open(std::size_t size_max) {
    auto opened = SqlPool::Open(
        [this]() -> Result<std::unique_ptr<SqlDatabase>> {
          if (++connects_ > connects_max_) return Error{Code::kUnavailable, "too many clients"};
          return std::make_unique<OneConnection>(*this);
        },
        size_max);
    EXPECT_TRUE(opened) << opened.error().message;
    return std::move(*opened);
  }
  std::future<bool> Start(SqlPool& pool, std::string sql) {
    return std::async(std::launch::async, [&pool, sql = std::move(sql)] { return pool.Run(sql).has_value(); });
  }
  void AwaitSlow(int count) {
    for (int i = 0; i < 2'000 && slow_ < count; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(5));
    ASSERT_EQ(slow_, count);
  }
  static bool Ends(const std::future<bool>& call, int wait_ms) {
    return call.wait_for(std::chrono::milliseconds(wait_ms)) == std::future_status::ready;
  }

  std::promise<void> release_;
  std::shared_future<void> released_ = release_.get_future().share();
  std::atomic<int> slow_ = 0, connects_ = 0;
  int connects_max_ = 100;
};

TEST_F(SqlPoolTest, ASlowStatement_HoldsUpNoOther) {
  const auto pool = Open(3);
  auto slow = Start(*pool, "slow");
  AwaitSlow(1);
  for (int i = 0; i < 10; ++i) {
    auto quick = Start(*pool, "quick");
    ASSERT_TRUE(Ends(quick, 10'000));
  }
  EXPECT_EQ(connects_, 2) << "what is there is used first";
  EXPECT_FALSE(Ends(slow, 0));
  release_.set_value();
  EXPECT_TRUE(slow.get());
  EXPECT_EQ(pool->place(), "postgresql://host");
}

TEST_F(SqlPoolTest, Connections_AreBounded) {
  const auto pool = Open(2);
  std::vector<std::future<bool>> calls;
  for (int i = 0; i < 8; ++i) calls.push_back(Start(*pool, "slow"));
  AwaitSlow(2);
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  EXPECT_EQ(slow_, 2);
  release_.set_value();
  for (auto& call : calls) EXPECT_TRUE(call.get());
  EXPECT_EQ(connects_, 2);
}

TEST_F(SqlPoolTest, NoFurtherConnection_TheStatementWaits) {
  connects_max_ = 1;
  const auto pool = Open(4);
  auto slow = Start(*pool, "slow");
  AwaitSlow(1);
  auto quick = Start(*pool, "quick");
  EXPECT_FALSE(Ends(quick, 100));
  release_.set_value();
  EXPECT_TRUE(quick.get());
  EXPECT_TRUE(slow.get());
}

TEST_F(SqlPoolTest, WhatAConnectionSays_IsPassedOn) {
  const auto pool = Open(2);
  EXPECT_EQ(pool->Run("four", {})->changed_rows, 4);
  EXPECT_EQ(pool->RunSettled("five!", {})->changed_rows, 5);
  EXPECT_EQ(pool->WriteOnce("x", {}).error().code, Code::kOutcomeUnknown);
  EXPECT_EQ(pool->Columns("t").value().size(), 1U);
  const auto none =
      SqlPool::Open([]() -> Result<std::unique_ptr<SqlDatabase>> { return Error{Code::kNotFound, "no"}; }, 2);
  EXPECT_EQ(none.error().code, Code::kNotFound);
}

}  // namespace
}  // namespace firn::ports
