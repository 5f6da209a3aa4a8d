// SPDX-License-Identifier: Apache-2.0
//
// Where it is not certain of whom files are, or for how long: nothing is removed. And limits of what is looked at.
#include <gtest/gtest.h>

#include "act/leftovers.h"
#include "ports/process_token.h"
#include "service/rewrite_deletes.h"
#include "sim/leftover_fixture.h"

namespace firn::sim {
namespace {

class LeftoverLimitsTest : public testing::TestWithParam<std::int32_t> {};

/// Where the listing of data files alone is longer than what is kept in memory.
TEST_P(LeftoverLimitsTest, SignOfACommitBehindManyFiles_IsSeen) {
  World world(GetParam());
  world.Fill(6, 3);
  const std::vector<Row> rows = world.Rows();
  FaultyCatalog slow(*world.catalog, [] { return Fault::kDelay; }, 1000);
  world.retry.sends_max = world.retry.lookups_max = world.retry.attempts_max = 1;
  ASSERT_TRUE(OptimizeAsProcess(world, &slow).has_value());
  const act::RunMark mark = OnlyMark(world);
  for (std::size_t i = 0; i < act::kLeftoversMax; ++i) {
    world.Fail(ports::WriteFile(*world.storage, OwnFile(mark, i), {}));
  }
  const auto next = Optimize(world, 2, {{1, kEnded}}, false);
  ASSERT_TRUE(next.has_value());
  EXPECT_EQ(next->outcome.leftovers_removed, 0);
  slow.DeliverAll();
  world.CheckSound();
  EXPECT_EQ(world.Rows(), rows);
  // What was committed does not count: the others go, and the mark with them.
  const auto last = Optimize(world, 3, {{1, kEnded}, {2, kEnded}}, false);
  ASSERT_TRUE(last.has_value());
  EXPECT_EQ(last->outcome.leftovers_removed, static_cast<std::int64_t>(act::kLeftoversMax));
  EXPECT_EQ(Unnamed(world), std::set<std::string>());
  world.CheckSound();
  EXPECT_EQ(world.Rows(), rows);
}

TEST_P(LeftoverLimitsTest, ManyCommittedFiles_DoNotCount) {
  World world(GetParam());
  world.Fill(6, 3);
  DieAt(world, CallsOf(GetParam()), false);  // before its mark is removed
  const act::RunMark mark = OnlyMark(world);
  for (const std::size_t number : {std::size_t{0}, std::size_t{1}})
    world.Fail(ports::WriteFile(*world.storage, OwnFile(mark, number), {}));
  const auto table = world.table().Load();
  ASSERT_TRUE(table.has_value());
  const auto swept = act::SweepRun(*world.storage, *table, mark, {.files_max = 2});
  ASSERT_TRUE(swept.has_value());
  EXPECT_EQ(swept->removed, 2);
  EXPECT_TRUE(swept->is_done);
  world.CheckSound();
}

/// A run may take days: the age of its request counts from its end.
TEST_P(LeftoverLimitsTest, RunThatTookADay_ItsLateCommitIsWaitedForAllTheSame) {
  for (const bool is_killed : {false, true}) {
    World world(GetParam());
    world.Fill(6, 3);
    const std::vector<Row> rows = world.Rows();
    const SnapshotId base = world.table().Load()->metadata->current_snapshot()->id;
    bool is_sent = false, has_slept = false;
    const auto delay = [&is_sent] {
      is_sent = true;
      return Fault::kDelay;
    };
    FaultyCatalog slow(*world.catalog, delay, 1000);
    world.retry.sends_max = world.retry.lookups_max = world.retry.attempts_max = 1;
    world.injector.Reset();
    world.intrude = [&](std::int64_t call, const ports::IoEvent& event) {
      if (is_sent && is_killed) world.injector.CrashAt(call, false);
      if (has_slept || event.location.find("/data/") == std::string::npos) return;
      EXPECT_EQ(OnlyMark(world).writer.pid, 1);
      has_slept = true;
      world.clock.SleepMs(act::kRequestAgeMs);
    };
    (void)OptimizeAsProcess(world, &slow);
    world.intrude = nullptr;
    world.injector.Reset();
    ASSERT_TRUE(is_sent && has_slept);
    EXPECT_EQ(OnlyMark(world).is_ended, !is_killed);
    FaultyCatalog server(*world.catalog, [] { return Fault::kNone; });
    ASSERT_TRUE(Optimize(world, 2, {{1, kEnded}}, true, &server).has_value());
    world.Fail(world.table().RollBack(base));  // the request fits again
    slow.DeliverAll();
    world.CheckSound();
    EXPECT_EQ(world.Rows(), rows);
  }
}

/// A copy that was registered under another name has the UUID and the files, and not the commits; a table that was put
/// back to an older file neither.
TEST_P(LeftoverLimitsTest, ThroughAnotherNameOrAnOlderState_NothingIsRemoved) {
  World world(GetParam());
  world.Fill(3, 1);
  auto older = world.table().Load();
  world.Fill(6, 3);
  auto copy = world.table().Load();
  ASSERT_TRUE(older && copy);
  copy->id.name = "copy";
  const std::vector<Row> rows = world.Rows();
  DieAt(world, CallsOf(GetParam()) - 1, false);
  const std::set<std::string> before = Unnamed(world);
  for (const ports::LoadedTable* table : {&*copy, &*older}) {
    if (table == &*older && GetParam() == 1) continue;  // has no numbers by which it could be seen
    const act::Tidied tidied = LookAt(world, *table, kEnded);
    EXPECT_EQ(tidied.removed, 0);
    EXPECT_EQ(tidied.notes.size(), 1U);
    EXPECT_EQ(Unnamed(world), before);
    world.CheckSound();
    EXPECT_EQ(world.Rows(), rows);
  }
  const act::Tidied tidied = LookAt(world, *world.table().Load(), kEnded);
  EXPECT_EQ(tidied.notes, std::vector<std::string>());
  world.CheckSound();
}

TEST_P(LeftoverLimitsTest, OfAnotherMachine_ARunThatIsSeenAtWorkIsNotTakenForDead) {
  World world(GetParam());
  world.Fill(6, 3);
  const auto table = world.table().Load();
  MarkedProcess process(world, 1);
  act::RunJournal journal(process.environment, "main");
  world.Fail(journal.Begin(*table));
  for (int days = 0; days < 9; days += 2) {
    world.clock.SleepMs(act::kUnknownAgeMs / 3 * 2);
    if (days == 4) journal.BeSeen();  // without a commit
    if (days != 4) world.Fail(journal.CheckStands());
    EXPECT_EQ(LookAt(world, *table, ports::ProcessState::kUnknown).notes.size(), 1U);
  }
  world.Fail(journal.CheckStands());
  world.clock.SleepMs(act::kUnknownAgeMs);
  EXPECT_EQ(LookAt(world, *table, ports::ProcessState::kUnknown).notes, std::vector<std::string>());
  journal.BeSeen();  // does not bring it back
  const Status stands = journal.CheckStands();
  ASSERT_FALSE(stands.has_value());
  EXPECT_EQ(stands.error().code, Code::kCancelled);
  (void)LookAt(world, *table, ports::ProcessState::kUnknown);
  EXPECT_EQ(Unnamed(world), std::set<std::string>());
}

/// Work that takes long is seen while it goes on, and not only where it commits.
TEST_P(LeftoverLimitsTest, WorkBetweenCommits_IsSeen) {
  for (const bool of_deletes : {false, true}) {
    World world(GetParam());
    world.Fill(6, 3);
    if (of_deletes && GetParam() == 1) continue;
    if (of_deletes) world.Fail(world.table().AddEqualityDelete(0, {1, 2}));
    if (of_deletes) world.Fail(world.table().AddEqualityDelete(0, {4}));
    MarkedProcess process(world, 1);
    std::vector<bool> seen_before_lists;
    world.intrude = [&](std::int64_t, const ports::IoEvent& event) {
      world.clock.SleepMs(act::kSightMs / 2);
      if (event.operation != ports::IoOperation::kCreate || event.location.find("/snap-") == std::string::npos) return;
      const std::string folder = act::MarkFolder(*world.table().Load()->metadata);
      seen_before_lists.push_back(*world.storage->Exists(act::SightLocation(folder, OnlyMark(world).run)));
    };
    if (of_deletes) {
      service::RewriteDeletesOptions options;
      options.rewrite.memory_bytes = 256 << 20;
      options.plan.min_input_files = 2;
      options.plan.own_file_ratio = 2;
      const auto done =
          world.AsProcess([&] { return service::RewriteDeletes(process.environment, SimTable::Id(), options); });
      ASSERT_TRUE(done && done->outcome.failures.empty());
    } else {
      const service::OptimizeOptions options = OptionsOf(true);
      const auto done =
          world.AsProcess([&] { return service::Optimize(process.environment, SimTable::Id(), options); });
      ASSERT_TRUE(done && done->outcome.failures.empty());
    }
    EXPECT_EQ(seen_before_lists, std::vector<bool>{true}) << of_deletes;
    EXPECT_EQ(Unnamed(world), std::set<std::string>()) << of_deletes;
  }
}

/// The number of a process counts in its PID namespace only, and others may share the file system.
TEST_P(LeftoverLimitsTest, TemporaryFilesOfAnotherProcessWithTheSameNumber_Stay) {
  World world(GetParam());
  world.Fill(6, 3);
  DieAt(world, CallsOf(GetParam()) / 2, true);
  const std::string own = fmt::format("mem://wh/db/t/data/.firn-1-{}-7.tmp", ports::ProcessToken());
  const std::vector<std::string> others = {"mem://wh/db/t/data/.firn-1-7.tmp",
                                           "mem://wh/db/t/data/.firn-1-0123456789abcdef-7.tmp"};
  for (const std::string& file : others) world.Fail(ports::WriteFile(*world.storage, file, {}));
  world.Fail(ports::WriteFile(*world.storage, own, {}));
  (void)LookAt(world, *world.table().Load(), kEnded);
  EXPECT_FALSE(*world.storage->Exists(own));
  for (const std::string& file : others) EXPECT_TRUE(*world.storage->Exists(file)) << file;
}

TEST(RunMark, FolderThatOthersHaveFilled_CostsALimitedNumberOfReads) {
  World world(2);
  world.Fill(3, 1);
  const auto table = world.table().Load();
  const std::string folder = act::MarkFolder(*table->metadata);
  for (std::size_t i = 0; i < 2 * act::kMarkFilesMax; ++i) {
    world.Fail(ports::WriteFile(*world.storage, fmt::format("{}{}.run.json", folder, i), {}));
  }
  world.injector.Reset();
  const auto found = world.AsProcess([&] { return act::FindRunMarks(*world.io, *table->metadata); });
  ASSERT_TRUE(found.has_value());
  EXPECT_FALSE(found->is_complete);
  EXPECT_EQ(found->unreadable.size(), act::kMarkFilesMax);
  EXPECT_LT(world.injector.call_count(), static_cast<std::int64_t>(4 * act::kMarkFilesMax));
  EXPECT_FALSE(LookAt(world, *table, kEnded).notes.empty());
}

INSTANTIATE_TEST_SUITE_P(Formats, LeftoverLimitsTest, testing::Values(1, 2, 3),
                         [](const auto& version) { return "V" + std::to_string(version.param); });

}  // namespace
}  // namespace firn::sim
