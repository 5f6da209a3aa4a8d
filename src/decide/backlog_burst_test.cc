// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "decide/backlog.h"
#include "decide/backlog_fixture.h"

namespace firn::decide {
namespace {

/// A database without work for long, and one that always has exactly one job in flight, gain no right to a flood.
TEST(BacklogBurst, NobodySavesUp) {
  BacklogWorld world(2);
  int number = 0;
  auto offer = [&](const std::string& database) {
    world.candidates.push_back(Work(fmt::format("w{:05}", number++), database, 100));
    world.candidates.back().created_at = world.now;
  };
  for (int step = 0; step < 200; ++step) {
    offer("lake/busy");
    if (step % 2 == 0) offer("lake/single");
    world.StartAll();
    world.now = After(100 * kSecondMs, world.now);
    world.EndJobs(1);
  }
  world.candidates.clear();
  for (int i = 0; i < 40; ++i) {
    for (const char* database : {"lake/busy", "lake/single", "lake/late"}) offer(database);
  }
  std::map<std::string, int> started;
  for (int step = 0; step < 15; ++step) {
    world.StartAll();
    for (const RunningJob& job : world.running) ++started[job.database];
    world.now = After(100 * kSecondMs, world.now);
    world.EndJobs(1);
  }
  for (const char* database : {"lake/busy", "lake/single", "lake/late"}) {
    EXPECT_GE(started[database], 9) << database;
    EXPECT_LE(started[database], 11) << database;
  }
}

}  // namespace
}  // namespace firn::decide
