// SPDX-License-Identifier: Apache-2.0
#include "ports/glue_catalog.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "ports/memory_file_io.h"
#include "ports/metadata_file.h"

namespace firn::ports {
namespace {

const std::string kOld = "file:/t/metadata/00000-00000000-0000-4000-8000-000000000001.metadata.json";
const std::string kOther = "file:/t/metadata/00002-00000000-0000-4000-8000-000000000002.metadata.json";

TEST(GlueCatalogTest, Update_SentTwiceByAGatewayAndOthersOnTop_IsOurs) {
  ManualClock clock(TimestampMs{1'800'000'000'000});
  const auto io = std::make_shared<MemoryFileIO>();
  const std::string text =
      R"({"format-version":2,"table-uuid":"00000000-0000-4000-8000-000000000001","location":"file:/t",)"
      R"("last-sequence-number":0,"last-updated-ms":1700000000000,"last-column-id":1,"current-schema-id":0,)"
      R"("schemas":[{"type":"struct","schema-id":0,"fields":[{"id":1,"name":"id","required":false,"type":"long"}]}],)"
      R"("default-spec-id":0,"partition-specs":[{"spec-id":0,"fields":[]}],"last-partition-id":999,)"
      R"("default-sort-order-id":0,"sort-orders":[{"order-id":0,"fields":[]}]})";
  const ByteView bytes = AsBytes(text);
  io->Put(kOld, Bytes(bytes.begin(), bytes.end()));
  std::string location = kOld, ours;
  const auto http = std::make_shared<MemoryHttp>([&](const HttpRequest& request) -> Result<HttpResponse> {
    if (request.body.find("TableInput") == std::string::npos) {
      constexpr const char* kTable =
          R"({{"Table":{{"Name":"t","DatabaseName":"db","VersionId":"1","Parameters":{{"table_type":"ICEBERG",)"
          R"("metadata_location":"{}"}}}}}})";
      return HttpResponse{200, {}, fmt::format(kTable, location)};
    }
    const auto input = json::Parse(request.body);
    ours = *input->Find("TableInput")->Find("Parameters")->Find("metadata_location")->AsString();
    const auto base = ReadMetadataFile(*io, ours);
    const auto next = iceberg::ApplyUpdates(**base, ours, {iceberg::SetProperties{{{"other", "1"}}}}, clock.Now());
    io->Put(kOther, *EncodeMetadata(*next, *CodecOf(*next)));
    location = kOther;
    return HttpResponse{400, {}, R"({"__type":"VersionMismatchException","Message":"not the latest"})"};
  });
  const auto catalog = *GlueCatalog::Open(
      "lake", {{"glue.region", "eu-west-1"}, {"glue.access-key-id", "a"}, {"glue.secret-access-key", "b"}}, http,
      [&](const Properties&) -> Result<std::shared_ptr<FileIO>> { return io; }, clock, 7);
  const auto base = catalog->LoadTable({{"db"}, "t"});
  ASSERT_TRUE(base) << ToString(base.error());
  const TableCommit commit{.requirements = {}, .updates = {iceberg::SetProperties{{{"a", "1"}}}}};
  const auto done = catalog->CommitTable(*base, commit);
  ASSERT_TRUE(done) << ToString(done.error());
  EXPECT_EQ(done->metadata_location, ours);
  EXPECT_TRUE(*io->Exists(ours));
}

TEST(GlueCatalogTest, Endpoint_WithoutAScheme_IsReachedByHttps) {
  ManualClock clock(TimestampMs{1'800'000'000'000});
  const auto http = std::make_shared<MemoryHttp>(
      [](const HttpRequest&) -> Result<HttpResponse> { return HttpResponse{200, {}, R"({"DatabaseList":[]})"}; });
  const auto asked = [&](const std::string& endpoint) -> Result<std::string> {
    const Properties properties = {{"glue.region", "eu-west-1"},
                                   {"glue.access-key-id", "a"},
                                   {"glue.secret-access-key", "b"},
                                   {"glue.endpoint", endpoint}};
    FIRN_ASSIGN(const auto catalog, GlueCatalog::Open(
                                        "lake", properties, http,
                                        [](const Properties&) -> Result<std::shared_ptr<FileIO>> {
                                          return std::make_shared<MemoryFileIO>();
                                        },
                                        clock, 7));
    FIRN_TRY(catalog->ListTables());
    return http->requests().back().url;
  };
  EXPECT_EQ(asked("glue.example.com").value(), "https://glue.example.com/");
  EXPECT_EQ(asked("http://127.0.0.1:5000/").value(), "http://127.0.0.1:5000/");
  EXPECT_EQ(asked("").value(), "https://glue.eu-west-1.amazonaws.com/");
  EXPECT_EQ(asked("ftp://glue.example.com").error().code, Code::kInvalidArgument);
}

}  // namespace
}  // namespace firn::ports
