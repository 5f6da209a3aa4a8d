// SPDX-License-Identifier: Apache-2.0
// A service whose state lies on a disk that becomes full, and has space again later.
#include <sys/mount.h>

#include <atomic>
#include <fstream>

#include "sim/service_fixture.h"

namespace firn::sim {
namespace {

using service::JobRow;

class ServiceDiskTest : public ServiceFixture {
 protected:
  void SetUp() override {
    ServiceFixture::SetUp();
    if (::mount("tmpfs", folder_.c_str(), "tmpfs", 0, "size=2m") != 0) GTEST_SKIP() << "needs the right to mount";
    is_mounted_ = true;
  }
  void TearDown() override {
    service_.reset();
    if (is_mounted_) ::umount2(folder_.c_str(), MNT_DETACH);
  }
  void FillDisk() {
    std::ofstream filler(folder_ / "filler", std::ios::binary);
    const std::string block(4'096, 'x');
    while (filler.write(block.data(), static_cast<std::streamsize>(block.size())).flush()) {
    }
  }
  void FreeDisk() { std::filesystem::remove(folder_ / "filler"); }
  Result<std::string> Ask() { return service_->AddRequest({.table = Id(), .action = "merge"}); }

  bool is_mounted_ = false;
};

TEST_F(ServiceDiskTest, AFullDisk_RefusesClearly_GoesOnLooking_AndRecovers) {
  Start();
  ASSERT_TRUE(Wait([&] { return Files() == 2 && service_->Ready().ready; }));
  FillDisk();
  ASSERT_TRUE(Wait([&] { return !Ask().has_value(); }));
  const auto refused = Ask();
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().code, Code::kUnavailable) << "503, not a fault of the sender or of the program";
  EXPECT_NE(refused.error().message.find("cannot write its state"), std::string::npos) << refused.error().message;
  EXPECT_NE(refused.error().message.find("full"), std::string::npos) << refused.error().message;
  EXPECT_EQ(service_->Pause("").error().code, Code::kUnavailable);
  EXPECT_EQ(service_->Pause(Id()).error().code, Code::kUnavailable);
  EXPECT_FALSE(service_->Ready().ready);
  EXPECT_NE(service_->Ready().reason, "");
  EXPECT_EQ(MetricOf("firn_state_writable"), 0);

  const std::int64_t merges = service_->Summary()->merges;
  Append(8);
  service_->AcceptEvent(Event());
  EXPECT_TRUE(Wait([&] { return Files() == 10; })) << "looks go on";
  EXPECT_TRUE(Wait([&] { return service_->Queue({})->items.size() == 1; })) << "and find work";
  std::this_thread::sleep_for(std::chrono::milliseconds(500));
  EXPECT_EQ(service_->Summary()->merges, merges) << "which does not start without a record";

  FreeDisk();
  EXPECT_TRUE(Wait([&] { return service_->Ready().ready; })) << service_->Ready().reason;
  EXPECT_TRUE(Wait([&] { return Files() == 2; }));
  EXPECT_TRUE(Ask().has_value());
  EXPECT_TRUE(Wait([&] { return service_->Requests({})->items[0].state == "done"; }));
  EXPECT_TRUE(service_->Pause("").has_value());
}

TEST_F(ServiceDiskTest, AJobThatEndsWhileTheDiskIsFull_IsOnRecordLater) {
  std::atomic<bool> is_slow = true;
  std::atomic<int> reads = 0;
  hook_ = [&](const ports::IoEvent& event) -> Status {
    if (event.moment == ports::IoMoment::kBefore && event.location.ends_with(".parquet") && is_slow) {
      ++reads;
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    return Ok();
  };
  Start();
  ASSERT_TRUE(Wait([&] { return reads > 0; }));
  FillDisk();
  is_slow = false;
  ASSERT_TRUE(Wait([&] { return service_->Summary()->merges == 1 && service_->Summary()->jobs_running == 0; }));
  ASSERT_TRUE(Wait([&] { return !service_->Ready().ready; }));
  EXPECT_EQ(service_->Jobs({}, {})->items.at(0).state, JobRow::State::kRunning) << "as it is on disk";
  FreeDisk();
  ASSERT_TRUE(Wait([&] { return service_->Ready().ready; }));
  EXPECT_TRUE(Wait([&] { return service_->Jobs({}, {})->items.at(0).state == JobRow::State::kDone; }));
  EXPECT_TRUE(Has("done"));
  service_.reset();
  Start();
  EXPECT_EQ(service_->Jobs({.table = "", .state = JobRow::State::kLost}, {})->items.size(), 0U);
}

}  // namespace
}  // namespace firn::sim
