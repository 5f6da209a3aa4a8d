// SPDX-License-Identifier: Apache-2.0
#include "service/other_service.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "iceberg/manifest_fixture.h"

namespace firn::service {
namespace {

constexpr std::int64_t kNowMs = 1'700'000'000'000;
constexpr std::int64_t kYearMs = std::int64_t{365} * 86'400'000;

struct Committed {
  std::int64_t id = 0;
  std::string service;
  std::int64_t at_ms = kNowMs;
};

/// A table whose sequence numbers are the snapshots' ids.
iceberg::TableMetadata With(int version, const std::vector<Committed>& commits) {
  std::string text = iceberg::fixture::PlainTable(version).ToJsonText();
  text.pop_back();
  std::string list;
  for (const Committed& commit : commits) {
    if (!list.empty()) list += ",";
    list += fmt::format(R"({{"snapshot-id":{0},"timestamp-ms":{1},"manifest-list":"s3://b/{0}",)"
                        R"("summary":{{"operation":"replace","firn.service-id":"{2}"}}{3}}})",
                        commit.id, commit.at_ms, commit.service,
                        version == 1 ? "" : fmt::format(R"(,"sequence-number":{})", commit.id));
  }
  const std::string number = R"("last-sequence-number":9)";
  if (const auto at = text.find(number); at != std::string::npos) {
    text.replace(at, number.size(), R"("last-sequence-number":1000)");
  }
  text += fmt::format(R"(,"current-snapshot-id":{},"snapshots":[{}]}})", commits.back().id, list);
  return iceberg::fixture::Must(iceberg::TableMetadata::Parse(AsBytes(text)));
}

std::optional<std::string> Find(int version, const std::vector<Committed>& commits, OtherService& seen) {
  return FindOtherService(With(version, commits), "mine", TimestampMs{kNowMs}, seen);
}

TEST(OtherServiceTest, ItsCommitsSinceTheLastLook_CountOnce) {
  for (const int version : {1, 2}) {
    OtherService seen;
    std::vector<Committed> commits = {{1, "other", kNowMs - 5000}, {2, "mine", kNowMs - 4000}};
    EXPECT_EQ(Find(version, commits, seen), std::nullopt) << "before the first look";
    commits.push_back({3, "mine", kNowMs - 3000});
    EXPECT_EQ(Find(version, commits, seen), std::nullopt);
    commits.push_back({4, "other", kNowMs - 2000});
    EXPECT_EQ(Find(version, commits, seen), "other");
    EXPECT_EQ(Find(version, commits, seen), std::nullopt);
  }
}

TEST(OtherServiceTest, AClockFarAhead_HidesNoLaterCommit_AndIsNoCommitForEver) {
  for (const int version : {1, 2}) {
    OtherService seen;
    std::vector<Committed> commits = {{1, "mine", kNowMs - 5000}};
    EXPECT_EQ(Find(version, commits, seen), std::nullopt);
    commits.push_back({2, "other", kNowMs + 50 * kYearMs});
    const auto first = Find(version, commits, seen);
    EXPECT_EQ(first.has_value(), version == 2);
    EXPECT_EQ(Find(version, commits, seen), std::nullopt);
    commits.push_back({3, "other", kNowMs - 1000});
    EXPECT_EQ(Find(version, commits, seen), "other") << "v" << version;
    EXPECT_EQ(Find(version, commits, seen), std::nullopt);
  }
}

TEST(OtherServiceTest, ANewTableOfTheName_BeginsAnew) {
  OtherService seen;
  EXPECT_EQ(Find(2, {{900, "other"}}, seen), std::nullopt);
  seen.table_uuid = "00000000-0000-4000-8000-00000000ffff";  // the one before
  EXPECT_EQ(Find(2, {{1, "mine"}}, seen), std::nullopt);
  EXPECT_EQ(Find(2, {{1, "mine"}, {2, "other"}}, seen), "other");
}

}  // namespace
}  // namespace firn::service
