// SPDX-License-Identifier: Apache-2.0
#include "ports/postgres_database.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <thread>

namespace firn::contract {
namespace {

using ports::PostgresDatabase;
using ::testing::HasSubstr;
using ::testing::Not;

/// A table t (id, value) with one row, in a schema of the test's own.
class PostgresDatabaseTest : public testing::Test {
 protected:
  void SetUp() override {
    const char* server = std::getenv("FIRN_TEST_POSTGRES_URI");
    if (!server) GTEST_SKIP() << "no PostgreSQL server: set FIRN_TEST_POSTGRES_URI";
    server_ = server;
    uri_ = server_ + "?options=-csearch_path%3Ddatabase_test";
    database_ = Open();
    (void)database_->Run("DROP SCHEMA database_test CASCADE");
    Do("CREATE SCHEMA database_test");
    Do("CREATE TABLE t (id VARCHAR(10) UNIQUE DEFERRABLE INITIALLY DEFERRED, value VARCHAR(10))");
    Do("INSERT INTO t VALUES ('a', '1')");
  }
  std::unique_ptr<PostgresDatabase> Open(PostgresDatabase::Options options = {}) {
    auto opened = PostgresDatabase::Open(uri_, options);
    EXPECT_TRUE(opened) << ToString(opened.error());
    return std::move(*opened);
  }
  void Do(const std::string& sql) {
    const auto done = database_->Run(sql);
    ASSERT_TRUE(done) << sql << ToString(done.error());
  }
  std::string Value() { return database_->Run("SELECT value FROM t").value().rows.at(0).at(0).value_or("(null)"); }
  /// Ends every other connection to the schema's tables, as a restart would.
  void EndOthers() {
    Do("SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE datname = current_database() AND pid <> "
       "pg_backend_pid()");
  }

  std::string server_, uri_;
  std::unique_ptr<PostgresDatabase> database_;
};

constexpr std::string_view kUpdate = "UPDATE t SET value = ?1 WHERE id = ?2 AND value = ?3";

TEST_F(PostgresDatabaseTest, Columns_OfATable_AndOfNone) {
  EXPECT_THAT(database_->Columns("t").value(), testing::ElementsAre("id", "value"));
  EXPECT_TRUE(database_->Columns("missing").value().empty());
}

TEST_F(PostgresDatabaseTest, Values_WithQuotesMarksAndLetters_AreBound) {
  for (const std::string text : {"it's; --", "a?b$1", "Grüße", ""}) {
    const auto row = database_->Run("SELECT ?1::text, NULL", {text});
    ASSERT_TRUE(row) << ToString(row.error());
    EXPECT_EQ(row->rows.at(0).at(0), text);
    EXPECT_FALSE(row->rows.at(0).at(1));
  }
  const auto zero = database_->Run("SELECT ?1::text", {std::string_view("a\0b", 3)});
  ASSERT_FALSE(zero) << "cut at the zero byte it would name another table";
  EXPECT_EQ(zero.error().code, Code::kInvalidArgument);
  EXPECT_EQ(Value(), "1") << "the connection is still good";
}

TEST_F(PostgresDatabaseTest, WriteOnce_CountsRowsThatFit) {
  EXPECT_EQ(database_->WriteOnce(kUpdate, {"2", "a", "1"}).value().changed_rows, 1);
  EXPECT_EQ(database_->WriteOnce(kUpdate, {"3", "a", "1"}).value().changed_rows, 0);
  EXPECT_EQ(Value(), "2");
}

TEST_F(PostgresDatabaseTest, WriteOnce_CommitIsRefused_NothingChangesAndThatIsKnown) {
  Do("INSERT INTO t VALUES ('b', '1')");
  const auto written = database_->WriteOnce("UPDATE t SET id = 'a' WHERE id = ?1", {"b"});
  ASSERT_FALSE(written) << "the constraint is looked at by COMMIT";
  EXPECT_EQ(written.error().code, Code::kConflict) << ToString(written.error());
  EXPECT_EQ(database_->Run("SELECT 1 FROM t WHERE id = 'b'").value().rows.size(), 1U);
}

TEST_F(PostgresDatabaseTest, WriteOnce_OtherServerSettings_DoNotMatter) {
  uri_ = server_ + "?options=-csearch_path%3Ddatabase_test%20-cdefault_transaction_isolation%3Dserializable";
  const auto one = Open(), two = Open();
  int changed = 0;
  for (const auto* each : {&one, &two}) changed += (*each)->WriteOnce(kUpdate, {"2", "a", "1"}).value().changed_rows;
  EXPECT_EQ(changed, 1);
}

TEST_F(PostgresDatabaseTest, WriteOnce_ServerThatOnlyReads_Unavailable) {
  uri_ += "%20-cdefault_transaction_read_only%3Don";
  const auto written = Open()->WriteOnce(kUpdate, {"2", "a", "1"});
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().code, Code::kUnavailable) << ToString(written.error());
  EXPECT_THAT(written.error().message, HasSubstr("25006"));
}

TEST_F(PostgresDatabaseTest, RowIsLocked_WaitsForTheTimeoutOnly) {
  Do("BEGIN");
  Do("UPDATE t SET value = '9'");
  const auto other = Open({.statement_timeout_ms = 200});
  const auto written = other->WriteOnce(kUpdate, {"2", "a", "1"});
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().code, Code::kUnavailable) << ToString(written.error());
  EXPECT_EQ(other->Run("SELECT value FROM t").value().rows[0][0], "1") << "a plain read does not wait";
  const auto settled = other->RunSettled("SELECT value FROM t", {});
  ASSERT_FALSE(settled) << "what the open transaction will do is not known";
  EXPECT_EQ(settled.error().code, Code::kUnavailable);
  Do("COMMIT");
  EXPECT_EQ(other->RunSettled("SELECT value FROM t", {}).value().rows[0][0], "9");
  EXPECT_EQ(other->WriteOnce(kUpdate, {"2", "a", "9"}).value().changed_rows, 1);
}

