// SPDX-License-Identifier: Apache-2.0
#include "ports/event_source.h"

#include <gtest/gtest.h>

#include <thread>

namespace firn::ports {
namespace {

TableEvent Commit(std::string table, std::int64_t snapshot) {
  return {.catalog = "c", .name_space = {"db"}, .table = std::move(table), .snapshot_id = snapshot};
}

TEST(EventQueue, EqualCommitsAreOneAndTheNewestStays) {
  EventQueue queue(10);
  EXPECT_EQ(queue.Push(Commit("a", 1)), EventQueue::Pushed::kNew);
  EXPECT_EQ(queue.Push(Commit("b", 2)), EventQueue::Pushed::kNew);
  EXPECT_EQ(queue.Push(Commit("a", 3)), EventQueue::Pushed::kDuplicate);
  const auto taken = queue.Take(10, 0);
  ASSERT_EQ(taken.size(), 2U);
  EXPECT_EQ(taken[0].table, "b");
  EXPECT_EQ(taken[1].snapshot_id, 3);
  EXPECT_EQ(queue.counts().duplicates, 1);
  EXPECT_EQ(queue.Push(Commit("a", 3)), EventQueue::Pushed::kNew) << "what was taken is not waiting any more";
}

TEST(EventQueue, NamesThatOnlyLookAlikeAreDifferentTables) {
  EventQueue queue(10);
  TableEvent one{.name_space = {"a", "b"}, .table = "c"};
  TableEvent two{.name_space = {"a"}, .table = "b.c"};
  TableEvent three{.name_space = {"a1:b"}, .table = "c"};
  for (const TableEvent& event : {one, two, three}) EXPECT_EQ(queue.Push(event), EventQueue::Pushed::kNew);
}

TEST(EventQueue, AFullQueueDropsItsOldestAndCounts) {
  EventQueue queue(3);
  for (int i = 0; i < 5; ++i) queue.Push(Commit("t" + std::to_string(i), i));
  const auto taken = queue.Take(10, 0);
  ASSERT_EQ(taken.size(), 3U);
  EXPECT_EQ(taken[0].table, "t2");
  EXPECT_EQ(queue.counts().dropped, 2);
  EXPECT_EQ(queue.counts().taken_in, 5);
}

TEST(EventQueue, ScansWithOtherFiguresEachCount) {
  EventQueue queue(10);
  TableEvent scan = Commit("a", 1);
  scan.kind = TableEvent::Kind::kScan;
  scan.scan = ScanFigures{.data_files = 10};
  EXPECT_EQ(queue.Push(scan), EventQueue::Pushed::kNew);
  EXPECT_EQ(queue.Push(Commit("a", 1)), EventQueue::Pushed::kNew) << "a commit is not a scan";
  scan.scan->data_files = 11;
  EXPECT_EQ(queue.Push(scan), EventQueue::Pushed::kNew);
  EXPECT_EQ(queue.Push(scan), EventQueue::Pushed::kDuplicate);
}

TEST(EventQueue, TakeWaitsForAnotherThreadAndCloseEndsTheWait) {
  EventQueue queue(10);
  std::thread writer([&] { queue.Push(Commit("a", 1)); });
  EXPECT_EQ(queue.Take(1, 60'000).size(), 1U);
  writer.join();
  std::thread closer([&] { queue.Close(); });
  EXPECT_TRUE(queue.Take(1, 60'000).empty());
  closer.join();
}

TEST(TableEvent, TextNamesTheTableOrItsLocation) {
  EXPECT_EQ(TableText(Commit("t", 1)), "c/db.t");
  EXPECT_EQ(TableText({.location = "s3://b/t"}), "s3://b/t");
}

}  // namespace
}  // namespace firn::ports
