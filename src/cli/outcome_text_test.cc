// SPDX-License-Identifier: Apache-2.0
#include "cli/outcome_text.h"

#include <gtest/gtest.h>

#include <vector>

namespace firn::cli {
namespace {

act::Outcome MakeOutcome(int commits, const std::vector<Code>& failures) {
  act::Outcome outcome;
  outcome.table = "db.t";
  for (int i = 0; i < commits; ++i) {
    act::CommitOutcome commit;
    commit.snapshot_id = SnapshotId{100 + i};
    commit.groups = 2;
    commit.files_removed = 1998;
    commit.files_added = 2;
    outcome.commits.push_back(commit);
    outcome.files_removed += 1998;
    outcome.files_added += 2;
  }
  for (const Code code : failures)
    outcome.failures.push_back({"p=1", 3, Error{code, "reason of " + std::string(CodeName(code))}});
  return outcome;
}

TEST(ExitOf, SaysWhatToDoNext) {
  struct Case {
    int commits;
    std::vector<Code> failures;
    int exit;
  };
  const std::vector<Case> cases = {
      {1, {}, 0},
      {0, {}, 0},
      {1, {Code::kCorrupt}, 11},
      {0, {Code::kCorrupt, Code::kConflict}, 4},
      {0, {Code::kConflict}, 6},
      {1, {Code::kCorrupt, Code::kOutcomeUnknown}, 7},
      {1, {Code::kCancelled, Code::kCancelled}, 10},
      {0, {Code::kCancelled, Code::kOutcomeUnknown}, 7},
  };
  for (const auto& c : cases) EXPECT_EQ(ExitOf(MakeOutcome(c.commits, c.failures)), c.exit);
}

TEST(ExitOf, RefusalsAreNoFailure) {
  act::Outcome outcome = MakeOutcome(0, {Code::kUnsupported});
  EXPECT_EQ(ExitOf(outcome), 5);
  outcome.failures[0].is_refusal = true;
  EXPECT_EQ(ExitOf(outcome), 0);
  outcome.commits.emplace_back();
  EXPECT_EQ(ExitOf(outcome), 0);
  outcome.failures.push_back({"", 1, Error{Code::kCorrupt, "broken"}});
  EXPECT_EQ(ExitOf(outcome), 11);
  outcome.commits.clear();
  EXPECT_EQ(ExitOf(outcome), 4);
}

TEST(OutcomeText, NextStep_IsAnotherRunOnlyWhereItHelps) {
  const auto says = [](const act::Outcome& outcome, std::string_view words) {
    return OutcomeText(outcome, {"cat.db.t", "cat.db.t --where 'a = 1'"}, 10).find(words) != std::string::npos;
  };
  EXPECT_TRUE(says(MakeOutcome(1, {Code::kCorrupt, Code::kConflict}), "run this again"));
  EXPECT_TRUE(says(MakeOutcome(0, {Code::kNotFound}), "run this again"));
  for (const Code code : {Code::kCorrupt, Code::kUnsupported, Code::kInvalidArgument}) {
    EXPECT_FALSE(says(MakeOutcome(1, {code}), "run this again"));
    EXPECT_TRUE(says(MakeOutcome(1, {code}), "repair what is named"));
  }
  act::Outcome refused = MakeOutcome(1, {Code::kUnsupported});
  refused.failures[0].is_refusal = true;
  EXPECT_TRUE(says(refused, "reason of unsupported"));
  EXPECT_TRUE(says(refused, "stay as they are"));
}

TEST(OutcomeText, BytesOfTheTiers_AndTheRest_AddUpToWhatWasRead) {
  act::Outcome outcome = MakeOutcome(1, {});
  outcome.bytes_removed = 10 << 20;
  outcome.tiers[static_cast<std::size_t>(splice::Tier::kJoin)] = {6 << 20, 10};
  outcome.tiers[static_cast<std::size_t>(splice::Tier::kSynthesize)] = {4 << 20, 1};  // of the output
  std::string text = OutcomeText(outcome, {"cat.db.t", "cat.db.t"}, 10);
  EXPECT_NE(text.find("The other 4.00 MiB of 10.0 MiB are footers"), std::string::npos) << text;
  EXPECT_NE(text.find("docs/formats/parquet.md"), std::string::npos) << text;
  EXPECT_EQ(text.find("P5"), std::string::npos) << text;
  outcome.tiers[static_cast<std::size_t>(splice::Tier::kReencode)] = {4 << 20, 9};
  text = OutcomeText(outcome, {"cat.db.t", "cat.db.t"}, 10);
  EXPECT_EQ(text.find("The other"), std::string::npos) << text;
  EXPECT_NE(text.find("P5 takes so much where the dictionaries"), std::string::npos) << text;
}

TEST(OutcomeText, NamesCommitsFailuresAndLeftovers) {
  act::Outcome outcome = MakeOutcome(1, {Code::kCorrupt});
  outcome.leftover_files = {"s3://b/t/data/x\n.parquet"};
  outcome.notes = {"Bloom filters are not kept: a"};
  const std::string text = OutcomeText(outcome, {"cat.db.t", "cat.db.t --where 'a = 1'"}, 10);
  EXPECT_NE(text.find("Merged 1,998 files into 2"), std::string::npos) << text;
  EXPECT_NE(text.find("100"), std::string::npos) << text;
  EXPECT_NE(text.find("p=1"), std::string::npos) << text;
  EXPECT_NE(text.find("Note: Bloom filters are not kept: a.\n"), std::string::npos) << text;
  EXPECT_NE(text.find("reason of corrupt"), std::string::npos) << text;
  EXPECT_NE(text.find("s3://b/t/data/x?.parquet"), std::string::npos) << text;
  const std::string unknown =
      OutcomeText(MakeOutcome(0, {Code::kOutcomeUnknown}), {"cat.db.t", "cat.db.t --where 'a = 1'"}, 10);
  EXPECT_NE(unknown.find("`firn inspect snapshots cat.db.t`"), std::string::npos) << unknown;
  EXPECT_NE(unknown.find("It is not known whether anything was committed"), std::string::npos) << unknown;
  EXPECT_EQ(unknown.find("the table is as it was"), std::string::npos) << unknown;
  const std::string refused = OutcomeText(MakeOutcome(0, {Code::kConflict}), {"db.t", "db.t"}, 10);
  EXPECT_NE(refused.find("Nothing was committed: the table is as it was."), std::string::npos) << refused;
}

TEST(OutcomeText, FailuresAndLeftovers_AreNeverCut) {
  act::Outcome outcome = MakeOutcome(0, {});
  for (int i = 0; i < 40; ++i) {
    outcome.failures.push_back({"part=" + std::to_string(i) + ";", 1, Error{Code::kCorrupt, "broken"}});
    outcome.leftover_files.push_back("/data/" + std::to_string(i) + ".parquet");
  }
  const std::string text = OutcomeText(outcome, {"db.t", "db.t"}, 2);
  for (int i = 0; i < 40; ++i) {
    EXPECT_NE(text.find("part=" + std::to_string(i) + ";"), std::string::npos) << i;
    EXPECT_NE(text.find("/data/" + std::to_string(i) + ".parquet"), std::string::npos) << i;
  }
}

}  // namespace
}  // namespace firn::cli
