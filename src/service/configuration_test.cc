// SPDX-License-Identifier: Apache-2.0
#include "service/configuration.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "ports/local_file_io.h"
#include "ports/memory_file_io.h"
#include "service/configuration_table.h"

namespace firn::service {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

class ConfigurationTest : public testing::Test {
 protected:
  ConfigurationTest() {
    root_ = (std::filesystem::temp_directory_path() / ("firn-configuration-" + std::to_string(::getpid()))).string();
    std::filesystem::remove_all(root_);
    for (const char* folder : {"pyiceberg", "home", "work"}) std::filesystem::create_directories(root_ + "/" + folder);
    surroundings_.working_directory = root_ + "/work";
    surroundings_.environment = {{"HOME", root_ + "/home"}};
  }
  ~ConfigurationTest() override { std::filesystem::remove_all(root_); }

  void Write(const std::string& name, const std::string& text) {
    ASSERT_TRUE(ports::ReplaceLocalFile(root_ + "/" + name, AsBytes(text)));
  }
  Result<Configuration> Load(CatalogFlags flags = {}) { return Configuration::Load(surroundings_, std::move(flags)); }
  std::string Property(const Configuration& configuration, const std::string& catalog, const std::string& key) {
    const auto settings = configuration.Catalog(catalog);
    EXPECT_TRUE(settings) << ToString(settings.error());
    return settings ? ports::PropertyOr(settings->properties, key, "(missing)") : "";
  }

