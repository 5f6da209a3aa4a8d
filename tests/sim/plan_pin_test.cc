// SPDX-License-Identifier: Apache-2.0
//
// The plan's snapshot is kept from other people's expiry while the work runs, and nothing of that is left behind.
#include "act/plan_pin.h"

#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "act/rewrite_data.h"
#include "service/optimize.h"
#include "service/rewrite_deletes.h"
#include "sim/world.h"

namespace firn::sim {
namespace {

using act::PinMode;

constexpr const char* kPlanId = "018f0000-0000-7000-8000-0123456789ab";
constexpr const char* kPin = "firn-plan-0123456789ab";
constexpr std::int64_t kDayMs = 86'400'000;

/// Removes every snapshot that no ref leads to, and the files that only those needed.
Status ExpireAll(World& world) {
  FIRN_ASSIGN(const ports::LoadedTable base, world.table().Load());
  FIRN_ASSIGN(const std::set<std::string> before, world.table().NeededFiles());
  std::set<SnapshotId> kept;
  for (const iceberg::SnapshotRef& ref : base.metadata->refs()) kept.insert(ref.snapshot_id);
  iceberg::RemoveSnapshots gone;
  for (const iceberg::Snapshot& snapshot : base.metadata->snapshots()) {
    if (!kept.contains(snapshot.id)) gone.ids.push_back(snapshot.id);
  }
  FIRN_TRY(world.catalog->CommitTable(base, {{}, {gone}}));
  FIRN_ASSIGN(const std::set<std::string> after, world.table().NeededFiles());
  for (const std::string& location : before) {
    if (!after.contains(location)) FIRN_TRY(world.storage->Delete(location));
  }
  return Ok();
}

Status AppendAndExpire(World& world) {
  FIRN_TRY(world.table().Append(1, {{9001, 9002}}));
  return ExpireAll(world);
}

Status SetRef(World& world, const iceberg::SnapshotRef& ref) {
  FIRN_ASSIGN(const ports::LoadedTable base, world.table().Load());
  FIRN_TRY(world.catalog->CommitTable(base, {{}, {iceberg::SetSnapshotRef{ref}}}));
  return Ok();
}

std::map<std::string, SnapshotId> RefsOf(World& world) {
  std::map<std::string, SnapshotId> refs;
  const Result<ports::LoadedTable> loaded = world.table().Load();
  EXPECT_TRUE(loaded.has_value());
  for (const iceberg::SnapshotRef& ref : loaded->metadata->refs()) refs.emplace(ref.name, ref.snapshot_id);
  return refs;
}

SnapshotId HeadOf(World& world) { return world.table().Load()->metadata->current_snapshot()->id; }

class PlanPinTest : public testing::TestWithParam<std::int32_t> {
 protected:
  /// Merges both partitions; `act` happens when the first data file is opened.
  Result<act::Outcome> Run(World& world, PinMode pin, const std::function<Status()>& act) {
    act::CommitEnvironment environment = world.Environment(*world.catalog);
    environment.cancelled = &cancelled_;
    service::AssessOptions assess;
    assess.plan_id = kPlanId;
    const Result<ports::LoadedTable> table = world.table().Load();
    FIRN_ASSIGN(const service::Assessment found, service::Assess(*table, *world.io, assess, world.clock.Now()));
    EXPECT_EQ(found.plan.groups.size(), 2U);
    act::RewriteDataOptions options;
    options.pin = pin;
    bool acted = !act;
    world.intrude = [&](std::int64_t, const ports::IoEvent& event) {
      if (event.operation == ports::IoOperation::kCommitTable) ++commits_sent_;
      if (acted || event.operation != ports::IoOperation::kOpen) return;
      if (event.location.find("/data/part=") == std::string::npos) return;
      acted = true;
      world.Fail(act());
    };
    auto outcome = world.AsProcess(
        [&] { return act::RewriteData(environment, SimTable::Id(), found.plan, found.facts, options); });
    world.intrude = nullptr;
    return outcome;
  }

