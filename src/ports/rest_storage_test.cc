// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ports/hooked_file_io.h"
#include "ports/memory_file_io.h"
#include "ports/rest_catalog.h"

namespace firn::ports {
namespace {

using ::testing::EndsWith;

constexpr std::int64_t kMinute = 60'000;

std::string TableText(const std::string& credentials) {
  return R"({"metadata-location":"s3://b/db/t/metadata/00001-x.metadata.json",)" + credentials +
         R"(,"metadata":{"format-version":2,"table-uuid":"00000000-0000-4000-8000-000000000001",)"
         R"("location":"s3://b/db/t","last-sequence-number":0,"last-updated-ms":1,"last-column-id":1,)"
         R"("current-schema-id":0,"schemas":[{"type":"struct","schema-id":0,"fields":[{"id":1,"name":"id",)"
         R"("required":false,"type":"long"}]}],"default-spec-id":0,"partition-specs":[{"spec-id":0,"fields":[]}],)"
         R"("last-partition-id":999,"default-sort-order-id":0,"sort-orders":[{"order-id":0,"fields":[]}],)"
         R"("snapshots":[],"properties":{}}})";
}

/// A catalog whose n-th answer has the n-th key, which holds for an hour.
class RestStorageTest : public testing::Test {
 protected:
  std::string Vended() {
    ++answers_;
    const std::string end =
        says_end_ ? fmt::format(R"("s3.session-token-expires-at-ms":"{}")", clock_.Now().value + 60 * kMinute)
                  : R"("s3.session-token":"token")";
    return fmt::format(R"("storage-credentials":[{{"prefix":"s3://b","config":{{"s3.access-key-id":"key{}",)"
                       R"("s3.secret-access-key":"s",{}}}}}])",
                       answers_, end);
  }
  std::shared_ptr<Catalog> Open(const std::string& config) {
    http_ = std::make_shared<MemoryHttp>([this, config](const HttpRequest& request) -> Result<HttpResponse> {
      if (request.url.find("/v1/config") != std::string::npos) return HttpResponse{200, {}, config};
      if (is_down_) return HttpResponse{503, {}, ""};
      if (request.url.ends_with("/credentials")) return HttpResponse{200, {}, "{" + Vended() + "}"};
      return HttpResponse{200, {}, TableText(Vended())};
    });
    const FileIOFactory make_io = [this](const Properties& given) -> Result<std::shared_ptr<FileIO>> {
      made_.push_back(given);
      const IoHook check = [this, key = PropertyOr(given, "s3.access-key-id", "")](const IoEvent&) -> Status {
        if (key != revoked_) return Ok();
        return Error{Code::kInvalidArgument, "InvalidAccessKeyId"};
      };
      return std::shared_ptr<FileIO>(std::make_shared<HookedFileIO>(std::make_shared<MemoryFileIO>(), check));
    };
    const Properties properties = {{"uri", "http://host"}, {"s3.session-token", "of the session"}};
    return RestCatalog::Open("rest", properties, http_, make_io, clock_, 5).value();
  }

