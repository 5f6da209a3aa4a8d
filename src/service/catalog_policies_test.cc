// SPDX-License-Identifier: Apache-2.0
#include "service/catalog_policies.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <optional>
#include <thread>

namespace firn::service {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;

/// Gives one answer for every table, or fails.
class FakeSource final : public PolicySource {
 public:
  Result<std::vector<PolarisPolicy>> Applicable(const std::vector<std::string>&, const std::string& table) override {
    EXPECT_EQ(++now_, 1) << "one request at a time";
    ++asked;
    last = table;
    std::this_thread::yield();
    if (meanwhile) meanwhile();
    --now_;
    if (failure && (failing_table.empty() || failing_table == table)) return *failure;
    PolarisPolicy policy{
        .type = std::string(kPolarisDataCompaction), .name = "p", .content = content, .name_space = {}};
    return std::vector{policy};
  }
  std::atomic<int> asked = 0;
  std::string last;
  std::string content = R"({"enable":false})";
  std::optional<Error> failure;
  std::string failing_table;  // empty: all
  std::function<void()> meanwhile;

 private:
  std::atomic<int> now_ = 0;
};

class CatalogPoliciesTest : public testing::Test {
 protected:
  static constexpr std::int64_t kFreshMs = 60'000;

  CatalogPolicies Make() {
    std::vector<PolicySourceOf> sources;
    sources.push_back({"lake", [this]() -> Result<std::shared_ptr<PolicySource>> {
                         ++opened_;
                         if (unopened_) return *unopened_;
                         return std::static_pointer_cast<PolicySource>(source_);
                       }});
    return CatalogPolicies(std::move(sources), kFreshMs, clock_);
  }
  static ports::TableIdentifier Table(const std::string& name = "t") { return {{"db"}, name}; }
  static std::string Enabled(const Result<PolicyValues>& values) {
    if (!values) return "error: " + values.error().message;
    const auto found = values->find("enabled");
    return found == values->end() ? "none" : found->second.text;
  }

