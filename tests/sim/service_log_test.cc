// SPDX-License-Identifier: Apache-2.0
//
// What the service writes to its log while it works: one line for each thing that somebody who was woken up asks about.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <sstream>

#include "base/log.h"
#include "sim/service_fixture.h"

namespace firn::sim {
namespace {

class ServiceLogTest : public ServiceFixture {
 protected:
  void SetUp() override {
    ServiceFixture::SetUp();
    testing::internal::CaptureStderr();
  }
  void TearDown() override {
    service_.reset();
    SetLogLevel(LogLevel::kWarn);  // the default
    if (!is_read_) testing::internal::GetCapturedStderr();
  }
  /// Ends the service.
  std::string Text() {
    service_.reset();
    is_read_ = true;
    return testing::internal::GetCapturedStderr();
  }
  /// The lines that hold `words` in this order.
  static std::vector<std::string> Lines(const std::string& text, const std::vector<std::string>& words) {
    std::vector<std::string> found;
    std::istringstream stream(text);
    for (std::string line; std::getline(stream, line);) {
      std::size_t at = 0;
      for (const std::string& word : words) {
        at = line.find(word, at);
        if (at == std::string::npos) break;
        at += word.size();
      }
      if (at != std::string::npos) found.push_back(line);
    }
    return found;
  }
  bool IsIdle() {
    return Files() == 2 && Has("done") && service_->Summary()->queue_length == 0 &&
           service_->Summary()->jobs_running == 0;
  }

