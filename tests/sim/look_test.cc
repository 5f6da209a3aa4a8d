// SPDX-License-Identifier: Apache-2.0
//
// What a look at a table finds: how much it reads, what it decides, and what it keeps of a table that cannot be read.
#include "service/look.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "service/work.h"
#include "sim/world.h"

namespace firn::sim {
namespace {

using decide::DecisionKind;

class LookTest : public testing::TestWithParam<std::int32_t> {
 protected:
  LookTest() : world_(GetParam()) {}

  service::LookResult Look(decide::Cause cause = decide::Cause::kCommit, bool is_full = false) {
    service::LookOptions options;
    options.database = "c/db";
    options.cause = cause;
    options.is_full = is_full;
    table_.record.row.id = "c/db.t";
    world_.clock.SleepMs(1000);
    return service::Look(*world_.catalog, SimTable::Id(), options, world_.random, world_.clock.Now(), table_);
  }
  void Append(std::int32_t part, int files) {
    std::vector<std::vector<std::int64_t>> rows;
    for (int i = 0; i < files; ++i) rows.push_back({next_++});
    if (rows.empty()) return;
    world_.Fail(world_.table().Append(part, rows).has_value() ? Ok() : Status(Error{Code::kInternal, "append"}));
  }

  World world_;
  service::WatchedTable table_;
  std::int64_t next_ = 1'000'000;
};

TEST_P(LookTest, FirstLook_ScansEverythingAndFindsWork) {
  world_.Fill(6, 3);
  const auto found = Look();
  ASSERT_FALSE(found.error.has_value()) << found.error->message;
  EXPECT_EQ(found.counts.table_scans, 1);
  EXPECT_EQ(found.counts.partition_scans, 0) << "noise had no part in it";
  EXPECT_EQ(table_.record.row.files, 12);
  EXPECT_EQ(table_.record.row.partitions, 2);
  EXPECT_LT(table_.record.row.score, 90);
  EXPECT_EQ(table_.record.row.removable_files, 10);
  ASSERT_TRUE(found.candidates.has_value());
  ASSERT_EQ(found.candidates->size(), 1U);
  const decide::Candidate& work = found.candidates->front();
  EXPECT_EQ(work.predicted.files_removed, 10);
  EXPECT_EQ(work.partitions.size(), 2U);
  EXPECT_TRUE(decide::CheckCandidate(work).has_value());
  ASSERT_TRUE(found.trend.has_value());
  EXPECT_EQ(std::ranges::count(table_.record.histogram.now, 12), 1) << "all files are small";
}

TEST_P(LookTest, NothingNew_ReadsOnlyTheMetadata) {
  world_.Fill(2, 1);
  Look();
  std::vector<std::string> read;
  world_.intrude = [&](std::int64_t, const ports::IoEvent& event) { read.push_back(event.location); };
  const auto again = world_.AsProcess([&] { return Look(decide::Cause::kSweep); });
  std::erase_if(read, [](const std::string& place) { return place == "db.t" || place.ends_with(".metadata.json"); });
  EXPECT_TRUE(again.is_unchanged);
  EXPECT_TRUE(again.decisions.empty());
  EXPECT_FALSE(again.candidates.has_value());
  EXPECT_EQ(read, std::vector<std::string>()) << "no file but the metadata";
}

TEST_P(LookTest, FewFiles_AreQuiet_ManyAreScanned) {
  world_.Fill(6, 3);
  Look();
  Append(0, 1);
  const auto quiet = Look();
  EXPECT_EQ(quiet.counts.commits, 1);
  EXPECT_EQ(quiet.counts.partition_scans, 0);
  ASSERT_EQ(quiet.decisions.size(), 1U);
  EXPECT_EQ(quiet.decisions[0].kind, DecisionKind::kNothingToDo);
  EXPECT_EQ(quiet.decisions[0].code, "quiet");
  EXPECT_EQ(table_.record.row.files, 13) << "the change alone tells";
  Append(0, 8);
  const auto noisy = Look();
  EXPECT_EQ(noisy.counts.partition_scans, 1) << "partition 1 has not changed";
  ASSERT_TRUE(noisy.candidates.has_value());
  ASSERT_EQ(noisy.candidates->size(), 1U);
  ASSERT_EQ(noisy.candidates->front().partitions.size(), 1U);
  EXPECT_EQ(noisy.candidates->front().partitions[0].text, "part=0");
}

TEST_P(LookTest, OwnWork_IsNoNoise) {
  world_.Fill(6, 3);
  const auto found = Look();
  const double score = table_.record.row.score;
  const decide::Candidate candidate = found.candidates->front();
  service::WorkOptions options;
  options.memory_bytes = 256 << 20;
  const auto done = service::DoWork(candidate, *world_.catalog, SimTable::Id(), options, world_.clock, world_.random);
  ASSERT_TRUE(done.status.has_value()) << done.status.error().message;
  EXPECT_EQ(done.measured.files_removed, 10);
  const auto after = Look();
  EXPECT_EQ(after.counts.own_commits, 1);
  EXPECT_EQ(after.counts.commits, 0);
  EXPECT_EQ(after.counts.partition_scans, 0) << "it would go in circles";
  EXPECT_EQ(table_.record.row.files, 2);
  EXPECT_EQ(table_.record.row.removable_files, 0);
  EXPECT_GT(table_.record.row.score, score) << "without a scan";
  const auto again = service::DoWork(candidate, *world_.catalog, SimTable::Id(), options, world_.clock, world_.random);
  EXPECT_EQ(again.measured.files_replaced, 0) << "a stale candidate finds nothing to do";
}

TEST_P(LookTest, PartitionsThatAreBeingWritten_AreACandidateOfTheirOwn) {
  world_.Fill(6, 3);
  Look();
  for (int commit = 0; commit < 8; ++commit) {
    world_.clock.SleepMs(3000);
    Append(0, 1);
    Append(1, commit == 0 ? 7 : 0);
  }
  const auto found = Look();
  ASSERT_TRUE(found.candidates.has_value());
  ASSERT_EQ(found.candidates->size(), 2U);
  const auto hot =
      std::ranges::find_if(*found.candidates, [](const auto& each) { return each.write_interval_ms.has_value(); });
  ASSERT_NE(hot, found.candidates->end());
  ASSERT_EQ(hot->partitions.size(), 1U);
  EXPECT_EQ(hot->partitions[0].text, "part=0");
  EXPECT_NEAR(static_cast<double>(*hot->write_interval_ms), 3000, 1000);
}

TEST_P(LookTest, RequestToScan_MakesNoOtherWorkUrgent) {
  world_.Fill(6, 3);
  const auto found = Look(decide::Cause::kRequest, true);
  ASSERT_TRUE(found.candidates.has_value());
  ASSERT_FALSE(found.candidates->empty());
  EXPECT_NE(found.candidates->front().cause, decide::Cause::kRequest);
}

TEST_P(LookTest, WorkIsFoundAgain_WhenAWrongPropertyIsMended) {
  world_.Fill(6, 3);
  Look();
  ASSERT_TRUE(world_.table().SetProperty("firn.enabled", "perhaps").has_value());
  EXPECT_TRUE(Look().candidates->empty());
  ASSERT_TRUE(world_.table().SetProperty("firn.enabled", "false").has_value());
  EXPECT_TRUE(Look().candidates->empty());
  ASSERT_TRUE(world_.table().SetProperty("firn.enabled", "true").has_value());
  const auto found = Look();
  ASSERT_TRUE(found.candidates.has_value());
  EXPECT_EQ(found.candidates->size(), 1U);
}

TEST_P(LookTest, NothingNew_IsNotScannedAgain_HoweverLowTheThreshold) {
  world_.Fill(3, 1);
  ASSERT_TRUE(world_.table().SetProperty("firn.noise-threshold", "0").has_value());
  ASSERT_TRUE(world_.table().SetProperty("firn.min-input-files", "2").has_value());
  Look();
  for (int i = 0; i < 3; ++i) {
    const auto again = Look(decide::Cause::kSweep);
    EXPECT_EQ(again.counts.partition_scans, 0);
    EXPECT_TRUE(again.decisions.empty());
  }
}

TEST_P(LookTest, LongPropertyNames_MakeNoLongReasons) {
  world_.Fill(2, 1);
  ASSERT_TRUE(world_.table().SetProperty("firn." + std::string(300'000, 'k'), "1").has_value());
  Look();
  EXPECT_LE(table_.record.row.state_reason.size(), 1000U);
}

TEST_P(LookTest, RollBack_CostsAScan) {
  world_.Fill(6, 3);
  const SnapshotId before = world_.table().Load()->metadata->RefSnapshot("main")->id;
  Append(0, 3);
  Look();
  EXPECT_EQ(table_.record.row.files, 15);
  ASSERT_TRUE(world_.table().RollBack(before).has_value());
  const auto found = Look();
  EXPECT_EQ(found.counts.table_scans, 1);
  EXPECT_EQ(table_.record.row.files, 12);
}

TEST_P(LookTest, WrongProperty_NamesTheKey_AndIsSaidOnce) {
  world_.Fill(2, 1);
  ASSERT_TRUE(world_.table().SetProperty("firn.target-fill-size", "1").has_value());
  const auto found = Look();
  ASSERT_TRUE(found.error.has_value());
  EXPECT_NE(found.error->message.find("firn.target-fill-size"), std::string::npos) << found.error->message;
  EXPECT_EQ(table_.record.row.state, service::TableRow::State::kUnreadable);
  ASSERT_EQ(found.decisions.size(), 1U);
  EXPECT_EQ(found.decisions[0].kind, DecisionKind::kRefused);
  EXPECT_TRUE(Look().decisions.empty());
}

TEST_P(LookTest, TableThatIsNotThere_IsGone) {
  table_.record.row.id = "c/db.other";
  service::LookOptions options;
  const auto found =
      service::Look(*world_.catalog, {{"db"}, "other"}, options, world_.random, world_.clock.Now(), table_);
  EXPECT_TRUE(found.is_gone);
  EXPECT_EQ(table_.record.row.state, service::TableRow::State::kDropped);
}

INSTANTIATE_TEST_SUITE_P(Versions, LookTest, testing::Values(2, 3));

}  // namespace
}  // namespace firn::sim
