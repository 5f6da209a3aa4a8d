// SPDX-License-Identifier: Apache-2.0
#include "service/state_store.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace firn::service {
namespace {

class StateStoreTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::temp_directory_path() / ("firn-state-" + std::to_string(::getpid()) + "-" +
                                                        testing::UnitTest::GetInstance()->current_test_info()->name());
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
    path_ = (folder_ / "state.db").string();
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::unique_ptr<StateStore> Open(const StateLimits& limits = {}) {
    auto opened = StateStore::Open(path_, limits);
    EXPECT_TRUE(opened.has_value()) << (opened ? "" : ToString(opened.error()));
    return opened ? std::move(*opened) : nullptr;
  }

  std::filesystem::path folder_;
  std::string path_;
};

TableRecord RecordOf(const std::string& id) {
  TableRecord record;
  record.row.id = id;
  record.row.catalog = "c";
  record.row.name = id.substr(2);
  record.row.files = 12;
  record.row.entropy = 0.25;
  record.row.state = TableRow::State::kUnreadable;
  record.row.state_reason = "a \"quoted\" reason";
  record.paused = record.has_work = true;
  record.histogram = {{10, 20}, {1, 2, 3}, {4, 5, 6}};
  record.savings = {.jobs = 2, .files = 7, .measured_seconds = 1.5};
  record.learned = R"({"a":1})";
  record.partitions = std::string("\0binary\xff\0", 9);
  return record;
}

decide::Decision DecisionOf(const std::string& table, const std::string& reason) {
  decide::Decision decision;
  decision.table = table;
  decision.kind = decide::DecisionKind::kScan;
  decision.reason = reason;
  return decision;
}

TEST_F(StateStoreTest, Everything_IsThereAfterReopening) {
  const TableRecord record = RecordOf("c/db.t");
  const TrendPoint point{77, 12, 345, 0.5};
  JobRow job;
  job.id = "j1";
  job.table = "c/db.t";
  job.state = JobRow::State::kRunning;
  job.partitions = {"day=1", "day=2"};
  {
    const auto store = Open();
    StateUpdate update;
    update.table = &record;
    update.trend = &point;
    update.decisions = {DecisionOf("c/db.t", "first"), DecisionOf("c/db.t", "second")};
    update.job = &job;
    update.requests = {{.id = "r1", .request = {.table = "c/db.t", .action = "merge"}, .state = "waiting"}};
    ASSERT_TRUE(store->Write(update).has_value());
    EXPECT_EQ(update.decisions[1].id, 2);
    ASSERT_TRUE(store->Set("paused", "1").has_value());
  }
  const auto store = Open();
  const auto tables = store->Tables();
  ASSERT_TRUE(tables.has_value());
  ASSERT_EQ(tables->size(), 1U);
  const auto rows = store->TableRows();
  ASSERT_TRUE(rows.has_value());
  ASSERT_EQ(rows->size(), 1U);
  EXPECT_EQ(rows->front().id, "c/db.t");
  const TableRecord& read = tables->front();
  EXPECT_EQ(read.row.files, 12);
  EXPECT_EQ(read.row.entropy, 0.25);
  EXPECT_EQ(read.row.state, TableRow::State::kUnreadable);
  EXPECT_EQ(read.row.state_reason, record.row.state_reason);
  EXPECT_TRUE(read.paused);
  EXPECT_TRUE(read.has_work);
  EXPECT_EQ(read.histogram.now, record.histogram.now);
  EXPECT_EQ(read.savings.measured_seconds, 1.5);
  EXPECT_EQ(read.learned, record.learned);
  EXPECT_EQ(read.partitions, record.partitions);
  const auto trends = store->Trends("c/db.t");
  ASSERT_TRUE(trends.has_value());
  ASSERT_EQ(trends->size(), 1U);
  EXPECT_EQ(trends->front().bytes, 345);
  EXPECT_EQ(store->Get("paused").value(), "1");
  EXPECT_EQ(store->OpenRequests().value().front().request.action, "merge");
  EXPECT_EQ(store->Job("j1").value().partitions, job.partitions);
  const auto decisions = store->Decisions({.table = "c/db.t"}, {});
  ASSERT_TRUE(decisions.has_value());
  ASSERT_EQ(decisions->items.size(), 2U);
  EXPECT_NE(decisions->items[0].json.find("second"), std::string::npos) << "newest first";
}

