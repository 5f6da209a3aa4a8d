// SPDX-License-Identifier: Apache-2.0
#include "cli/delete_text.h"

#include <gtest/gtest.h>

#include <string>

namespace firn::cli {
namespace {

observe::DeleteFacts MakeFacts(int deletes) {
  observe::DeleteFacts facts;
  for (int i = 0; i < deletes; ++i) {
    iceberg::DataFile file;
    file.content = iceberg::FileContent::kEqualityDeletes;
    file.file_path = "s3://b/t/e" + std::to_string(i);
    file.record_count = 1000 + i;
    facts.deletes.Add({file, SequenceNumber(3)}, false);
    facts.is_needed.push_back(i % 2 == 0);
    facts.is_global.push_back(false);
  }
  facts.deletes.Build();
  return facts;
}

TEST(DeletePlanText, NamesWhatGoesAndWhatStays) {
  const observe::DeleteFacts facts = MakeFacts(4);
  decide::DeletePlan plan;
  plan.reason = "Rewriting everything.";
  plan.deletes = {0, 1, 2};
  plan.refusals = {{"day=1", "s3://b/t/e3 stays: it is encrypted", "encrypted", 1, 10}};
  const std::string text = DeletePlanText(facts, plan, 2);
  EXPECT_NE(text.find("Rewriting everything."), std::string::npos) << text;
  EXPECT_NE(text.find("s3://b/t/e0"), std::string::npos) << text;
  EXPECT_NE(text.find("to nothing"), std::string::npos) << text;
  EXPECT_EQ(text.find("s3://b/t/e2"), std::string::npos) << text;
  EXPECT_NE(text.find("and 1 more delete file"), std::string::npos) << text;
  EXPECT_NE(text.find("day=1"), std::string::npos) << text;
}

TEST(DeleteOutcomeText, SaysWhatBecameOfWhat) {
  act::DeleteOutcome outcome;
  EXPECT_NE(DeleteOutcomeText(outcome, "db.t").find("Nothing was committed"), std::string::npos);
  outcome.snapshot_id = SnapshotId(7);
  outcome.attempts = 2;
  outcome.equality_files_removed = 3;
  outcome.vectors_removed = 1;
  outcome.vectors_added = 4;
  outcome.rows_scanned = 1'000'000;
  outcome.files_kept = 1;
  outcome.failures = {{"day=1", 2, {Code::kNotFound, "no such file"}}};
  outcome.leftover_files = {"s3://b/t/left.puffin"};
  const std::string text = DeleteOutcomeText(outcome, "db.t");
  EXPECT_NE(text.find("3 equality delete files, 1 deletion vector became 4 deletion vectors"), std::string::npos)
      << text;
  EXPECT_NE(text.find("1 delete file stays"), std::string::npos) << text;
  EXPECT_NE(text.find("no such file"), std::string::npos) << text;
  EXPECT_NE(text.find("s3://b/t/left.puffin"), std::string::npos) << text;
  EXPECT_NE(text.find("run this again"), std::string::npos) << text;
}

}  // namespace
}  // namespace firn::cli
