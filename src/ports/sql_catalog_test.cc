// SPDX-License-Identifier: Apache-2.0
#include "ports/sql_catalog.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "ports/hooked_file_io.h"
#include "ports/local_file_io.h"
#include "ports/sqlite_database.h"

namespace firn::ports {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(SqlitePathTest, Uris) {
  EXPECT_EQ(*SqlitePath("sqlite:////tmp/a b.db"), "/tmp/a b.db");
  EXPECT_EQ(*SqlitePath("sqlite:///rel/a.db"), "rel/a.db");
  EXPECT_EQ(*SqlitePath("sqlite+pysqlite:////tmp/a%20b.db?check_same_thread=false"), "/tmp/a%20b.db");
  EXPECT_EQ(*SqlitePath("jdbc:sqlite:/tmp/a.db"), "/tmp/a.db");
  for (const char* uri :
       {"sqlite:///:memory:", "sqlite:///", "jdbc:sqlite:file:x?mode=ro", "jdbc:mysql://h/d?password=hunter2",
        "jdbc:oracle:thin:user/hunter2@host:1521:db", "mysql://user:hunter2@host/db"}) {
    const auto path = SqlitePath(uri);
    ASSERT_FALSE(path) << uri;
    EXPECT_EQ(path.error().code, Code::kUnsupported) << uri;
    EXPECT_THAT(path.error().message, Not(HasSubstr("hunter2")));
  }
  EXPECT_EQ(SqlitePath("").error().code, Code::kInvalidArgument);
}

TEST(SqlCatalog_Postgres, NobodyListens_UnavailableWithoutThePassword) {
  ManualClock clock(TimestampMs{0});
  for (const char* uri : {"postgresql+psycopg2://user:hunter2@127.0.0.1:1/db",
                          "jdbc:postgresql://127.0.0.1:1/db?user=user&password=hunter2"}) {
    const auto opened = SqlCatalog::Open("cat", {{"uri", uri}}, StandardFileIO(), clock, 7);
    ASSERT_FALSE(opened);
    EXPECT_EQ(opened.error().code, Code::kUnavailable) << opened.error().message;
    EXPECT_THAT(opened.error().message, HasSubstr("postgresql://127.0.0.1:1/db"));
    EXPECT_THAT(opened.error().message, Not(HasSubstr("hunter2")));
  }
  const auto unreadable =
      SqlCatalog::Open("cat", {{"uri", "postgresql://host/db?hunter2=%zz"}}, StandardFileIO(), clock, 7);
  ASSERT_FALSE(unreadable);
  EXPECT_EQ(unreadable.error().code, Code::kInvalidArgument) << unreadable.error().message;
  EXPECT_THAT(unreadable.error().message, Not(HasSubstr("hunter2")));
}

class SqlCatalogTest : public testing::Test {
 protected:
  SqlCatalogTest() {
    root_ = (std::filesystem::temp_directory_path() / ("firn-sql-" + std::to_string(::getpid()))).string();
    std::filesystem::remove_all(root_);
    std::filesystem::create_directories(root_);
    path_ = root_ + "/catalog.db";
    database_ = SqliteDatabase::Open(path_, {.create = true, .busy_timeout_ms = 100}).value();
  }
  ~SqlCatalogTest() override { std::filesystem::remove_all(root_); }

  void MakeSchema() {
    ASSERT_TRUE(
        database_->Run("CREATE TABLE iceberg_tables (catalog_name TEXT, table_namespace TEXT, table_name TEXT, "
                       "metadata_location TEXT, previous_metadata_location TEXT, iceberg_type TEXT, "
                       "PRIMARY KEY (catalog_name, table_namespace, table_name))"));
  }
  void MakeTable(const std::string& catalog = "cat", const std::string& members = R"("properties":{})") {
    const std::string text =
        R"({"format-version":2,"table-uuid":"00000000-0000-4000-8000-000000000001","location":")" + root_ +
        R"(/t","last-sequence-number":0,"last-updated-ms":1,"last-column-id":1,"current-schema-id":0,"schemas":[)"
        R"({"type":"struct","schema-id":0,"fields":[{"id":1,"name":"id","required":false,"type":"long"}]}],)"
        R"("default-spec-id":0,"partition-specs":[{"spec-id":0,"fields":[]}],"last-partition-id":999,)"
        R"("default-sort-order-id":0,"sort-orders":[{"order-id":0,"fields":[]}],"snapshots":[],)" +
        members + "}";
    const std::string file = root_ + "/t/metadata/00000-x.metadata.json";
    LocalFileIO io;
    ASSERT_TRUE(WriteFile(io, file, AsBytes(text)));
    ASSERT_TRUE(database_->Run("INSERT INTO iceberg_tables VALUES (?1, 'a.b', 't', ?2, NULL, NULL)", {catalog, file}));
  }
  Result<std::shared_ptr<Catalog>> Open() {
    return SqlCatalog::Open("cat", {{"uri", "sqlite:///" + path_}}, StandardFileIO(), clock_, 7);
  }
  std::string Value(const std::string& column) {
    const auto row = database_->Run("SELECT " + column + " FROM iceberg_tables");
    return row->rows.at(0).at(0).value_or("(null)");
  }

