// SPDX-License-Identifier: Apache-2.0
//
// A whole service, with its threads, on a simulated table whose storage can be made slow or broken.
//
// In: options, a clock, a hook for calls of storage and catalog. Out: the service, and what it shows.
// Guarantees: the state file lives in a folder of its own, and stays over restarts within a test.
// Threads: the service's; the hook is called from all of them.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/check.h"
#include "contract/scratch_directory.h"
#include "ports/hooked_file_io.h"
#include "service/service.h"
#include "sim/world.h"

namespace firn::sim {

/// A catalog, and the files of its tables, whose calls pass through a hook.
class HookedCatalog final : public ports::Catalog {
 public:
  HookedCatalog(ports::Catalog& below, ports::IoHook hook) : below_(below), hook_(std::move(hook)) {}
  const std::string& name() const override { return below_.name(); }
  Result<ports::LoadedTable> LoadTable(const ports::TableIdentifier& id) override {
    if (hook_) FIRN_TRY(hook_({ports::IoOperation::kLoadTable, ports::IoMoment::kBefore, id.name}));
    return below_.LoadTable(id);
  }
  Result<ports::LoadedTable> CommitTable(const ports::LoadedTable& base, const ports::TableCommit& commit) override {
    if (hook_) FIRN_TRY(hook_({ports::IoOperation::kCommitTable, ports::IoMoment::kBefore, base.id.name}));
    return below_.CommitTable(base, commit);
  }
  Status CheckWritable(const ports::LoadedTable& table) const override { return below_.CheckWritable(table); }
  bool SwapsNames() const override { return below_.SwapsNames(); }
  Result<std::vector<ports::TableIdentifier>> ListTables() override { return below_.ListTables(); }
  Result<std::shared_ptr<ports::FileIO>> TableIO(const ports::LoadedTable& table) override {
    FIRN_ASSIGN(auto io, below_.TableIO(table));
    if (!hook_) return io;
    return std::shared_ptr<ports::FileIO>(std::make_shared<ports::HookedFileIO>(std::move(io), hook_));
  }

 private:
  ports::Catalog& below_;
  ports::IoHook hook_;
};

class ServiceFixture : public testing::Test {
 protected:
  void SetUp() override {
    options_.sweep_interval_ms = 60'000;
    options_.debounce_ms = 10;
    options_.memory_bytes = 256 << 20;
    world_.Fill(6, 3);
  }
  void TearDown() override { service_.reset(); }

  void Start() {
    const auto catalog = std::make_shared<HookedCatalog>(*world_.catalog, hook_);
    auto opened = service::Service::Open((folder_ / "state.db").string(), {catalog}, *clock_, options_);
    ASSERT_TRUE(opened.has_value()) << opened.error().message;
    service_ = std::move(*opened);
    FIRN_CHECK(service_->Start());
  }

  template <class Condition>
  bool Wait(Condition condition) {
    for (int i = 0; i < 600; ++i) {
      if (condition()) return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    return false;
  }

  std::string Id() const { return world_.catalog->name() + "/db.t"; }
  std::int64_t Files() {
    const auto detail = service_->Table(Id());
    return detail ? detail->row.files : -1;
  }
  std::vector<std::string> Kinds() {
    std::vector<std::string> kinds;
    const auto decisions = service_->Decisions({.table = Id()}, {.after = "", .limit = 500});
    for (const auto& row : decisions->items) kinds.push_back(row.kind);
    return kinds;
  }
  bool Has(std::string_view kind) {
    const auto kinds = Kinds();
    return std::ranges::find(kinds, kind) != kinds.end();
  }
  double MetricOf(std::string_view name) {
    for (const auto& metric : service_->Metrics()) {
      if (metric.name == name) return metric.value;
    }
    return -1;
  }
  void Append(int files) {
    std::vector<std::vector<std::int64_t>> rows;
    for (int i = 0; i < files; ++i) rows.push_back({next_++});
    ASSERT_TRUE(world_.table().Append(0, rows).has_value());
  }
  ports::TableEvent Event() {
    ports::TableEvent event;
    event.catalog = world_.catalog->name();
    event.name_space = {"db"};
    event.table = "t";
    return event;
  }

  World world_{2};
  ports::SystemClock system_clock_;
  ports::Clock* clock_ = &system_clock_;
  ports::IoHook hook_;  // of what the service reads and writes
  service::ServiceOptions options_;
  contract::ScratchDirectory scratch_;
  const std::filesystem::path folder_ = scratch_.path();
  std::unique_ptr<service::Service> service_;
  std::int64_t next_ = 1'000'000;
};

}  // namespace firn::sim