  std::string root_;
  Surroundings surroundings_;
  ports::ManualClock clock_{TimestampMs{1'700'000'000'000}};
};

TEST_F(ConfigurationTest, Files_AreTriedInTheOrderOfPyIceberg) {
  surroundings_.environment["PYICEBERG_HOME"] = root_ + "/pyiceberg";
  Write("work/.pyiceberg.yaml", "catalog: {default: {uri: http://work}}");
  EXPECT_EQ(Property(*Load(), "default", "uri"), "http://work");
  Write("home/.pyiceberg.yaml", "catalog: {default: {uri: http://home}}");
  EXPECT_EQ(Property(*Load(), "default", "uri"), "http://home");
  Write("pyiceberg/.pyiceberg.yaml", "# nothing in it\n");
  EXPECT_EQ(Property(*Load(), "default", "uri"), "http://home") << "an empty file is passed over";
  Write("pyiceberg/.pyiceberg.yaml", "catalog: {default: {uri: http://pyiceberg}}");
  EXPECT_EQ(Property(*Load(), "default", "uri"), "http://pyiceberg");
  Write("other.yaml", "catalog: {default: {uri: http://other}}");
  EXPECT_EQ(Property(*Load({.file = root_ + "/other.yaml"}), "default", "uri"), "http://other");
  EXPECT_EQ(Load({.file = root_ + "/none.yaml"}).error().code, Code::kNotFound);
}

TEST_F(ConfigurationTest, File_OfPyIceberg_IsUnderstood) {
  Write("home/.pyiceberg.yaml", R"(
max-workers: 4
default-catalog: Prod
catalog:
  prod:
    URI: http://localhost:8181
    credential: id:secret
    warehouse: "s3://bucket/wh"
    s3:
      endpoint: http://localhost:9000
    auth:
      type: basic
      basic: {username: u, password: p}
  local:
    type: sql
    uri: sqlite:////tmp/pyiceberg_catalog.db
    port: 0123
    empty:
  hive: {uri: "thrift://localhost:9083"}
)");
  const auto configuration = Load();
  ASSERT_TRUE(configuration) << ToString(configuration.error());
  EXPECT_EQ(configuration->default_catalog(), "Prod");
  EXPECT_THAT(configuration->catalog_names(), ElementsAre("hive", "local", "prod"));
  EXPECT_EQ(configuration->Catalog("PROD")->type, "rest");
  EXPECT_EQ(configuration->Catalog("Prod")->name, "Prod");
  EXPECT_EQ(configuration->Catalog("local")->type, "sql");
  EXPECT_EQ(Property(*configuration, "prod", "uri"), "http://localhost:8181");
  EXPECT_EQ(Property(*configuration, "prod", "s3.endpoint"), "http://localhost:9000");
  EXPECT_EQ(Property(*configuration, "prod", "auth.basic.username"), "u");
  EXPECT_EQ(Property(*configuration, "local", "port"), "0123") << "values are text, never numbers";
  EXPECT_EQ(configuration->Catalog("hive")->type, "hive");
}

TEST_F(ConfigurationTest, Environment_OverTheFile_WithTheNamesOfPyIceberg) {
  Write("home/.pyiceberg.yaml", "catalog: {my-cat: {uri: http://file, token: t, warehouse: w}}");
  surroundings_.environment["PYICEBERG_CATALOG__MY_CAT__URI"] = "http://variable";
  surroundings_.environment["PYICEBERG_CATALOG__MY_CAT__S3__ACCESS_KEY_ID"] = "key";
  surroundings_.environment["pyiceberg_catalog__new__type"] = "hadoop";
  surroundings_.environment["PYICEBERG_DEFAULT_CATALOG"] = "my-cat";
  surroundings_.environment["PYICEBERG_HOME"] = "/nowhere";
  const auto configuration = Load();
  ASSERT_TRUE(configuration) << ToString(configuration.error());
  EXPECT_EQ(configuration->default_catalog(), "my-cat");
  EXPECT_EQ(Property(*configuration, "my-cat", "uri"), "http://variable");
  EXPECT_EQ(Property(*configuration, "my-cat", "warehouse"), "w");
  EXPECT_EQ(Property(*configuration, "my-cat", "s3.access-key-id"), "key");
  EXPECT_EQ(configuration->Catalog("new")->type, "hadoop");
}

TEST_F(ConfigurationTest, Environment_IncompleteVariable_IsAnError) {
  surroundings_.environment["PYICEBERG_CATALOG__DEFAULT"] = "secret-value";
  const auto configuration = Load();
  ASSERT_FALSE(configuration);
  EXPECT_THAT(configuration.error().message, HasSubstr("PYICEBERG_CATALOG__DEFAULT"));
  EXPECT_THAT(configuration.error().message, Not(HasSubstr("secret-value")));
}

TEST_F(ConfigurationTest, Flags_OverEverything_ForTheDefaultCatalogOnly) {
  Write("home/.pyiceberg.yaml", "catalog: {a: {uri: http://a}, b: {uri: http://b}}");
  surroundings_.environment["PYICEBERG_CATALOG__A__URI"] = "http://variable";
  const auto flags = ParseCatalogFlags("a", "", {"uri=http://flag", "token=x=y"}, {"/old=/new"});
  ASSERT_TRUE(flags);
  const auto configuration = Load(*flags);
  ASSERT_TRUE(configuration);
  EXPECT_EQ(Property(*configuration, "a", "uri"), "http://flag");
  EXPECT_EQ(Property(*configuration, "a", "token"), "x=y");
  EXPECT_EQ(Property(*configuration, "b", "uri"), "http://b");
  ASSERT_EQ(configuration->rules().size(), 1U);
  EXPECT_EQ(configuration->rules()[0].to, "/new");
}

TEST_F(ConfigurationTest, Flags_BrokenProperty_ErrorWithoutItsValue) {
  const auto flags = ParseCatalogFlags("", "", {"uri=x", "hunter2"}, {});
  ASSERT_FALSE(flags);
  EXPECT_THAT(flags.error().message, HasSubstr("--property number 2"));
  EXPECT_THAT(flags.error().message, Not(HasSubstr("hunter2")));
  EXPECT_EQ(ParseCatalogFlags("", "", {}, {"/only-one-side"}).error().code, Code::kInvalidArgument);
}

TEST_F(ConfigurationTest, Aws_Variables_AreDefaultsBelowAndNeverMixed) {
  surroundings_.environment.insert({{"AWS_ACCESS_KEY_ID", "env-key"},
                                    {"AWS_SECRET_ACCESS_KEY", "env-secret"},
                                    {"AWS_SESSION_TOKEN", "env-token"},
                                    {"AWS_DEFAULT_REGION", "eu-central-1"},
                                    {"AWS_ENDPOINT_URL", "http://all"},
                                    {"AWS_ENDPOINT_URL_S3", "http://s3"}});
  Write("home/.pyiceberg.yaml",
        "catalog: {a: {uri: http://a}, b: {uri: http://b, s3.access-key-id: own, s3.secret-access-key: own}}");
  const auto configuration = Load();
  EXPECT_EQ(Property(*configuration, "a", "s3.access-key-id"), "env-key");
  EXPECT_EQ(Property(*configuration, "a", "s3.session-token"), "env-token");
  EXPECT_EQ(Property(*configuration, "a", "s3.region"), "eu-central-1");
  EXPECT_EQ(Property(*configuration, "a", "s3.endpoint"), "http://s3");
  EXPECT_EQ(Property(*configuration, "b", "s3.access-key-id"), "own");
  EXPECT_EQ(Property(*configuration, "b", "s3.session-token"), "(missing)");
  EXPECT_EQ(ports::PropertyOr(configuration->StorageProperties(), "s3.access-key-id", ""), "env-key");
}

TEST_F(ConfigurationTest, OwnSection_KnowsItsKeys) {
  Write("home/.pyiceberg.yaml", "firn: {threads: 4, map: ['/a=/b', 's3://x=/y']}");
  const auto configuration = Load();
  ASSERT_TRUE(configuration) << ToString(configuration.error());
  EXPECT_EQ(configuration->settings(), (ports::Properties{{"threads", "4"}}));
  EXPECT_EQ(configuration->rules().size(), 2U);

  Write("home/.pyiceberg.yaml", "firn: {thread: 4}");
  const auto wrong = Load();
  ASSERT_FALSE(wrong);
  EXPECT_THAT(wrong.error().message, HasSubstr("firn.thread"));
  EXPECT_THAT(wrong.error().message, HasSubstr(".pyiceberg.yaml"));
  EXPECT_THAT(wrong.error().message, HasSubstr("threads"));
}

TEST_F(ConfigurationTest, File_Broken_ErrorNamesFileAndPlaceButNoContent) {
  const std::pair<std::string, std::string> cases[] = {
      {"catalog: {default: {token: hunter2", "line"},
      {"catalog: [hunter2]", "catalog"},
      {"catalog: {a: hunter2}", "catalog.a"},
      {"catalog: {a: {token: [hunter2]}}", "catalog.a.token"},
      {"catalog: {a: {token: hunter2, TOKEN: hunter2}}", "token"},
      {"catalog: &x {a: {b: *x}}", ".pyiceberg.yaml"},
      {"? [hunter2]\n: x", "plain text"},
      {"hunter2", "names and values"},
      {"\t- hunter2: [", "YAML"},
  };
  for (const auto& [text, expected] : cases) {
    Write("home/.pyiceberg.yaml", text);
    const auto configuration = Load();
    ASSERT_FALSE(configuration) << text;
    EXPECT_EQ(configuration.error().code, Code::kInvalidArgument) << text;
    EXPECT_THAT(configuration.error().message, HasSubstr(expected));
    EXPECT_THAT(configuration.error().message, HasSubstr("home/.pyiceberg.yaml"));
    EXPECT_THAT(configuration.error().message, Not(HasSubstr("hunter2")));
  }
}

TEST_F(ConfigurationTest, Catalog_Unknown_SaysWhereWasLooked) {
  Write("home/.pyiceberg.yaml", "catalog: {prod: {uri: http://a}, test: {uri: http://b}}");
  const Error error = Load()->Catalog("my-cat").error();
  EXPECT_EQ(error.code, Code::kNotFound);
  for (const char* text : {"PYICEBERG_CATALOG__MY_CAT__*", "home/.pyiceberg.yaml", "choose by --catalog prod"}) {
    EXPECT_THAT(error.message, HasSubstr(text));
  }
  EXPECT_THAT(Load({.catalog = "a"})->Catalog("a").error().message, Not(HasSubstr("choose")));
}

TEST_F(ConfigurationTest, Catalog_Kinds_FollowFromTypeOrUri) {
  const std::tuple<std::string, std::string, Code> cases[] = {
      {"uri: https://x", "rest", {}},
      {"uri: sqlite:///x.db", "sql", {}},
      {"uri: jdbc:sqlite:x.db", "sql", {}},
      {"uri: postgresql://host/db", "sql", {}},
      {"uri: 'jdbc:postgresql://host/db'", "sql", {}},
      {"{type: JDBC, uri: 'jdbc:sqlite:x.db'}", "sql", {}},
      {"{type: hadoop, warehouse: /wh}", "hadoop", {}},
      {"type: glue", "glue", {}},
      {"uri: 'thrift://a,thrift://b:9083'", "hive", {}},
      {"type: in-memory", "", Code::kUnsupported},
      {"{uri: 'https://x', py-catalog-impl: my.own.Catalog}", "", Code::kUnsupported},
      {"uri: ftp://user:hunter2@x", "", Code::kInvalidArgument},
      {"warehouse: /x", "", Code::kInvalidArgument},
  };
  for (const auto& [text, type, code] : cases) {
    ConfigurationTree tree;
    Write("home/.pyiceberg.yaml", "catalog:\n  c:\n    " + text);
    const auto settings = Load()->Catalog("c");
    if (!type.empty()) {
      ASSERT_TRUE(settings) << text << ToString(settings.error());
      EXPECT_EQ(settings->type, type);
    } else {
      ASSERT_FALSE(settings) << text;
      EXPECT_EQ(settings.error().code, code) << text;
      EXPECT_THAT(settings.error().message, Not(HasSubstr("hunter2")));
    }
  }
}

class OpenTableTest : public ConfigurationTest {
 protected:
  Result<OpenedTable> Open(const std::string& table, CatalogFlags flags = {}) {
    const auto configuration = Load(std::move(flags));
    if (!configuration) return configuration.error();
    return OpenTable(*configuration, table, {.clock = clock_});
  }
  static std::string Metadata(const std::string& location) {
    return R"({"format-version":2,"table-uuid":"00000000-0000-4000-8000-000000000001","location":")" + location +
           R"(","last-sequence-number":0,"last-updated-ms":1,"last-column-id":1,"current-schema-id":0,"schemas":[)"
           R"({"type":"struct","schema-id":0,"fields":[{"id":1,"name":"id","required":false,"type":"long"}]}],)"
           R"("default-spec-id":0,"partition-specs":[{"spec-id":0,"fields":[]}],"last-partition-id":999,)"
           R"("default-sort-order-id":0,"sort-orders":[{"order-id":0,"fields":[]}],"properties":{},"snapshots":[]})";
  }
  static ports::TableCommit SetProperty() { return {{}, {iceberg::SetProperties{{{"a", "1"}}}}}; }
};

