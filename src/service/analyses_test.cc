// SPDX-License-Identifier: Apache-2.0
#include "service/analyses.h"

#include <gtest/gtest.h>

#include <string>

namespace firn::service {
namespace {

constexpr std::int64_t kDayMs = 86'400'000;
constexpr std::int64_t kNow = 1'000 * kDayMs;

AnalysisRow RowOf(std::int64_t made_ms, std::int64_t target) {
  AnalysisRow row;
  row.table = "c/db.t";
  row.uuid = "u";
  row.made_ms = made_ms;
  row.proposed_target_bytes = target;
  return row;
}

TEST(Analyses, Due_SoOftenAsIsWanted) {
  Analyses analyses;
  EXPECT_FALSE(analyses.IsDue("c/db.t", "u", 0, kNow)) << "nobody wants it";
  EXPECT_TRUE(analyses.IsDue("c/db.t", "u", 7, kNow));
  analyses.Put(RowOf(kNow, 0));
  EXPECT_FALSE(analyses.IsDue("c/db.t", "u", 7, kNow + 6 * kDayMs));
  EXPECT_TRUE(analyses.IsDue("c/db.t", "u", 7, kNow + 7 * kDayMs));
  EXPECT_TRUE(analyses.IsDue("c/db.t", "another table", 7, kNow));
  EXPECT_EQ(analyses.MadeMs("c/db.t"), kNow);
}

TEST(Analyses, Failed_IsNotTriedAgainAtOnce) {
  Analyses analyses;
  analyses.NoteFailure("c/db.t", kNow);
  EXPECT_FALSE(analyses.IsDue("c/db.t", "u", 1, kNow + kDayMs / 2));
  EXPECT_TRUE(analyses.IsDue("c/db.t", "u", 1, kNow + kDayMs));
  analyses.Put(RowOf(kNow, 0));
  EXPECT_TRUE(analyses.IsDue("c/db.t", "u", 1, kNow + kDayMs));
}

TEST(Analyses, Proposal_IsOfThatTableAlone) {
  Analyses analyses;
  EXPECT_FALSE(analyses.ProposedTarget("c/db.t", "u").has_value());
  analyses.Put(RowOf(kNow, 0));
  EXPECT_FALSE(analyses.ProposedTarget("c/db.t", "u").has_value());
  analyses.Put(RowOf(kNow, 4096));
  EXPECT_EQ(analyses.ProposedTarget("c/db.t", "u")->text, "4096");
  EXPECT_FALSE(analyses.ProposedTarget("c/db.t", "v").has_value());
  analyses.Remove("c/db.t");
  EXPECT_FALSE(analyses.ProposedTarget("c/db.t", "u").has_value());
}

std::string TargetOf(const orient::Properties& properties, const FleetPolicy& fleet = {}) {
  const auto settings = ResolveTable(fleet, "c/db.t", properties, {}, PolicyValue{"4096", "analyze"});
  EXPECT_TRUE(settings.has_value());
  if (!settings) return "";
  return std::to_string(settings->policy.target_size_bytes) + " " + AppliedTarget(*settings);
}

TEST(Analyses, Proposal_IsTakenOnlyWhereThatIsOnAndNothingPinsTheSize) {
  EXPECT_EQ(TargetOf({}), "536870912 ");
  EXPECT_EQ(TargetOf({{"firn.analyze.apply", "false"}}), "536870912 ");
  EXPECT_EQ(TargetOf({{"firn.analyze.apply", "true"}}), "4096 4096");
  EXPECT_EQ(TargetOf({{"firn.analyze.apply", "true"}, {"write.target-file-size-bytes", "8192"}}), "4096 4096");
  EXPECT_EQ(TargetOf({{"firn.analyze.apply", "true"}, {"firn.target-file-size-bytes", "8192"}}), "8192 ");
  FleetPolicy fleet;
  fleet.tables.push_back(
      {.match = "**", .glob = *NameGlob::Parse("**"), .values = {{"analyze.apply", {"true", "p:1"}}}, .forced = {}});
  EXPECT_EQ(TargetOf({}, fleet), "4096 4096");
  EXPECT_EQ(TargetOf({{"firn.analyze.apply", "false"}}, fleet), "536870912 ");
  fleet.tables[0].forced = {{"target-file-size-bytes", {"8192", "p:2"}}};
  EXPECT_EQ(TargetOf({}, fleet), "8192 ");
}

TEST(Analyses, Candidate_IsOfTheWholeTableAndCostsAtMostTheSample) {
  TableRow row;
  row.id = "c/db.t";
  row.uuid = "u";
  row.bytes = std::int64_t{1} << 40;
  const auto candidate = AnalysisCandidate(row, "c/db", decide::Cause::kSweep, TimestampMs{kNow}, "id");
  EXPECT_TRUE(decide::CheckCandidate(candidate).has_value());
  EXPECT_EQ(candidate.action, decide::Action::kAnalyze);
  EXPECT_TRUE(candidate.partitions.empty());
  EXPECT_EQ(candidate.predicted.bytes, kServiceSampleBytes);
  EXPECT_LT(candidate.predicted.seconds, 60);
  row.bytes = 0;
  EXPECT_GE(AnalysisCandidate(row, "c/db", decide::Cause::kSweep, TimestampMs{kNow}, "id").predicted.seconds, 1);
}

}  // namespace
}  // namespace firn::service