  std::string root_, path_;
  std::unique_ptr<SqliteDatabase> database_;
  ManualClock clock_{TimestampMs{1'700'000'000'000}};
  const TableIdentifier id_{{"a", "b"}, "t"};
};

TEST_F(SqlCatalogTest, Open_NoCatalogThere_SaysWhat) {
  EXPECT_EQ(
      SqlCatalog::Open("c", {{"uri", "sqlite:///" + root_ + "/none.db"}}, StandardFileIO(), clock_, 1).error().code,
      Code::kNotFound);
  const auto empty = Open();
  ASSERT_FALSE(empty);
  EXPECT_EQ(empty.error().code, Code::kNotFound);
  EXPECT_THAT(empty.error().message, HasSubstr("iceberg_tables"));
  LocalFileIO io;
  ASSERT_TRUE(WriteFile(io, root_ + "/text.db", AsBytes(std::string(4096, 'x'))));
  const auto broken = SqlCatalog::Open("c", {{"uri", "sqlite:///" + root_ + "/text.db"}}, StandardFileIO(), clock_, 1);
  ASSERT_FALSE(broken);
  EXPECT_EQ(broken.error().code, Code::kCorrupt);
}

TEST_F(SqlCatalogTest, LoadTable_RowsOfAnotherCatalog_AreNamed) {
  MakeSchema();
  MakeTable("spark");
  const auto table = Open().value()->LoadTable(id_);
  ASSERT_FALSE(table);
  EXPECT_EQ(table.error().code, Code::kNotFound);
  EXPECT_THAT(table.error().message, HasSubstr("only the catalogs named: spark"));
}

TEST_F(SqlCatalogTest, Commit_KeepsThePreviousLocation) {
  MakeSchema();
  MakeTable();
  const auto catalog = Open().value();
  const LoadedTable base = catalog->LoadTable(id_).value();
  const auto committed = catalog->CommitTable(base, {{}, {iceberg::SetProperties{{{"a", "1"}}}}});
  ASSERT_TRUE(committed) << ToString(committed.error());
  EXPECT_EQ(Value("metadata_location"), committed->metadata_location);
  EXPECT_EQ(Value("previous_metadata_location"), base.metadata_location);
  EXPECT_EQ(Value("iceberg_type"), "(null)");
}

TEST_F(SqlCatalogTest, Commit_DeleteAfterCommit_TakesOnlyMetadataFilesOfTheTable) {
  MakeSchema();
  const std::vector<std::pair<std::string, bool>> entries = {
      {"/t/metadata/00000-own.metadata.json", false},
      {"/t/metadata/00001-own.gz.metadata.json", false},
      {"/t/metadata/snap-1.avro", true},
      {"/t/data/a.parquet", true},
      {"/t/data/a.metadata.json", true},
      {"/other/metadata/00000-x.metadata.json", true},
      {"/t/metadata/../../a.metadata.json", true},
      {"/t/metadata/deep/00000-x.metadata.json", true},
      {"/t/metadata2/00000-x.metadata.json", true},
  };
  LocalFileIO io;
  std::filesystem::create_directories(root_ + "/t/metadata");
  std::string log;
  for (const auto& [name, stays] : entries) {
    ASSERT_TRUE(WriteFile(io, root_ + name, AsBytes("x"))) << name;
    log += (log.empty() ? "" : ",") + (R"({"timestamp-ms":1,"metadata-file":"file:)" + root_ + name + "\"}");
  }
  MakeTable("cat", R"("properties":{"write.metadata.previous-versions-max":"1",)"
                   R"("write.metadata.delete-after-commit.enabled":"true"},"metadata-log":[)" +
                       log + "]");
  const auto catalog = Open().value();
  const auto committed =
      catalog->CommitTable(catalog->LoadTable(id_).value(), {{}, {iceberg::SetProperties{{{"a", "1"}}}}});
  ASSERT_TRUE(committed) << ToString(committed.error());
  EXPECT_EQ(committed->metadata->metadata_log().size(), 1U);
  for (const auto& [name, stays] : entries) EXPECT_EQ(io.Exists(root_ + name).value(), stays) << name;
}

