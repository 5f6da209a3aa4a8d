// SPDX-License-Identifier: Apache-2.0
// A service that is asked to stop in the middle of something long: how soon it ends, and what it says of it.
#include <atomic>

#include "sim/service_fixture.h"

namespace firn::sim {
namespace {

using service::JobRow;
using std::chrono::milliseconds;

class ServiceStopTest : public ServiceFixture {
 protected:
  ServiceStopTest() {
    hook_ = [this](const ports::IoEvent& event) -> Status {
      if (event.moment != ports::IoMoment::kBefore) return Ok();
      const bool is_data = event.location.ends_with(".parquet");
      if (is_data ? !data_is_slow_ : !metadata_is_slow_) return Ok();
      ++slow_calls_;
      std::this_thread::sleep_for(milliseconds(100));
      return Ok();
    };
  }
  /// In milliseconds.
  std::int64_t StopTakes() {
    const auto start = std::chrono::steady_clock::now();
    service_->Stop();
    return std::chrono::duration_cast<milliseconds>(std::chrono::steady_clock::now() - start).count();
  }

  std::atomic<bool> metadata_is_slow_ = false;
  std::atomic<bool> data_is_slow_ = false;
  std::atomic<int> slow_calls_ = 0;
};

TEST_F(ServiceStopTest, ALongLook_EndsAtItsNextRead_AndIsMadeAgain) {
  for (int i = 0; i < 60; ++i) Append(1);  // a manifest each
  metadata_is_slow_ = true;
  Start();
  ASSERT_TRUE(Wait([&] { return slow_calls_ > 5; }));
  EXPECT_LT(StopTakes(), 2'000);
  EXPECT_LT(slow_calls_, 60) << "it was stopped, not finished";
  EXPECT_TRUE(Kinds().empty()) << Kinds().front();
  service_.reset();
  metadata_is_slow_ = false;
  Start();
  EXPECT_TRUE(Wait([&] { return Files() == 2; }));
  EXPECT_EQ(service_->Table(Id())->row.state, service::TableRow::State::kOk);
}

TEST_F(ServiceStopTest, ALongLookAtWhatIsNew_LosesNothing) {
  options_.sweep_interval_ms = 200;
  Start();
  ASSERT_TRUE(Wait([&] { return Files() == 2 && service_->Summary()->merges == 1; }));
  service_.reset();
  for (int i = 0; i < 40; ++i) Append(1);
  metadata_is_slow_ = true;
  Start();
  ASSERT_TRUE(Wait([&] { return slow_calls_ > 5; }));
  EXPECT_LT(StopTakes(), 2'000);
  service_.reset();
  metadata_is_slow_ = false;
  Start();
  EXPECT_TRUE(Wait([&] { return service_->Summary()->merges == 2; }));
  EXPECT_EQ(service_->Summary()->commits_seen, 40);
}

TEST_F(ServiceStopTest, AMergeThatPlans_IsCancelled) {
  for (int i = 0; i < 60; ++i) Append(1);
  std::atomic<bool> once = true;
  const ports::IoHook slow = hook_;
  hook_ = [&, slow](const ports::IoEvent& event) -> Status {
    // The second load of the table is that of the job.
    if (event.operation == ports::IoOperation::kLoadTable && !once.exchange(false)) metadata_is_slow_ = true;
    return slow(event);
  };
  Start();
  ASSERT_TRUE(Wait([&] { return slow_calls_ > 5 && Has("run"); }));
  EXPECT_LT(StopTakes(), 2'000);
  const auto jobs = service_->Jobs({}, {});
  ASSERT_EQ(jobs->items.size(), 1U);
  EXPECT_EQ(jobs->items[0].state, JobRow::State::kCancelled) << jobs->items[0].error;
  metadata_is_slow_ = false;
}

TEST_F(ServiceStopTest, AMergeThatRuns_IsCancelledBeforeItsCommit_AndDoneLater) {
  const std::vector<Row> rows = world_.Rows();
  data_is_slow_ = true;
  Start();
  ASSERT_TRUE(Wait([&] { return slow_calls_ > 2; }));
  const auto id = service_->AddRequest({.table = Id(), .action = "merge"});
  EXPECT_LT(StopTakes(), 2'000);
  const auto jobs = service_->Jobs({}, {});
  ASSERT_EQ(jobs->items.size(), 1U);
  EXPECT_EQ(jobs->items[0].state, JobRow::State::kCancelled) << jobs->items[0].error;
  EXPECT_TRUE(Has("cancelled"));
  EXPECT_EQ(world_.Rows(), rows);
  EXPECT_TRUE(world_.Orphans().empty()) << *world_.Orphans().begin();
  service_.reset();
  data_is_slow_ = false;
  Start();
  EXPECT_TRUE(Wait([&] { return Files() == 2 && service_->Requests({})->items[0].state == "done"; }));
  EXPECT_EQ(service_->Jobs({.table = "", .state = JobRow::State::kLost}, {})->items.size(), 0U);
  EXPECT_EQ(world_.Rows(), rows);
}

}  // namespace
}  // namespace firn::sim
