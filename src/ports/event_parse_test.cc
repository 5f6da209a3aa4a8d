// SPDX-License-Identifier: Apache-2.0
#include "ports/event_parse.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace firn::ports {
namespace {

using Kind = TableEvent::Kind;

TableEvent One(const Result<ParsedEvents>& parsed) {
  EXPECT_TRUE(parsed) << ToString(parsed.error());
  if (!parsed) return {};
  EXPECT_EQ(parsed->events.size(), 1U);
  return parsed->events.empty() ? TableEvent{} : parsed->events[0];
}

// As RestMetricsReporter of Iceberg 1.10 sends it.
constexpr const char* kCommitReport = R"({
  "report-type": "commit-report", "table-name": "lake.db.t", "snapshot-id": 6593127189031410000, "sequence-number": 4,
  "operation": "append", "metrics": {"total-duration": {"count": 1, "time-unit": "nanoseconds",
      "total-duration": 310000000},
  "attempts": {"unit": "count", "value": 1}, "added-data-files": {"unit": "count", "value": 8}},
  "metadata": {"engine-name": "spark", "engine-version": "4.0.1"}})";
constexpr const char* kScanReport = R"({
  "report-type": "scan-report", "table-name": "lake.db.t", "snapshot-id": 7, "filter": true, "schema-id": 0,
  "projected-field-ids": [1], "projected-field-names": ["id"], "metrics": {
  "total-planning-duration": {"count": 1, "time-unit": "nanoseconds", "total-duration": 42000000},
  "result-data-files": {"unit": "count", "value": 120}, "result-delete-files": {"unit": "count", "value": 3},
  "total-file-size-in-bytes": {"unit": "bytes", "value": 99000}}})";

TEST(EventParse, MetricsReports) {
  const TableEvent commit = One(ParseMetricsReport("lake",
                                                   "a\x1f"
                                                   "b",
                                                   "t", kCommitReport));
  EXPECT_EQ(commit.kind, Kind::kCommit);
  EXPECT_EQ(TableText(commit), "lake/a.b.t");
  EXPECT_EQ(commit.snapshot_id, 6593127189031410000);
  const TableEvent scan = One(ParseMetricsReport("", "db", "t", kScanReport));
  EXPECT_EQ(scan.kind, Kind::kScan);
  ASSERT_TRUE(scan.scan);
  EXPECT_EQ(*scan.scan, (ScanFigures{.data_files = 120, .delete_files = 3, .bytes = 99000, .planning_ms = 42}));
}

TEST(EventParse, MetricsReportsThatAreNone) {
  for (const char* body : {"", "{", "[]", "{}", R"({"report-type": "other", "snapshot-id": 1, "metrics": {}})",
                           R"({"report-type": "commit-report", "metrics": {}})",
                           R"({"report-type": "commit-report", "snapshot-id": "1", "metrics": {}})",
                           R"({"report-type": "commit-report", "snapshot-id": 1.5, "metrics": {}})",
                           R"({"report-type": "commit-report", "snapshot-id": 1})"}) {
    const auto parsed = ParseMetricsReport("lake", "db", "t", body);
    ASSERT_FALSE(parsed) << body;
    EXPECT_EQ(parsed.error().code, Code::kInvalidArgument);
  }
  EXPECT_FALSE(ParseMetricsReport("lake", "", "t", kCommitReport));
  EXPECT_FALSE(ParseMetricsReport("lake",
                                  "a\x1f\x1f"
                                  "b",
                                  "t", kCommitReport));
  EXPECT_FALSE(ParseMetricsReport("lake", "db", "t\n", kCommitReport));
  EXPECT_FALSE(ParseMetricsReport("lake", "db", std::string(2'000, 't'), kCommitReport));
}

// As Lakekeeper 0.9 publishes it: extensions are attributes, the data is the commit.
std::string Lakekeeper(const char* type, const char* tabular, const char* name_space = "a\\u001fb") {
  return fmt::format(
      R"({{"specversion": "1.0", "id": "019", "source": "uri:iceberg-catalog-service:h", "type": "{}",
      "datacontenttype": "application/json", "tabular-type": "{}", "tabular-id": "0198-aa", "warehouse-id": "w",
      "name": "t", "namespace": "{}", "prefix": "", "num-events": 1, "sequence-number": 0, 
      "trace-id": "x", "actor": "{{}}",
      "data": {{"requirements": [], "updates": [{{"action": "add-snapshot", "snapshot": {{"snapshot-id": 12}}}}]}}}})",
      type, tabular, name_space);
}