  ManualClock clock_{TimestampMs{1'700'000'000'000}};
  std::shared_ptr<MemoryHttp> http_;
  std::vector<Properties> made_;
  int answers_ = 0;
  std::string revoked_;
  bool says_end_ = true;
  bool is_down_ = false;
  const TableIdentifier id_{{"db"}, "t"};
};

TEST_F(RestStorageTest, CredentialsThatEnd_AreRenewedBefore) {
  const std::string list = R"({"endpoints":["GET /v1/{prefix}/namespaces/{namespace}/tables/{table}/credentials"]})";
  for (const bool has_endpoint : {true, false}) {
    answers_ = 0;
    made_.clear();
    const auto catalog = Open(has_endpoint ? list : "{}");
    const LoadedTable table = catalog->LoadTable(id_).value();
    const auto io = catalog->TableIO(table).value();
    EXPECT_EQ(catalog->TableIO(table).value(), io) << "kept";
    EXPECT_TRUE(io->Exists("s3://b/x"));
    ASSERT_EQ(made_.size(), 1U);
    EXPECT_EQ(PropertyOr(made_[0], "s3.access-key-id", ""), "key1");

    clock_.SleepMs(56 * kMinute);
    EXPECT_TRUE(io->Exists("s3://b/x"));
    ASSERT_EQ(made_.size(), 2U);
    EXPECT_EQ(PropertyOr(made_[1], "s3.access-key-id", ""), "key2");
    EXPECT_FALSE(made_[1].contains("s3.session-token")) << "that one belongs to other keys";
    EXPECT_THAT(http_->requests().back().url, EndsWith(has_endpoint ? "/tables/t/credentials" : "?snapshots=all"));

    clock_.SleepMs(54 * kMinute);
    EXPECT_TRUE(io->Exists("s3://b/x"));
    EXPECT_EQ(made_.size(), 2U);
    clock_.SleepMs(2 * kMinute);
    EXPECT_TRUE(io->Exists("s3://b/x"));
    EXPECT_EQ(made_.size(), 3U);
  }
}

TEST_F(RestStorageTest, CredentialsThatTheStorageRefuses_AreRenewedOnce) {
  for (const bool says_end : {true, false}) {
    says_end_ = says_end;
    answers_ = 0;
    made_.clear();
    revoked_.clear();
    const auto catalog = Open("{}");
    const auto io = catalog->TableIO(catalog->LoadTable(id_).value()).value();
    EXPECT_TRUE(io->Exists("s3://b/x"));
    revoked_ = "key1";
    EXPECT_TRUE(io->Exists("s3://b/x"));
    EXPECT_TRUE(io->Exists("s3://b/x"));
    ASSERT_EQ(made_.size(), 2U);
    EXPECT_EQ(PropertyOr(made_[1], "s3.access-key-id", ""), "key2");
    revoked_ = "key2";
    EXPECT_EQ(io->Exists("s3://b/x").error().code, Code::kInvalidArgument) << "a moment later";
    EXPECT_EQ(made_.size(), 2U);
  }
}

TEST_F(RestStorageTest, SignatureOfNoAccount_IsForThatOfTheTable) {
  std::vector<Properties> made;
  const FileIOFactory make_io = [&](const Properties& given) -> Result<std::shared_ptr<FileIO>> {
    made.push_back(given);
    return std::shared_ptr<FileIO>(std::make_shared<MemoryFileIO>());
  };
  const auto account_for = [&](const std::string& location, const std::string& config) {
    std::string text = TableText(fmt::format(R"("config":{{{}}})", config));
    text.replace(text.find("s3://b/db/t\",\"last"), 11, location);
    const auto http = std::make_shared<MemoryHttp>([&](const HttpRequest& request) -> Result<HttpResponse> {
      return HttpResponse{200, {}, request.url.find("/v1/config") != std::string::npos ? "{}" : text};
    });
    const auto catalog = RestCatalog::Open("rest", {{"uri", "http://host"}}, http, make_io, clock_, 5).value();
    EXPECT_TRUE(catalog->TableIO(catalog->LoadTable(id_).value()));
    return PropertyOr(made.back(), "adls.account-name", "none");
  };
  const std::string table = "abfss://c@lake.dfs.core.windows.net/t";
  EXPECT_EQ(account_for(table, R"("adls.sas-token":"sv=1")"), "lake");
  EXPECT_EQ(account_for(table, R"("adls.sas-token":"sv=1","adls.account-name":"own")"), "own");
  EXPECT_EQ(account_for(table, R"("adls.sas-token.lake":"sv=1")"), "none");
  EXPECT_EQ(account_for("s3://b/t", R"("adls.sas-token":"sv=1")"), "none");
}

TEST_F(RestStorageTest, CatalogIsDown_WorkGoesOnUntilTheEnd) {
  const auto catalog = Open("{}");
  const auto io = catalog->TableIO(catalog->LoadTable(id_).value()).value();
  is_down_ = true;
  clock_.SleepMs(59 * kMinute);
  EXPECT_TRUE(io->Exists("s3://b/x"));
  clock_.SleepMs(kMinute);
  const auto ended = io->Exists("s3://b/x");
  ASSERT_FALSE(ended);
  EXPECT_EQ(ended.error().code, Code::kUnavailable);
  is_down_ = false;
  EXPECT_TRUE(io->Exists("s3://b/x"));
}

}  // namespace
}  // namespace firn::ports