TEST_F(SqlCatalogTest, Commit_DatabaseStaysLocked_UnavailableAndNothingIsLeft) {
  MakeSchema();
  MakeTable();
  // A short wait is enough for the test.
  const auto catalog = Open().value();
  const LoadedTable base = catalog->LoadTable(id_).value();
  auto blocked = SqliteDatabase::Open(path_, {.create = false, .busy_timeout_ms = 50}).value();
  ASSERT_TRUE(database_->Run("BEGIN EXCLUSIVE"));
  const auto written = blocked->WriteOnce("UPDATE iceberg_tables SET iceberg_type = ?1", {"TABLE"});
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().code, Code::kUnavailable) << ToString(written.error());
  ASSERT_TRUE(database_->Run("ROLLBACK"));
  EXPECT_TRUE(blocked->WriteOnce("UPDATE iceberg_tables SET iceberg_type = ?1", {"TABLE"}));
}

TEST_F(SqlCatalogTest, Commit_NameOfItsFileTaken_UnavailableAndOnlyOursIsRemoved) {
  MakeSchema();
  MakeTable();
  for (const bool is_ours : {true, false}) {
    std::string file;
    const IoHook hook = [&](const IoEvent& event) -> Status {
      if (event.operation != IoOperation::kClose || event.moment != IoMoment::kAfter) return Ok();
      file = event.location;
      if (!is_ours) std::ofstream(file) << "of another";
      return Error{Code::kConflict, "file exists already"};
    };
    const FileIOFactory make_io = [&](const Properties&) -> Result<std::shared_ptr<FileIO>> {
      return std::shared_ptr<FileIO>(std::make_shared<HookedFileIO>(std::make_shared<LocalFileIO>(), hook));
    };
    const auto catalog = SqlCatalog::Open("cat", {{"uri", "sqlite:///" + path_}}, make_io, clock_, 7).value();
    const auto done = catalog->CommitTable(catalog->LoadTable(id_).value(), {{}, {}});
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().code, Code::kUnavailable) << done.error().message;
    EXPECT_EQ(std::filesystem::exists(file), !is_ours) << file;
  }
}

TEST_F(SqlCatalogTest, WriteOnce_ReadOnlyDatabase_IsNotAskedAgain) {
  MakeSchema();
  MakeTable();
  ASSERT_TRUE(database_->Run("PRAGMA query_only = 1"));
  const auto written = database_->WriteOnce("UPDATE iceberg_tables SET iceberg_type = ?1", {"TABLE"});
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().code, Code::kInvalidArgument) << ToString(written.error());
}

TEST_F(SqlCatalogTest, WriteOnce_ReaderHoldsTheFile_UnavailableNotUnknown) {
  MakeSchema();
  MakeTable();
  auto writer = SqliteDatabase::Open(path_, {.create = false, .busy_timeout_ms = 50}).value();
  ASSERT_TRUE(database_->Run("BEGIN"));
  ASSERT_TRUE(database_->Run("SELECT * FROM iceberg_tables"));
  const auto written = writer->WriteOnce("UPDATE iceberg_tables SET iceberg_type = ?1", {"TABLE"});
  ASSERT_FALSE(written) << "COMMIT finds the file busy";
  EXPECT_EQ(written.error().code, Code::kUnavailable) << ToString(written.error());
  ASSERT_TRUE(database_->Run("COMMIT"));
  EXPECT_EQ(Value("iceberg_type"), "(null)");
  EXPECT_TRUE(writer->WriteOnce("UPDATE iceberg_tables SET iceberg_type = ?1", {"TABLE"}));
}

TEST_F(SqlCatalogTest, Values_WithQuotesAndZeroBytes_AreBound) {
  MakeSchema();
  ASSERT_TRUE(
      database_->Run("INSERT INTO iceberg_tables VALUES (?1, '', '', NULL, NULL, NULL)", {"it's; DROP TABLE x--"}));
  EXPECT_EQ(Value("catalog_name"), "it's; DROP TABLE x--");
}

}  // namespace
}  // namespace firn::ports
