// SPDX-License-Identifier: Apache-2.0
#include "orient/service_policy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "orient/policy.h"

namespace firn::orient {
namespace {

TEST(ServicePolicy, EveryKeyIsRead) {
  ServicePolicy policy;
  const std::map<std::string, std::string> texts = {{"priority", "2.5"},
                                                    {"budget.bytes-per-hour", "500GB"},
                                                    {"budget.worker-seconds-per-hour", "1800.5"},
                                                    {"budget.concurrent-jobs", "3"},
                                                    {"quiet-hours", "Mon-Fri 08:00-18:00"},
                                                    {"finish-within-minutes", "90"},
                                                    {"max-deferrals", "0"},
                                                    {"analyze.apply", "true"},
                                                    {"analyze.every-days", "7"}};
  ASSERT_EQ(texts.size(), ServicePolicyKeys().size());
  for (const std::string_view key : ServicePolicyKeys()) {
    ASSERT_TRUE(texts.contains(std::string(key))) << key;
    EXPECT_TRUE(IsServicePolicyKey(key));
    const auto fault = SetServicePolicy(policy, key, texts.at(std::string(key)));
    EXPECT_FALSE(fault.has_value()) << fault->text;
  }
  EXPECT_EQ(policy.priority, 2.5);
  EXPECT_EQ(policy.budget, (BudgetLimits{std::int64_t{500} << 30, 1800.5, 3}));
  EXPECT_EQ(policy.quiet_hours.spans.size(), 5U);
  EXPECT_EQ(policy.finish_within_ms, 5'400'000);
  EXPECT_EQ(policy.max_deferrals, 0);
  EXPECT_TRUE(policy.analyze_apply);
  EXPECT_EQ(policy.analyze_every_days, 7);
}

TEST(ServicePolicy, BadValuesAndKeys_AreErrorsThatNameTheKey) {
  const std::vector<std::pair<std::string, std::string>> cases = {{"priority", "0"},
                                                                  {"analyze.apply", "yes"},
                                                                  {"analyze.every-days", "-1"},
                                                                  {"analyze.every-days", "367"},
                                                                  {"priority", "101"},
                                                                  {"priority", "high"},
                                                                  {"priority", "nan"},
                                                                  {"priority", "1x"},
                                                                  {"budget.bytes-per-hour", "0"},
                                                                  {"budget.bytes-per-hour", "-5"},
                                                                  {"budget.bytes-per-hour", "lots"},
                                                                  {"budget.worker-seconds-per-hour", "0"},
                                                                  {"budget.worker-seconds-per-hour", "1e9"},
                                                                  {"budget.concurrent-jobs", "0"},
                                                                  {"budget.concurrent-jobs", "1.5"},
                                                                  {"quiet-hours", "at night"},
                                                                  {"finish-within-minutes", "0"},
                                                                  {"finish-within-minutes", "inf"},
                                                                  {"max-deferrals", "-1"},
                                                                  {"max-deferrals", "101"},
                                                                  {"budget", "1"},
                                                                  {"priorty", "1"}};
  for (const auto& [key, value] : cases) {
    ServicePolicy policy;
    const auto fault = SetServicePolicy(policy, key, value);
    ASSERT_TRUE(fault.has_value()) << key << "=" << value;
    EXPECT_EQ(fault->keys, std::vector<std::string>{"firn." + key});
    EXPECT_THAT(fault->text, testing::HasSubstr("`firn." + key + "`"));
    EXPECT_EQ(policy, ServicePolicy{}) << "nothing is half set";
  }
}

TEST(ServicePolicy, ItsKeysAreKnownAsTableProperties) {
  const auto policy = PolicyFromProperties({{"firn.priority", "2"}, {"firn.quiet-hours", "22:00-06:00"}});
  EXPECT_TRUE(policy.has_value()) << policy.error().message;
  const auto unknown = PolicyFromProperties({{"firn.nois", "1"}});
  EXPECT_THAT(unknown.error().message, testing::HasSubstr("firn.budget.bytes-per-hour"));
}

}  // namespace
}  // namespace firn::orient
