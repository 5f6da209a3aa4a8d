// SPDX-License-Identifier: Apache-2.0
//
// Catalogs that lose answers, deliver late, or say the wrong thing: scripted, and at random with other writers.
#include <gtest/gtest.h>

#include <iterator>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "sim/faulty_catalog.h"
#include "sim/world.h"

namespace firn::sim {
namespace {

struct Script {
  std::string name;
  std::vector<Fault> faults;
  Code code;  // of the commit, if `succeeds` is false
  bool succeeds = true;
  int requests = 0;  // that the catalog may see; 0: any number
};

std::vector<Fault> Times(Fault fault, std::size_t count) { return std::vector<Fault>(count, fault); }

const std::vector<Script>& Scripts() {
  static const std::vector<Script> kScripts = {
      {"drop_before", {Fault::kDropBefore}, {}},
      {"drop_after", {Fault::kDropAfter}, {}, true, 1},
      {"refuse_before", {Fault::kRefuseBefore}, {}},
      {"refuse_after", {Fault::kRefuseAfter}, {}, true, 1},
      {"reject_after", {Fault::kRejectAfter}, {}},
      {"busy", {Fault::kBusy, Fault::kBusy}, {}},
      {"delay", {Fault::kDelay}, {}},
      {"delay_then_drop_before", {Fault::kDelay, Fault::kDropBefore}, {}},
      {"delay_then_refuse_before", {Fault::kDelay, Fault::kRefuseBefore}, {}},
      {"duplicate", {Fault::kDuplicate}, {}, true, 1},
      {"duplicate_first", {Fault::kDuplicateFirst}, {}},
      {"drop_before_drop_after", {Fault::kDropBefore, Fault::kDropAfter}, {}},
      {"busy_after_drop_after", {Fault::kDropAfter, Fault::kBusy}, {}},
      {"never_an_answer", Times(Fault::kDropBefore, 100), Code::kOutcomeUnknown, false},
      {"always_refused", Times(Fault::kRefuseBefore, 100), Code::kOutcomeUnknown, false},
      {"always_busy", Times(Fault::kBusy, 1000), Code::kUnavailable, false},
  };
  return kScripts;
}

class ScriptTest : public testing::TestWithParam<std::size_t> {};

TEST_P(ScriptTest, FaultsOneAfterTheOther_DoneOnceOrSaidSo) {
  const Script& script = Scripts()[GetParam()];
  for (const std::int32_t version : {1, 2, 3}) {
    World world(version);
    world.Fill(6, 3);
    act::Rewrite rewrite = world.PlanOf({world.MergeOf(0, 5), world.MergeOf(1, 5)});
    const std::vector<Row> rows = world.Rows();
    std::size_t at = 0;
    int at_all = 0;
    FaultyCatalog catalog(*world.catalog, [&] {
      ++at_all;
      return at < script.faults.size() ? script.faults[at++] : Fault::kNone;
    });
    const RewriteReport report = world.Run(std::move(rewrite), catalog);
    SCOPED_TRACE(testing::Message() << "version " << version << catalog.trace());
    ASSERT_EQ(report.commit.status.has_value(), script.succeeds);
    if (!script.succeeds) {
      EXPECT_EQ(report.commit.status.error().code, script.code) << report.commit.status.error().message;
    }
    EXPECT_FALSE(report.commit.done_before);
    if (script.requests > 0) {
      EXPECT_EQ(at_all, script.requests);
    }
    catalog.DeliverAll();
    EXPECT_EQ(world.CommitsOf(), script.succeeds ? 1 : 0);
    EXPECT_EQ(world.Rows(), rows);
    world.CheckSound();
    const std::set<std::string> leftovers(report.commit.leftover_files.begin(), report.commit.leftover_files.end());
    EXPECT_EQ(world.Orphans(), leftovers);
    EXPECT_EQ(leftovers.empty(), script.code != Code::kOutcomeUnknown || script.succeeds);
  }
}

INSTANTIATE_TEST_SUITE_P(Faults, ScriptTest, testing::Range(std::size_t{0}, Scripts().size()),
                         [](const auto& param) { return Scripts()[param.param].name; });

TEST(CatalogFault, UnknownThenHeadMovesAndMergeDoesNotFit_NothingIsDeleted) {
  // Version 1: its snapshots have no sequence numbers by which a catalog could tell a late request.
  World world(1);
  world.Fill(6, 3);
  act::RewriteGroup group = world.MergeOf(0, 4);
  const std::string input = group.removed[0].path;
  const SnapshotId planned = world.table().Load()->metadata->current_snapshot()->id;
  act::Rewrite rewrite = world.PlanOf({std::move(group)});
  bool first = true;
  FaultyCatalog catalog(
      *world.catalog,
      [&] {
        if (!first) return Fault::kNone;
        first = false;
        world.Fail(world.table().RemoveFile(input));
        return Fault::kDelay;
      },
      1000);
  const RewriteReport report = world.Run(std::move(rewrite), catalog);
  ASSERT_FALSE(report.commit.status.has_value());
  EXPECT_EQ(report.commit.status.error().code, Code::kConflict);
  EXPECT_FALSE(report.commit.leftover_files.empty());

  // The branch is set back to the planned snapshot, and only now the request arrives.
  world.Fail(world.table().RollBack(planned));
  const std::vector<Row> rows = world.Rows();
  catalog.DeliverAll();
  EXPECT_EQ(world.CommitsOf(), 1);
  EXPECT_EQ(world.Rows(), rows);
  world.CheckSound();
}

TEST(CatalogFault, RefusedAfterApplied_CatalogDown_UnknownAndNothingIsDeleted) {
  for (const Fault fault : {Fault::kRejectAfter, Fault::kRefuseAfter}) {
    for (const std::int32_t version : {1, 2, 3}) {
      World world(version);
      world.Fill(6, 3);
      act::Rewrite rewrite = world.PlanOf({world.MergeOf(0, 5), world.MergeOf(1, 5)});
      const std::vector<Row> rows = world.Rows();
      bool down = false;
      FaultyCatalog catalog(*world.catalog, [&] {
        down = true;
        return fault;
      });
      catalog.set_down([&] { return down; });
      const RewriteReport report = world.Run(std::move(rewrite), catalog);
      SCOPED_TRACE(testing::Message() << "version " << version << catalog.trace());
      ASSERT_FALSE(report.commit.status.has_value());
      EXPECT_EQ(report.commit.status.error().code, Code::kOutcomeUnknown) << report.commit.status.error().message;
      EXPECT_FALSE(report.commit.leftover_files.empty());
      EXPECT_EQ(world.CommitsOf(), 1);
      EXPECT_EQ(world.Rows(), rows);
      world.CheckSound();
    }
  }
}

/// A gateway sends the request twice, gives the second answer, and shows the table as it was for some loads; with a
/// change of somebody else that does not move the branch, on top of which the request is applied, or without.
void CommitThroughOldViews(Fault fault, int stale_loads, bool foreign_change) {
  World world(2);
  world.Fill(6, 3);
  act::Rewrite rewrite = world.PlanOf({world.MergeOf(0, 5), world.MergeOf(1, 5)});
  const std::vector<Row> rows = world.Rows();
  bool is_sent = false;
  int left = 0;
  FaultyCatalog* seen = nullptr;
  FaultyCatalog catalog(*world.catalog, [&] {
    if (std::exchange(is_sent, true)) return Fault::kNone;
    if (foreign_change) {
      EXPECT_TRUE(world.table().SetProperty("of", "somebody"));
      EXPECT_TRUE(seen->LoadTable(SimTable::Id()));
    }
    left = stale_loads;
    return fault;
  });
  seen = &catalog;
  catalog.set_stale([&] { return left > 0 && left-- > 0; });
  const RewriteReport report = world.Run(std::move(rewrite), catalog);
  SCOPED_TRACE(testing::Message() << stale_loads << " loads, " << foreign_change << catalog.trace());
  ASSERT_EQ(report.commit.status.has_value(), stale_loads < 1000);
  if (!report.commit.status) {
    EXPECT_EQ(report.commit.status.error().code, Code::kOutcomeUnknown) << report.commit.status.error().message;
    EXPECT_FALSE(report.commit.leftover_files.empty());
  }
  EXPECT_EQ(world.CommitsOf(), 1);
  EXPECT_EQ(world.Rows(), rows);
  world.CheckSound();
}

TEST(CatalogFault, RefusedAfterApplied_OldTableIsShown_NothingIsDeleted) {
  for (const int stale_loads : {1, 3, 7, 1000}) {
    for (const Fault fault : {Fault::kDuplicate, Fault::kRefuseAfter}) {
      for (const bool foreign_change : {false, true}) CommitThroughOldViews(fault, stale_loads, foreign_change);
    }
  }
}

TEST(CatalogFault, HeadSetBackBelowPlan_Refused) {
  World world(2);
  world.Fill(6, 3);
  const iceberg::MetadataPtr before = world.table().Load()->metadata;
  act::Rewrite rewrite = world.PlanOf({world.MergeOf(0, 4)});
  world.Fail(world.table().RollBack(*before->current_snapshot()->parent_id));
  const RewriteReport report = world.Run(std::move(rewrite));
  ASSERT_FALSE(report.commit.status.has_value());
  EXPECT_EQ(report.commit.status.error().code, Code::kConflict);
  EXPECT_NE(report.commit.status.error().message.find("cannot determine the history"), std::string::npos);
  EXPECT_EQ(world.Orphans(), std::set<std::string>());
}

TEST(CatalogFault, OneGroupDoesNotFit_OthersAreCommitted) {
  World world(2);
  world.Fill(6, 3);
  std::vector<act::RewriteGroup> groups{world.MergeOf(0, 4), world.MergeOf(1, 4)};
  const std::string input = groups[0].removed[2].path;
  act::Rewrite rewrite = world.PlanOf(std::move(groups));
  world.Fail(world.table().AddPositionDelete(input, 0));
  const std::vector<Row> rows = world.Rows();
  const RewriteReport report = world.Run(std::move(rewrite));
  ASSERT_TRUE(report.commit.status.has_value());
  ASSERT_EQ(report.refusals.size(), 1U);
  EXPECT_EQ(report.refusals[0].group, 0U);
  EXPECT_EQ(report.refusals[0].error.code, Code::kConflict);
  EXPECT_EQ(world.Rows(), rows);
  EXPECT_EQ(world.Orphans(), std::set<std::string>());
}

TEST(CatalogFault, AnswerLostAndOneGroupLeftOut_ItsFileIsRemoved) {
  World world(2);
  world.Fill(6, 3);
  std::vector<act::RewriteGroup> groups{world.MergeOf(0, 4), world.MergeOf(1, 4)};
  const std::string input = groups[0].removed[2].path;
  act::Rewrite rewrite = world.PlanOf(std::move(groups));
  world.Fail(world.table().AddPositionDelete(input, 0));
  FaultyCatalog catalog(*world.catalog, [] { return Fault::kDropAfter; });
  const RewriteReport report = world.Run(std::move(rewrite), catalog);
  ASSERT_TRUE(report.commit.status.has_value());
  EXPECT_EQ(report.refusals.size(), 1U);
  EXPECT_TRUE(report.commit.leftover_files.empty());
  EXPECT_EQ(world.Orphans(), std::set<std::string>());
  world.CheckSound();
}

/// Other writers, and what the table must hold after them: a model that knows nothing of firn.
class Writers {
 public:
  Writers(World& world, Random random) : world_(world), random_(random) {
    for (const Row& row : world.Rows()) expected_.insert(row);
  }

