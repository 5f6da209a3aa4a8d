// SPDX-License-Identifier: Apache-2.0
#include "api/rate_limit.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace firn::api {
namespace {

TEST(RateLimit, LetsThroughTheBurstAndThenTheRate) {
  RateLimit limit({.per_second = 10, .burst = 5}, {.per_second = 1'000, .burst = 1'000}, 0);
  int passed = 0;
  for (int ms = 0; ms < 10'000; ++ms) passed += limit.Admit("a", ms) ? 1 : 0;
  EXPECT_GE(passed, 103);
  EXPECT_LE(passed, 105);
}

TEST(RateLimit, OneClientDoesNotUseUpTheShareOfAll) {
  RateLimit limit({.per_second = 0, .burst = 5}, {.per_second = 0, .burst = 8}, 0);
  for (int i = 0; i < 100; ++i) limit.Admit("loud", 0);
  EXPECT_TRUE(limit.Admit("quiet", 0));
  EXPECT_TRUE(limit.Admit("quiet", 0));
  EXPECT_TRUE(limit.Admit("quiet", 0));
  EXPECT_FALSE(limit.Admit("quiet", 0)) << "all together";
}

TEST(RateLimit, AClockThatJumpsGivesNothingTwice) {
  RateLimit limit({.per_second = 1, .burst = 1}, {.per_second = 1'000, .burst = 1'000}, 1'000'000);
  EXPECT_TRUE(limit.Admit("a", 1'000'000));
  EXPECT_FALSE(limit.Admit("a", 0));
  EXPECT_FALSE(limit.Admit("a", 500));
  EXPECT_TRUE(limit.Admit("a", 1'100));
}

TEST(RateLimit, RemembersABoundedNumberOfClients) {
  RateLimit limit({}, {.per_second = 1e9, .burst = 1e9}, 0);
  for (int i = 0; i < 20'000; ++i) EXPECT_TRUE(limit.Admit(fmt::format("10.0.{}.{}", i / 250, i % 250), i));
  EXPECT_LE(limit.client_count(), kClientsMax);
}

}  // namespace
}  // namespace firn::api