constexpr std::string_view kStructured = "application/cloudevents+json";
constexpr std::string_view kBatch = "application/cloudevents-batch+json";

TEST(EventParse, LakekeeperEvents) {
  const TableEvent commit = One(ParseCloudEvents(kStructured, {}, "lake", Lakekeeper("updateTable", "table")));
  EXPECT_EQ(TableText(commit), "lake/a.b.t");
  EXPECT_EQ(commit.uuid, "0198-aa");
  EXPECT_EQ(commit.snapshot_id, 12);
  EXPECT_EQ(One(ParseCloudEvents(kStructured, {}, "", Lakekeeper("dropTable", "table", "a.b"))).kind, Kind::kDrop);
  EXPECT_EQ(One(ParseCloudEvents(kStructured, {}, "", Lakekeeper("renameTable", "table"))).kind, Kind::kRename);
  for (const std::string& other :
       {Lakekeeper("updateView", "view"), Lakekeeper("undropTabulars", "view"), Lakekeeper("somethingNew", "table")}) {
    const auto parsed = ParseCloudEvents(kStructured, {}, "lake", other);
    ASSERT_TRUE(parsed);
    EXPECT_TRUE(parsed->events.empty());
    EXPECT_EQ(parsed->ignored, 1);
  }
}

constexpr const char* kPolarisUpdate =
    R"({"specversion": "1.0", "id": "1", "type": "org.apache.polaris.after_update_table",
  "source": "org.apache.polaris", "time": "2026-08-01T10:00:00Z", "datacontenttype": "application/json",
  "data": {"event_type": "AFTER_UPDATE_TABLE", "table_name": "t", "namespace": ["a", "b.c"],
      "catalog_name": "polaris", "realm_id": "r"}})";
constexpr const char* kPolarisRename =
    R"({"specversion": "1.0", "id": "1", "type": "org.apache.polaris.after_rename_table",
  "source": "org.apache.polaris",
  "data": {"source": ["a", "old"], "destination": ["a", "new"], "catalog_name": "polaris"}})";

TEST(EventParse, PolarisEvents) {
  const TableEvent commit = One(ParseCloudEvents(kStructured, {}, "other", kPolarisUpdate));
  EXPECT_EQ(commit.catalog, "polaris");
  EXPECT_EQ(commit.name_space, (std::vector<std::string>{"a", "b.c"}));
  EXPECT_EQ(commit.table, "t");
  const TableEvent renamed = One(ParseCloudEvents(kStructured, {}, "", kPolarisRename));
  EXPECT_EQ(renamed.kind, Kind::kRename);
  EXPECT_EQ(TableText(renamed), "polaris/a.new");
  std::string before = kPolarisUpdate;
  before.replace(before.find("after_update"), 5, "befor");
  EXPECT_EQ(ParseCloudEvents(kStructured, {}, "", before)->ignored, 1);
}

TEST(EventParse, BatchesAreTakenWholeOrNotAtAll) {
  const std::string good = fmt::format("[{}, {}]", Lakekeeper("updateTable", "table"), kPolarisUpdate);
  EXPECT_EQ(ParseCloudEvents(kBatch, {}, "lake", good)->events.size(), 2U);
  EXPECT_FALSE(ParseCloudEvents(kStructured, {}, "lake", good));
  EXPECT_FALSE(ParseCloudEvents(kBatch, {}, "lake", kPolarisUpdate));
  EXPECT_FALSE(ParseCloudEvents(kBatch, {}, "lake", fmt::format("[{}, {{}}]", kPolarisUpdate)));
  std::string many = "[";
  for (std::size_t i = 0; i <= kEventsMax; ++i) many += (i == 0 ? "" : ",") + std::string(kPolarisUpdate);
  const auto parsed = ParseCloudEvents(kBatch, {}, "lake", many + "]");
  ASSERT_FALSE(parsed);
  EXPECT_EQ(parsed.error().code, Code::kLimit);
}

