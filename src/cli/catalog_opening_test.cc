// SPDX-License-Identifier: Apache-2.0
#include "cli/catalog_opening.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ports/deferred_catalog.h"

namespace firn::cli {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using std::chrono::steady_clock;
using ::testing::HasSubstr;

CatalogOpening::Opened AnyCatalog() {
  return std::shared_ptr<ports::Catalog>(std::make_shared<ports::DeferredCatalog>("r", nullptr));
}

TEST(CatalogOpening, OneThatAnswers_IsThere) {
  std::atomic<bool> cancelled = false;
  CatalogOpening opening("r", AnyCatalog, cancelled);
  EXPECT_TRUE(opening.OpenUntil(steady_clock::now() + seconds(20)));
}

TEST(CatalogOpening, OneThatHangs_IsNotWaitedFor_AndIsThereWhenItAnswers) {
  std::atomic<bool> cancelled = false, answers = false;
  CatalogOpening opening(
      "r",
      [&] {
        answers.wait(false);
        return AnyCatalog();
      },
      cancelled);
  const auto begin = steady_clock::now();
  const auto early = opening.OpenUntil(begin + milliseconds(100));
  EXPECT_LT(steady_clock::now() - begin, seconds(20));
  answers = true;
  answers.notify_all();
  ASSERT_FALSE(early);
  EXPECT_EQ(early.error().code, Code::kUnavailable);
  EXPECT_THAT(early.error().message, HasSubstr("`r` has not answered yet"));
  EXPECT_TRUE(opening.OpenUntil(steady_clock::now() + seconds(20)));
}

TEST(CatalogOpening, OneThatFails_IsOpenedAnew_UntilTheProgramEnds) {
  std::atomic<bool> cancelled = false;
  std::atomic<int> tries = 0;
  CatalogOpening opening(
      "r",
      [&]() -> CatalogOpening::Opened {
        ++tries;
        return Error{Code::kUnavailable, "down"};
      },
      cancelled);
  for (int i = 0; i < 3; ++i) {
    const auto opened = opening.OpenUntil(steady_clock::now() + seconds(20));
    ASSERT_FALSE(opened);
    EXPECT_EQ(opened.error().message, "down");
  }
  EXPECT_EQ(tries, 3);
  cancelled = true;
  EXPECT_THAT(opening.OpenUntil(steady_clock::now() + seconds(20)).error().message, HasSubstr("ends"));
  EXPECT_EQ(tries, 3);
}

}  // namespace
}  // namespace firn::cli