TEST_F(OpenTableTest, Directory_OfAHadoopTable_CanBeWritten) {
  const std::string directory = root_ + "/wh/t";
  Write("work/x", "");
  std::filesystem::create_directories(directory + "/metadata");
  Write("wh/t/metadata/v1.metadata.json", Metadata("file:" + directory));
  for (const std::string& given : {directory, directory + "/", "file://" + directory}) {
    const auto opened = Open(given);
    ASSERT_TRUE(opened) << ToString(opened.error());
    const auto table = opened->catalog->LoadTable(opened->id);
    ASSERT_TRUE(table) << ToString(table.error());
    const auto committed = opened->catalog->CommitTable(*table, SetProperty());
    ASSERT_TRUE(committed) << ToString(committed.error());
  }
  EXPECT_TRUE(std::filesystem::exists(directory + "/metadata/v4.metadata.json"));
}

TEST_F(OpenTableTest, Directory_ThatWasMoved_CanOnlyBeRead) {
  std::filesystem::create_directories(root_ + "/wh/t/metadata");
  Write("wh/t/metadata/v1.metadata.json", Metadata("/old/place/t"));
  CatalogFlags flags;
  flags.rules = {{"/old/place", root_ + "/wh"}};
  const auto opened = Open(root_ + "/wh/t", flags);
  ASSERT_TRUE(opened) << ToString(opened.error());
  const auto table = opened->catalog->LoadTable(opened->id);
  ASSERT_TRUE(table) << ToString(table.error());
  EXPECT_TRUE(opened->catalog->TableIO(*table).value()->Exists("/old/place/t/metadata/v1.metadata.json").value());
  const auto committed = opened->catalog->CommitTable(*table, SetProperty());
  ASSERT_FALSE(committed);
  EXPECT_EQ(committed.error().code, Code::kUnsupported);
  EXPECT_THAT(committed.error().message, HasSubstr("/old/place/t"));
}