TEST(EventParse, BinaryModeHasItsAttributesInHeaders) {
  const HttpHeaders headers = {{"ce-specversion", "1.0"},  {"ce-id", "1"},   {"ce-source", "s"},
                               {"ce-type", "updateTable"}, {"ce-name", "t"}, {"ce-namespace", "db"},
                               {"ce-tabular-id", "u"},     {"host", "h"}};
  const TableEvent event =
      One(ParseCloudEvents("application/json", headers, "lake",
                           R"({"updates": [{"action": "add-snapshot", "snapshot": {"snapshot-id": 5}}]})"));
  EXPECT_EQ(TableText(event), "lake/db.t");
  EXPECT_EQ(event.snapshot_id, 5);
  EXPECT_EQ(event.uuid, "u");
  EXPECT_EQ(One(ParseCloudEvents("", headers, "lake", "")).table, "t");
}

TEST(EventParse, CloudEventsThatAreNone) {
  for (const char* body :
       {"", "5", "{}", R"({"specversion": "2.0", "id": "1", "source": "s", "type": "t"})",
        R"({"specversion": "1.0", "source": "s", "type": "updateTable", "name": "t", "namespace": "n"})",
        R"({"specversion": "1.0", "id": "1", "source": "s", "type": "updateTable", "namespace": "n"})",
        R"({"specversion": "1.0", "id": "1", "source": "s", "type": "updateTable", "name": "t",
      "namespace": ["n"]})",
        R"({"specversion": "1.0", "id": "1", "source": "s", "type": "updateTable", "name": 5,
      "namespace": "n"})",
        R"({"specversion": "1.0", "id": "1", "source": "s",
           "type": "org.apache.polaris.after_update_table", "data": {"table_name": "t"}})",
        R"({"specversion": "1.0", "id": "1", "source": "s",
           "type": "org.apache.polaris.after_update_table", "data": null})"}) {
    EXPECT_FALSE(ParseCloudEvents(kStructured, {}, "lake", body)) << body;
  }
}

TEST(EventParse, StorageNotifications) {
  const auto parsed = ParseStorageEvents(R"({"Records": [
    {"eventName": "ObjectCreated:Put", 
     "s3": {"bucket": {"name": "lake"},
     "object": {"key": "wh/my+db/t%C3%A4/metadata/00001-x.metadata.json", "size": 5}}},
    {"eventName": "s3:ObjectCreated:CompleteMultipartUpload",
     "s3": {"bucket": {"name": "lake"},
      "object": {"key": "t/metadata/2.gz.metadata.json"}}},
    {"eventName": "ObjectCreated:Put",
     "s3": {"bucket": {"name": "lake"}, "object": {"key": "t/data/1.parquet"}}},
    {"eventName": "ObjectRemoved:Delete",
     "s3": {"bucket": {"name": "lake"}, "object": {"key": "t/metadata/1.metadata.json"}}}]})");
  ASSERT_TRUE(parsed) << ToString(parsed.error());
  ASSERT_EQ(parsed->events.size(), 2U);
  EXPECT_EQ(parsed->events[0].location, "s3://lake/wh/my db/t\xC3\xA4");
  EXPECT_EQ(parsed->events[1].location, "s3://lake/t");
  EXPECT_EQ(parsed->ignored, 2);
  const char* bridge =
      R"({"source": "aws.s3", "detail-type": "Object Created",
      "detail": {"bucket": {"name": "b"}, "object": {"key": "a+b/metadata/1.metadata.json"}}})";
  EXPECT_EQ(One(ParseStorageEvents(bridge)).location, "s3://b/a+b") << "EventBridge does not encode keys";
  std::string topic = R"({"Type": "Notification", "Message": ")";
  for (const char c : std::string_view(R"({"Records": [{"eventName": "ObjectCreated:Put",
      "s3": {"bucket": {"name": "b"}, "object": {"key": "t/metadata/1.metadata.json"}}}]})")) {
    if (c == '\n') continue;
    topic += c == '"' ? "\\\"" : std::string(1, c);
  }
  topic += "\"}";
  EXPECT_EQ(One(ParseStorageEvents(topic)).location, "s3://b/t");
  EXPECT_EQ(ParseStorageEvents(R"({"Service": "Amazon S3", "Event": "s3:TestEvent", "Bucket": "b"})")->ignored, 1);
}