  ports::ManualClock clock_{TimestampMs{1'700'000'000'000}};
  std::shared_ptr<FakeSource> source_ = std::make_shared<FakeSource>();
  std::optional<Error> unopened_;
  int opened_ = 0;
};

TEST_F(CatalogPoliciesTest, OneAnswerATableForAWhile) {
  CatalogPolicies policies = Make();
  for (int event = 0; event < 100; ++event) EXPECT_EQ(Enabled(policies.Of("lake", Table())), "false");
  EXPECT_EQ(source_->asked, 1);
  EXPECT_EQ(Enabled(policies.Of("lake", Table("other"))), "false");
  EXPECT_EQ(source_->asked, 2);
  source_->content = R"({"enable":true})";
  clock_.SleepMs(kFreshMs - 1);
  EXPECT_EQ(Enabled(policies.Of("lake", Table())), "false");
  clock_.SleepMs(1);
  EXPECT_EQ(Enabled(policies.Of("lake", Table())), "true");
  EXPECT_EQ(source_->asked, 3);
  EXPECT_EQ(opened_, 1);
}

TEST_F(CatalogPoliciesTest, OtherCatalogsHaveNone) {
  CatalogPolicies policies = Make();
  EXPECT_EQ(Enabled(policies.Of("sql", Table())), "none");
  source_ = nullptr;
  EXPECT_EQ(Enabled(policies.Of("lake", Table())), "none");
  clock_.SleepMs(10 * CatalogPolicies::kAskAgainMs);
  EXPECT_EQ(Enabled(policies.Of("lake", Table())), "none");
  EXPECT_EQ(opened_, 1) << "it has none for good";
  EXPECT_TRUE(policies.Rows().empty());
}

TEST_F(CatalogPoliciesTest, WhenAskingFails_TheLastAnswerStaysAndIsSaidToBeOld) {
  CatalogPolicies policies = Make();
  EXPECT_EQ(Enabled(policies.Of("lake", Table())), "false");
  source_->failure = Error{Code::kUnavailable, "catalog answers 503: busy"};
  clock_.SleepMs(kFreshMs);
  const auto old = policies.Of("lake", Table());
  EXPECT_EQ(Enabled(old), "false");
  EXPECT_EQ(old->at("enabled").place, "Polaris policy `p`, an earlier answer: catalog answers 503: busy");
  EXPECT_EQ(source_->asked, 2);
  source_->failure.reset();
  clock_.SleepMs(CatalogPolicies::kWaitMinMs);
  EXPECT_EQ(policies.Of("lake", Table())->at("enabled").place, "Polaris policy `p`");
}

TEST_F(CatalogPoliciesTest, WithoutAnyAnswerNothingIsDone_AndTheWaitGrows) {
  CatalogPolicies policies = Make();
  source_->failure = Error{Code::kUnavailable, "down"};
  const auto none = policies.Of("lake", Table());
  ASSERT_FALSE(none.has_value());
  EXPECT_EQ(none.error().code, Code::kUnavailable);
  EXPECT_THAT(none.error().message, HasSubstr("of catalog lake"));
  EXPECT_THAT(none.error().message, HasSubstr("down (the catalog's property `firn.polaris-policies: false`"));
  for (int minute = 0; minute < 60; ++minute) {
    for (int table = 0; table < 50; ++table) {
      EXPECT_FALSE(policies.Of("lake", Table(std::to_string(table))).has_value());
    }
    clock_.SleepMs(60'000);
  }
  EXPECT_LE(source_->asked, 20) << "of 3,000 looks in an hour";
  EXPECT_GE(source_->asked, 12);
}

TEST_F(CatalogPoliciesTest, ACatalogWithoutTheApi_IsNotAskedForAWhile) {
  CatalogPolicies policies = Make();
  source_->failure = Error{Code::kUnsupported, "policies: catalog answers 404: no such path"};
  for (int look = 0; look < 50; ++look) {
    EXPECT_EQ(Enabled(policies.Of("lake", Table(std::to_string(look)))), "none");
    clock_.SleepMs(kFreshMs);
  }
  EXPECT_EQ(source_->asked, 1);
  EXPECT_THAT(policies.Rows().at(0).settings.at(0).value, EndsWith("no such path"));
  source_->failure.reset();
  clock_.SleepMs(CatalogPolicies::kAskAgainMs);
  EXPECT_EQ(Enabled(policies.Of("lake", Table())), "false");
  source_->failure = Error{Code::kUnsupported, "gone"};
  clock_.SleepMs(kFreshMs);
  EXPECT_EQ(Enabled(policies.Of("lake", Table())), "false") << "what was known stays";
}

TEST_F(CatalogPoliciesTest, ACatalogThatCannotBeOpened_IsOpenedLater) {
  CatalogPolicies policies = Make();
  unopened_ = Error{Code::kUnavailable, "refused"};
  EXPECT_FALSE(policies.Of("lake", Table()).has_value());
  EXPECT_FALSE(policies.Of("lake", Table()).has_value());
  EXPECT_EQ(opened_, 1);
  unopened_.reset();
  clock_.SleepMs(CatalogPolicies::kWaitMinMs);
  EXPECT_EQ(Enabled(policies.Of("lake", Table())), "false");
}

TEST_F(CatalogPoliciesTest, ATableThatIsGone_KeepsNoOtherWaiting) {
  CatalogPolicies policies = Make();
  source_->failure = Error{Code::kNotFound, "no such table"};
  EXPECT_EQ(policies.Of("lake", Table()).error().code, Code::kUnavailable) << "kNotFound would drop the table";
  source_->failure.reset();
  EXPECT_EQ(Enabled(policies.Of("lake", Table("other"))), "false");
}

TEST_F(CatalogPoliciesTest, OneTableThatFails_KeepsNoOtherWaiting) {
  for (const Code code : {Code::kCorrupt, Code::kLimit, Code::kInvalidArgument, Code::kUnavailable}) {
    CatalogPolicies policies = Make();
    source_->failing_table = "bad";
    source_->failure = Error{code, "policies: broken"};
    source_->asked = 0;
    for (int minute = 0; minute < 60; ++minute) {
      const auto bad = policies.Of("lake", Table("bad"));
      ASSERT_FALSE(bad);
      EXPECT_THAT(bad.error().message, HasSubstr("policies: broken"));
      for (const char* name : {"a", "b", "bad", "c"}) {
        const auto good = policies.Of("lake", Table(name));
        if (std::string_view(name) == "bad") continue;
        ASSERT_EQ(Enabled(good), "false") << name << " " << minute;
        ASSERT_EQ(good->at("enabled").place, "Polaris policy `p`");
      }
      clock_.SleepMs(kFreshMs);
    }
    EXPECT_LE(source_->asked, 3 * 60 + 20) << "its own wait grows";
    EXPECT_GE(source_->asked, 3 * 60 + 12);
    const auto settings = policies.Rows().at(0).settings;
    EXPECT_EQ(settings.back().about, "for 1 table");
  }
}

TEST_F(CatalogPoliciesTest, TwoTablesThatFail_DoNotStarveTheThird) {
  CatalogPolicies policies = Make();
  source_->failure = Error{Code::kCorrupt, "policies: broken"};
  int answered = 0;
  for (int minute = 0; minute < 60; ++minute) {
    for (const char* name : {"bad1", "bad2", "good"}) {
      source_->failing_table = std::string_view(name) == "good" ? "none" : name;
      const auto values = policies.Of("lake", Table(name));
      answered += values && values->at("enabled").place == "Polaris policy `p`";
    }
    clock_.SleepMs(kFreshMs);
  }
  EXPECT_GE(answered, 45);
}

TEST_F(CatalogPoliciesTest, WhenTheCatalogAnswersAgain_AllTablesAreAskedForAtOnce) {
  CatalogPolicies policies = Make();
  source_->failure = Error{Code::kUnavailable, "down"};
  for (int i = 0; i < 30; ++i) {
    for (const char* name : {"a", "b", "c"}) EXPECT_FALSE(policies.Of("lake", Table(name)));
    clock_.SleepMs(kFreshMs);
  }
  source_->failure.reset();
  clock_.SleepMs(2 * CatalogPolicies::kWaitMaxMs);
  for (const char* name : {"a", "b", "c"}) EXPECT_EQ(Enabled(policies.Of("lake", Table(name))), "false") << name;
}

TEST_F(CatalogPoliciesTest, ForgottenWhileItIsAsked_TheAnswerIsGivenAndNotKept) {
  CatalogPolicies policies = Make();
  source_->meanwhile = [&] { policies.Forget("lake", Table()); };
  EXPECT_EQ(Enabled(policies.Of("lake", Table())), "false") << "not none: the table would be worked on";
  EXPECT_TRUE(policies.Rows().empty()) << "dropped: its policies must not come back";
  source_->meanwhile = nullptr;
  source_->content = R"({"enable":true})";
  EXPECT_EQ(Enabled(policies.Of("lake", Table())), "true") << "of the new table of that name";
  source_->meanwhile = [&] { policies.Forget("lake", Table()); };
  source_->failure = Error{Code::kCorrupt, "broken"};
  clock_.SleepMs(kFreshMs);
  EXPECT_FALSE(policies.Of("lake", Table())) << "what was known was of the old table";
}

TEST_F(CatalogPoliciesTest, PoliciesThatMakeNoSense_AreAnErrorUntilTheyDo) {
  CatalogPolicies policies = Make();
  source_->content = R"({"enable":"yes"})";
  for (int look = 0; look < 3; ++look) {
    const auto wrong = policies.Of("lake", Table());
    ASSERT_FALSE(wrong.has_value());
    EXPECT_EQ(wrong.error().code, Code::kInvalidArgument);
    EXPECT_THAT(wrong.error().message, HasSubstr("`enable`"));
  }
  EXPECT_EQ(source_->asked, 1);
  source_->content = R"({"enable":true})";
  clock_.SleepMs(kFreshMs);
  EXPECT_EQ(Enabled(policies.Of("lake", Table())), "true");
}

TEST_F(CatalogPoliciesTest, RowsShowEachPolicyOnce) {
  CatalogPolicies policies = Make();
  for (const char* name : {"a", "b", "c"}) (void)policies.Of("lake", Table(name));
  policies.Forget("lake", Table("c"));
  const std::vector<PolicyRow> rows = policies.Rows();
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows[0].scope, "catalog lake");
  EXPECT_EQ(rows[0].source, "polaris");
  ASSERT_EQ(rows[0].settings.size(), 1U);
  EXPECT_EQ(rows[0].settings[0].key, "enabled");
  EXPECT_EQ(rows[0].settings[0].value, "false");
  EXPECT_EQ(rows[0].settings[0].source, "Polaris policy `p`");
  EXPECT_EQ(rows[0].settings[0].about, "of 2 tables");
}

TEST_F(CatalogPoliciesTest, ManyThreadsAskOnce) {
  CatalogPolicies policies = Make();
  std::vector<std::jthread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&] {
      for (int table = 0; table < 20; ++table) {
        EXPECT_EQ(Enabled(policies.Of("lake", Table(std::to_string(table)))), "false");
      }
    });
  }
  threads.clear();
  EXPECT_EQ(source_->asked, 20);
}

}  // namespace
}  // namespace firn::service
