// SPDX-License-Identifier: Apache-2.0
//
// Analyses as work of the service: on request, by the clock, after all other work, and what is applied of them.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <thread>

#include "act/property_change.h"
#include "sim/service_fixture.h"

namespace firn::sim {
namespace {

class AnalysisTest : public ServiceFixture {
 protected:
  void SetUp() override {
    ServiceFixture::SetUp();
    options_.sweep_interval_ms = 200;
    options_.scratch = (folder_ / "scratch").string();
    std::filesystem::create_directories(options_.scratch);
  }
  void SetProperty(const std::string& key, std::optional<std::string> before, const std::string& after) {
    act::CommitEnvironment environment{*world_.catalog, *world_.storage, world_.clock, world_.random, {}, nullptr};
    const auto report = act::SetTableProperties(environment, {SimTable::Id(), "", "main"}, {{key, before, after}});
    ASSERT_TRUE(report.status.has_value()) << report.status.error().message;
  }
  std::string TargetSource() {
    const auto detail = service_->Table(Id());
    if (!detail) return "no table";
    for (const auto& setting : detail->settings) {
      if (setting.key == "target-file-size-bytes") return setting.source + " " + setting.value;
    }
    return "";
  }
  bool HasCode(const std::string& code) {
    const auto decisions = service_->Decisions({.table = Id()}, {.after = "", .limit = 500});
    return std::ranges::any_of(decisions->items, [&](const auto& row) {
      return row.json.find("\"code\":\"" + code + "\"") != std::string::npos;
    });
  }
  /// As if an analysis had found that, while the service was not there.
  void Remember(std::int64_t target) {
    auto store = service::StateStore::Open((folder_ / "state.db").string());
    ASSERT_TRUE(store.has_value());
    service::AnalysisRow row;
    row.table = Id();
    row.uuid = world_.table().Load()->metadata->table_uuid();
    row.made_ms = clock_->Now().value;
    row.word = "change-target";
    row.proposed_target_bytes = target;
    row.json = "{}";
    service::StateUpdate update;
    update.analysis = &row;
    ASSERT_TRUE((*store)->Write(update).has_value());
  }
};

TEST_F(AnalysisTest, Request_IsDone_AndKeptOverARestart) {
  Start();
  ASSERT_TRUE(Wait([&] { return Files() == 2; }));
  EXPECT_EQ(service_->Analysis(Id()).error().code, Code::kNotFound);
  EXPECT_EQ(service_->Analysis("c/no.t").error().code, Code::kNotFound);
  const auto before = world_.table().Load()->metadata_location;
  EXPECT_EQ(service_->AddRequest({.table = Id(), .action = "analyze", .partitions = {"part=1"}}).error().code,
            Code::kInvalidArgument);
  const auto id = service_->AddRequest({.table = Id(), .action = "analyze"});
  ASSERT_TRUE(id.has_value()) << id.error().message;
  ASSERT_TRUE(Wait([&] { return service_->Requests({})->items[0].state == "done"; }));
  const auto request = service_->Requests({})->items[0];
  const auto job = service_->Job(request.job);
  ASSERT_TRUE(job.has_value()) << request.job;
  EXPECT_EQ(job->state, service::JobRow::State::kDone);
  EXPECT_EQ(job->action, "analyze");
  const auto analysis = service_->Analysis(Id());
  ASSERT_TRUE(analysis.has_value()) << analysis.error().message;
  EXPECT_EQ(analysis->job, request.job);
  EXPECT_EQ(analysis->word, "leave");
  EXPECT_EQ(analysis->proposed_target_bytes, 0);
  EXPECT_NE(analysis->json.find("\"earlier\":{\"runs\":1"), std::string::npos) << analysis->json;
  EXPECT_EQ(service_->Table(Id())->analysed_ms, analysis->made_ms);
  EXPECT_EQ(service_->Summary()->merges, 1) << "an analysis is none";
  EXPECT_EQ(world_.table().Load()->metadata_location, before) << "it changes nothing";
  EXPECT_TRUE(std::filesystem::is_empty(options_.scratch));
  service_.reset();
  Start();
  ASSERT_TRUE(service_->Analysis(Id()).has_value());
  EXPECT_EQ(service_->Table(Id())->analysed_ms, analysis->made_ms);
}

TEST_F(AnalysisTest, ByTheClock_OnlyWhereItIsWanted_AndOnce) {
  Start();
  ASSERT_TRUE(Wait([&] { return Files() == 2; }));
  std::this_thread::sleep_for(std::chrono::milliseconds(600));
  EXPECT_FALSE(service_->Analysis(Id()).has_value()) << "it is off by default";
  SetProperty("firn.analyze.every-days", std::nullopt, "7");
  ASSERT_TRUE(Wait([&] { return service_->Analysis(Id()).has_value(); }));
  const auto made_ms = service_->Analysis(Id())->made_ms;
  std::this_thread::sleep_for(std::chrono::milliseconds(800));
  EXPECT_EQ(service_->Analysis(Id())->made_ms, made_ms) << "once a week";
  const auto jobs = service_->Jobs({}, {});
  EXPECT_EQ(std::ranges::count(jobs->items, "analyze", &service::JobRow::action), 1);
}

TEST_F(AnalysisTest, ByTheClock_NotInQuietHours) {
  SetProperty("firn.analyze.every-days", std::nullopt, "7");
  SetProperty("firn.quiet-hours", std::nullopt, "00:00-23:59");
  Start();
  ASSERT_TRUE(Wait([&] { return HasCode("quiet-hours"); })) << service_->Table(Id())->row.state_reason;
  std::this_thread::sleep_for(std::chrono::milliseconds(500));
  EXPECT_FALSE(service_->Analysis(Id()).has_value());
  EXPECT_EQ(Files(), 12);
}

TEST_F(AnalysisTest, Scratch_ThatIsNoFolder_FailsTheAnalysisAndNothingElse) {
  options_.scratch = (folder_ / "none").string();
  Start();
  ASSERT_TRUE(Wait([&] { return service_->Table(Id()).has_value(); }));
  ASSERT_TRUE(service_->AddRequest({.table = Id(), .action = "analyze"}).has_value());
  ASSERT_TRUE(Wait([&] {
    const auto state = service_->Requests({})->items[0].state;
    return state == "failed" || state == "done";
  })) << service_->Requests({})->items[0].state
      << " " << service_->Requests({})->items[0].reason;
  ASSERT_TRUE(Wait([&] { return Files() == 2; }));
  const auto detail = service_->Table(Id());
  EXPECT_EQ(detail->breaker.state, "closed");
  EXPECT_EQ(detail->row.state, service::TableRow::State::kOk);
}

TEST_F(AnalysisTest, Apply_IsASetting_OnRecord_AndTakenBack) {
  Remember(64 << 10);
  Start();
  ASSERT_TRUE(Wait([&] { return Files() == 2; }));
  EXPECT_EQ(TargetSource().substr(0, 7), "default") << "off unless somebody turns it on";
  SetProperty("firn.analyze.apply", std::nullopt, "true");
  ASSERT_TRUE(Wait([&] { return TargetSource() == "analyze 65536"; })) << TargetSource();
  EXPECT_TRUE(HasCode("analysis-applied"));
  EXPECT_FALSE(world_.table().Load()->metadata->properties().contains("write.target-file-size-bytes"))
      << "the table is not written";
  SetProperty("firn.analyze.apply", "true", "false");
  ASSERT_TRUE(Wait([&] { return TargetSource().starts_with("default"); })) << TargetSource();
  EXPECT_TRUE(HasCode("analysis-withdrawn"));
}

}  // namespace
}  // namespace firn::sim
