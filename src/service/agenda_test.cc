// SPDX-License-Identifier: Apache-2.0
#include "service/agenda.h"

#include <gtest/gtest.h>

#include <set>
#include <thread>

namespace firn::service {
namespace {

TEST(AgendaTest, Items_ComeWhenTheyAreDue_FirstFirst) {
  Agenda agenda;
  agenda.Add({"late", 300, decide::Cause::kSweep, false});
  agenda.Add({"early", 100, decide::Cause::kSweep, false});
  EXPECT_FALSE(agenda.Take(50, 0).has_value());
  EXPECT_EQ(agenda.LateMs(150), 50);
  EXPECT_EQ(agenda.Take(400, 0)->table, "early");
  EXPECT_EQ(agenda.Take(400, 0)->table, "late");
  EXPECT_FALSE(agenda.Take(400, 0).has_value());
}

TEST(AgendaTest, SameTable_IsOneLook_WithTheEarlierTimeAndTheStrongerCause) {
  Agenda agenda;
  agenda.Add({"t", 300, decide::Cause::kSweep, false});
  agenda.Add({"t", 100, decide::Cause::kRequest, true});
  agenda.Add({"t", 200, decide::Cause::kCommit, false});
  EXPECT_EQ(agenda.size(), 1U);
  const auto item = agenda.Take(100, 0);
  ASSERT_TRUE(item.has_value());
  EXPECT_EQ(item->cause, decide::Cause::kRequest);
  EXPECT_TRUE(item->is_full);
}

TEST(AgendaTest, WhatComesDuringALook_WaitsForItsEndAndIsNotLost) {
  Agenda agenda;
  agenda.Add({"t", 0, decide::Cause::kCommit, false});
  ASSERT_TRUE(agenda.Take(1, 0).has_value());
  agenda.Add({"t", 0, decide::Cause::kCommit, false});
  EXPECT_FALSE(agenda.Take(1, 0).has_value()) << "somebody looks at it";
  agenda.Done("t");
  EXPECT_TRUE(agenda.Take(1, 0).has_value());
  agenda.Done("t");
  EXPECT_FALSE(agenda.Take(1, 0).has_value());
}

TEST(AgendaTest, ManyTakers_NeverHoldTheSameTable) {
  Agenda agenda;
  std::mutex mutex;
  std::set<std::string> held;
  int taken = 0;
  bool twice = false;
  const auto work = [&] {
    while (const auto item = agenda.Take(1, 200)) {
      {
        const std::lock_guard lock(mutex);
        twice |= !held.insert(item->table).second;
        ++taken;
      }
      {
        const std::lock_guard lock(mutex);
        held.erase(item->table);
      }
      agenda.Done(item->table);
    }
  };
  for (int i = 0; i < 200; ++i) agenda.Add({"t" + std::to_string(i % 50), 0, decide::Cause::kCommit, false});
  std::thread first(work), second(work);
  first.join();
  second.join();
  EXPECT_FALSE(twice);
  EXPECT_EQ(taken, 50);
}

}  // namespace
}  // namespace firn::service
