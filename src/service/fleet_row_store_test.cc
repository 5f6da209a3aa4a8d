// SPDX-License-Identifier: Apache-2.0
#include "service/fleet_row_store.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <set>

namespace firn::service {
namespace {

TableDetail Table(const std::string& name, double score) {
  TableDetail table;
  table.row.id = "c/" + name;
  table.row.catalog = "c";
  table.row.name = name;
  table.row.score = score;
  return table;
}

TEST(FleetRowStore, PagesOfTablesShowEachOnceWorstFirst) {
  FleetRowStore fleet;
  for (int i = 0; i < 257; ++i) fleet.PutTable(Table(fmt::format("db.t{}", i), i % 10 * 10.0 + 0.1));
  TableDetail broken = Table("db.broken", 100);
  broken.row.state = TableRow::State::kUnreadable;
  fleet.PutTable(broken);
  PageOf page{.after = {}, .limit = 50};
  std::vector<TableRow> seen;
  std::set<std::string> ids;
  do {
    const auto got = fleet.Tables({}, page);
    ASSERT_TRUE(got) << ToString(got.error());
    ASSERT_LE(got->items.size(), 50U);
    for (const TableRow& row : got->items) {
      seen.push_back(row);
      ids.insert(row.id);
    }
    page.after = got->next;
    // A table that comes in between does not disturb the walk.
    fleet.PutTable(Table(fmt::format("db.new{}", seen.size()), 0));
  } while (!page.after.empty());
  EXPECT_EQ(ids.size(), seen.size());
  EXPECT_EQ(seen.size(), 258U);
  EXPECT_EQ(seen.front().id, "c/db.broken");
  for (std::size_t i = 2; i < seen.size(); ++i) EXPECT_LE(seen[i - 1].score, seen[i].score);
}

TEST(FleetRowStore, SearchStateAndOrderSelect) {
  FleetRowStore fleet;
  fleet.PutTable(Table("Sales.orders", 50));
  fleet.PutTable(Table("web.clicks", 40));
  EXPECT_EQ(fleet.Tables({.search = "sALES"}, {})->items.size(), 1U);
  EXPECT_EQ(fleet.Tables({.search = "nothing"}, {})->items.size(), 0U);
  EXPECT_EQ(fleet.Tables({.order = TableFilter::Order::kName}, {})->items[0].name, "Sales.orders");
  ASSERT_TRUE(fleet.Pause("c/web.clicks"));
  EXPECT_EQ(fleet.Tables({.state = TableRow::State::kPaused}, {})->items[0].name, "web.clicks");
  ASSERT_TRUE(fleet.Resume("c/web.clicks"));
  EXPECT_TRUE(fleet.Tables({.state = TableRow::State::kPaused}, {})->items.empty());
  EXPECT_EQ(fleet.Pause("c/none").error().code, Code::kNotFound);
}

TEST(FleetRowStore, ACursorThatIsNotOursIsRefused) {
  FleetRowStore fleet;
  fleet.PutTable(Table("db.t", 1));
  for (const char* cursor : {"x", "1|", "1|b|c", "||", "1|2"}) {
    const auto got = fleet.Tables({}, {.after = cursor});
    ASSERT_FALSE(got) << cursor;
    EXPECT_EQ(got.error().code, Code::kInvalidArgument);
  }
}

TEST(FleetRowStore, JobsAndDecisionsAreNewestFirstAndFiltered) {
  FleetRowStore fleet;
  for (int i = 0; i < 30; ++i) {
    fleet.PutJob({.id = fmt::format("j{:03}", i),
                  .table = i % 2 == 0 ? "a" : "b",
                  .state = i % 3 == 0 ? JobRow::State::kFailed : JobRow::State::kDone});
  }
  const auto first = fleet.Jobs({.table = "a"}, {.limit = 10});
  ASSERT_EQ(first->items.size(), 10U);
  EXPECT_EQ(first->items[0].id, "j028");
  const auto second = fleet.Jobs({.table = "a"}, {.after = first->next, .limit = 10});
  EXPECT_EQ(second->items.size(), 5U);
  EXPECT_EQ(second->items.back().id, "j000");
  EXPECT_TRUE(second->next.empty());
  EXPECT_EQ(fleet.Jobs({.state = JobRow::State::kFailed}, {.limit = 10})->next, "");
  EXPECT_EQ(fleet.Job("none").error().code, Code::kNotFound);
}

TEST(FleetNews, ASlowReaderIsToldThatItLostSome) {
  FleetNews news;
  const std::uint64_t start = news.Position();
  for (std::size_t i = 0; i < kNewsMax + 5; ++i) news.Publish(News::Kind::kTable, fmt::format("t{}", i));
  const NewsSince since = news.After(start, 10'000, 0);
  EXPECT_TRUE(since.lost);
  EXPECT_EQ(since.items.size(), kNewsMax);
  EXPECT_FALSE(news.After(since.position, 10, 0).lost);
  EXPECT_TRUE(news.After(since.position + 1000, 10, 0).lost) << "a position of another life of the service";
}

TEST(FleetNews, EqualNotesThatNobodyReadAreOne) {
  FleetNews news;
  news.Publish(News::Kind::kQueue);
  news.Publish(News::Kind::kQueue);
  EXPECT_EQ(news.After(0, 10, 0).items.size(), 1U);
  news.Publish(News::Kind::kQueue);
  EXPECT_EQ(news.After(1, 10, 0).items.size(), 1U) << "a reader of the first one must hear of the second";
}

TEST(FleetRows, WordsGoThereAndBack) {
  for (const char* word : {"waiting", "running", "done", "failed", "cancelled", "lost"}) {
    ASSERT_TRUE(JobStateOf(word)) << word;
    EXPECT_EQ(Word(*JobStateOf(word)), word);
  }
  for (const char* word : {"ok", "paused", "failing", "unreadable", "dropped"}) {
    ASSERT_TRUE(TableStateOf(word)) << word;
    EXPECT_EQ(Word(*TableStateOf(word)), word);
  }
  EXPECT_FALSE(TableStateOf("fine"));
}

}  // namespace
}  // namespace firn::service