  /// One foreign commit.
  void Step();
  std::vector<Row> expected() const { return {expected_.begin(), expected_.end()}; }
  const std::vector<std::string>& log() const { return log_; }

 private:
  void EraseOne(const Row& row) {
    const auto found = expected_.find(row);
    if (found != expected_.end()) expected_.erase(found);
  }

  World& world_;
  Random random_;
  std::multiset<Row> expected_;
  std::vector<std::string> log_;
};

void Writers::Step() {
  const Result<Contents> live = world_.table().ReadHead();
  if (!live) return world_.Fail(live.error());
  const auto part = static_cast<std::int32_t>(random_.Below(2));
  const auto id = static_cast<std::int64_t>(random_.Below(60));
  const std::uint64_t kind = live->files.empty() ? 0 : random_.Below(6);
  auto at = live->files.begin();
  if (kind > 0) std::advance(at, static_cast<std::ptrdiff_t>(random_.Below(live->files.size())));
  SimTable& table = world_.table();
  switch (kind) {
    case 0:
    case 1: {
      log_.push_back("append");
      const auto done = table.Append(part, {{id}, {1000 + id}});
      if (!done) world_.Fail(done.error());
      expected_.insert({id, part});
      expected_.insert({1000 + id, part});
      return;
    }
    case 2:
      log_.push_back("remove " + at->first);
      world_.Fail(table.RemoveFile(at->first));
      for (std::size_t i = 0; i < at->second.rows.size(); ++i) {
        if (at->second.visible[i]) EraseOne(at->second.rows[i]);
      }
      return;
    case 3:
      log_.push_back("position delete " + at->first);
      world_.Fail(table.AddPositionDelete(at->first, 0));
      if (at->second.visible[0]) EraseOne(at->second.rows[0]);
      return;
    case 4:
      log_.push_back("equality delete");
      world_.Fail(table.AddEqualityDelete(part, {id, id + 1}));
      expected_.erase({id, part});
      expected_.erase({id + 1, part});
      return;
    default: log_.push_back("manifests"); return world_.Fail(table.RewriteManifests());
  }
}

TEST(CatalogFault, RandomFaultsAndWriters_NothingLostOrDoubled) {
  constexpr std::uint64_t kSeeds = 150;
  int successes = 0, refused = 0, unknown = 0;
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    World world(2, seed);
    world.Fill(8, 4);
    Random random = world.random.Fork();
    act::Rewrite rewrite = world.PlanOf({world.MergeOf(0, 5), world.MergeOf(1, 5)});
    Writers writers(world, random.Fork());
    for (std::uint64_t i = random.Below(3); i > 0; --i) writers.Step();
    FaultyCatalog catalog(
        *world.catalog,
        [&] {
          if (random.Below(3) == 0) writers.Step();
          return random.Below(2) == 0 ? Fault::kNone : static_cast<Fault>(random.Below(10));
        },
        static_cast<int>(1 + random.Below(8)));
    world.intrude = [&](std::int64_t, const ports::IoEvent& event) {
      if (event.operation == ports::IoOperation::kClose && random.Below(12) == 0) writers.Step();
    };
    const RewriteReport report = world.Run(std::move(rewrite), catalog);
    SCOPED_TRACE(testing::Message() << "seed " << seed << catalog.trace()
                                    << ", writers: " << testing::PrintToString(writers.log()));
    EXPECT_EQ(world.Rows(), writers.expected());
    catalog.DeliverAll();
    EXPECT_EQ(world.Rows(), writers.expected());
    world.CheckSound();
    const std::set<std::string> leftovers(report.commit.leftover_files.begin(), report.commit.leftover_files.end());
    for (const std::string& orphan : world.Orphans()) EXPECT_TRUE(leftovers.contains(orphan)) << orphan;
    const int commits = world.CommitsOf();
    EXPECT_LE(commits, 1);
    if (report.commit.status) {
      ++successes;
      EXPECT_EQ(commits, 1);
      EXPECT_FALSE(report.commit.done_before);
    } else if (report.commit.status.error().code == Code::kOutcomeUnknown) {
      ++unknown;
    } else {
      ++refused;
      EXPECT_EQ(commits, 0);
    }
    if (testing::Test::HasFailure()) break;
  }
  RecordProperty("successes", successes);
  EXPECT_GT(successes, 10);
  EXPECT_GT(refused, 10);
  EXPECT_GE(unknown, 0);
}

}  // namespace
}  // namespace firn::sim
