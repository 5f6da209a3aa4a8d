// SPDX-License-Identifier: Apache-2.0
//
// Deletes arrive while files are rewritten: they are translated, and both changes hold.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "sim/world.h"

namespace firn::sim {
namespace {

/// Names the part of the files of partition 0 that are rewritten, and the version's way to delete positions.
Status DeletePositions(World& world, const std::vector<Position>& positions) {
  const Result<ports::LoadedTable> table = world.table().Load();
  if (table->metadata->format_version() >= 3) return world.table().AddVectors(positions);
  return world.table().AddPositionDeletes(positions, true);
}

struct Intruder {
  std::string name;
  std::function<Status(World&, const std::vector<std::string>& inputs)> act;
};

const std::vector<Intruder>& Intruders() {
  static const std::vector<Intruder> kIntruders = {
      {"one_position", [](World& world, const auto& in) { return DeletePositions(world, {{in[2], 1}}); }},
      {"positions_of_several_files",
       [](World& world, const auto& in) {
         return DeletePositions(world, {{in[0], 0}, {in[0], 2}, {in[1], 1}, {in[2], 0}, {in[2], 1}, {in[2], 2}});
       }},
      {"two_after_each_other",
       [](World& world, const auto& in) -> Status {
         FIRN_TRY(DeletePositions(world, {{in[1], 0}}));
         return DeletePositions(world, {{in[1], 2}});
       }},
      {"behind_the_last_row", [](World& world, const auto& in) { return DeletePositions(world, {{in[1], 77}}); }},
      {"positions_and_keys",
       [](World& world, const auto& in) -> Status {
         FIRN_TRY(world.table().AddEqualityDelete(0, {1, 4, 9}));
         FIRN_TRY(DeletePositions(world, {{in[0], 2}}));
         FIRN_TRY(world.table().Append(0, {{1, 9001}}));
         return Ok();
       }},
      {"keys_that_are_converted",
       [](World& world, const auto&) -> Status {
         FIRN_TRY(world.table().AddEqualityDelete(0, {0, 1, 2, 6, 7}));
         FIRN_TRY(world.table().Append(0, {{1, 9001}}));
         return world.table().ConvertEqualityDeletes();
       }},
  };
  return kIntruders;
}

struct Case {
  std::int32_t format_version;
  World::Style style;
  bool deletes_before = false;  // some rows are deleted before the plan
  std::string name;
};

std::vector<Case> Cases() {
  std::vector<Case> cases;
  for (const std::int32_t version : {2, 3}) {
    const std::string v = "V" + std::to_string(version);
    cases.push_back({version, {.row_maps = true, .fold = false, .shuffle = false}, false, v + "Merge"});
    cases.push_back({version, {.row_maps = true, .fold = true, .shuffle = false}, true, v + "Fold"});
    cases.push_back({version, {.row_maps = true, .fold = true, .shuffle = true}, true, v + "SortedFold"});
  }
  return cases;
}

class RebaseTest : public testing::TestWithParam<Case> {
 protected:
  struct Prepared {
    act::Rewrite rewrite;
    std::vector<std::string> inputs;
  };
  static Prepared Prepare(World& world) {
    world.Fill(5, 2);
    if (GetParam().deletes_before) DeleteSome(world);
    act::RewriteGroup group = world.RewriteOf(0, 4, GetParam().style);
    Prepared prepared;
    for (const act::RemovedFile& file : group.removed) prepared.inputs.push_back(file.path);
    prepared.rewrite = world.PlanOf({std::move(group)});
    return prepared;
  }
  /// Prepares, then deletes rows that the rewrite does not know about.
  static Prepared PrepareLate(World& world) {
    Prepared prepared = Prepare(world);
    world.Fail(DeletePositions(world, {{prepared.inputs[1], 1}, {prepared.inputs[2], 0}}));
    return prepared;
  }
  static std::int64_t CallsOf() {
    World world(GetParam().format_version);
    Prepared prepared = PrepareLate(world);
    world.injector.Reset();
    EXPECT_TRUE(world.Run(std::move(prepared.rewrite)).commit.status.has_value());
    return world.injector.call_count();
  }
  static void DeleteSome(World& world) {
    const Result<Contents> contents = world.table().ReadHead();
    std::vector<Position> first;
    for (const auto& [path, live] : contents->files) {
      if (std::get<std::int32_t>(live.file.partition.values.at(0)) == 0) first.emplace_back(path, first.size() % 3);
    }
    first.resize(2);
    if (GetParam().format_version >= 3) {
      world.Fail(world.table().AddVectors(first));
    } else {
      world.Fail(world.table().AddPositionDeletes(first, false));
    }
    world.Fail(world.table().AddEqualityDelete(0, {2, 3}));
  }
};

/// No vector may name a file that is gone.
void CheckNoDanglingVectors(World& world) {
  const Result<Contents> contents = world.table().ReadHead();
  ASSERT_TRUE(contents.has_value());
  for (const LiveFile& live : contents->deletes) {
    if (live.file.format != iceberg::FileFormat::kPuffin) continue;
    EXPECT_TRUE(contents->files.contains(*live.file.referenced_data_file)) << *live.file.referenced_data_file;
  }
}

/// Runs the intruder before call `at` and, on the attempt after it, once more with another position.
std::int64_t RunWith(World& world, act::Rewrite rewrite, const std::vector<std::string>& inputs,
                     const Intruder& intruder, std::int64_t at, bool twice) {
  std::vector<Row> expected = world.Rows();
  int acted = 0;
  world.injector.Reset();
  world.intrude = [&](std::int64_t call, const ports::IoEvent& event) {
    const bool first = acted == 0 && call == at;
    // The second one comes right before the next request goes out.
    const bool second = twice && acted == 1 && call > at && event.operation == ports::IoOperation::kCommitTable;
    if (!first && !second) return;
    ++acted;
    if (world.CommitsOf() == 0) {
      world.Fail(first ? intruder.act(world, inputs) : DeletePositions(world, {{inputs[3], 0}, {inputs[0], 1}}));
    }
    expected = world.Rows();
  };
  const RewriteReport report = world.Run(std::move(rewrite));
  world.intrude = nullptr;
  EXPECT_TRUE(report.commit.status.has_value()) << ToString(report.commit.status.error());
  EXPECT_EQ(world.Rows(), expected);
  EXPECT_EQ(world.CommitsOf(), 1);
  EXPECT_EQ(world.table().Load()->metadata->FindSnapshot(*report.commit.snapshot_id)->operation(), "replace");
  CheckNoDanglingVectors(world);
  EXPECT_EQ(report.commit.leftover_files, std::vector<std::string>());
  EXPECT_EQ(world.Orphans(), std::set<std::string>());  // reads every snapshot
  return world.injector.call_count();
}

TEST_P(RebaseTest, DeletesArriveBetweenCalls_BothHold) {
  for (const Intruder& intruder : Intruders()) {
    for (const bool twice : {false, true}) {
      std::int64_t calls = 1;
      // The second round differs only in what the next attempt finds: not every call is needed.
      for (std::int64_t at = 1; at <= calls; at += twice ? 5 : 2) {
        SCOPED_TRACE(testing::Message() << intruder.name << (twice ? " and again" : "") << " before call " << at);
        World world(GetParam().format_version, 7 + static_cast<std::uint64_t>(at));
        Prepared prepared = Prepare(world);
        calls = RunWith(world, std::move(prepared.rewrite), prepared.inputs, intruder, at, twice);
        if (HasFailure()) return;
      }
    }
  }
}

TEST_P(RebaseTest, ProcessDiesAtAnyCall_TableIsBeforeOrAfterAndNextRunCompletes) {
  const std::int64_t calls = CallsOf();
  ASSERT_GT(calls, 20);
  for (std::int64_t k = 1; k <= calls; ++k) {
    for (const bool done : {false, true}) {
      SCOPED_TRACE(testing::Message() << "call " << k << (done ? " done" : " not done"));
      World world(GetParam().format_version);
      Prepared prepared = PrepareLate(world);
      const std::vector<Row> rows = world.Rows();
      world.injector.Reset();
      world.injector.CrashAt(k, done);
      (void)world.Run(prepared.rewrite);
      world.injector.Reset();
      EXPECT_EQ(world.Rows(), rows);
      const RewriteReport second = world.Run(prepared.rewrite);
      ASSERT_TRUE(second.commit.status.has_value()) << ToString(second.commit.status.error());
      EXPECT_EQ(world.CommitsOf(), 1);
      world.CheckSound();
      CheckNoDanglingVectors(world);
      EXPECT_EQ(world.Rows(), rows);
      if (HasFailure()) return;
    }
  }
}

TEST_P(RebaseTest, ReplyIsLostAtAnyCall_CommittedOnceAndNothingUnnamedStays) {
  const std::int64_t calls = CallsOf();
  for (std::int64_t k = 1; k <= calls; ++k) {
    World world(GetParam().format_version);
    Prepared prepared = PrepareLate(world);
    const std::vector<Row> rows = world.Rows();
    world.injector.Reset();
    world.injector.LoseReplyAt(k);
    const RewriteReport report = world.Run(std::move(prepared.rewrite));
    SCOPED_TRACE(testing::Message() << "call " << k);
    EXPECT_TRUE(report.commit.status.has_value()) << ToString(report.commit.status.error());
    EXPECT_EQ(world.Rows(), rows);
    EXPECT_EQ(world.CommitsOf(), 1);
    world.CheckSound();
    for (const std::string& orphan : world.Orphans()) {
      EXPECT_EQ(std::ranges::count(report.commit.leftover_files, orphan), 1) << orphan;
    }
    if (HasFailure()) return;
  }
}

INSTANTIATE_TEST_SUITE_P(Shapes, RebaseTest, testing::ValuesIn(Cases()),
                         [](const auto& param) { return param.param.name; });

}  // namespace
}  // namespace firn::sim