TEST_F(StateStoreTest, Pages_ShowEveryDecisionOnce) {
  const auto store = Open();
  for (int i = 0; i < 23; ++i) {
    StateUpdate update;
    update.decisions = {DecisionOf(i % 2 == 0 ? "c/db.even" : "c/db.odd", "n" + std::to_string(i))};
    ASSERT_TRUE(store->Write(update).has_value());
  }
  std::vector<std::string> seen;
  PageOf page{.after = "", .limit = 5};
  do {
    const auto found = store->Decisions({.table = "c/db.even"}, page);
    ASSERT_TRUE(found.has_value());
    for (const DecisionRow& row : found->items) seen.push_back(row.id);
    page.after = found->next;
  } while (!page.after.empty());
  EXPECT_EQ(seen.size(), 12U);
  EXPECT_EQ(seen.front(), "23");
  EXPECT_EQ(seen.back(), "1");
  EXPECT_EQ(store->Decisions({}, {.after = "x", .limit = 5}).error().code, Code::kInvalidArgument);
  EXPECT_EQ(store->Jobs({}, {.after = "-1"}).error().code, Code::kInvalidArgument);
  EXPECT_EQ(store->EndedJobs("", {.after = "-1"}).error().code, Code::kInvalidArgument);
  EXPECT_EQ(store->Requests({.after = "-1"}).error().code, Code::kInvalidArgument);
  EXPECT_TRUE(store->Jobs({}, {.after = "019b1c6e-0000-7000-8000-000000000001"}).has_value());
}

TEST_F(StateStoreTest, Prune_KeepsTheNewestAndWhatIsOpen) {
  const auto store = Open({.decisions_max = 3, .jobs_max = 2});
  for (int i = 0; i < 6; ++i) {
    StateUpdate update;
    update.decisions = {DecisionOf("c/db.t", "n" + std::to_string(i))};
    JobRow job;
    job.id = "j" + std::to_string(i);
    job.state = i == 0 ? JobRow::State::kRunning : JobRow::State::kDone;
    update.job = &job;
    update.requests = {{.id = "r" + std::to_string(i), .request = {}, .state = i == 0 ? "waiting" : "done"}};
    ASSERT_TRUE(store->Write(update).has_value());
  }
  ASSERT_TRUE(store->Prune().has_value());
  EXPECT_EQ(store->Decisions({}, {}).value().items.size(), 3U);
  EXPECT_TRUE(store->Job("j0").has_value()) << "it runs";
  EXPECT_FALSE(store->Job("j1").has_value());
  EXPECT_TRUE(store->Job("j5").has_value());
  EXPECT_EQ(store->OpenRequests().value().size(), 1U);
}

TEST_F(StateStoreTest, OtherFiles_AreRefused) {
  std::ofstream(path_) << std::string(4096, 'x');
  EXPECT_EQ(StateStore::Open(path_).error().code, Code::kCorrupt);
  std::filesystem::remove(path_);
  EXPECT_EQ(StateStore::OpenToRead(path_).error().code, Code::kNotFound);
  {
    const auto foreign = ports::SqliteDatabase::Open(path_, {.create = true});
    ASSERT_TRUE((*foreign)->Run("CREATE TABLE iceberg_tables (a)").has_value());
  }
  EXPECT_EQ(StateStore::Open(path_).error().code, Code::kInvalidArgument) << "a catalog is not written into";
  EXPECT_EQ(StateStore::OpenToRead(path_).error().code, Code::kInvalidArgument);
  std::filesystem::remove(path_);
  ASSERT_TRUE(Open()->Set("version", "99").has_value());
  EXPECT_EQ(StateStore::Open(path_).error().code, Code::kUnsupported);
  EXPECT_EQ(StateStore::OpenToRead(path_).error().code, Code::kUnsupported);
}

TEST_F(StateStoreTest, DamagedFile_IsFoundOnOpening) {
  {
    const auto store = Open();
    for (int i = 0; i < 200; ++i) {
      StateUpdate update;
      update.decisions = {DecisionOf("c/db.t", std::string(500, 'r'))};
      ASSERT_TRUE(store->Write(update).has_value());
    }
  }
  ASSERT_FALSE(std::filesystem::exists(path_ + "-wal")) << "closing moves everything into the file";
  std::fstream file(path_, std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(4096 * 3);
  file << std::string(4096 * 4, '\x5a');
  file.close();
  const auto opened = StateStore::Open(path_);
  ASSERT_FALSE(opened.has_value());
  EXPECT_EQ(opened.error().code, Code::kCorrupt);
}

}  // namespace
}  // namespace firn::service
