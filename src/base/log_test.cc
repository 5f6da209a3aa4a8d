// SPDX-License-Identifier: Apache-2.0
#include "base/log.h"

#include <gtest/gtest.h>

namespace firn {
namespace {

std::string Written(LogLevel level_min, LogLevel level, std::string_view message) {
  SetLogLevel(level_min);
  testing::internal::CaptureStderr();
  Log(level, message);
  SetLogLevel(LogLevel::kWarn);  // the default
  return testing::internal::GetCapturedStderr();
}

TEST(Log, Message_IsOneLineWithItsLevel) {
  EXPECT_EQ(Written(LogLevel::kInfo, LogLevel::kInfo, "lake/db.t: done"), "firn info: lake/db.t: done\n");
}

TEST(Log, ControlCharacters_DoNotMakeASecondLine) {
  EXPECT_EQ(Written(LogLevel::kInfo, LogLevel::kWarn, "lake/db.a\nfirn error: forged\x1b[2J"),
            "firn warn: lake/db.a firn error: forged [2J\n");
}

TEST(Log, BelowTheLevel_IsDropped) {
  EXPECT_EQ(Written(LogLevel::kWarn, LogLevel::kInfo, "no"), "");
  EXPECT_EQ(Written(LogLevel::kDebug, LogLevel::kOff, "no"), "");
}

TEST(Log, Prefix_StandsBeforeEveryLine_UntilItIsTakenAway) {
  SetLogPrefix([] { return std::string("2026-11-30T16:00:00Z "); });
  const std::string with = Written(LogLevel::kInfo, LogLevel::kInfo, "a");
  SetLogPrefix({});
  EXPECT_EQ(with, "2026-11-30T16:00:00Z firn info: a\n");
  EXPECT_EQ(Written(LogLevel::kInfo, LogLevel::kInfo, "a"), "firn info: a\n");
}

}  // namespace
}  // namespace firn
