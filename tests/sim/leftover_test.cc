// SPDX-License-Identifier: Apache-2.0
//
// What a killed run leaves: the next one removes it or tells of it, and never touches what is the table's or can
// become it.
#include <gtest/gtest.h>

#include "ports/static_catalog.h"
#include "sim/leftover_fixture.h"

namespace firn::sim {
namespace {

class LeftoverTest : public testing::TestWithParam<std::int32_t> {};

TEST_P(LeftoverTest, ProcessDiesAtAnyCall_TheNextRunRemovesAllOfIt) {
  const std::int64_t calls = CallsOf(GetParam());
  ASSERT_GT(calls, 30);
  std::int64_t removed = 0;
  for (std::int64_t k = 1; k <= calls; ++k) {
    for (const bool done : {false, true}) {
      World world(GetParam());
      world.Fill(6, 3);
      const std::vector<Row> rows = world.Rows();
      SCOPED_TRACE(DieAt(world, k, done));
      const auto next = Optimize(world, 2, {{1, kEnded}});
      ASSERT_TRUE(next.has_value()) << ToString(next.error());
      EXPECT_EQ(next->outcome.leftover_files, std::vector<std::string>());
      EXPECT_EQ(Unnamed(world), std::set<std::string>());
      EXPECT_EQ(world.Rows(), rows);
      world.CheckSound();
      removed += next->outcome.leftovers_removed;
    }
  }
  EXPECT_GT(removed, calls / 2);
}

/// Without a commit of its own the next run cannot know that nothing of the dead one is on its way.
TEST_P(LeftoverTest, ProcessDiesAtAnyCall_ARunThatCommitsNothingNamesWhatItKeeps) {
  const std::int64_t calls = CallsOf(GetParam());
  bool has_kept = false;
  for (std::int64_t k = 1; k <= calls; ++k) {
    World world(GetParam());
    world.Fill(6, 3);
    const std::vector<Row> rows = world.Rows();
    SCOPED_TRACE(DieAt(world, k, true));
    const auto next = Optimize(world, 2, {{1, kEnded}}, false);
    ASSERT_TRUE(next.has_value()) << ToString(next.error());
    for (const std::string& file : Unnamed(world)) {
      if (file.find("/firn-runs/") != std::string::npos) continue;
      has_kept = true;
      EXPECT_EQ(std::ranges::count(next->outcome.leftover_files, file), 1) << file;
    }
    EXPECT_EQ(world.Rows(), rows);
    world.CheckSound();
  }
  EXPECT_TRUE(has_kept);
}

TEST_P(LeftoverTest, OfAProcessThatRunsOrMayRun_NothingIsTouched) {
  const std::int64_t calls = CallsOf(GetParam());
  for (std::int64_t k = 1; k <= calls; k += 3) {
    for (const bool is_known : {true, false}) {
      World world(GetParam());
      world.Fill(6, 3);
      DieAt(world, k, true);
      const std::set<std::string> before = Unnamed(world);
      std::map<std::int64_t, ports::ProcessState> states;
      if (is_known) states[1] = kRuns;
      const auto next = Optimize(world, 2, states, false);
      ASSERT_TRUE(next.has_value());
      EXPECT_EQ(Unnamed(world), before);
      EXPECT_EQ(next->outcome.leftovers_removed, 0);
      const bool has_mark = std::ranges::any_of(before, [](const auto& f) { return f.ends_with(".run.json"); });
      EXPECT_EQ(next->outcome.notes.size(), !is_known && has_mark ? 1U : 0U);
    }
  }
}

TEST_P(LeftoverTest, OfAnotherMachine_AfterDays_ItIsTakenForDead) {
  World world(GetParam());
  world.Fill(6, 3);
  DieAt(world, CallsOf(GetParam()) / 2, true);
  ASSERT_FALSE(Unnamed(world).empty());
  world.clock.SleepMs(act::kUnknownAgeMs);
  const auto next = Optimize(world, 2, {});
  ASSERT_TRUE(next.has_value());
  EXPECT_EQ(Unnamed(world), std::set<std::string>());
}

/// The proof of death may be wrong (a copied machine): the table is whole all the same.
TEST_P(LeftoverTest, TakenForDeadAtAnyCallWhileItLives_NoRowIsLost) {
  const std::int64_t calls = CallsOf(GetParam());
  for (const bool enabled : {false, true}) {
    for (std::int64_t k = 1; k <= calls; ++k) {
      World world(GetParam());
      world.Fill(6, 3);
      const std::vector<Row> rows = world.Rows();
      world.injector.Reset();
      world.intrude = [&](std::int64_t call, const ports::IoEvent&) {
        if (call != k) return;
        EXPECT_TRUE(Optimize(world, 2, {{1, kEnded}}, enabled).has_value());
      };
      (void)OptimizeAsProcess(world);
      world.intrude = nullptr;
      SCOPED_TRACE(testing::Message() << "call " << k << " enabled " << enabled);
      EXPECT_EQ(world.Rows(), rows);
      world.CheckSound();
      // What the two left goes with the next one.
      const auto last = Optimize(world, 3, {{1, kEnded}, {2, kEnded}});
      ASSERT_TRUE(last.has_value());
      world.CheckSound();
      EXPECT_EQ(world.Rows(), rows);
    }
  }
}

/// The request was sent, the process died, and it arrives after the next run has looked.
TEST_P(LeftoverTest, CommitOfTheDeadArrivesLate_NothingThatItNamesIsGone) {
  for (const bool enabled : {false, true}) {
    World world(GetParam());
    world.Fill(6, 3);
    const std::vector<Row> rows = world.Rows();
    const SnapshotId base = world.table().Load()->metadata->current_snapshot()->id;
    FaultyCatalog slow(*world.catalog, [] { return Fault::kDelay; }, 1000);
    world.retry.sends_max = world.retry.lookups_max = world.retry.attempts_max = 1;
    const auto first = OptimizeAsProcess(world, &slow);
    ASSERT_TRUE(first.has_value());
    EXPECT_FALSE(first->outcome.leftover_files.empty());
    FaultyCatalog server(*world.catalog, [] { return Fault::kNone; });
    const auto next = Optimize(world, 2, {{1, kEnded}}, enabled, &server);
    ASSERT_TRUE(next.has_value());
    EXPECT_FALSE(next->outcome.leftover_files.empty());
    if (enabled) world.Fail(world.table().RollBack(base));  // the request fits again
    slow.DeliverAll();
    world.CheckSound();
    EXPECT_EQ(world.Rows(), rows);
    world.clock.SleepMs(act::kRequestAgeMs);
    world.Fill(6, 3);
    const auto last = Optimize(world, 3, {{1, kEnded}, {2, kEnded}}, true, &server);
    ASSERT_TRUE(last.has_value());
    world.CheckSound();
    EXPECT_EQ(Unnamed(world), std::set<std::string>());
  }
}

/// What a run has committed before it died is not in an older metadata file.
TEST_P(LeftoverTest, ThroughAnOldMetadataFile_NothingIsRemoved) {
  World world(GetParam());
  world.Fill(6, 3);
  const std::string old_file = world.table().Load()->metadata_location;
  const std::vector<Row> rows = world.Rows();
  DieAt(world, CallsOf(GetParam()), false);  // before its mark is removed
  ASSERT_NE(world.table().Load()->metadata_location, old_file);
  const std::set<std::string> before = Unnamed(world);
  ASSERT_EQ(before.size(), 1U);
  ports::StaticCatalog by_file(world.io);
  TestProcesses processes(2);
  processes.states = {{1, kEnded}};
  act::CommitEnvironment environment = world.Environment(by_file);
  environment.processes = &processes;
  EXPECT_FALSE(service::Optimize(environment, {{}, old_file}, OptionsOf(true)).has_value());
  EXPECT_EQ(Unnamed(world), before);
  world.CheckSound();
  EXPECT_EQ(world.Rows(), rows);
}

TEST(RunMark, ForgedNamesAreNotBelieved) {
  Random random(7);
  act::RunMark mark;
  mark.writer = TestProcesses(5).Self();
  mark.sequence_number = SequenceNumber(3);
  mark.base_snapshot_id = SnapshotId(77);
  ASSERT_TRUE(act::NameRun(mark, random).has_value());
  const std::string text = act::ToText(mark);
  const std::string right = act::MarkLocation("mem://t/metadata/firn-runs/", mark.run, true);
  const auto parsed = act::ParseRunMark(text, right);
  ASSERT_TRUE(parsed.has_value());
  EXPECT_TRUE(parsed->is_ended);
  EXPECT_EQ(parsed->run, mark.run);
  EXPECT_EQ(parsed->writer.pid, 5);
  EXPECT_EQ(parsed->base_snapshot_id, SnapshotId(77));
  EXPECT_FALSE(act::ParseRunMark(text, "mem://t/metadata/firn-runs/other.ended.json").has_value());
  const std::string of_others = random.NewUuid().substr(0, act::kRunNameSize);
  for (const std::string& run :
       {std::string(), std::string("-"), std::string("data"), of_others, std::string("00000000-0000-8000-8000-")}) {
    mark.run = run;
    EXPECT_FALSE(act::ParseRunMark(act::ToText(mark), fmt::format("/{}.ended.json", run.substr(0, 23))).has_value())
        << run;
  }
  EXPECT_FALSE(act::ParseRunMark("{}", right).has_value());
  EXPECT_FALSE(act::ParseRunMark("", right).has_value());
}

/// By hand, or put together from several.
TEST(RunMark, ChangedAnywhere_IsNotBelieved) {
  Random random(7);
  act::RunMark mark;
  mark.writer = TestProcesses(5).Self();
  mark.catalog = mark.table = mark.table_uuid = mark.ref = "main";
  mark.sequence_number = SequenceNumber(3);
  mark.base_snapshot_id = SnapshotId(77);
  ASSERT_TRUE(act::NameRun(mark, random).has_value());
  const std::string right = act::MarkLocation("/", mark.run, true);
  const auto is_believed = [&right](const act::RunMark& changed) {
    return act::ParseRunMark(act::ToText(changed), right).has_value();
  };
  act::RunMark ended = mark;
  ended.ended = TimestampMs{5};
  EXPECT_TRUE(is_believed(ended));
  std::vector<act::RunMark> changed(9, mark);
  changed[0].sequence_number = SequenceNumber(4);
  changed[1].sequence_number.reset();
  changed[2].base_snapshot_id = SnapshotId(78);
  changed[3].table_uuid = "other";
  changed[4].ref = "other";
  changed[5].catalog = "other";
  changed[6].writer.pid = 6;
  changed[7].begun = TimestampMs{1};
  changed[8].nonce = "other";
  for (std::size_t i = 0; i < changed.size(); ++i) EXPECT_FALSE(is_believed(changed[i])) << i;
}

INSTANTIATE_TEST_SUITE_P(Formats, LeftoverTest, testing::Values(1, 2, 3),
                         [](const auto& version) { return "V" + std::to_string(version.param); });

}  // namespace
}  // namespace firn::sim
