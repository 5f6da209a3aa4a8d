// SPDX-License-Identifier: Apache-2.0
//
// Setting table properties: once, on top of what others do, and not over what somebody else has set meanwhile.
#include "act/property_change.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <utility>

#include "sim/faulty_catalog.h"
#include "sim/world.h"

namespace firn::sim {
namespace {

constexpr const char* kKey = "write.target-file-size-bytes";

act::CommitReport Set(World& world, ports::Catalog& catalog, std::optional<std::string> before,
                      const std::string& after) {
  act::CommitEnvironment environment{catalog, *world.storage, world.clock, world.random, {}, nullptr};
  return act::SetTableProperties(environment, {SimTable::Id(), "", "main"}, {{kKey, std::move(before), after}});
}

std::string ValueOf(World& world) {
  const auto loaded = world.table().Load();
  const auto& properties = loaded->metadata->properties();
  return properties.contains(kKey) ? properties.find(kKey)->second : "";
}

TEST(PropertyChange, IsSet_AndNothingElseChanges) {
  World world(2);
  world.Fill(3, 1);
  const auto before = world.table().Load();
  const auto report = Set(world, *world.catalog, std::nullopt, "33554432");
  ASSERT_TRUE(report.status.has_value()) << report.status.error().message;
  EXPECT_FALSE(report.snapshot_id.has_value());
  EXPECT_EQ(ValueOf(world), "33554432");
  const auto after = world.table().Load();
  EXPECT_EQ(after->metadata->current_snapshot()->id, before->metadata->current_snapshot()->id);
  EXPECT_EQ(after->metadata->snapshots().size(), before->metadata->snapshots().size());
  world.CheckSound();
}

TEST(PropertyChange, SomebodyElseWasFaster_NothingIsSet) {
  World world(2);
  world.Fill(3, 1);
  ASSERT_TRUE(Set(world, *world.catalog, std::nullopt, "1048576").status.has_value());
  const auto late = Set(world, *world.catalog, std::nullopt, "2097152");
  ASSERT_FALSE(late.status.has_value());
  EXPECT_EQ(late.status.error().code, Code::kConflict);
  EXPECT_EQ(ValueOf(world), "1048576");
  EXPECT_TRUE(Set(world, *world.catalog, "1048576", "2097152").status.has_value());
  EXPECT_EQ(ValueOf(world), "2097152");
}

TEST(PropertyChange, LostAnswers_AreLookedUp) {
  for (const Fault fault : {Fault::kDropBefore, Fault::kDropAfter, Fault::kRefuseAfter, Fault::kDelay, Fault::kBusy}) {
    World world(2);
    world.Fill(3, 1);
    bool first = true;
    FaultyCatalog catalog(*world.catalog, [&] { return std::exchange(first, false) ? fault : Fault::kNone; });
    const auto report = Set(world, catalog, std::nullopt, "33554432");
    EXPECT_TRUE(report.status.has_value()) << FaultName(fault) << ": " << report.status.error().message;
    catalog.DeliverAll();
    EXPECT_EQ(ValueOf(world), "33554432") << FaultName(fault);
    world.CheckSound();
  }
}

TEST(PropertyChange, SomebodyElseSetsItWhileOursIsSentAgain_TheirsStays) {
  for (const Fault fault : {Fault::kDropBefore, Fault::kBusy, Fault::kRefuseBefore}) {
    World world(2);
    world.Fill(3, 1);
    int commits = 0;
    FaultyCatalog catalog(*world.catalog, [&] {
      if (++commits > 1) return Fault::kNone;
      EXPECT_TRUE(Set(world, *world.catalog, std::nullopt, "1048576").status.has_value());
      return fault;
    });
    const auto report = Set(world, catalog, std::nullopt, "2097152");
    ASSERT_FALSE(report.status.has_value()) << FaultName(fault);
    EXPECT_EQ(report.status.error().code, fault == Fault::kDropBefore ? Code::kOutcomeUnknown : Code::kConflict)
        << FaultName(fault);
    EXPECT_EQ(ValueOf(world), "1048576") << FaultName(fault);
    EXPECT_EQ(commits, 1) << FaultName(fault);
  }
}

}  // namespace
}  // namespace firn::sim
