// SPDX-License-Identifier: Apache-2.0
// A service under a clock that somebody sets back by an hour and forward by a day, while it runs.
#include <atomic>

#include "sim/service_fixture.h"

namespace firn::sim {
namespace {

constexpr std::int64_t kHourMs = 3'600'000, kDayMs = 24 * kHourMs;

/// The system's clock, and how far somebody has set it. Durations are not touched, as those of the system are not.
class SetClock final : public ports::Clock {
 public:
  TimestampMs Now() override { return {system_.Now().value + by_ms.load()}; }
  std::int64_t MonotonicNs() override { return system_.MonotonicNs(); }
  void SleepMs(std::int64_t duration_ms) override { system_.SleepMs(duration_ms); }
  std::atomic<std::int64_t> by_ms = 0;

 private:
  ports::SystemClock system_;
};

class ServiceClockTest : public ServiceFixture {
 protected:
  void SetUp() override {
    ServiceFixture::SetUp();
    options_.sweep_interval_ms = 300;
    clock_ = &set_clock_;
  }
  /// What came is found and merged within seconds, by the sweep, by an event and by a request.
  void WorksOn() {
    const std::int64_t merges = service_->Summary()->merges;
    Append(8);
    EXPECT_TRUE(Wait([&] { return Files() == 2 && service_->Summary()->merges > merges; })) << "by the sweep";
    Append(8);
    service_->AcceptEvent(Event());
    EXPECT_TRUE(Wait([&] { return Files() == 2 && service_->Summary()->merges > merges + 1; })) << "by an event";
    ASSERT_TRUE(service_->AddRequest({.table = Id(), .action = "scan"}).has_value());
    EXPECT_TRUE(Wait([&] { return service_->Requests({})->items[0].state == "done"; })) << "by a request";
  }
  void ShowsNoOddTimes() {
    const std::int64_t now_ms = set_clock_.Now().value;
    EXPECT_GE(MetricOf("firn_agenda_late_seconds"), 0);
    EXPECT_GE(service_->Summary()->staleness_bound_ms, 0);
    const auto queue = service_->Queue({});
    for (const auto& row : queue->items) {
      EXPECT_LE(row.not_before_ms, now_ms + kDayMs + kHourMs) << row.why_here;
      EXPECT_EQ(row.why_here.find(" -"), std::string::npos) << row.why_here;
    }
    const auto partitions = service_->Partitions(Id(), {});
    for (const auto& row : partitions->items) EXPECT_GE(row.noise, 0) << row.reason;
    const auto jobs = service_->Jobs({}, {});
    for (const auto& job : jobs->items) {
      EXPECT_GE(job.measured ? job.measured->seconds : 0, 0);
    }
  }

  SetClock set_clock_;
};

TEST_F(ServiceClockTest, SetBackByAnHour_NothingStarves) {
  Start();
  ASSERT_TRUE(Wait([&] { return Files() == 2; }));
  set_clock_.by_ms -= kHourMs;
  WorksOn();
  ShowsNoOddTimes();
}

TEST_F(ServiceClockTest, SetBackWhileARequestWaits_ItIsAnswered) {
  Start();
  ASSERT_TRUE(Wait([&] { return Files() == 2; }));
  const auto id = service_->AddRequest({.table = Id(), .action = "scan"});
  set_clock_.by_ms -= kHourMs;
  ASSERT_TRUE(id.has_value());
  EXPECT_TRUE(Wait([&] { return service_->Requests({})->items[0].state == "done"; }));
}

TEST_F(ServiceClockTest, SetForwardByADay_NoBurst_AndBackAgain) {
  Start();
  ASSERT_TRUE(Wait([&] { return Files() == 2 && service_->Summary()->jobs_running == 0; }));
  const double scans = MetricOf("firn_table_scans_total");
  const std::int64_t merges = service_->Summary()->merges;
  set_clock_.by_ms += kDayMs;
  std::this_thread::sleep_for(std::chrono::milliseconds(1'500));  // five sweeps
  EXPECT_LE(MetricOf("firn_table_scans_total"), scans + 1);
  EXPECT_EQ(service_->Summary()->merges, merges);
  WorksOn();
  ShowsNoOddTimes();
  set_clock_.by_ms -= kDayMs;
  WorksOn();
  ShowsNoOddTimes();
}

TEST_F(ServiceClockTest, WorkThatWaits_KeepsItsTurn) {
  Start();
  ASSERT_TRUE(Wait([&] { return Files() == 2; }));
  ASSERT_TRUE(service_->Pause("").has_value());
  Append(8);
  ASSERT_TRUE(Wait([&] { return service_->Queue({})->items.size() == 1; }));
  for (const std::int64_t by_ms : {-kHourMs, kDayMs, -kDayMs}) {
    set_clock_.by_ms += by_ms;
    std::this_thread::sleep_for(std::chrono::milliseconds(400));
    EXPECT_EQ(service_->Queue({})->items.size(), 1U);
    ShowsNoOddTimes();
  }
  ASSERT_TRUE(service_->Resume("").has_value());
  EXPECT_TRUE(Wait([&] { return Files() == 2; }));
}

}  // namespace
}  // namespace firn::sim