TEST_F(OpenTableTest, Directory_OfAnotherCatalog_ReadsTheNewestFile) {
  std::filesystem::create_directories(root_ + "/wh/t/metadata");
  Write("wh/t/metadata/00000-aaaa.metadata.json", "broken");
  Write("wh/t/metadata/00010-bbbb.metadata.json", Metadata(root_ + "/wh/t"));
  Write("wh/t/metadata/00009-cccc.metadata.json", "broken");
  const auto opened = Open(root_ + "/wh/t");
  ASSERT_TRUE(opened) << ToString(opened.error());
  const auto table = opened->catalog->LoadTable(opened->id);
  ASSERT_TRUE(table) << ToString(table.error());
  EXPECT_EQ(opened->catalog->CommitTable(*table, SetProperty()).error().code, Code::kUnsupported);

  Write("wh/t/metadata/00010-dddd.metadata.json", Metadata(root_ + "/wh/t"));
  const auto ambiguous = Open(root_ + "/wh/t");
  ASSERT_FALSE(ambiguous);
  EXPECT_EQ(ambiguous.error().code, Code::kInvalidArgument);
  EXPECT_THAT(ambiguous.error().message, HasSubstr("00010-dddd"));

  Write("wh/t/metadata/v3.metadata.json", Metadata(root_ + "/wh/t"));
  const auto mixed = Open(root_ + "/wh/t");
  ASSERT_FALSE(mixed) << "writing versions beside another catalog's files would fork the table";
  EXPECT_THAT(mixed.error().message, HasSubstr("another catalog"));
}