TEST_F(PostgresDatabaseTest, RunSettled_WaitsForTheEndOfTheOther) {
  Do("BEGIN");
  Do("UPDATE t SET value = '9'");
  std::jthread late([this] {
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    Do("COMMIT");
  });
  EXPECT_EQ(Open()->RunSettled("SELECT value FROM t", {}).value().rows[0][0], "9");
}

TEST_F(PostgresDatabaseTest, ConnectionEndsWhileIdle_TheNextStatementMakesItAnew) {
  const auto other = Open();
  EndOthers();
  EXPECT_EQ(other->WriteOnce(kUpdate, {"2", "a", "1"}).value().changed_rows, 1);
  EndOthers();
  EXPECT_EQ(other->Run("SELECT value FROM t").value().rows[0][0], "2");
}

TEST_F(PostgresDatabaseTest, ConnectionEndsInAStatement_UnavailableAndNothingChanged) {
  const auto other = Open();
  std::jthread end([this] {
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    EndOthers();
  });
  const auto written = other->WriteOnce("UPDATE t SET value = ?1 FROM pg_sleep(30)", {"2"});
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().code, Code::kUnavailable) << ToString(written.error());
  end.join();
  EXPECT_EQ(Value(), "1");
}

TEST_F(PostgresDatabaseTest, ConnectionEndsInCommit_OutcomeUnknown) {
  // COMMIT runs the deferred trigger, which ends its own server process.
  Do("CREATE FUNCTION hang_up() RETURNS trigger LANGUAGE plpgsql AS "
     "'BEGIN PERFORM pg_terminate_backend(pg_backend_pid()); PERFORM pg_sleep(5); RETURN NULL; END'");
  Do("CREATE CONSTRAINT TRIGGER hang_up AFTER UPDATE ON t DEFERRABLE INITIALLY DEFERRED FOR EACH ROW "
     "EXECUTE FUNCTION hang_up()");
  const auto other = Open();
  const auto written = other->WriteOnce(kUpdate, {"2", "a", "1"});
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().code, Code::kOutcomeUnknown) << ToString(written.error());
  EXPECT_EQ(other->RunSettled("SELECT value FROM t", {}).value().rows[0][0], "1");
}

TEST_F(PostgresDatabaseTest, Open_Refused_SaysWhyWithoutThePassword) {
  const std::string host = server_.substr(server_.find('@'));
  const auto password = PostgresDatabase::Open("postgresql://firn:hunter2" + host, {});
  ASSERT_FALSE(password);
  EXPECT_EQ(password.error().code, Code::kInvalidArgument) << password.error().message;
  EXPECT_THAT(password.error().message, Not(HasSubstr("hunter2")));
  const auto database = PostgresDatabase::Open(server_ + "_missing", {});
  ASSERT_FALSE(database);
  EXPECT_EQ(database.error().code, Code::kNotFound) << database.error().message;
}

}  // namespace
}  // namespace firn::contract
