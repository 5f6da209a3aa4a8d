// SPDX-License-Identifier: Apache-2.0
#include "ports/hive_entry.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ports/hive_catalog.h"
#include "ports/hive_metastore.h"

namespace firn::ports {
namespace {

using ::testing::HasSubstr;
using thrift::Type;
using thrift::Value;

const TableIdentifier kId{{"db"}, "t"};

iceberg::TableMetadata Metadata(const std::string& properties, const std::string& snapshots, std::int64_t current) {
  const std::string text =
      R"({"format-version":2,"table-uuid":"00000000-0000-4000-8000-000000000001","location":"file:/t",)"
      R"("last-sequence-number":9,"last-updated-ms":1700000000000,"last-column-id":1,"current-schema-id":0,"schemas":)"
      R"([{"type":"struct","schema-id":0,"fields":[{"id":1,"name":"id","required":false,"type":"long"}]}],)"
      R"("default-spec-id":0,"partition-specs":[{"spec-id":0,"fields":[]}],"last-partition-id":999,)"
      R"("default-sort-order-id":0,"sort-orders":[{"order-id":0,"fields":[]}],"properties":{)" +
      properties + R"(},"current-snapshot-id":)" + std::to_string(current) + R"(,"snapshots":[)" + snapshots + "]}";
  auto metadata = iceberg::TableMetadata::Parse(AsBytes(text));
  EXPECT_TRUE(metadata) << ToString(metadata.error());
  return std::move(*metadata);
}

const std::string kSnapshot =
    R"({"snapshot-id":7,"sequence-number":1,"timestamp-ms":1700000000001,"manifest-list":"file:/t/m.avro",)"
    R"("summary":{"operation":"replace","total-data-files":"1","total-records":"30","total-files-size":"999"}})";

Value Entry(const std::vector<std::pair<std::string, std::string>>& parameters) {
  Value map = Value::TextMap();
  for (const auto& [key, value] : parameters) map.SetKey(key, value);
  return Value::Struct({{1, Value::Text("t")},
                        {2, Value::Text("db")},
                        {7, Value::Struct({{2, Value::Text("file:/t")}, {99, Value::I64(5)}})},
                        {9, map},
                        {4321, Value::List(Type::kString, {Value::Text("of another version")})}});
}

std::string Get(const Value& entry, const std::string& key) {
  const std::string* value = entry.Find(9, Type::kMap)->FindKey(key);
  return value ? *value : "(none)";
}

void Point(Value& entry, const iceberg::TableMetadata& base, const iceberg::TableMetadata& updated) {
  const std::string from = "file:/t/0.json", to = "file:/t/1.json";
  PointEntry(entry, {kId, from, to, base, updated});
}

TEST(HiveEntry, PointEntry_ChangesTheLocationsAndKeepsTheRest) {
  Value entry = Entry({{"EXTERNAL", "TRUE"},
                       {"table_type", "iceberg"},
                       {"metadata_location", "file:/t/0.json"},
                       {"owner of others", "x"}});
  Value expected = entry;
  const auto base = Metadata("", "", -1);
  Point(entry, base, Metadata("", kSnapshot, 7));
  Value* parameters = expected.Find(9, Type::kMap);
  parameters->SetKey("metadata_location", "file:/t/1.json");
  parameters->SetKey("previous_metadata_location", "file:/t/0.json");
  EXPECT_TRUE(entry == expected) << "what was not there before is not added either";
}

TEST(HiveEntry, PointEntry_ParametersThatRepeatTheMetadata_AreRefreshed) {
  Value entry = Entry({{"table_type", "ICEBERG"},
                       {"metadata_location", "file:/t/0.json"},
                       {"numFiles", "30"},
                       {"numRows", "31"},
                       {"totalSize", "5"},
                       {"snapshot-count", "0"},
                       {"current-snapshot-id", "1"},
                       {"current-snapshot-timestamp-ms", "2"},
                       {"current-snapshot-summary", "{}"}});
  const auto base = Metadata("", "", -1);
  Point(entry, base, Metadata("", kSnapshot, 7));
  EXPECT_EQ(Get(entry, "numFiles"), "1");
  EXPECT_EQ(Get(entry, "numRows"), "30");
  EXPECT_EQ(Get(entry, "totalSize"), "999");
  EXPECT_EQ(Get(entry, "snapshot-count"), "1");
  EXPECT_EQ(Get(entry, "current-snapshot-id"), "7");
  EXPECT_EQ(Get(entry, "current-snapshot-timestamp-ms"), "1700000000001");
  EXPECT_EQ(Get(entry, "current-snapshot-summary"),
            R"({"total-data-files":"1","total-records":"30","total-files-size":"999"})");
  Point(entry, base, base);
  EXPECT_EQ(Get(entry, "current-snapshot-id"), "(none)");
}

TEST(HiveEntry, PointEntry_Properties_FollowTheMetadata) {
  Value entry = Entry({{"table_type", "ICEBERG"},
                       {"metadata_location", "file:/t/0.json"},
                       {"a", "1"},
                       {"b", "set by hand"},
                       {"gone", "1"},
                       {"of Hive", "x"}});
  const auto base = Metadata(R"("a":"1","b":"2","gone":"1")", "", -1);
  Point(entry, base,
        Metadata(R"("a":"3","b":"2","new":"4","gc.enabled":"false","metadata_location":"file:/evil",)"
                 R"("table_type":"hive","hive.metastore.table.owner":"me")",
                 "", -1));
  EXPECT_EQ(Get(entry, "a"), "3");
  EXPECT_EQ(Get(entry, "b"), "set by hand");
  EXPECT_EQ(Get(entry, "gone"), "(none)");
  EXPECT_EQ(Get(entry, "new"), "4");
  EXPECT_EQ(Get(entry, "external.table.purge"), "false");
  EXPECT_EQ(Get(entry, "of Hive"), "x");
  EXPECT_EQ(Get(entry, "hive.metastore.table.owner"), "(none)");
  EXPECT_EQ(Get(entry, "metadata_location"), "file:/t/1.json");
  EXPECT_EQ(Get(entry, "table_type"), "ICEBERG");
}

TEST(HiveEntry, LocationOfEntry_OtherTables_AreRefusedWithTheirType) {
  for (const char* type : {"", "iceberg-view", "hudi"}) {
    const auto location = LocationOfEntry(kId, Entry({{"table_type", type}, {"metadata_location", "file:/x"}}));
    ASSERT_FALSE(location);
    EXPECT_EQ(location.error().code, Code::kUnsupported);
    EXPECT_THAT(location.error().message, HasSubstr(std::string("\"") + type + "\""));
  }
  EXPECT_EQ(LocationOfEntry(kId, Entry({{"table_type", "ICEBERG"}})).error().code, Code::kCorrupt);
  EXPECT_EQ(LocationOfEntry(kId, Value{}).error().code, Code::kUnsupported);
}

TEST(HiveEntry, CheckEntryWritable_Encrypted_IsRefused) {
  EXPECT_TRUE(CheckEntryWritable(Entry({})));
  EXPECT_EQ(CheckEntryWritable(Entry({{"encryption.key-id", "k"}})).error().code, Code::kUnsupported);
}

TEST(HiveMetastore, ParseHiveUri_ServersInOrder) {
  const auto parsed = ParseHiveUri("thrift://a:9083, thrift://b.c/,thrift://[::1]:99");
  ASSERT_TRUE(parsed) << ToString(parsed.error());
  ASSERT_EQ(parsed->size(), 3U);
  EXPECT_EQ((*parsed)[0].host + ":" + (*parsed)[0].port, "a:9083");
  EXPECT_EQ((*parsed)[1].host + ":" + (*parsed)[1].port, "b.c:9083");
  EXPECT_EQ((*parsed)[2].host + ":" + (*parsed)[2].port, "::1:99");
  for (const char* uri : {"", "thrift://", "http://a:1", "thrift://a:x", "thrift://a:", "thrift://a,", "thrift://[::1",
                          "thrift://u:hunter2@a:1", "thrift://a:123456"}) {
    const auto refused = ParseHiveUri(uri);
    ASSERT_FALSE(refused) << uri;
    EXPECT_EQ(refused.error().code, Code::kInvalidArgument);
    EXPECT_THAT(refused.error().message, testing::Not(HasSubstr("hunter2")));
  }
}

TEST(HiveMetastore, Open_OtherConnections_AreRefusedByName) {
  const auto with_tls = HiveMetastore::Open({{"uri", "thrift://a"}, {"hive.metastore.use.SSL", "true"}});
  ASSERT_FALSE(with_tls);
  EXPECT_EQ(with_tls.error().code, Code::kUnsupported);
  const auto opened = HiveMetastore::Open({{"uri", "thrift://a"}, {"hive.kerberos-authentication", "true"}});
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code, Code::kUnsupported);
  EXPECT_THAT(opened.error().message, HasSubstr("hive.kerberos-authentication"));
}

TEST(HiveCatalog, ChecksExpectedParameter_OnlyWhereTheVersionProvesIt) {
  for (const char* version : {"4.0.1", "4.1.0", "10.0"}) {
    EXPECT_TRUE(ChecksExpectedParameter(version)) << version;
  }
  for (const char* version : {"3.0", "3.1.3", "2.3.9", "", "4", ".4", "x.4", "4.0.0", "4.0.0-beta-1", "3.1.3000.7"}) {
    EXPECT_FALSE(ChecksExpectedParameter(version)) << version;
  }
}

}  // namespace
}  // namespace firn::ports
