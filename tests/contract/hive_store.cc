// SPDX-License-Identifier: Apache-2.0
#include "contract/hive_store.h"

#include <fmt/format.h>
#include <unistd.h>

#include <atomic>

#include "base/random.h"
#include "contract/scratch_directory.h"
#include "ports/hive_catalog.h"
#include "ports/hive_connection.h"

namespace firn::contract {
namespace {

using ports::Properties;
using ports::TableIdentifier;
using thrift::Type;
using thrift::Value;

class HiveStore final : public CatalogStore {
 public:
  HiveStore(std::string uri, bool has_locks) : uri_(std::move(uri)), has_locks_(has_locks) {
    has_processes = true;
    race_commits = 6;  // a dozen calls each, of a server that keeps its locks in a database
    static std::atomic<int> counter = 0;
    database_ = fmt::format("contract_{}_{}", ::getpid(), ++counter);
    (void)Call("create_database",
               Value::Struct({{1, Value::Struct({{1, Value::Text(database_)},
                                                 {3, Value::Text("file:" + directory_.path() + "/db")}})}}));
  }
  ~HiveStore() override {
    // name, deleteData, cascade
    (void)Call("drop_database",
               Value::Struct({{1, Value::Text(database_)}, {2, Value::Bool(false)}, {3, Value::Bool(true)}}));
  }

  Result<std::shared_ptr<ports::Catalog>> Open() override {
    const Properties properties = {{"uri", uri_}, {"iceberg.engine.hive.lock-enabled", has_locks_ ? "true" : "false"}};
    return ports::HiveCatalog::Open("hive", properties, ports::StandardFileIO(), clock_, EntropySeed());
  }

  Result<TableIdentifier> MakeTable(const std::string& name, const Properties& properties) override {
    const std::string location = "file://" + directory_.path() + "/" + name;
    FIRN_ASSIGN(const std::string file, WriteEmptyTable(location, properties));
    Value parameters = Value::TextMap();
    parameters.SetKey("EXTERNAL", "TRUE");
    parameters.SetKey("table_type", "ICEBERG");
    parameters.SetKey("metadata_location", file);
    FIRN_TRY(Create(name, "EXTERNAL_TABLE", location, parameters));
    parameters.SetKey("table_type", "iceberg-view");
    FIRN_TRY(Create(name + "_view", "VIRTUAL_VIEW", location, parameters));
    return TableIdentifier{{database_}, name};
  }

  Status DropTable(const TableIdentifier& id) override {
    for (const std::string& name : {id.name, id.name + "_view"}) {
      FIRN_TRY(Call("drop_table",
                    Value::Struct({{1, Value::Text(database_)}, {2, Value::Text(name)}, {3, Value::Bool(false)}})));
    }
    return Ok();
  }

  TableIdentifier MissingTable() const override { return {{database_}, "missing"}; }

 private:
  Status Create(const std::string& name, const std::string& type, const std::string& location,
                const Value& parameters) {
    const Value column = Value::Struct({{1, Value::Text("id")}, {2, Value::Text("bigint")}});
    const Value serde = Value::Struct({{2, Value::Text("org.apache.hadoop.hive.serde2.lazy.LazySimpleSerDe")}});
    const Value storage = Value::Struct({{1, Value::List(Type::kStruct, {column})},
                                         {2, Value::Text(location)},
                                         {3, Value::Text("org.apache.hadoop.mapred.FileInputFormat")},
                                         {4, Value::Text("org.apache.hadoop.mapred.FileOutputFormat")},
                                         {7, serde}});
    return Call("create_table", Value::Struct({{1, Value::Struct({{1, Value::Text(name)},
                                                                  {2, Value::Text(database_)},
                                                                  {3, Value::Text("firn")},
                                                                  {7, storage},
                                                                  {9, parameters},
                                                                  {12, Value::Text(type)}})}}));
  }

  Status Call(const std::string& method, const Value& arguments) {
    FIRN_ASSIGN(const auto addresses, ports::ParseHiveUri(uri_));
    FIRN_ASSIGN(const auto connection, ports::HiveConnection::Open(addresses[0], {}));
    FIRN_ASSIGN(const thrift::Reply reply, connection->Call(method, arguments, /*grace_ms=*/0));
    if (reply.kind == thrift::Answer::kException) return Error{Code::kInternal, std::string(reply.result.TextOf(1))};
    for (const thrift::Field& field : reply.result.fields) {
      if (field.id != 0) return Error{Code::kInternal, method + ": " + std::string(field.value.TextOf(1))};
    }
    return Ok();
  }

  ScratchDirectory directory_;
  std::string uri_, database_;
  bool has_locks_;
};

}  // namespace

std::unique_ptr<CatalogStore> MakeHiveStore(const std::string& uri, bool has_locks) {
  return std::make_unique<HiveStore>(uri, has_locks);
}

}  // namespace firn::contract
