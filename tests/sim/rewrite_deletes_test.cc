// SPDX-License-Identifier: Apache-2.0
//
// Delete files are rewritten: the rows stay, whoever else writes and whenever the process dies.
#include "service/rewrite_deletes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

#include "sim/world.h"

namespace firn::sim {
namespace {

using service::RewrittenDeletes;

service::RewriteDeletesOptions OptionsOf() {
  service::RewriteDeletesOptions options;
  options.rewrite.memory_bytes = 256 << 20;
  options.plan.min_input_files = 2;
  options.plan.own_file_ratio = 2;  // files of three rows are not all rewritten for one of them
  return options;
}

Result<RewrittenDeletes> Rewrite(World& world, const service::RewriteDeletesOptions& options = OptionsOf()) {
  act::CommitEnvironment environment = world.Environment(*world.catalog);
  return world.AsProcess([&] { return service::RewriteDeletes(environment, SimTable::Id(), options); });
}

/// Between the calls at which something happens; FIRN_EVERY_CALL=1 leaves none out.
std::int64_t Step(std::int64_t usual) { return std::getenv("FIRN_EVERY_CALL") == nullptr ? usual : 1; }

struct Kinds {
  int equality = 0, positions = 0, vectors = 0;
  friend bool operator==(const Kinds&, const Kinds&) = default;
};

std::ostream& operator<<(std::ostream& out, const Kinds& kinds) {
  return out << kinds.equality << " equality, " << kinds.positions << " positions, " << kinds.vectors << " vectors";
}

Kinds KindsOf(World& world) {
  Kinds kinds;
  const Result<Contents> contents = world.table().ReadHead();
  EXPECT_TRUE(contents.has_value());
  for (const LiveFile& live : contents->deletes) {
    switch (iceberg::KindOf(live.file)) {
      case iceberg::DeleteKind::kEquality: ++kinds.equality; break;
      case iceberg::DeleteKind::kPositions: ++kinds.positions; break;
      case iceberg::DeleteKind::kVector: ++kinds.vectors; break;
    }
  }
  return kinds;
}

/// No delete may name a data file that is gone.
void CheckNoneDangles(World& world) {
  const Result<Contents> contents = world.table().ReadHead();
  ASSERT_TRUE(contents.has_value());
  for (const LiveFile& live : contents->deletes) {
    if (live.file.format != iceberg::FileFormat::kPuffin) continue;
    EXPECT_TRUE(contents->files.contains(*live.file.referenced_data_file)) << *live.file.referenced_data_file;
  }
}

std::string Operation(World& world) { return world.table().Load()->metadata->current_snapshot()->operation(); }

/// Two partitions with files of three snapshots, and deletes of all kinds between and after them. Version 3 begins as
/// 2, so that it has position deletes.
void FillWithDeletes(World& world, std::int32_t version) {
  world.Fill(6, 3);
  const std::vector<std::string> paths = world.PathsOf(0);
  world.Fail(world.table().AddPositionDeletes({{paths[0], 1}, {paths[3], 0}}, false));
  world.Fail(world.table().AddPositionDeletes({{paths[1], 2}}, true));
  world.Fail(world.table().AddEqualityDelete(0, {1, 4, 9, 500}));
  ASSERT_TRUE(world.table().Append(0, {{1, 4, 7001}}).has_value());
  world.Fail(world.table().AddEqualityDelete(0, {4, 7001, 20}));
  world.Fail(world.table().AddEqualityDelete(1, {5, 23}));
  if (version >= 3) world.Fail(world.table().Upgrade());
  if (version >= 3) {
    world.Fail(world.table().AddVectors({{paths[0], 0}, {paths[4], 2}}));
    const Result<Contents> contents = world.table().ReadHead();
    world.Fail(world.table().AddEqualityDelete(0, {contents->files.at(paths[4]).rows[0].id}));
  }
  ASSERT_TRUE(world.table().Append(1, {{5, 7002}}).has_value());
}

class RewriteDeletesTest : public testing::TestWithParam<std::int32_t> {
 protected:
  static std::int64_t CallsOf() {
    World world(2);
    FillWithDeletes(world, GetParam());
    world.injector.Reset();
    EXPECT_TRUE(Rewrite(world).has_value());
    return world.injector.call_count();
  }
};

TEST_P(RewriteDeletesTest, AllKinds_BecomePositionsAndThenNothingIsLeftToDo) {
  World world(2);
  FillWithDeletes(world, GetParam());
  const std::vector<Row> rows = world.Rows();
  const std::vector<std::string> data = world.PathsOf(0);
  const Result<RewrittenDeletes> done = Rewrite(world);
  ASSERT_TRUE(done.has_value()) << ToString(done.error());
  EXPECT_TRUE(done->outcome.failures.empty());
  EXPECT_EQ(done->rounds, 1);
  EXPECT_EQ(done->outcome.equality_files_removed, GetParam() >= 3 ? 4 : 3);
  EXPECT_EQ(done->outcome.files_kept, 0);
  EXPECT_EQ(world.Rows(), rows);
  EXPECT_EQ(world.PathsOf(0), data);
  EXPECT_EQ(Operation(world), "delete");
  const Kinds kinds = KindsOf(world);
  EXPECT_EQ(kinds.equality, 0);
  if (GetParam() >= 3) {
    EXPECT_EQ(kinds.positions, 0);
    EXPECT_EQ(done->outcome.vectors_removed, 1);
    EXPECT_EQ(done->outcome.vectors_added + 1, kinds.vectors);  // one said everything already
    EXPECT_EQ(done->outcome.position_files_removed, 2);
  } else {
    EXPECT_EQ(kinds.positions, 2);  // one a partition
    EXPECT_EQ(done->outcome.position_files_added, 2);
    EXPECT_EQ(done->outcome.position_files_removed, 2);
  }
  world.CheckSound();
  CheckNoneDangles(world);
  EXPECT_EQ(world.Orphans(), std::set<std::string>());

  const Result<RewrittenDeletes> again = Rewrite(world);
  ASSERT_TRUE(again.has_value()) << ToString(again.error());
  EXPECT_EQ(again->rounds, 0);
  EXPECT_TRUE(again->first.plan.deletes.empty());
}

TEST_P(RewriteDeletesTest, SmallBatches_GiveTheSame) {
  World world(2);
  FillWithDeletes(world, GetParam());
  const std::vector<Row> rows = world.Rows();
  service::RewriteDeletesOptions options = OptionsOf();
  options.rewrite.batch_files_max = 2;
  const Result<RewrittenDeletes> done = Rewrite(world, options);
  ASSERT_TRUE(done.has_value()) << ToString(done.error());
  EXPECT_TRUE(done->outcome.failures.empty());
  EXPECT_EQ(KindsOf(world).equality, 0);
  EXPECT_EQ(world.Rows(), rows);
  EXPECT_EQ(world.Orphans(), std::set<std::string>());
}

TEST_P(RewriteDeletesTest, OnlyPositions_AreAReplaceAndLeaveEqualityDeletes) {
  World world(2);
  FillWithDeletes(world, GetParam());
  const std::vector<Row> rows = world.Rows();
  const Kinds before = KindsOf(world);
  service::RewriteDeletesOptions options = OptionsOf();
  options.plan.equality = options.plan.dangling = false;
  const Result<RewrittenDeletes> done = Rewrite(world, options);
  ASSERT_TRUE(done.has_value()) << ToString(done.error());
  EXPECT_EQ(world.Rows(), rows);
  EXPECT_EQ(Operation(world), "replace");
  EXPECT_EQ(KindsOf(world).equality, before.equality);
  EXPECT_EQ(KindsOf(world).positions, GetParam() >= 3 ? 0 : 1);
  if (GetParam() >= 3) return;
  // Merged deletes keep the number of the newest one, so that an older one is not mistaken for a newer.
  const Result<Contents> contents = world.table().ReadHead();
  for (const LiveFile& live : contents->deletes) {
    if (iceberg::KindOf(live.file) != iceberg::DeleteKind::kPositions) continue;
    EXPECT_LT(live.sequence_number, live.file_sequence_number);
    EXPECT_EQ(live.file.record_count, 3);
  }
}

TEST_P(RewriteDeletesTest, Dangling_GoWithoutReadingAnything) {
  World world(GetParam());
  world.Fill(4, 2);
  const std::vector<std::string> paths = world.PathsOf(0);
  world.Fail(GetParam() >= 3 ? world.table().AddVectors({{paths[0], 1}})
                             : world.table().AddPositionDeletes({{paths[0], 1}}, true));
  world.Fail(world.table().AddEqualityDelete(1, {3, 4}));
  // The writer here takes vectors out with their files, so only position deletes dangle.
  world.Fail(world.table().RemoveFile(paths[0]));
  for (const std::string& path : world.PathsOf(1)) world.Fail(world.table().RemoveFile(path));
  ASSERT_TRUE(world.table().Append(1, {{3, 7003}}).has_value());
  const std::vector<Row> rows = world.Rows();
  const Result<RewrittenDeletes> done = Rewrite(world);
  ASSERT_TRUE(done.has_value()) << ToString(done.error());
  EXPECT_EQ(done->first.plan.dangling_files, GetParam() >= 3 ? 1 : 2);
  EXPECT_EQ(done->outcome.data_files_read, 0);
  EXPECT_EQ(KindsOf(world), Kinds());
  EXPECT_EQ(Operation(world), "replace");
  EXPECT_EQ(world.Rows(), rows);
}

TEST_P(RewriteDeletesTest, UnreadableDelete_StaysWithAReasonAndOthersGo) {
  World world(2);
  FillWithDeletes(world, GetParam());
  const std::vector<Row> rows = world.Rows();
  const Result<Contents> contents = world.table().ReadHead();
  Bytes kept;
  std::string broken;
  for (const LiveFile& live : contents->deletes) {
    if (iceberg::KindOf(live.file) != iceberg::DeleteKind::kEquality) continue;
    if (std::get<std::int32_t>(live.file.partition.values.at(0)) == 1) broken = live.file.file_path;
  }
  kept = ports::ReadFile(*world.storage, broken).value();
  world.Fail(world.storage->Delete(broken));
  const Result<RewrittenDeletes> done = Rewrite(world);
  ASSERT_TRUE(done.has_value()) << ToString(done.error());
  EXPECT_FALSE(done->outcome.failures.empty());
  EXPECT_EQ(done->outcome.files_kept, 1);
  EXPECT_EQ(done->outcome.equality_files_removed, GetParam() >= 3 ? 3 : 2);
  world.Fail(ports::WriteFile(*world.storage, broken, kept));
  EXPECT_EQ(world.Rows(), rows);
  EXPECT_EQ(KindsOf(world).equality, 1);
  EXPECT_EQ(world.Orphans(), std::set<std::string>());
}

TEST_P(RewriteDeletesTest, ProcessDiesAtAnyCall_TableIsBeforeOrAfterAndNextRunCompletes) {
  const std::int64_t calls = CallsOf();
  ASSERT_GT(calls, 20);
  for (std::int64_t k = 1; k <= calls; k += Step(5)) {
    for (const bool done : {false, true}) {
      SCOPED_TRACE(testing::Message() << "call " << k << (done ? " done" : " not done"));
      World world(2);
      FillWithDeletes(world, GetParam());
      const std::vector<Row> rows = world.Rows();
      world.injector.Reset();
      world.injector.CrashAt(k, done);
      (void)Rewrite(world).has_value();
      world.injector.Reset();
      EXPECT_EQ(world.Rows(), rows);
      const Result<RewrittenDeletes> second = Rewrite(world);
      ASSERT_TRUE(second.has_value()) << ToString(second.error());
      EXPECT_TRUE(second->outcome.failures.empty());
      EXPECT_EQ(KindsOf(world).equality, 0);
      EXPECT_EQ(world.Rows(), rows);
      world.CheckSound();
      CheckNoneDangles(world);
      if (HasFailure()) return;
    }
  }
}

TEST_P(RewriteDeletesTest, OneCallFailsOrItsReplyIsLost_RowsStayAndFilesAreNamed) {
  const std::int64_t calls = CallsOf();
  for (std::int64_t k = 1; k <= calls; k += Step(5)) {
    for (const bool lost : {false, true}) {
      SCOPED_TRACE(testing::Message() << "call " << k << (lost ? " lost" : " failed"));
      World world(2);
      FillWithDeletes(world, GetParam());
      const std::vector<Row> rows = world.Rows();
      world.injector.Reset();
      lost ? world.injector.LoseReplyAt(k) : world.injector.FailAt(k);
      const Result<RewrittenDeletes> done = Rewrite(world);
      world.injector.Reset();
      EXPECT_EQ(world.Rows(), rows);
      world.CheckSound();
      for (const std::string& orphan : world.Orphans()) {
        EXPECT_TRUE(done && std::ranges::count(done->outcome.leftover_files, orphan) == 1) << orphan;
      }
      if (HasFailure()) return;
    }
  }
}

struct Intruder {
  std::string name;
  std::function<Status(World&, const std::vector<std::string>& paths)> act;
  /// Equality deletes that may be left: those that came too late, and those that files of others need.
  int left = 0;
};

Status DeletePositions(World& world, const std::vector<Position>& positions) {
  const Result<ports::LoadedTable> table = world.table().Load();
  if (table->metadata->format_version() >= 3) return world.table().AddVectors(positions);
  return world.table().AddPositionDeletes(positions, true);
}

const std::vector<Intruder>& Intruders() {
  static const std::vector<Intruder> kIntruders = {
      {"positions_of_read_files",
       [](World& world, const auto& paths) {
         return DeletePositions(world, {{paths[0], 2}, {paths[1], 0}, {paths[1], 1}, {paths[2], 1}});
       }},
      {"newer_keys", [](World& world, const auto&) { return world.table().AddEqualityDelete(0, {0, 2, 8}); }, 1},
      {"a_read_file_goes", [](World& world, const auto& paths) { return world.table().RemoveFile(paths[0]); }},
      {"a_read_file_is_written_anew",
       [](World& world, const auto& paths) { return world.table().Overwrite(paths[3], {41}); }},
      {"keys_are_converted", [](World& world, const auto&) { return world.table().ConvertEqualityDeletes(); }},
      {"manifests", [](World& world, const auto&) { return world.table().RewriteManifests(); }},
      {"append_of_deleted_keys",
       [](World& world, const auto&) -> Status {
         const auto appended = world.table().Append(0, {{1, 4, 9}});
         return appended ? Ok() : Status(appended.error());
       }},
      {"all_deletes_are_dropped", [](World& world, const auto&) { return world.table().DropDeletes(); }},
  };
  return kIntruders;
}

TEST_P(RewriteDeletesTest, OthersCommitBetweenCalls_RowsAreTheirs) {
  for (const Intruder& intruder : Intruders()) {
    std::int64_t calls = 1;
    for (std::int64_t at = 1; at <= calls; at += Step(9)) {
      SCOPED_TRACE(testing::Message() << intruder.name << " before call " << at);
      World world(2, 7 + static_cast<std::uint64_t>(at));
      FillWithDeletes(world, GetParam());
      const std::vector<std::string> paths = world.PathsOf(0);
      std::vector<Row> expected = world.Rows();
      bool acted = false;
      world.injector.Reset();
      world.intrude = [&](std::int64_t call, const ports::IoEvent&) {
        if (acted || call != at) return;
        acted = true;
        world.Fail(intruder.act(world, paths));
        expected = world.Rows();
      };
      const Result<RewrittenDeletes> done = Rewrite(world);
      world.intrude = nullptr;
      calls = world.injector.call_count();
      ASSERT_TRUE(done.has_value()) << ToString(done.error());
      for (const auto& failure : done->outcome.failures) ADD_FAILURE() << ToString(failure.error);
      EXPECT_EQ(world.Rows(), expected);
      EXPECT_LE(KindsOf(world).equality, intruder.left);
      CheckNoneDangles(world);
      world.CheckSound();
      EXPECT_EQ(world.Orphans(), std::set<std::string>());
      if (HasFailure()) return;
    }
  }
}

TEST(RewriteDeletesUpgrade, ProcessDiesAtAnyCall_NextRunCompletes) {
  service::RewriteDeletesOptions options = OptionsOf();
  options.format_version = 3;
  std::int64_t calls = 1;
  for (std::int64_t k = 1; k <= calls; k += Step(5)) {
    SCOPED_TRACE(testing::Message() << "call " << k);
    World world(2);
    FillWithDeletes(world, 2);
    const std::vector<Row> rows = world.Rows();
    world.injector.Reset();
    world.injector.CrashAt(k, k % 2 == 0);
    (void)Rewrite(world, options).has_value();
    world.injector.Reset();
    EXPECT_EQ(world.Rows(), rows);
    const Result<RewrittenDeletes> second = Rewrite(world, options);
    if (k == 1) calls = world.injector.call_count();
    ASSERT_TRUE(second.has_value()) << ToString(second.error());
    EXPECT_EQ(world.table().Load()->metadata->format_version(), 3);
    EXPECT_EQ(KindsOf(world).equality + KindsOf(world).positions, 0);
    EXPECT_EQ(world.Rows(), rows);
    world.CheckSound();
    if (testing::Test::HasFailure()) return;
  }
  World old(1);
  EXPECT_EQ(Rewrite(old, options).error().code, Code::kUnsupported);
}

/// Another rewriter puts back rows as old as they were: the equality delete must stay until they are read, too.
TEST_P(RewriteDeletesTest, OldFileAddedMeanwhile_EqualityDeleteIsAppliedToIt) {
  World world(GetParam());
  world.Fill(6, 3);
  act::Rewrite foreign = world.PlanOf({world.RewriteOf(0, 3, {.row_maps = false})}, "foreign");
  world.Fail(world.table().AddEqualityDelete(0, {0, 1, 4, 9}));
  const std::vector<Row> rows = world.Rows();
  bool acted = false;
  world.intrude = [&](std::int64_t, const ports::IoEvent& event) {
    if (acted || event.operation != ports::IoOperation::kCommitTable) return;
    acted = true;
    EXPECT_TRUE(world.Run(std::move(foreign)).commit.status.has_value());
  };
  const Result<RewrittenDeletes> done = Rewrite(world);
  world.intrude = nullptr;
  ASSERT_TRUE(done.has_value()) << ToString(done.error());
  EXPECT_EQ(world.Rows(), rows);
  EXPECT_EQ(world.CommitsOf("foreign"), 1);
  CheckNoneDangles(world);
}

INSTANTIATE_TEST_SUITE_P(Formats, RewriteDeletesTest, testing::Values(2, 3),
                         [](const auto& param) { return "V" + std::to_string(param.param); });

}  // namespace
}  // namespace firn::sim