 private:
  bool is_read_ = false;
};

TEST_F(ServiceLogTest, Info_TellsOfTheTableAndOfTheJobWithWhatItDidAndTook) {
  SetLogLevel(LogLevel::kInfo);
  Start();
  ASSERT_TRUE(Wait([&] { return IsIdle(); }));
  const std::string job = service_->Jobs({}, {})->items[0].id;
  const std::string text = Text();
  EXPECT_EQ(Lines(text, {"firn info: the service ", " starts: 1 catalog, "}).size(), 1U) << text;
  EXPECT_EQ(Lines(text, {"firn info: " + Id() + ": a new table: 12 files in 2 partitions"}).size(), 1U) << text;
  EXPECT_EQ(Lines(text, {Id() + ": job " + job, ": merge: Starts: "}).size(), 1U) << text;
  EXPECT_EQ(Lines(text, {Id() + ": job " + job, ": merge: done: 12 files replaced, 10 files less than before, in ",
                         " It read ", "ms were predicted; 1 commit."})
                .size(),
            1U)
      << text;
  EXPECT_EQ(Lines(text, {"firn info: the service has ended"}).size(), 1U) << text;
  EXPECT_TRUE(Lines(text, {"firn debug:"}).empty()) << text;
}

TEST_F(ServiceLogTest, Debug_HasTheOtherDecisionsAndTheLooksToo) {
  SetLogLevel(LogLevel::kDebug);
  Start();
  ASSERT_TRUE(Wait([&] { return IsIdle(); }));
  const std::string text = Text();
  EXPECT_EQ(Lines(text, {"firn debug: " + Id() + ": scan: "}).size(), 1U) << text;
  EXPECT_FALSE(Lines(text, {"firn debug: " + Id() + ": looked at (sweep): "}).empty()) << text;
}

TEST_F(ServiceLogTest, WithoutBeingAsked_OnlyTroubleIsTold) {
  Start();
  ASSERT_TRUE(Wait([&] { return IsIdle(); }));
  EXPECT_EQ(Text(), "");
}

TEST_F(ServiceLogTest, Conflict_IsToldWithTheRetry) {
  SetLogLevel(LogLevel::kInfo);
  std::atomic<int> commits = 0;
  hook_ = [&](const ports::IoEvent& call) -> Status {
    if (call.operation != ports::IoOperation::kCommitTable || commits++ > 0) return Ok();
    return Error{Code::kConflict, "the base is not the current metadata"};
  };
  Start();
  ASSERT_TRUE(Wait([&] { return IsIdle(); }));
  const std::string text = Text();
  EXPECT_EQ(Lines(text, {"firn info: db.t: attempt 1 of ", ": others were faster"}).size(), 1U) << text;
  EXPECT_EQ(Lines(text, {": merge: done: ", "1 commit after 1 more attempt because others were faster"}).size(), 1U)
      << text;
}

TEST_F(ServiceLogTest, FailedJob_IsAWarning) {
  hook_ = [&](const ports::IoEvent& call) -> Status {
    if (call.operation != ports::IoOperation::kCommitTable) return Ok();
    return Error{Code::kInvalidArgument, "the catalog\nforbids it"};
  };
  Start();
  ASSERT_TRUE(Wait([&] { return Has("failed"); }));
  const std::string text = Text();
  EXPECT_EQ(Lines(text, {"firn warn: " + Id() + ": job ", ": merge: failed: ", "the catalog forbids it"}).size(), 1U)
      << text;
}

TEST_F(ServiceLogTest, DroppedTable_IsTold_AndSoIsItsReturn) {
  SetLogLevel(LogLevel::kInfo);
  options_.sweep_interval_ms = 200;
  std::atomic<bool> is_gone = false;
  hook_ = [&](const ports::IoEvent& call) -> Status {
    if (call.operation != ports::IoOperation::kLoadTable || !is_gone) return Ok();
    return Error{Code::kNotFound, "there is no table"};
  };
  Start();
  ASSERT_TRUE(Wait([&] { return IsIdle(); }));
  is_gone = true;
  ASSERT_TRUE(Wait([&] { return service_->Table(Id())->row.state == service::TableRow::State::kDropped; }));
  is_gone = false;
  ASSERT_TRUE(Wait([&] { return service_->Table(Id())->row.state == service::TableRow::State::kOk; }));
  const std::string text = Text();
  EXPECT_EQ(Lines(text, {"firn info: " + Id() + ": its catalog does not have it any more"}).size(), 1U) << text;
  EXPECT_EQ(Lines(text, {"firn info: " + Id() + ": its catalog has it again"}).size(), 1U) << text;
}

TEST_F(ServiceLogTest, Request_IsToldWhenItComesAndWhenItIsRefused) {
  SetLogLevel(LogLevel::kInfo);
  Start();
  ASSERT_TRUE(Wait([&] { return IsIdle(); }));
  ASSERT_TRUE(service_->AddRequest({.table = Id(), .action = "merge", .partitions = {"p=nope"}}).has_value());
  ASSERT_TRUE(Wait([&] { return service_->Requests({})->items[0].state == "refused"; }));
  const std::string text = Text();
  EXPECT_EQ(Lines(text, {Id() + ": request ", ": merge p=nope: waiting"}).size(), 1U) << text;
  EXPECT_EQ(Lines(text, {Id() + ": request ", ": merge p=nope: refused: There is no partition p=nope."}).size(), 1U)
      << text;
}

TEST_F(ServiceLogTest, PausedAndResumed_AreTold) {
  SetLogLevel(LogLevel::kInfo);
  Start();
  ASSERT_TRUE(Wait([&] { return IsIdle(); }));
  ASSERT_TRUE(service_->Pause("").has_value());
  ASSERT_TRUE(service_->Resume("").has_value());
  ASSERT_TRUE(service_->Pause(Id()).has_value());
  const std::string text = Text();
  EXPECT_EQ(Lines(text, {"firn info: the service is paused"}).size(), 1U) << text;
  EXPECT_EQ(Lines(text, {"firn info: the service is resumed"}).size(), 1U) << text;
  EXPECT_EQ(Lines(text, {"firn info: " + Id() + ": paused"}).size(), 1U) << text;
}

}  // namespace
}  // namespace firn::sim
