// SPDX-License-Identifier: Apache-2.0
#include "contract/catalog_fixture.h"

#include <fmt/format.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>

#include "contract/glue_store.h"
#include "contract/hive_store.h"
#include "contract/rest_store.h"
#include "contract/scratch_directory.h"
#include "format/json/json.h"
#include "ports/hadoop_catalog.h"
#include "ports/local_file_io.h"
#include "ports/memory_catalog.h"
#include "ports/memory_file_io.h"
#include "ports/postgres_database.h"
#include "ports/routed_file_io.h"
#include "ports/sql_catalog.h"
#include "ports/sqlite_database.h"

namespace firn::contract {
namespace {

using ports::Catalog;
using ports::Properties;
using ports::TableIdentifier;

/// Another table each time, also under the same name.
std::string NextUuid() {
  static std::atomic<int> last = 0;
  return fmt::format("00000000-0000-4000-8000-{:012x}", ++last);
}

/// Metadata of an empty table.
std::string EmptyTable(const std::string& location, const std::string& uuid, const Properties& properties) {
  json::Value object = json::Value::Object();
  for (const auto& [key, value] : properties) object.Set(key, value);
  return fmt::format(
      R"({{"format-version":2,"table-uuid":"{}","location":"{}","last-sequence-number":0,)"
      R"("last-updated-ms":1700000000000,"last-column-id":1,"current-schema-id":0,"schemas":[{{"type":"struct",)"
      R"("schema-id":0,"fields":[{{"id":1,"name":"id","required":false,"type":"long"}}]}}],"default-spec-id":0,)"
      R"("partition-specs":[{{"spec-id":0,"fields":[]}}],"last-partition-id":999,"default-sort-order-id":0,)"
      R"("sort-orders":[{{"order-id":0,"fields":[]}}],"properties":{},"current-snapshot-id":-1,"refs":{{}},)"
      R"("snapshots":[],"snapshot-log":[],"metadata-log":[],"x-unknown":{{"large":9007199254740993}}}})",
      uuid, location, json::Write(object));
}

class MemoryStore final : public CatalogStore {
 public:
  MemoryStore()
      : catalog_(std::make_shared<ports::MemoryCatalog>("memory", std::make_shared<ports::MemoryFileIO>(), clock_)) {}
  Result<std::shared_ptr<Catalog>> Open() override { return std::shared_ptr<Catalog>(catalog_); }
  Result<TableIdentifier> MakeTable(const std::string& name, const Properties& properties) override {
    const TableIdentifier id{{"db"}, name};
    const std::string text = EmptyTable("mem://wh/db/" + name, NextUuid(), properties);
    FIRN_ASSIGN(const auto metadata, iceberg::TableMetadata::Parse(AsBytes(text)));
    FIRN_TRY(catalog_->Create(id, metadata));
    return id;
  }
  Status DropTable(const TableIdentifier& id) override {
    catalog_->Drop(id);
    return Ok();
  }

 private:
  std::shared_ptr<ports::MemoryCatalog> catalog_;
};

constexpr const char* kColumns =
    "catalog_name VARCHAR(255) NOT NULL, table_namespace VARCHAR(255) NOT NULL, table_name VARCHAR(255) NOT NULL, "
    "metadata_location VARCHAR(1000), previous_metadata_location VARCHAR(1000)";

/// A table iceberg_tables in a database of the store's own.
class SqlStore : public CatalogStore {
 public:
  Result<std::shared_ptr<Catalog>> Open() override {
    return ports::SqlCatalog::Open("cat", {{"uri", uri_}}, ports::StandardFileIO(), clock_, EntropySeed());
  }

  Result<TableIdentifier> MakeTable(const std::string& name, const Properties& properties) override {
    const TableIdentifier id{{"db"}, name};
    const std::string location = "file://" + directory_.path() + "/wh/db/" + name;
    FIRN_ASSIGN(const std::string file, WriteEmptyTable(location, properties));
    for (const std::string_view catalog : {"cat", "other"}) {
      FIRN_TRY(
          database_->Run("INSERT INTO iceberg_tables (catalog_name, table_namespace, table_name, "
                         "metadata_location) VALUES (?1, 'db', ?2, ?3)",
                         {catalog, name, file}));
    }
    if (has_type_) {
      FIRN_TRY(database_->Run("UPDATE iceberg_tables SET iceberg_type = 'TABLE' WHERE table_name = ?1", {name}));
      FIRN_TRY(database_->Run("INSERT INTO iceberg_tables VALUES ('cat', 'db', ?1, ?2, NULL, 'VIEW')",
                              {name + "_view", file}));
    }
    return id;
  }

