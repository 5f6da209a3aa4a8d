// SPDX-License-Identifier: Apache-2.0
#include "ports/glue_catalog.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "ports/memory_file_io.h"
#include "ports/metadata_file.h"

namespace firn::ports {
namespace {

using ::testing::HasSubstr;

const TableIdentifier kId{{"db"}, "t"};
const std::string kOld = "file:/t/metadata/00000-00000000-0000-4000-8000-000000000001.metadata.json";
const std::string kOther = "file:/t/metadata/00002-00000000-0000-4000-8000-000000000002.metadata.json";

HttpResponse Refusal(const std::string& kind) {
  return {400, {}, fmt::format(R"({{"__type":"{}","Message":"injected"}})", kind)};
}

/// One table in a Glue whose answers can be changed.
class GlueCatalogTest : public testing::Test {
 protected:
  GlueCatalogTest() {
    const std::string text =
        R"({"format-version":2,"table-uuid":"00000000-0000-4000-8000-000000000001","location":"file:/t",)"
        R"("last-sequence-number":0,"last-updated-ms":1700000000000,"last-column-id":1,"current-schema-id":0,)"
        R"("schemas":[{"type":"struct","schema-id":0,"fields":[{"id":1,"name":"id","required":false,)"
        R"("type":"long"}]}],"default-spec-id":0,"partition-specs":[{"spec-id":0,"fields":[]}],)"
        R"("last-partition-id":999,"default-sort-order-id":0,"sort-orders":[{"order-id":0,"fields":[]}]})";
    const ByteView bytes = AsBytes(text);
    io_->Put(kOld, Bytes(bytes.begin(), bytes.end()));
  }

  Result<HttpResponse> Answer(const HttpRequest& request) {
    if (request.body.find("TableInput") == std::string::npos) {
      if (!ours_.empty()) ++reads_after_;
      if (!ours_.empty() && reads_after_ <= blind_reads_) return Refusal(blind_kind_);
      constexpr const char* kTable =
          R"({{"Table":{{"Name":"t","DatabaseName":"db","VersionId":"{}","Parameters":{{"table_type":"ICEBERG",)"
          R"("metadata_location":"{}"}}}}}})";
      return HttpResponse{200, {}, fmt::format(kTable, version_, location_)};
    }
    const auto input = json::Parse(request.body);
    ours_ = *input->Find("TableInput")->Find("Parameters")->Find("metadata_location")->AsString();
    return update_();
  }
  void Apply() {
    location_ = ours_;
    ++version_;
  }
  /// Somebody's commit on what is at `from`.
  void CommitOther(const std::string& from) {
    const auto base = ReadMetadataFile(*io_, from);
    const auto next = iceberg::ApplyUpdates(**base, from, {iceberg::SetProperties{{{"other", "1"}}}}, clock_.Now());
    io_->Put(kOther, *EncodeMetadata(*next, *CodecOf(*next)));
    location_ = kOther;
    ++version_;
  }
  Result<LoadedTable> Commit() {
    location_ = kOld;
    version_ = 1;
    ours_.clear();
    reads_after_ = 0;
    FIRN_ASSIGN(
        const auto catalog,
        GlueCatalog::Open(
            "lake", {{"glue.region", "eu-west-1"}, {"glue.access-key-id", "a"}, {"glue.secret-access-key", "b"}},
            std::make_shared<MemoryHttp>([this](const HttpRequest& request) { return Answer(request); }),
            [this](const Properties&) -> Result<std::shared_ptr<FileIO>> { return io_; }, clock_, ++seed_));
    FIRN_ASSIGN(const LoadedTable base, catalog->LoadTable(kId));
    return catalog->CommitTable(base, {.requirements = {}, .updates = {iceberg::SetProperties{{{"a", "1"}}}}});
  }
  bool FileStands() { return *io_->Exists(ours_); }

