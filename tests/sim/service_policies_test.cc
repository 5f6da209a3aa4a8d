// SPDX-License-Identifier: Apache-2.0
//
// The service under policies that the catalog has for its tables.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sim/service_fixture.h"

namespace firn::sim {
namespace {

class Policies final : public service::PolicySource {
 public:
  Result<std::vector<service::PolarisPolicy>> Applicable(const std::vector<std::string>&, const std::string&) override {
    const std::lock_guard lock(mutex_);
    ++asked;
    if (failure_) return *failure_;
    service::PolarisPolicy policy;
    policy.type = std::string(service::kPolarisDataCompaction);
    policy.name = "nightly";
    policy.content = content_;
    return std::vector{policy};
  }
  void Set(std::string content, std::optional<Error> failure = std::nullopt) {
    const std::lock_guard lock(mutex_);
    content_ = std::move(content);
    failure_ = std::move(failure);
  }
  std::atomic<int> asked = 0;

 private:
  std::mutex mutex_;
  std::string content_ = R"({"enable":false})";
  std::optional<Error> failure_;
};

class ServicePoliciesTest : public ServiceFixture {
 protected:
  void SetUp() override {
    ServiceFixture::SetUp();
    using Opened = Result<std::shared_ptr<service::PolicySource>>;
    options_.policy_sources.push_back({world_.catalog->name(), [this]() -> Opened { return {policies_}; }});
  }
  std::string SourceOf(std::string_view key) {
    const auto detail = service_->Table(Id());
    if (!detail) return "no table";
    const auto row = std::ranges::find(detail->settings, key, &service::SettingRow::key);
    return row == detail->settings.end() ? "none" : row->value + " by " + row->source;
  }
  bool IsMerged() {
    return Wait([&] { return Files() == 2; });
  }

  std::shared_ptr<Policies> policies_ = std::make_shared<Policies>();
};

TEST_F(ServicePoliciesTest, ARefusedRequestNamesThePolicy) {
  Start();
  ASSERT_TRUE(Wait([&] { return SourceOf("enabled") == "false by Polaris policy `nightly`"; }));
  ASSERT_TRUE(service_->AddRequest({.table = Id(), .action = "merge"}).has_value());
  ASSERT_TRUE(Wait([&] { return service_->Requests({})->items[0].state == "refused"; }));
  EXPECT_EQ(service_->Requests({})->items[0].reason,
            "It is forbidden: firn.enabled is false (Polaris policy `nightly`).");
}

TEST_F(ServicePoliciesTest, WhatTheCatalogForbidsIsNotDone_UntilItAllowsIt) {
  options_.sweep_interval_ms = 400;
  Start();
  ASSERT_TRUE(
      Wait([&] { return SourceOf("enabled") == "false by Polaris policy `nightly`" && policies_->asked >= 3; }));
  EXPECT_EQ(Files(), 12);
  EXPECT_TRUE(service_->Jobs({}, {})->items.empty());
  const auto rows = service_->Policies();
  ASSERT_EQ(rows->size(), 1U);
  EXPECT_EQ(rows->at(0).source, "polaris");
  EXPECT_EQ(rows->at(0).settings.at(0).about, "of 1 table");
  policies_->Set(R"({"enable":true,"config":{"firn.priority":7}})");
  EXPECT_TRUE(IsMerged());
  EXPECT_EQ(SourceOf("priority"), "7 by Polaris policy `nightly`");
}

TEST_F(ServicePoliciesTest, EventsDoNotAskAgain) {
  policies_->Set(R"({"enable":true})");
  Start();
  ASSERT_TRUE(IsMerged());
  for (int i = 0; i < 3; ++i) {
    Append(1);
    EXPECT_TRUE(service_->AcceptEvent(Event()));
    ASSERT_TRUE(Wait([&] { return Files() == 3 + i; })) << Files();
  }
  EXPECT_EQ(policies_->asked, 1);
}

TEST_F(ServicePoliciesTest, NothingIsDoneBeforeThePoliciesAreKnown) {
  policies_->Set("", Error{Code::kUnavailable, "catalog answers 503: busy"});
  options_.sweep_interval_ms = 400;
  Start();
  ASSERT_TRUE(Wait([&] { return Has("refused"); }));
  const auto detail = service_->Table(Id());
  EXPECT_NE(detail->row.state_reason.find("is not known, so nothing is done: catalog answers 503"), std::string::npos)
      << detail->row.state_reason;
  EXPECT_TRUE(service_->Jobs({}, {})->items.empty());
  policies_->Set(R"({"enable":true})");
  EXPECT_TRUE(IsMerged()) << "after the wait";
}

TEST_F(ServicePoliciesTest, TheTablesOwnPropertyComesFirst) {
  policies_->Set(R"({"enable":true,"target_file_size_bytes":134217728,"config":{"firn.priority":7}})");
  ASSERT_TRUE(world_.table().SetProperty("firn.priority", "3").has_value());
  Start();
  ASSERT_TRUE(IsMerged());
  EXPECT_EQ(SourceOf("priority"), "3 by table property");
  EXPECT_EQ(SourceOf("target-file-size-bytes"), "134217728 by Polaris policy `nightly`");
}

}  // namespace
}  // namespace firn::sim
