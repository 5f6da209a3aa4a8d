// SPDX-License-Identifier: Apache-2.0
#include "service/earlier_work.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <memory>
#include <string>

#include "ports/sqlite_database.h"

namespace firn::service {
namespace {

constexpr std::int64_t kHourMs = 3'600'000;
constexpr std::int64_t kDayMs = 24 * kHourMs;
constexpr TimestampMs kNow{1'000 * kDayMs};

class EarlierWorkTest : public testing::Test {
 protected:
  void SetUp() override {
    auto opened = StateStore::Open(path_);
    ASSERT_TRUE(opened.has_value());
    store_ = std::move(*opened);
    TableRecord record;
    record.row.id = "c/db.t";
    record.row.uuid = "u-1";
    record.row.files = 100;
    record.learned = WithReads(R"({"correction":{"a":1}})", {20, 25, kNow.value});
    StateUpdate update;
    update.table = &record;
    ASSERT_TRUE(store_->Write(update).has_value());
  }

  void TearDown() override {
    store_.reset();
    for (const char* end : {"", "-wal", "-shm"}) std::filesystem::remove(path_ + end);
  }

  void AddJob(std::int64_t ended_ms, const std::string& action, JobRow::State state, std::int64_t bytes) {
    JobRow job;
    job.id = std::to_string(++jobs_);
    job.table = "c/db.t";
    job.action = action;
    job.state = state;
    job.ended_ms = ended_ms;
    job.partitions = {"p=1"};
    job.predicted = {.bytes = bytes, .seconds = 1};
    job.measured = decide::Effect{.files_removed = 3, .bytes = bytes, .seconds = 2};
    StateUpdate update;
    update.job = &job;
    ASSERT_TRUE(store_->Write(update).has_value());
  }

  decide::EarlierRuns Read(TimestampMs now = kNow) {
    auto found = EarlierWorkOf(*store_, "c/db.t", now);
    EXPECT_TRUE(found.has_value());
    return found.value_or(decide::EarlierRuns());
  }

  const std::string path_ =
      (std::filesystem::temp_directory_path() / ("firn-earlier-" + std::to_string(::getpid()) + ".db")).string();
  std::unique_ptr<StateStore> store_;
  int jobs_ = 0;
};

TEST_F(EarlierWorkTest, MergesAndFoldsThatEndedWell_Count) {
  AddJob(kNow.value - 4 * kHourMs, "merge", JobRow::State::kDone, 1000);
  AddJob(kNow.value - 3 * kHourMs, "fold", JobRow::State::kDone, 1000);
  AddJob(kNow.value - 2 * kHourMs, "merge", JobRow::State::kDone, 2000);
  AddJob(kNow.value - kHourMs, "merge", JobRow::State::kDone, 2000);
  AddJob(kNow.value - kHourMs, "rewrite-deletes", JobRow::State::kDone, 77);
  AddJob(kNow.value - kHourMs, "merge", JobRow::State::kFailed, 77);
  AddJob(kNow.value - kHourMs, "merge", JobRow::State::kDone, 0);
  AddJob(kNow.value - 200 * kDayMs, "merge", JobRow::State::kDone, 77);
  const decide::EarlierRuns earlier = Read();
  EXPECT_EQ(earlier.runs, 4);
  EXPECT_EQ(earlier.bytes, 6000);
  EXPECT_DOUBLE_EQ(earlier.seconds, 8);
  EXPECT_DOUBLE_EQ(earlier.predicted_seconds, 4);
  EXPECT_EQ(earlier.merged_again, 3);
  ASSERT_TRUE(earlier.lasting_days.has_value());
  EXPECT_NEAR(*earlier.lasting_days, 1.0 / 24, 1e-9);
}

TEST_F(EarlierWorkTest, ARowWithoutWhatItsColumnPromises_IsLeftOut) {
  AddJob(kNow.value - 2 * kHourMs, "merge", JobRow::State::kDone, 1000);
  AddJob(kNow.value - kHourMs, "merge", JobRow::State::kDone, 2000);
  const auto database = ports::SqliteDatabase::Open(path_, {}).value();
  ASSERT_TRUE(database->WriteOnce(
      R"(UPDATE jobs SET row = replace(row, '"measured":', '"was_measured":') WHERE id = '2')", {}));
  EXPECT_EQ(Read().runs, 1);
  EXPECT_EQ(Read().bytes, 1000);
}

TEST_F(EarlierWorkTest, Reads_FadeAndAreForgotten) {
  const decide::EarlierRuns now = Read();
  ASSERT_TRUE(now.reads_a_day.has_value());
  EXPECT_DOUBLE_EQ(*now.reads_a_day, 20);
  EXPECT_DOUBLE_EQ(now.read_share, 0.25);
  EXPECT_LT(*Read(TimestampMs{kNow.value + 2 * kDayMs}).reads_a_day, 5);
  EXPECT_FALSE(Read(TimestampMs{kNow.value + 8 * kDayMs}).reads_a_day.has_value());
}

TEST_F(EarlierWorkTest, Learned_KeepsWhatElseIsInIt) {
  const auto memory = store_->Memory("c/db.t");
  ASSERT_TRUE(memory.has_value());
  EXPECT_NE(memory->learned.find("correction"), std::string::npos) << memory->learned;
  EXPECT_DOUBLE_EQ(ReadsOf(memory->learned).files_a_scan, 25);
  EXPECT_EQ(WithReads(R"({"a":1})", {}), R"({"a":1})");
  EXPECT_EQ(ReadsOf("no JSON").last_ms, 0);
  EXPECT_EQ(ReadsOf(R"({"reads":{"scans_a_day":-3,"files_a_scan":"x","last_ms":-5}})").scans_a_day, 0);
}

TEST_F(EarlierWorkTest, Table_IsFoundByItsUuid) {
  EXPECT_EQ(TableIdOfUuid(*store_, "u-1").value_or(""), "c/db.t");
  EXPECT_EQ(TableIdOfUuid(*store_, "u-2").error().code, Code::kNotFound);
  EXPECT_EQ(TableIdOfUuid(*store_, "").error().code, Code::kNotFound);
  EXPECT_EQ(store_->Memory("c/db.other").error().code, Code::kNotFound);
}

}  // namespace
}  // namespace firn::service
