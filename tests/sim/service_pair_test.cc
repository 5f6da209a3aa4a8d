// SPDX-License-Identifier: Apache-2.0
// Two services on one catalog, each with a state of its own: one goes on, the other says so and leaves it alone.
#include "base/check.h"
#include "service/other_service.h"
#include "sim/service_fixture.h"

namespace firn::sim {
namespace {

using service::Service;

class ServicePairTest : public ServiceFixture {
 protected:
  void SetUp() override {
    ServiceFixture::SetUp();
    options_.sweep_interval_ms = 200;
  }
  void Open(std::uint64_t seed) {
    options_.seed = seed;
    const auto catalog = std::make_shared<HookedCatalog>(*world_.catalog, hook_);
    const std::string path = (folder_ / ("state" + std::to_string(services_.size()) + ".db")).string();
    auto opened = Service::Open(path, {catalog}, *clock_, options_);
    ASSERT_TRUE(opened.has_value()) << opened.error().message;
    services_.push_back(std::move(*opened));
    FIRN_CHECK(services_.back()->Start());
  }
  std::int64_t Merges(std::size_t which) { return services_[which]->Summary()->merges; }
  bool SaysSo(std::size_t which) {
    const auto table = services_[which]->Table(Id());
    return table && table->row.state_reason.find("another firn service") != std::string::npos;
  }
  double Others(std::size_t which) {
    for (const auto& metric : services_[which]->Metrics()) {
      if (metric.name == "firn_tables_of_other_services") return metric.value;
    }
    return -1;
  }
  void TearDown() override { services_.clear(); }

  std::vector<std::unique_ptr<Service>> services_;
};

TEST_F(ServicePairTest, OneGoesOn_TheOtherLeavesTheTableAlone_AndSaysWhy) {
  Open(1);
  Open(2);
  const auto idle = [&] { return world_.table().ReadHead()->files.size() == 2; };
  ASSERT_TRUE(Wait(idle));
  // Until both have committed once, and so know of each other.
  for (int i = 0; i < 40 && !(SaysSo(0) || SaysSo(1)); ++i) {
    Append(8);
    ASSERT_TRUE(Wait(idle));
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
  }
  ASSERT_TRUE(SaysSo(0) || SaysSo(1));
  for (int i = 0; i < 3; ++i) {  // the one that goes on commits, and the other one hears of it
    Append(8);
    ASSERT_TRUE(Wait(idle));
    std::this_thread::sleep_for(std::chrono::milliseconds(500));
  }
  const std::int64_t before[] = {Merges(0), Merges(1)};
  for (int i = 0; i < 5; ++i) {
    Append(8);
    ASSERT_TRUE(Wait(idle));
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(500));
  const std::int64_t done[] = {Merges(0) - before[0], Merges(1) - before[1]};
  EXPECT_TRUE((done[0] >= 5 && done[1] == 0) || (done[1] >= 5 && done[0] == 0)) << done[0] << " and " << done[1];
  const std::size_t quiet = done[0] == 0 ? 0 : 1;
  EXPECT_TRUE(SaysSo(quiet));
  EXPECT_EQ(Others(quiet), 1);
  EXPECT_NE(services_[quiet]->Table(Id())->breaker.reason.find("another firn service"), std::string::npos);
}

TEST_F(ServicePairTest, ARestart_IsNoOtherService) {
  for (int run = 0; run < 3; ++run) {
    services_.clear();
    options_.seed = static_cast<std::uint64_t>(run) + 7;
    Open(options_.seed);
    Append(8);
    ASSERT_TRUE(Wait([&] { return Merges(0) >= 1 && world_.table().ReadHead()->files.size() == 2; }));
    EXPECT_FALSE(SaysSo(0));
    EXPECT_EQ(Others(0), 0);
  }
}

}  // namespace
}  // namespace firn::sim
