// SPDX-License-Identifier: Apache-2.0
#include "service/dispatch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "decide/decision_json.h"
#include "format/json/json.h"
#include "service/fleet_news.h"

namespace firn::service {
namespace {

class DispatchTest : public testing::Test {
 protected:
  void SetUp() override {
    auto opened = StateStore::Open(":memory:");
    ASSERT_TRUE(opened.has_value()) << ToString(opened.error());
    store_ = std::move(*opened);
    dispatch_ = std::make_unique<Dispatch>(*store_, tables_, news_, clock_, DispatchOptions{}, [](const JobNews&) {});
  }
  decide::Candidate CandidateOf(const std::string& id, decide::Action action) {
    decide::Candidate made;
    made.id = id;
    made.table = "c/db.t";
    made.database = "c/db";
    made.action = action;
    made.predicted = {.files_removed = 9, .files_replaced = 10, .bytes = 1000, .seconds = 1};
    made.created_at = clock_.Now();
    return made;
  }
  /// "KIND ACTION CODE: REASON" of each, the newest first.
  std::vector<std::string> Decisions() {
    const auto page = store_->Decisions({.table = "c/db.t"}, {.after = "", .limit = 100});
    EXPECT_TRUE(page.has_value());
    std::vector<std::string> texts;
    for (const DecisionRow& row : page->items) {
      const auto decision = decide::ParseDecision(*json::Parse(row.json));
      EXPECT_TRUE(decision.has_value());
      texts.push_back(row.kind + " " + decision->action + " " + decision->code + ": " + decision->reason);
    }
    return texts;
  }

  std::unique_ptr<StateStore> store_;
  FleetTables tables_{{}};
  FleetNews news_;
  ports::ManualClock clock_{TimestampMs{1'700'000'000'000}};
  std::unique_ptr<Dispatch> dispatch_;
};

TEST_F(DispatchTest, WorkWhoseNumbersAreNone_IsRefusedAndTheOtherIsQueued) {
  decide::Candidate bad = CandidateOf("a", decide::Action::kMerge);
  bad.predicted.seconds = std::numeric_limits<double>::quiet_NaN();
  dispatch_->Offer("c/db.t", {bad, CandidateOf("b", decide::Action::kRewriteDeletes)}, {});
  const auto queue = dispatch_->Queue();
  ASSERT_EQ(queue.size(), 1U);
  EXPECT_EQ(queue[0].action, "rewrite-deletes");
  EXPECT_THAT(Decisions(), testing::ElementsAre("refused merge invalid argument: It cannot be put in order: candidate "
                                                "`a`: predicted is not made of finite numbers."));
}

TEST_F(DispatchTest, AnalysisWhosePriorityIsNone_IsRefused) {
  decide::Candidate bad = CandidateOf("a", decide::Action::kAnalyze);
  bad.priority = 0;
  dispatch_->OfferAnalysis(bad);
  EXPECT_TRUE(dispatch_->Queue().empty());
  EXPECT_THAT(Decisions(), testing::ElementsAre(testing::HasSubstr("priority is not above 0")));
  dispatch_->OfferAnalysis(CandidateOf("b", decide::Action::kAnalyze));
  EXPECT_EQ(dispatch_->Queue().size(), 1U);
  EXPECT_EQ(Decisions().size(), 1U);
}

}  // namespace
}  // namespace firn::service