  Status DropTable(const TableIdentifier& id) override {
    FIRN_TRY(database_->Run("DELETE FROM iceberg_tables WHERE table_name IN (?1, ?2)", {id.name, id.name + "_view"}));
    return Ok();
  }

 protected:
  explicit SqlStore(bool has_type) : has_type_(has_type) { has_processes = true; }
  void MakeCatalog(std::unique_ptr<ports::SqlDatabase> database, std::string uri) {
    database_ = std::move(database);
    uri_ = std::move(uri);
    (void)database_->Run(
        fmt::format("CREATE TABLE iceberg_tables ({}{}, PRIMARY KEY (catalog_name, table_namespace, "
                    "table_name))",
                    kColumns, has_type_ ? ", iceberg_type VARCHAR(5)" : ""));
  }

  ScratchDirectory directory_;
  std::unique_ptr<ports::SqlDatabase> database_;

 private:
  bool has_type_;
  std::string uri_;
};

class SqliteStore final : public SqlStore {
 public:
  explicit SqliteStore(bool has_type) : SqlStore(has_type) {
    const std::string path = directory_.path() + "/catalog.db";
    MakeCatalog(ports::SqliteDatabase::Open(path, {.create = true}).value(), "sqlite:///" + path);
  }
};

/// A schema of its own in the server that the environment names.
class PostgresStore final : public SqlStore {
 public:
  explicit PostgresStore(bool has_type) : SqlStore(has_type) {
    static std::atomic<int> counter = 0;
    schema_ = fmt::format("contract_{}_{}", ::getpid(), ++counter);
    const std::string server = std::getenv("FIRN_TEST_POSTGRES_URI");
    const std::string uri = fmt::format("{}?options=-csearch_path%3D{}", server, schema_);
    auto database = ports::PostgresDatabase::Open(uri, {}).value();
    (void)database->Run("CREATE SCHEMA " + schema_);
    MakeCatalog(std::move(database), uri);
  }
  ~PostgresStore() override { (void)database_->Run("DROP SCHEMA " + schema_ + " CASCADE"); }

 private:
  std::string schema_;
};

class HadoopStore final : public CatalogStore {
 public:
  explicit HadoopStore(bool by_path) : by_path_(by_path) {
    has_processes = true;
    has_unique_names = false;
  }

  Result<std::shared_ptr<Catalog>> Open() override {
    const Properties properties = by_path_ ? Properties{} : Properties{{"warehouse", "file://" + directory_.path()}};
    return ports::HadoopCatalog::Open("hadoop", properties, ports::StandardFileIO(), clock_);
  }

  Result<TableIdentifier> MakeTable(const std::string& name, const Properties& properties) override {
    const std::string path = directory_.path() + "/db/" + name;
    const std::string location = "file:" + path;
    ports::LocalFileIO io;
    FIRN_TRY(ports::WriteFile(io, path + "/metadata/v1.metadata.json",
                              AsBytes(EmptyTable(location, NextUuid(), properties))));
    FIRN_TRY(ports::ReplaceLocalFile(path + "/metadata/version-hint.text", AsBytes("1")));
    return by_path_ ? TableIdentifier{{}, path} : TableIdentifier{{"db"}, name};
  }

  Status DropTable(const TableIdentifier& id) override {
    std::error_code fault;
    std::filesystem::remove_all(by_path_ ? id.name : directory_.path() + "/db/" + id.name, fault);
    return Ok();
  }

  TableIdentifier MissingTable() const override {
    return by_path_ ? TableIdentifier{{}, directory_.path() + "/db/missing"} : TableIdentifier{{"db"}, "missing"};
  }

 private:
  ScratchDirectory directory_;
  bool by_path_;
};

/// Directories in a bucket.
class HadoopS3Store final : public CatalogStore {
 public:
  explicit HadoopS3Store(bool by_path) : by_path_(by_path) {
    has_processes = true;
    has_unique_names = false;
    race_commits = 6;  // a dozen requests each
    static std::atomic<int> counter = 0;
    warehouse_ = fmt::format("s3://{}/hadoop-{}-{}", std::getenv("FIRN_TEST_S3_BUCKET"), ::getpid(), ++counter);
  }

  Result<std::shared_ptr<Catalog>> Open() override {
    Properties properties = StorageProperties();
    if (!by_path_) properties["warehouse"] = warehouse_;
    return ports::HadoopCatalog::Open("hadoop", properties, ports::StandardFileIO(), clock_);
  }