  std::atomic<bool> cancelled_ = false;
  int commits_sent_ = 0;
};

TEST_P(PlanPinTest, SnapshotIsExpiredMeanwhile_WithoutAPinTheWorkIsLost) {
  World world(GetParam());
  world.Fill(8, 2);
  const auto outcome = Run(world, PinMode::kNever, [&] { return AppendAndExpire(world); });
  ASSERT_TRUE(outcome.has_value()) << ToString(outcome.error());
  ASSERT_EQ(outcome->failures.size(), 2U);
  EXPECT_EQ(outcome->failures[0].error.code, Code::kConflict);
  EXPECT_TRUE(outcome->commits.empty());
  EXPECT_EQ(world.Orphans(), std::set<std::string>());
}

TEST_P(PlanPinTest, SnapshotIsExpiredMeanwhile_WithAPinTheWorkIsCommittedAndThePinIsGone) {
  World world(GetParam());
  world.Fill(8, 2);
  const SnapshotId plan = HeadOf(world);
  const auto outcome = Run(world, PinMode::kAlways, [&] {
    EXPECT_EQ(RefsOf(world).at(kPin), plan);
    return AppendAndExpire(world);
  });
  ASSERT_TRUE(outcome.has_value()) << ToString(outcome.error());
  EXPECT_TRUE(outcome->failures.empty()) << outcome->failures[0].error.message;
  EXPECT_EQ(outcome->files_added, 2);
  EXPECT_EQ(commits_sent_, 2);
  EXPECT_EQ(RefsOf(world).size(), 1U);
  EXPECT_EQ(world.Rows().size(), 50U);
  world.Fail(ExpireAll(world));
  EXPECT_EQ(world.table().Load()->metadata->snapshots().size(), 1U);
  EXPECT_EQ(world.Rows().size(), 50U);
  world.CheckSound();
}

TEST_P(PlanPinTest, ShortWork_IsNotPinnedByItself) {
  World world(GetParam());
  world.Fill(8, 2);
  const auto outcome = Run(world, PinMode::kAuto, [&] {
    EXPECT_EQ(RefsOf(world).size(), 1U);
    return Ok();
  });
  ASSERT_TRUE(outcome.has_value());
  EXPECT_EQ(commits_sent_, 1);
}

TEST_P(PlanPinTest, AgeOfThePin_IsCountedFromTheSnapshotAsAnExpiryCountsIt) {
  World world(GetParam());
  world.Fill(8, 2);
  world.clock.SleepMs(30 * kDayMs);  // nobody has written for a month
  const auto outcome = Run(world, PinMode::kAlways, [&] {
    const Result<ports::LoadedTable> loaded = world.table().Load();
    const iceberg::SnapshotRef* pin = loaded->metadata->FindRef(kPin);
    EXPECT_NE(pin, nullptr);
    EXPECT_FALSE(pin->is_branch);
    const std::int64_t age =
        world.clock.Now().value - loaded->metadata->FindSnapshot(pin->snapshot_id)->timestamp.value;
    EXPECT_GE(*pin->max_ref_age_ms, age + kDayMs - 60'000);
    EXPECT_LE(*pin->max_ref_age_ms, age + kDayMs);
    return Ok();
  });
  ASSERT_TRUE(outcome.has_value());
  EXPECT_EQ(RefsOf(world).size(), 1U);
}

TEST_P(PlanPinTest, WorkFails_ThePinGoesInACommitOfItsOwn) {
  World world(GetParam());
  world.Fill(8, 2);
  const auto outcome = Run(world, PinMode::kAlways, [&]() -> Status {
    FIRN_ASSIGN(const Contents contents, world.table().ReadHead());
    for (const auto& [path, live] : contents.files) FIRN_TRY(world.table().RemoveFile(path));
    return Ok();
  });
  ASSERT_TRUE(outcome.has_value());
  EXPECT_EQ(outcome->failures.size(), 2U);
  EXPECT_TRUE(outcome->commits.empty());
  EXPECT_EQ(RefsOf(world).size(), 1U);
  EXPECT_EQ(world.Orphans(), std::set<std::string>());
}

TEST_P(PlanPinTest, WorkIsCancelled_ThePinGoesAllTheSame) {
  World world(GetParam());
  world.Fill(8, 2);
  const auto outcome = Run(world, PinMode::kAlways, [&] {
    cancelled_ = true;
    return Ok();
  });
  ASSERT_TRUE(outcome.has_value());
  EXPECT_TRUE(outcome->commits.empty());
  EXPECT_EQ(RefsOf(world).size(), 1U);
  EXPECT_EQ(world.Orphans(), std::set<std::string>());
}

TEST_P(PlanPinTest, RefOfThatNameIsThere_ItStaysAndTheWorkIsNotBegun) {
  World world(GetParam());
  world.Fill(8, 2);
  const SnapshotId first = world.table().Load()->metadata->snapshots().front().id;
  world.Fail(SetRef(world, {.name = kPin, .snapshot_id = first, .is_branch = false}));
  const auto refs = RefsOf(world);
  const auto outcome = Run(world, PinMode::kAlways, {});
  ASSERT_FALSE(outcome.has_value());
  EXPECT_EQ(outcome.error().code, Code::kConflict);
  EXPECT_EQ(RefsOf(world), refs);
}

TEST_P(PlanPinTest, ProcessDies_ThePinStaysAsLongAsItsAgeAndTheNextRunRemovesIt) {
  World world(GetParam());
  world.Fill(8, 2);
  const SnapshotId plan = HeadOf(world);
  const auto died = Run(world, PinMode::kAlways, [&] {
    world.injector.CrashAt(world.injector.call_count() + 1, false);
    return Ok();
  });
  world.injector.Reset();
  EXPECT_TRUE(!died.has_value() || died->commits.empty());
  ASSERT_EQ(RefsOf(world).at(kPin), plan);
  // Tags of people, one of them with a similar name and old enough.
  world.Fail(SetRef(world, {.name = "release", .snapshot_id = plan, .is_branch = false, .max_ref_age_ms = 1}));
  world.Fail(
      SetRef(world, {.name = "firn-plan-release", .snapshot_id = plan, .is_branch = false, .max_ref_age_ms = 1}));
  world.Fail(SetRef(world, {.name = "firn-plan-abcdefabcdef", .snapshot_id = plan, .is_branch = false}));

  const auto run = [&](const char* why) {
    service::OptimizeOptions options;
    options.rewrite.pin = PinMode::kNever;
    act::CommitEnvironment environment = world.Environment(*world.catalog);
    const auto done = world.AsProcess([&] { return service::Optimize(environment, SimTable::Id(), options); });
    ASSERT_TRUE(done.has_value()) << why;
    EXPECT_GE(done->outcome.commits.size(), 1U) << why;
  };
  run("while it is young");
  EXPECT_TRUE(RefsOf(world).contains(kPin));
  world.clock.SleepMs(2 * kDayMs);
  ASSERT_TRUE(world.table().Append(0, {{1}, {2}, {3}, {4}, {5}, {6}, {7}, {8}, {9}}).has_value());
  run("when it is old");
  const auto refs = RefsOf(world);
  EXPECT_FALSE(refs.contains(kPin));
  EXPECT_EQ(refs.size(), 4U);
}

TEST_P(PlanPinTest, AnyReplyIsLost_TheWorkIsDoneOnceAndNoPinIsLeft) {
  std::int64_t calls = 0;
  {
    World world(GetParam());
    world.Fill(8, 2);
    world.injector.Reset();
    ASSERT_TRUE(Run(world, PinMode::kAlways, {}).has_value());
    calls = world.injector.call_count();
  }
  for (std::int64_t call = 1; call <= calls; ++call) {
    World world(GetParam());
    world.Fill(8, 2);
    const std::vector<Row> rows = world.Rows();
    world.injector.Reset();
    world.injector.LoseReplyAt(call);
    const auto outcome = Run(world, PinMode::kAlways, {});
    world.injector.Reset();
    EXPECT_EQ(world.Rows(), rows) << call;
    EXPECT_EQ(RefsOf(world).size(), 1U) << call << ' ' << (outcome ? "" : ToString(outcome.error()));
    EXPECT_LE(world.CommitsOf(kPlanId), 1) << call;
    world.CheckSound();
  }
}

TEST_P(PlanPinTest, RewriteOfDeletes_IsPinnedAsWell) {
  if (GetParam() < 2) return;
  for (const PinMode pin : {PinMode::kNever, PinMode::kAlways}) {
    World world(GetParam());
    world.Fill(8, 2);
    world.Fail(world.table().AddEqualityDelete(0, {1, 4, 7}));
    const std::vector<Row> rows = world.Rows();
    service::RewriteDeletesOptions options;
    options.rewrite.memory_bytes = 256 << 20;
    options.rewrite.pin = pin;
    options.rounds_max = 1;
    act::CommitEnvironment environment = world.Environment(*world.catalog);
    bool acted = false;
    world.intrude = [&](std::int64_t, const ports::IoEvent& event) {
      if (acted || event.operation != ports::IoOperation::kOpen) return;
      if (event.location.find("/data/part=") == std::string::npos || !event.location.ends_with(".parquet")) return;
      acted = true;
      EXPECT_EQ(RefsOf(world).size(), pin == PinMode::kAlways ? 2U : 1U);
      world.Fail(AppendAndExpire(world));
    };
    const auto done = world.AsProcess([&] { return service::RewriteDeletes(environment, SimTable::Id(), options); });
    world.intrude = nullptr;
    ASSERT_TRUE(done.has_value()) << ToString(done.error());
    EXPECT_TRUE(acted);
    EXPECT_EQ(done->outcome.snapshot_id.has_value(), pin == PinMode::kAlways);
    EXPECT_EQ(RefsOf(world).size(), 1U);
    EXPECT_EQ(world.Rows().size(), rows.size() + 2);
    EXPECT_EQ(world.Orphans(), std::set<std::string>());
    world.CheckSound();
  }
}

INSTANTIATE_TEST_SUITE_P(Formats, PlanPinTest, testing::Values(1, 2, 3),
                         [](const auto& param) { return "V" + std::to_string(param.param); });

}  // namespace
}  // namespace firn::sim