TEST(EventParse, StorageNotificationsThatAreNone) {
  for (const char* body : {"", "[]", "{}", R"({"Records": {}})", R"({"Records": [5]})",
                           R"({"Records": [{"eventName": "ObjectCreated:Put"}]})",
                           R"({"Records": [{
           "s3": {"bucket": {"name": "b"},
      "object": {"key": "k"}}}]})",
                           R"({"Records": [{"eventName": "ObjectCreated:Put",
           "s3": {"bucket": {"name": "b"}, "object": {"key": "%zz"}}}]})",
                           R"({"Records": [{"eventName": "ObjectCreated:Put",
           "s3": {"bucket": {"name": "b"}, "object": {"key": "a%0Ab"}}}]})",
                           R"({"Message": "{\"Message\": \"{}\"}"})"}) {
    EXPECT_FALSE(ParseStorageEvents(body)) << body;
  }
}

TEST(EventParse, Webhooks) {
  EXPECT_EQ(TableText(One(ParseWebhook(R"({"catalog": "lake", "table": "a.b.t", "snapshot-id": 3})"))), "lake/a.b.t");
  const TableEvent dotted = One(ParseWebhook(R"({"namespace": ["a.b"], "table": "t.u"})"));
  EXPECT_EQ(dotted.name_space, std::vector<std::string>{"a.b"});
  EXPECT_EQ(dotted.table, "t.u");
  EXPECT_EQ(One(ParseWebhook(R"({"location": "s3://b/t//"})")).location, "s3://b/t");
  EXPECT_EQ(ParseWebhook(R"([{"table": "a.b"}, {"table": "a.c"}])")->events.size(), 2U);
  for (const char* body :
       {"", "{}", "5", R"({"table": "t"})", R"({"table": "a."})", R"({"table": ".t"})", R"({"tabel": "a.t"})",
        R"({"table": "a.t", "table": "a.u"})", R"({"table": "a.t", "snapshot-id": "3"})", R"([{"table": "a.b"}, {}])",
        R"({"namespace": [""], "table": "t"})", R"({"namespace": "a", "table": "t"})", R"({"location": "a\u0000b"})"}) {
    EXPECT_FALSE(ParseWebhook(body)) << body;
  }
}

TEST(EventParse, DeepNestingIsAnError) {
  const std::string deep = std::string(100'000, '[');
  EXPECT_FALSE(ParseWebhook(deep));
  EXPECT_FALSE(ParseStorageEvents(deep));
}

TEST(TableLocationOf, IsTheFolderAboveMetadata) {
  EXPECT_EQ(TableLocationOf("/w/db/t/metadata/v3.metadata.json"), "/w/db/t");
  EXPECT_EQ(TableLocationOf("s3://b/t/metadata/1.metadata.json.gz"), "s3://b/t");
  for (const char* path :
       {"", "v3.metadata.json", "/w/t/metadata/snap-1.avro", "/w/t/other/1.metadata.json", "/metadata"}) {
    EXPECT_EQ(TableLocationOf(path), "") << path;
  }
}

}  // namespace
}  // namespace firn::ports