  Result<TableIdentifier> MakeTable(const std::string& name, const Properties& properties) override {
    const std::string location = warehouse_ + "/db/" + name;
    ports::RoutedFileIO io(StorageProperties());
    FIRN_TRY(ports::WriteFile(io, location + "/metadata/v1.metadata.json",
                              AsBytes(EmptyTable(location, NextUuid(), properties))));
    FIRN_TRY(io.Replace(location + "/metadata/version-hint.text", AsBytes("1")));
    return by_path_ ? TableIdentifier{{}, location} : TableIdentifier{{"db"}, name};
  }

  Status DropTable(const TableIdentifier& id) override {
    ports::RoutedFileIO io(StorageProperties());
    const std::string location = by_path_ ? id.name : warehouse_ + "/db/" + id.name;
    FIRN_ASSIGN(const ports::ListPage listed, io.List(location + "/", ""));
    for (const ports::FileInfo& file : listed.files) FIRN_TRY(io.Delete(file.location));
    return Ok();
  }

  TableIdentifier MissingTable() const override {
    return by_path_ ? TableIdentifier{{}, warehouse_ + "/db/missing"} : TableIdentifier{{"db"}, "missing"};
  }

 private:
  static Properties StorageProperties() {
    return {{"s3.endpoint", std::getenv("FIRN_TEST_S3_ENDPOINT")},
            {"s3.access-key-id", std::getenv("FIRN_TEST_S3_ACCESS_KEY")},
            {"s3.secret-access-key", std::getenv("FIRN_TEST_S3_SECRET_KEY")}};
  }

  std::string warehouse_;
  bool by_path_;
};

}  // namespace

Result<std::string> WriteEmptyTable(const std::string& location, const Properties& properties) {
  const std::string uuid = NextUuid();
  const std::string file = location + "/metadata/00000-" + uuid + ".metadata.json";
  ports::LocalFileIO io;
  FIRN_TRY(ports::WriteFile(io, file, AsBytes(EmptyTable(location, uuid, properties))));
  return file;
}

std::vector<CatalogCase> CatalogCases() {
  std::vector<CatalogCase> cases = {
      {"Memory", [] { return std::make_unique<MemoryStore>(); }},
      {"SqliteV1", [] { return std::make_unique<SqliteStore>(true); }},
      {"SqliteV0", [] { return std::make_unique<SqliteStore>(false); }},
      {"HadoopPath", [] { return std::make_unique<HadoopStore>(true); }},
      {"HadoopWarehouse", [] { return std::make_unique<HadoopStore>(false); }},
  };
  if (std::getenv("FIRN_TEST_REST_URI")) cases.push_back({"Rest", MakeRestStore});
  if (std::getenv("FIRN_TEST_GLUE_ENDPOINT")) cases.push_back({"Glue", MakeGlueStore});
  if (std::getenv("FIRN_TEST_POSTGRES_URI")) {
    cases.push_back({"PostgresV1", [] { return std::make_unique<PostgresStore>(true); }});
    cases.push_back({"PostgresV0", [] { return std::make_unique<PostgresStore>(false); }});
  }
  if (const char* uri = std::getenv("FIRN_TEST_HIVE3_URI")) {
    cases.push_back({"Hive3", [uri] { return MakeHiveStore(uri, /*has_locks=*/true); }});
  }
  if (const char* uri = std::getenv("FIRN_TEST_HIVE4_URI")) {
    cases.push_back({"Hive4", [uri] { return MakeHiveStore(uri, /*has_locks=*/true); }});
    cases.push_back({"Hive4WithoutLocks", [uri] { return MakeHiveStore(uri, /*has_locks=*/false); }});
  }
  if (std::getenv("FIRN_TEST_S3_ENDPOINT")) {
    cases.push_back({"HadoopS3Path", [] { return std::make_unique<HadoopS3Store>(true); }});
    cases.push_back({"HadoopS3Warehouse", [] { return std::make_unique<HadoopS3Store>(false); }});
  }
  return cases;
}

std::vector<std::string> CatalogsLeftOut() {
  std::vector<std::string> left_out;
  for (const auto& [name, variable] :
       {std::pair{"REST catalog", "FIRN_TEST_REST_URI"}, std::pair{"Glue", "FIRN_TEST_GLUE_ENDPOINT"},
        std::pair{"SQL catalog on PostgreSQL", "FIRN_TEST_POSTGRES_URI"},
        std::pair{"Hive Metastore 3", "FIRN_TEST_HIVE3_URI"}, std::pair{"Hive Metastore 4", "FIRN_TEST_HIVE4_URI"},
        std::pair{"Hadoop tables on S3", "FIRN_TEST_S3_ENDPOINT"}}) {
    if (!std::getenv(variable)) left_out.push_back(fmt::format("{}: set {}", name, variable));
  }
  return left_out;
}

}  // namespace firn::contract