TEST_F(OpenTableTest, MetadataFile_IsReadOnly) {
  std::filesystem::create_directories(root_ + "/t/metadata");
  Write("t/metadata/v7.metadata.json", Metadata(root_ + "/t"));
  const auto opened = Open(root_ + "/t/metadata/v7.metadata.json");
  ASSERT_TRUE(opened) << ToString(opened.error());
  const auto table = opened->catalog->LoadTable(opened->id);
  ASSERT_TRUE(table) << ToString(table.error());
  EXPECT_EQ(opened->catalog->CommitTable(*table, SetProperty()).error().code, Code::kUnsupported);
}

TEST_F(OpenTableTest, Names_GoToTheRightCatalog) {
  Write("home/.pyiceberg.yaml",
        "catalog: {default: {type: hadoop, warehouse: /default}, "
        "cat: {type: hadoop, warehouse: /cat}}");
  struct Expectation {
    std::string table, flag, catalog, id;
  };
  for (const auto& [table, flag, catalog, id] : std::vector<Expectation>{
           {"db.t", "", "default", "db.t"},
           {"cat.db.t", "", "cat", "db.t"},
           {"CAT.db.sub.t", "", "CAT", "db.sub.t"},
           {"other.db.t", "", "default", "other.db.t"},
           {"cat.t", "", "default", "cat.t"},
           {"cat.db.t", "default", "default", "cat.db.t"},
           {"db.t", "cat", "cat", "db.t"},
       }) {
    const auto opened = Open(table, {.catalog = flag});
    ASSERT_TRUE(opened) << table << " " << ToString(opened.error());
    EXPECT_EQ(opened->catalog->name(), catalog) << table;
    EXPECT_EQ(ToString(opened->id), id) << table;
  }
}