  ManualClock clock_{TimestampMs{1'800'000'000'000}};
  std::shared_ptr<MemoryFileIO> io_ = std::make_shared<MemoryFileIO>();
  std::uint64_t seed_ = 6;
  std::string location_ = kOld, ours_;
  int version_ = 1, reads_after_ = 0, blind_reads_ = 0;
  std::string blind_kind_ = "ThrottlingException";
  std::function<Result<HttpResponse>()> update_ = [this]() -> Result<HttpResponse> {
    Apply();
    return HttpResponse{200, {}, "{}"};
  };
};

/// Of all codes that a refusal becomes.
constexpr const char* kRefusals[] = {"ThrottlingException",
                                     "ExpiredTokenException",
                                     "AccessDeniedException",
                                     "ResourceNumberLimitExceededException",
                                     "ResourceNotReadyException",
                                     "ConcurrentModificationException",
                                     "VersionMismatchException",
                                     "EntityNotFoundException",
                                     "ConcurrentRunsExceededException"};

TEST_F(GlueCatalogTest, Update_SentTwiceByAGateway_IsOursAndKeepsTheFile) {
  for (const std::string kind : kRefusals) {
    for (const int blind_reads : {0, 1, 2}) {
      SCOPED_TRACE(kind + ", reads that fail: " + std::to_string(blind_reads));
      blind_reads_ = blind_reads;
      update_ = [&]() -> Result<HttpResponse> {
        Apply();
        return Refusal(kind);
      };
      const auto done = Commit();
      ASSERT_TRUE(done) << ToString(done.error());
      EXPECT_EQ(done->metadata_location, ours_);
      EXPECT_TRUE(FileStands());
    }
  }
}

TEST_F(GlueCatalogTest, Update_SentTwiceAndNobodyCanRead_IsUnknownAndKeepsTheFile) {
  blind_reads_ = 1000;
  for (const std::string kind : kRefusals) {
    for (const char* blind_kind : {"ThrottlingException", "ExpiredTokenException", "EntityNotFoundException"}) {
      SCOPED_TRACE(kind + ", then " + blind_kind);
      blind_kind_ = blind_kind;
      update_ = [&]() -> Result<HttpResponse> {
        Apply();
        return Refusal(kind);
      };
      const auto done = Commit();
      ASSERT_FALSE(done);
      EXPECT_EQ(done.error().code, Code::kOutcomeUnknown);
      EXPECT_THAT(done.error().message, HasSubstr(kind));
      EXPECT_THAT(done.error().message, HasSubstr(blind_kind));
      EXPECT_TRUE(FileStands());
    }
  }
}

TEST_F(GlueCatalogTest, Update_SentTwiceByAGatewayAndOthersOnTop_IsOurs) {
  for (const std::string kind : kRefusals) {
    SCOPED_TRACE(kind);
    update_ = [&]() -> Result<HttpResponse> {
      CommitOther(ours_);
      return Refusal(kind);
    };
    const auto done = Commit();
    ASSERT_TRUE(done) << ToString(done.error());
    EXPECT_EQ(done->metadata_location, ours_);
    EXPECT_TRUE(FileStands());
  }
}

TEST_F(GlueCatalogTest, Update_OthersCameFirst_IsAConflictAndLeavesNoFile) {
  for (const std::string kind : kRefusals) {
    SCOPED_TRACE(kind);
    update_ = [&]() -> Result<HttpResponse> {
      CommitOther(kOld);
      return Refusal(kind);
    };
    const auto done = Commit();
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().code, Code::kConflict) << done.error().message;
    EXPECT_FALSE(FileStands());
  }
}

TEST_F(GlueCatalogTest, Update_RefusedAndTheTableIsAsItWas_SaysWhyAndLeavesNoFile) {
  const std::pair<const char*, Code> refusals[] = {{"ExpiredTokenException", Code::kInvalidArgument},
                                                   {"AccessDeniedException", Code::kInvalidArgument},
                                                   {"ResourceNumberLimitExceededException", Code::kLimit}};
  for (const auto& [kind, code] : refusals) {
    SCOPED_TRACE(kind);
    update_ = [&]() -> Result<HttpResponse> { return Refusal(kind); };
    const auto done = Commit();
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().code, code) << done.error().message;
    EXPECT_EQ(reads_after_, 1);
    EXPECT_FALSE(FileStands());
  }
}

TEST_F(GlueCatalogTest, Update_WhileTheTableIsBeingChanged_IsUnknownUntilItsVersionMoves) {
  // Also a throttled request: it may be a copy of one that Glue is at.
  for (const char* kind : {"ConcurrentModificationException", "ThrottlingException"}) {
    for (const bool moves : {false, true}) {
      SCOPED_TRACE(testing::Message() << kind << " " << moves);
      update_ = [&]() -> Result<HttpResponse> {
        if (moves) ++version_;  // a comment, say
        return Refusal(kind);
      };
      const auto done = Commit();
      ASSERT_FALSE(done);
      EXPECT_EQ(done.error().code, moves ? Code::kConflict : Code::kOutcomeUnknown) << done.error().message;
      EXPECT_EQ(FileStands(), !moves);
    }
  }
}

TEST_F(GlueCatalogTest, Update_AnswerIsNotGlues_IsUnknownAndKeepsTheFile) {
  for (const int status : {400, 403, 413, 429, 500, 503}) {
    SCOPED_TRACE(status);
    update_ = [&]() -> Result<HttpResponse> { return HttpResponse{status, {}, "<html>no</html>"}; };
    const auto done = Commit();
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().code, Code::kOutcomeUnknown) << done.error().message;
    EXPECT_TRUE(FileStands());
  }
}

TEST_F(GlueCatalogTest, Update_NeverSent_LeavesNoFileAlsoWhenNobodyCanRead) {
  blind_reads_ = 1000;
  update_ = []() -> Result<HttpResponse> { return Error{Code::kUnavailable, "not sent: no route"}; };
  const auto done = Commit();
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, Code::kUnavailable) << done.error().message;
  EXPECT_FALSE(FileStands());
  EXPECT_EQ(reads_after_, 0);
}

TEST(GlueCatalogEndpointTest, WithoutAScheme_IsReachedByHttps) {
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
