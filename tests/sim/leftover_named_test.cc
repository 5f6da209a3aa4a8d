// SPDX-License-Identifier: Apache-2.0
//
// What the table names stays and is not offered, whatever a mark says of it.
#include <gtest/gtest.h>

#include "act/leftovers.h"
#include "act/run_files.h"
#include "format/json/json.h"
#include "sim/leftover_fixture.h"

namespace firn::sim {
namespace {

class LeftoverNamedTest : public testing::TestWithParam<std::int32_t> {};

/// A restore, or another server that is behind: numbers of snapshots are given out a second time.
TEST_P(LeftoverNamedTest, TablePutBackWhileARunWorks_ItsCommitIsNotTakenForALeftover) {
  for (const bool enabled : {false, true}) {
    World world(GetParam());
    world.Fill(6, 3);
    const std::vector<Row> rows = world.Rows();
    const std::string older = world.table().Load()->metadata_location;
    ASSERT_TRUE(world.table().Append(0, {{900'001}}).has_value());
    bool is_put_back = false;
    world.injector.Reset();
    world.intrude = [&](std::int64_t call, const ports::IoEvent& event) {
      if (!is_put_back && event.location.find("/data/") != std::string::npos) {
        is_put_back = true;
        world.catalog->Register(SimTable::Id(), older);
      }
      const bool ends = event.operation == ports::IoOperation::kDelete && event.location.ends_with(".run.json");
      if (ends) world.injector.CrashAt(call, false);
    };
    (void)OptimizeAsProcess(world);
    world.intrude = nullptr;
    world.injector.Reset();
    ASSERT_TRUE(is_put_back);
    ASSERT_EQ(OnlyMark(world).writer.pid, 1);
    world.CheckSound();
    EXPECT_EQ(world.Rows(), rows);
    for (std::int64_t id = 900'010; id < 900'020; ++id) ASSERT_TRUE(world.table().Append(0, {{id}}).has_value());
    const std::vector<Row> all = world.Rows();
    const std::set<std::string> needed = *world.table().NeededFiles();
    const auto next = Optimize(world, 2, {{1, kEnded}}, enabled);
    ASSERT_TRUE(next.has_value());
    for (const std::string& file : next->outcome.leftover_files) EXPECT_FALSE(needed.contains(file)) << file;
    world.CheckSound();
    EXPECT_EQ(world.Rows(), all);
  }
}

/// A run that has committed and died before it took its mark away.
act::RunMark MarkOfACommitted(World& world, std::int32_t version) {
  world.Fill(6, 3);
  DieAt(world, CallsOf(version), false);
  return OnlyMark(world);
}

TEST_P(LeftoverNamedTest, MarkWithAWrongNumber_NothingOfTheTableIsRemovedOrOffered) {
  World world(GetParam());
  act::RunMark mark = MarkOfACommitted(world, GetParam());
  const auto table = world.table().Load();
  const std::int64_t last = table->metadata->last_sequence_number().value;
  for (const std::int64_t number : {std::int64_t{0}, last - 1, last, last + 1, std::int64_t{1} << 40}) {
    for (const bool is_fenced : {false, true}) {
      mark.sequence_number = SequenceNumber(number);
      const auto swept = act::SweepRun(*world.storage, *table, mark, {.is_fenced = is_fenced});
      ASSERT_TRUE(swept.has_value());
      EXPECT_EQ(swept->removed, 0) << number;
      EXPECT_EQ(swept->kept, std::vector<std::string>()) << number;
      world.CheckSound();
    }
  }
}

/// Who took the run for dead died before it had removed the first mark.
TEST_P(LeftoverNamedTest, BothMarksAreThere_TheRunCannotCommitWhatALaterOneRemoves) {
  World world(GetParam());
  world.Fill(6, 3);
  const auto table = world.table().Load();
  MarkedProcess process(world, 1);
  act::RunJournal journal(process.environment, "main");
  world.Fail(journal.Begin(*table));
  const std::string list = fmt::format("mem://wh/db/t/metadata/snap-7-1-{}.avro", journal.NewFileUuid());
  world.Fail(ports::WriteFile(*world.storage, list, {}));
  act::RunMark mark = OnlyMark(world);
  mark.ended = world.clock.Now();
  const std::string text = act::ToText(mark);
  const std::string location = act::MarkLocation(act::MarkFolder(*table->metadata), mark.run, true);
  world.Fail(ports::WriteFile(*world.storage, location, AsBytes(text)));
  world.Fail(journal.CheckStands());
  EXPECT_EQ(LookAt(world, *table, ports::ProcessState::kUnknown).kept, std::vector<std::string>{list});
  const Status stands = journal.CheckStands();
  ASSERT_FALSE(stands.has_value());
  EXPECT_EQ(stands.error().code, Code::kCancelled);
}

/// The table as it is, without some of its snapshots.
ports::LoadedTable Expired(const ports::LoadedTable& table, const std::set<std::int64_t>& gone) {
  json::Value tree = table.metadata->tree();
  std::erase_if(tree.Find("snapshots")->elements(),
                [&](const json::Value& s) { return gone.contains(*s.Find("snapshot-id")->AsInt64()); });
  tree.Set("snapshot-log", json::Value::Array());
  auto metadata = iceberg::TableMetadata::FromTree(std::move(tree));
  EXPECT_TRUE(metadata.has_value());
  ports::LoadedTable expired = table;
  expired.metadata = std::make_shared<const iceberg::TableMetadata>(std::move(*metadata));
  return expired;
}

/// Nothing in the table has the run's name any more, but the names of data files in manifests of somebody else.
TEST_P(LeftoverNamedTest, FilesInManifestsOfOtherWriters_Stay) {
  World world(GetParam());
  const act::RunMark mark = MarkOfACommitted(world, GetParam());
  world.Fail(world.table().RewriteManifests());
  const auto table = world.table().Load();
  ASSERT_TRUE(table.has_value() && mark.base_snapshot_id && act::IsNamedByContent(mark));
  std::set<std::int64_t> own, all;
  for (const iceberg::Snapshot& snapshot : table->metadata->snapshots()) {
    if (snapshot.id == table->metadata->current_snapshot()->id) continue;
    all.insert(snapshot.id.value);
    if (snapshot.manifest_list.find(mark.run) != std::string::npos) own.insert(snapshot.id.value);
  }
  ASSERT_FALSE(own.empty());
  for (const std::set<std::int64_t>& gone : {own, all}) {
    const ports::LoadedTable expired = Expired(*table, gone);
    const std::string extra = OwnFile(mark, 7);
    world.Fail(ports::WriteFile(*world.storage, extra, {}));
    const auto swept = act::SweepRun(*world.storage, expired, mark, {.is_fenced = true});
    ASSERT_TRUE(swept.has_value());
    EXPECT_FALSE(*world.storage->Exists(extra));
    const Contents head = *world.table().ReadHead();
    std::size_t merged = 0;
    for (const auto& [path, file] : head.files) merged += path.find(mark.run) != std::string::npos ? 1 : 0;
    EXPECT_GT(merged, 0U);
    for (const auto& [path, file] : head.files) EXPECT_TRUE(*world.storage->Exists(path)) << path;
  }
}

/// What was there before the run is not read, as long as the table remembers it; and not more than a limit.
TEST_P(LeftoverNamedTest, ManySnapshotsBeforeTheRun_AreNotRead) {
  World world(GetParam());
  world.Fill(12, 12);
  world.injector.Reset();
  world.intrude = [&](std::int64_t call, const ports::IoEvent& event) {
    if (event.location.find("/snap-") != std::string::npos && event.operation == ports::IoOperation::kCreate) {
      world.injector.CrashAt(call, false);
    }
  };
  (void)OptimizeAsProcess(world);
  world.intrude = nullptr;
  ASSERT_TRUE(world.table().Append(0, {{900'001}}).has_value());
  const act::RunMark mark = OnlyMark(world);
  const auto table = world.table().Load();
  std::set<std::int64_t> gone{mark.base_snapshot_id->value};
  const ports::LoadedTable without_base = Expired(*table, gone);
  const act::SweepOptions little{.limits = {.manifests_max = 2}};
  const auto refused = act::SweepRun(*world.storage, without_base, mark, little);
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().code, Code::kLimit);
  EXPECT_NE(refused.error().message.find(mark.run), std::string::npos) << "no file is named";
  world.CheckSound();

  act::RunMark changed = mark;
  changed.sequence_number = SequenceNumber(1);
  EXPECT_FALSE(act::SweepRun(*world.storage, *table, changed, little).has_value()) << "trusts a mark that was changed";

  world.injector.Reset();
  const auto swept = world.AsProcess([&] { return act::SweepRun(*world.io, *table, mark, little); });
  ASSERT_TRUE(swept.has_value()) << ToString(swept.error());
  EXPECT_GT(swept->removed, 1);
  EXPECT_TRUE(swept->is_done);
  std::int64_t lists = 0;
  for (const std::string& call : world.injector.trace()) lists += call.find("snap-") != std::string::npos ? 1 : 0;
  EXPECT_LE(lists, 12) << "of 25 snapshots";
  world.CheckSound();
}

/// Found unnamed at first; whether it is named at the end cannot be seen.
TEST_P(LeftoverNamedTest, TableThatCannotBeReadAgain_NothingIsOffered) {
  World world(GetParam());
  world.Fill(6, 3);
  FaultyCatalog slow(*world.catalog, [] { return Fault::kDelay; }, 1000);
  world.retry.sends_max = world.retry.lookups_max = world.retry.attempts_max = 1;
  ASSERT_TRUE(OptimizeAsProcess(world, &slow).has_value());
  const auto table = world.table().Load();
  for (const bool is_replaced : {false, true}) {
    MarkedProcess process(world, 2, {{1, kEnded}});
    act::RunJournal journal(process.environment, "main");
    journal.LookAtEarlier(*table);
    ASSERT_TRUE(journal.has_earlier());
    std::optional<ports::LoadedTable> now;
    if (is_replaced) now = *table;
    if (now) now->id.name = "other";
    const act::Tidied tidied = journal.End(false, now, false);
    EXPECT_EQ(tidied.kept, std::vector<std::string>());
    EXPECT_EQ(tidied.removed, 0);
    EXPECT_EQ(tidied.notes.size(), 1U);
  }
  slow.DeliverAll();
  world.CheckSound();
}

/// Names of other writers, of copies, and of temporary files that are not the run's.
TEST(RunFiles, OnlyWholeNamesOfTheRun) {
  act::RunMark mark;
  mark.run = "01234567-89ab-8def-8123-";
  mark.writer.pid = 5;
  mark.token = "0123456789abcdef";
  const std::string uuid = mark.run + "0123456789ab";
  using enum act::RunFileKind;
  const auto kind = [&](const std::string& text) { return act::KindOf(fmt::format(fmt::runtime(text), uuid), mark); };
  EXPECT_EQ(kind("00000-12-{}-00001.parquet"), kData);
  EXPECT_EQ(kind("00000-0-{}-00001-deletes.parquet"), kData);
  EXPECT_EQ(kind("00000-0-{}-00001-deletes.puffin"), kData);
  EXPECT_EQ(kind("{}-m0.avro"), kManifest);
  EXPECT_EQ(kind("snap-77-1-{}.avro"), kManifestList);
  EXPECT_EQ(kind("00012-{}.metadata.json"), kMetadata);
  EXPECT_EQ(kind("00012-{}.gz.metadata.json"), kMetadata);
  EXPECT_EQ(kind(".firn-5-0123456789abcdef-9.tmp"), kTemporary);
  for (const char* text : {"00000-12-{}-00001.parquet.bak", "copy-00000-12-{}-00001.parquet", "00000-12-{}.parquet",
                           "{}", "{}.parquet", "{}-m0.avro.copy", "snap-{}.avro", "snap-77-1-{}.avro.crc",
                           "00012-{}.metadata.json.old", "x-{}-m0.avro", "00000-12-{}0-00001.parquet",
                           ".firn-6-0123456789abcdef-9.tmp", ".firn-5-0123456789abcdef-9", ".firn-5-9.tmp"}) {
    EXPECT_EQ(kind(text), kNone) << text;
  }
  EXPECT_EQ(act::KindOf("00000-12-01234567-89ab-8def-8123-0123-00001.parquet", mark), kNone);
}

INSTANTIATE_TEST_SUITE_P(Formats, LeftoverNamedTest, testing::Values(1, 2, 3),
                         [](const auto& version) { return "V" + std::to_string(version.param); });

}  // namespace
}  // namespace firn::sim