TEST_F(OpenTableTest, Errors_SayWhatWasLookedForAndWhere) {
  const std::tuple<std::string, Code, std::string> cases[] = {
      {"", Code::kInvalidArgument, "no table"},
      {"word", Code::kInvalidArgument, "NAMESPACE.TABLE"},
      {"db..t", Code::kInvalidArgument, "db..t"},
      {"db.t", Code::kNotFound, "PYICEBERG_CATALOG__DEFAULT__*"},
      {"nope.db.t", Code::kNotFound, "no catalog `nope`, and to find it in the default one: no catalog `default`"},
      {root_ + "/nothing", Code::kNotFound, "vN.metadata.json"},
      {"oss://bucket/t", Code::kUnsupported, "oss"},
      {"hdfs://nn/t/metadata/v1.metadata.json", Code::kUnsupported, "hdfs"},
  };
  for (const auto& [table, code, text] : cases) {
    auto opened = Open(table);
    if (opened) {
      const auto loaded = opened->catalog->LoadTable(opened->id);
      ASSERT_FALSE(loaded) << table;
      opened = loaded.error();
    }
    EXPECT_EQ(opened.error().code, code) << table << ": " << opened.error().message;
    EXPECT_THAT(opened.error().message, HasSubstr(text)) << table;
  }
}

TEST_F(OpenTableTest, OtherDatabase_IsRefusedWithoutItsPassword) {
  Write("home/.pyiceberg.yaml", "catalog: {default: {type: sql, uri: 'mysql+pymysql://user:hunter2@host/db'}}");
  const auto opened = Open("db.t");
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code, Code::kUnsupported);
  EXPECT_THAT(opened.error().message, HasSubstr("PostgreSQL"));
  EXPECT_THAT(opened.error().message, Not(HasSubstr("hunter2")));
}

TEST_F(OpenTableTest, PythonClassForFiles_IsNotUsedAndAWarningSaysSo) {
  Write("home/.pyiceberg.yaml", "catalog: {default: {type: hadoop, warehouse: /w, py-io-impl: my.own.FileIO}}");
  testing::internal::CaptureStderr();
  EXPECT_TRUE(Load()->Catalog("default").has_value());
  EXPECT_THAT(testing::internal::GetCapturedStderr(), HasSubstr("`py-io-impl` my.own.FileIO is not used"));
}

TEST_F(OpenTableTest, Rest_GoesThroughTheGivenHttp) {
  Write("home/.pyiceberg.yaml", "catalog: {default: {uri: 'http://host/api', token: t}}");
  auto http = std::make_shared<ports::MemoryHttp>([](const ports::HttpRequest& request) {
    if (request.url.find("/config") != std::string::npos) return ports::HttpResponse{200, {}, "{}"};
    return ports::HttpResponse{200, {}, R"({"metadata-location":"/m.json","metadata":)" + Metadata("/t") + "}"};
  });
  const auto configuration = Load();
  const auto opened = OpenTable(*configuration, "db.t", {.clock = clock_, .seed = 1, .http = http});
  ASSERT_TRUE(opened) << ToString(opened.error());
  ASSERT_TRUE(opened->catalog->LoadTable(opened->id));
  ASSERT_EQ(http->requests().size(), 2U);
  EXPECT_EQ(http->requests()[1].url, "http://host/api/v1/namespaces/db/tables/t?snapshots=all");
}

}  // namespace
}  // namespace firn::service
