// SPDX-License-Identifier: Apache-2.0
#include "cli/progress.h"

#include <gtest/gtest.h>

namespace firn::cli {
namespace {

TEST(Progress, OnATerminal_DrawsOneLineAgain) {
  MemoryTerminal terminal(true);
  ports::ManualClock clock({1000});
  {
    Progress progress(terminal, clock, {.title = "merging"});
    progress.Update(0, 4 << 20);
    EXPECT_EQ(terminal.err, "");
    clock.SleepMs(2000);
    progress.Update(1 << 20, 4 << 20);
    EXPECT_EQ(terminal.err,
              "\r\x1b[Kmerging [######..................] 1.00 MiB of 4.00 MiB (25 %), 512 KiB/s, 6.0 s left");
    terminal.err.clear();
    progress.Update(2 << 20, 4 << 20);
    EXPECT_EQ(terminal.err, "") << "not more often than ten times a second";
    progress.Note("committed");
    EXPECT_TRUE(terminal.err.starts_with("\r\x1b[Kcommitted\nmerging [")) << terminal.err;
    terminal.err.clear();
  }
  EXPECT_EQ(terminal.err, "\r\x1b[K");
}

TEST(Progress, Elsewhere_WritesALineEveryTenSeconds) {
  MemoryTerminal terminal(false);
  ports::ManualClock clock({0});
  Progress progress(terminal, clock, {.title = "merging"});
  for (int i = 0; i < 30; ++i) {
    clock.SleepMs(1000);
    progress.Update(i, 100);
  }
  EXPECT_EQ(std::count(terminal.err.begin(), terminal.err.end(), '\n'), 3);
  EXPECT_EQ(terminal.err.find('\x1b'), std::string::npos);
  EXPECT_EQ(terminal.out, "");
}

TEST(Progress, Silent_WritesNothing) {
  MemoryTerminal terminal(true);
  ports::ManualClock clock({0});
  Progress progress(terminal, clock, {.title = "merging", .silent = true});
  clock.SleepMs(5000);
  progress.Update(1, 2);
  progress.Note("x");
  progress.Finish();
  EXPECT_EQ(terminal.err, "");
}

}  // namespace
}  // namespace firn::cli
