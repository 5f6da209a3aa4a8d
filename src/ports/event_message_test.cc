// SPDX-License-Identifier: Apache-2.0
#include "ports/event_message.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace firn::ports {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr std::string_view kReport = R"({"report-type": "commit-report", "table-name": "NAME", "snapshot-id": 7,
  "sequence-number": 1, "operation": "append", "metrics": {}})";

std::string ReportOf(std::string_view name) {
  std::string text(kReport);
  return text.replace(text.find("NAME"), 4, name);
}

std::vector<std::string> Tables(const Result<ParsedEvents>& parsed) {
  std::vector<std::string> texts;
  if (!parsed) return {"error: " + parsed.error().message};
  for (const TableEvent& event : parsed->events) {
    EXPECT_EQ(event.source, TableEvent::Source::kKafka);
    texts.push_back(TableText(event));
  }
  return texts;
}

std::vector<std::string> Auto(const HttpHeaders& headers, std::string_view body) {
  return Tables(ParseEventMessage({.catalog = "own", .catalogs = {"lake", "own"}}, headers, body));
}

TEST(EventMessage, EachKind_IsTakenForWhatItIs) {
  EXPECT_THAT(Auto({}, R"({"catalog": "lake", "table": "db.t"})"), ElementsAre("lake/db.t"));
  EXPECT_THAT(Auto({}, R"( [{"table": "db.t"}, {"location": "s3://b/t/"}])"), ElementsAre("own/db.t", "s3://b/t"));
  EXPECT_THAT(Auto({}, ReportOf("db.t")), ElementsAre("own/db.t"));
  EXPECT_THAT(Auto({}, R"({"EventName": "s3:ObjectCreated:Put", "Key": "b/t/metadata/1.metadata.json", "Records":
    [{"eventName": "s3:ObjectCreated:Put", "s3": {"bucket": {"name": "b"}, "object": {"key":
    "t/metadata/1.metadata.json"}}}]})"),
              ElementsAre("s3://b/t"));
  const std::string event = R"({"specversion": "1.0", "id": "1", "source": "x", "type": "updateTable", "name": "t",
    "namespace": "db", "tabular-type": "table"})";
  EXPECT_THAT(Auto({}, event), ElementsAre("own/db.t"));
  EXPECT_THAT(Auto({}, "[" + event + "," + event + "]"), ElementsAre("own/db.t", "own/db.t"));
  EXPECT_THAT(Auto({{"content-type", "application/cloudevents+json; charset=utf-8"}}, event), ElementsAre("own/db.t"));
}

TEST(EventMessage, CloudEventInHeaders_IsThatOfTheKafkaBinding) {
  const HttpHeaders headers = {{"ce_specversion", "1.0"},
                               {"ce_id", "1"},
                               {"ce_source", "x"},
                               {"ce_type", "updateTable"},
                               {"ce_name", "t"},
                               {"ce_namespace",
                                "a\x1f"
                                "b"},
                               {"ce_tabular-type", "table"},
                               {"content-type", "application/json"}};
  EXPECT_THAT(Auto(headers, R"({"updates": []})"), ElementsAre("own/a.b.t"));
  EXPECT_THAT(Auto(headers, ""), ElementsAre("own/a.b.t")) << "the data may be missing";
}

TEST(EventMessage, Report_NamesItsTable) {
  EXPECT_THAT(Auto({}, ReportOf("lake.db.t")), ElementsAre("lake/db.t")) << "the first level is a served catalog";
  EXPECT_THAT(Auto({}, ReportOf("prod.db.t")), ElementsAre("own/prod.db.t", "own/db.t")) << "either may be meant";
  EXPECT_THAT(Auto({}, ReportOf("s3://b/w/t/")), ElementsAre("s3://b/w/t"));
  EXPECT_THAT(Auto({{"table", "x.y"},
                    {"namespace",
                     "a\x1f"
                     "b.c"},
                    {"catalog", "other"}},
                   ReportOf("db.t")),
              ElementsAre(R"(other/a."b.c"."x.y")"));
  EXPECT_THAT(Auto({{"table", "t"}, {"namespace", "a.b"}}, ReportOf("z")), ElementsAre("own/a.b.t"));
  EXPECT_THAT(Auto({}, ReportOf("t")), ElementsAre(HasSubstr("error: `table-name`")));
  EXPECT_THAT(Auto({}, ReportOf("")), ElementsAre(HasSubstr("error: `table-name` is missing")));
}

TEST(EventMessage, GivenFormat_IsHeldTo) {
  MessageReading reading{.format = MessageFormat::kStorage};
  EXPECT_FALSE(ParseEventMessage(reading, {}, R"({"table": "db.t"})"));
  reading.format = MessageFormat::kWebhook;
  EXPECT_TRUE(ParseEventMessage(reading, {}, R"({"table": "db.t"})"));
  EXPECT_FALSE(ParseEventMessage(reading, {}, ReportOf("db.t")));
}

TEST(EventMessage, Rubbish_IsAnError) {
  for (const char* body : {"", " ", "{", "[]x", "17", "\"a\"", "null", "{}", "[1]", "\xff\xfe"}) {
    EXPECT_THAT(Auto({}, body), ElementsAre(HasSubstr("error: "))) << body;
  }
  EXPECT_THAT(Auto({{"catalog", "a\nb"}}, R"({"table": "db.t"})"), ElementsAre(HasSubstr("control")));
}

TEST(EventMessage, FormatWords) {
  EXPECT_EQ(*ParseMessageFormat("cloudevents"), MessageFormat::kCloudEvents);
  const auto wrong = ParseMessageFormat("avro");
  ASSERT_FALSE(wrong);
  EXPECT_THAT(wrong.error().message, HasSubstr("metrics-report"));
}

}  // namespace
}  // namespace firn::ports
