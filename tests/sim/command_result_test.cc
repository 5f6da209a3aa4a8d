// SPDX-License-Identifier: Apache-2.0
//
// What commands say about a table is what the next command does: hints, counts, refusals.
#include <gmock/gmock.h>

#include "contract/scratch_directory.h"
#include "ports/static_catalog.h"
#include "service/state_store.h"
#include "sim/command_line_fixture.h"

namespace firn::sim {
namespace {

using testing::HasSubstr;
using testing::Not;

class CommandResult : public CommandLine {
 protected:
  /// Partitions that were merged, and then two small files more: too few for another merge.
  void LeaveSmallFilesThatWait() {
    ASSERT_EQ(Run({"optimize", "db.t", "--quiet"}).exit, 0);
    ASSERT_TRUE(world.table().Append(0, {{900}, {901}}).has_value());
  }
};

TEST_F(CommandResult, NextCommand_RepeatsAllThatShapedThePlan) {
  const std::vector<std::string> options = {
      "--where",           "part >= 1", "--partition", "part=1", "--map",    "mem://a=mem://b c",
      "--min-input-files", "2",         "--catalog",   "cat",    "--branch", "main"};
  const auto run = [&](const std::string& command, std::vector<std::string> more) {
    more.insert(more.begin(), options.begin(), options.end());
    more.insert(more.begin(), {command, "db.t"});
    return Run(more).out;
  };
  const std::string words = "db.t --catalog cat --map 'mem://a=mem://b c' --where 'part >= 1' --partition part=1";
  settings = {{"target-file-size", "32MB"}};  // the next command finds it as well
  EXPECT_THAT(run("plan", {"--max-bytes", "1GB"}),
              HasSubstr("Next: `firn optimize " + words + " --min-input-files 2 --max-bytes 1GB` does it."));
  EXPECT_THAT(run("health", {"--target-file-size", "64MB"}),
              HasSubstr("Next: `firn plan " + words + " --target-file-size 64MB --min-input-files 2` shows"));
  EXPECT_THAT(run("optimize", {"--quiet"}), HasSubstr("Next: `firn health " + words + " --min-input-files 2` shows"));
}

TEST_F(CommandResult, WhatCanOnlyBeRead_IsSaidAtOnce) {
  const ports::LoadedTable loaded = *world.catalog->LoadTable({{"db"}, "t"});
  by_location = std::make_shared<ports::StaticCatalog>(world.io);
  for (const std::vector<std::string>& command :
       std::vector<std::vector<std::string>>{{"health"},
                                             {"plan"},
                                             {"analyze", "--no-measure"},
                                             {"optimize", "--dry-run"},
                                             {"rewrite-deletes", "--dry-run"}}) {
    std::vector<std::string> arguments = command;
    arguments.push_back(loaded.metadata_location);
    const Answer answer = Run(arguments);
    EXPECT_EQ(answer.exit, 0) << answer.err;
    EXPECT_THAT(answer.out, HasSubstr("Read only: " + loaded.metadata_location)) << command[0];
    EXPECT_THAT(answer.out, Not(HasSubstr("`firn optimize"))) << command[0];
  }
  const json::Value json = Run({"health", loaded.metadata_location, "--json"}).Json();
  EXPECT_THAT(*json.Find("read_only")->AsString(), HasSubstr("can only be read"));
  by_location = nullptr;
  EXPECT_THAT(Run({"plan", "db.t"}).out, Not(HasSubstr("Read only")));
  EXPECT_TRUE(Run({"health", "db.t", "--json"}).Json().Find("read_only")->is_null());
}

TEST_F(CommandResult, NothingSelected_IsNotAnEmptyTable) {
  for (const std::string command : {"health", "plan", "optimize"}) {
    const Answer answer = Run({command, "db.t", "--partition", "part=77"});
    EXPECT_EQ(answer.exit, 0) << answer.err;
    EXPECT_THAT(answer.out, HasSubstr("`firn inspect partitions db.t` lists those that there are")) << command;
    EXPECT_THAT(answer.out, HasSubstr("Nothing to do: no partition that was asked for has files.")) << command;
    EXPECT_THAT(answer.out, Not(HasSubstr("table has no files"))) << command;
  }
  const json::Value plan = Run({"plan", "db.t", "--where", "part = 77", "--json"}).Json();
  EXPECT_THAT(*plan.Find("reason")->AsString(), HasSubstr("no partition that was asked for"));
}

TEST_F(CommandResult, DryRun_SaysWhichPartOfTheTableItIsAbout) {
  for (const std::vector<std::string>& arguments : std::vector<std::vector<std::string>>{
           {"plan", "db.t", "--where", "part = 1"}, {"optimize", "db.t", "--where", "part = 1", "--dry-run"}}) {
    EXPECT_THAT(Run(arguments).out, HasSubstr("About the 1 partition selected"));
  }
}

TEST_F(CommandResult, Health_CountsWhatThePlanMerges) {
  const Answer before = Run({"health", "db.t"});
  EXPECT_THAT(before.out, HasSubstr("A merge now would make 2 of 12 files: 10 fewer."));
  const json::Value merge = *Run({"health", "db.t", "--json"}).Json().Find("merge");
  const json::Value plan = Run({"plan", "db.t", "--json"}).Json();
  EXPECT_EQ(merge.Find("files_replaced")->AsInt64(), plan.Find("files_replaced")->AsInt64());
  EXPECT_EQ(merge.Find("files_removed")->AsInt64(), 10);

  LeaveSmallFilesThatWait();
  const Answer after = Run({"health", "db.t"});
  EXPECT_THAT(after.out, HasSubstr("Nothing to merge now.\nSmall files that stay: 3 until more come (few)"));
  EXPECT_THAT(after.out, Not(HasSubstr("Next:")));
  EXPECT_THAT(after.out, HasSubstr("`firn plan db.t` lists them."));
  EXPECT_TRUE(Run({"plan", "db.t", "--json"}).Json().Find("groups")->elements().empty());
}

TEST_F(CommandResult, Effect_IsWhatChanges) {
  const std::string out = Run({"plan", "db.t"}).out;
  EXPECT_THAT(out, HasSubstr("mean file"));
  EXPECT_THAT(out, Not(HasSubstr("entropy")));
}

TEST_F(CommandResult, Snapshots_NewestFirst) {
  const json::Value all = Run({"inspect", "snapshots", "db.t", "--json"}).Json();
  const ports::LoadedTable loaded = *world.catalog->LoadTable({{"db"}, "t"});
  const iceberg::Snapshot* head = loaded.metadata->RefSnapshot("main");
  ASSERT_GT(all.elements().size(), 2U);
  for (const json::Value& row : all.elements()) {
    ASSERT_NE(head, nullptr);
    EXPECT_EQ(row.Find("snapshot_id")->AsInt64(), head->id.value);
    head = head->parent_id ? loaded.metadata->FindSnapshot(*head->parent_id) : nullptr;
  }
  const std::string two = Run({"inspect", "snapshots", "db.t", "--limit", "2"}).out;
  EXPECT_THAT(two, HasSubstr(std::to_string(loaded.metadata->RefSnapshot("main")->id.value)));
  EXPECT_THAT(two, HasSubstr("and 4 more rows"));
}

TEST_F(CommandResult, Analyze_ListsWhatWasSaidAndGoesByNothingOfAnEmptyTable) {
  EXPECT_THAT(Run({"analyze", "db.t", "--no-measure", "--reads-a-day", "100"}).out,
              HasSubstr("100 whole reads a day, as was said (--reads-a-day)"));
  EXPECT_THAT(Run({"analyze", "db.t", "--no-measure"}).out, Not(HasSubstr("as was said")));
  World other(2);
  world.catalog.swap(other.catalog);  // its table is empty
  const Answer empty = Run({"analyze", "db.t"});
  world.catalog.swap(other.catalog);
  EXPECT_THAT(empty.out, HasSubstr("file size  keep: there are no data files to go by"));
}

TEST_F(CommandResult, Explain_WithoutWhatItLooksFor_SaysHowToGoOn) {
  const contract::ScratchDirectory folder;
  const std::string state = folder.path() + "/state.db";
  const Answer missing = Run({"explain", "db.t", "--state", state});
  EXPECT_EQ(missing.exit, 3);
  EXPECT_THAT(missing.err, HasSubstr("`firn serve` makes it: has it run?"));
  {
    const auto store = service::StateStore::Open(state);
    ASSERT_TRUE(store.has_value()) << store.error().message;
    service::TableRecord record;
    record.row.id = "c/db.t";
    record.row.catalog = "c";
    record.row.name = "db.t";
    decide::Decision decision;
    decision.table = "c/db.t";
    decision.partition = "day=1";
    decision.reason = "quiet";
    service::StateUpdate update;
    update.table = &record;
    update.decisions = {decision};
    ASSERT_TRUE((*store)->Write(update).has_value());
  }
  const Answer other = Run({"explain", "db.t", "--state", state, "--partition", "1"});
  EXPECT_EQ(other.exit, 0) << other.err;
  EXPECT_THAT(other.out,
              HasSubstr("There are decisions about day=1: is the partition written as `firn health` shows it?\n"));
  EXPECT_THAT(Run({"explain", "db.t", "--state", state, "--partition", "day=1"}).out, HasSubstr("quiet"));
  EXPECT_EQ(Run({"explain", "db.t", "--state", state, "--partition", "day=1", "--kind", "run"}).out,
            "No decision is on record.\n");
}

TEST_F(CommandResult, Splice_MakesNoFolders) {
  const contract::ScratchDirectory folder;
  const std::string output = folder.path() + "/missing/x.parquet";
  const Answer answer = Run({"splice", "a.parquet", "-o", output});
  EXPECT_EQ(answer.exit, 3);
  EXPECT_THAT(answer.err, HasSubstr("there is no folder " + folder.path() + "/missing"));
}

TEST_F(CommandResult, MissingBranch_NamesThoseThatThereAre) {
  for (const std::vector<std::string>& arguments :
       std::vector<std::vector<std::string>>{{"health", "db.t"},
                                             {"optimize", "db.t"},
                                             {"rewrite-deletes", "db.t"},
                                             {"inspect", "files", "db.t"},
                                             {"simulate", "--from-table", "db.t"}}) {
    std::vector<std::string> all = arguments;
    all.insert(all.end(), {"--branch", "nope"});
    const Answer answer = Run(all);
    EXPECT_EQ(answer.exit, 3);
    EXPECT_THAT(answer.err, HasSubstr("no branch or tag `nope`, there are: branches main")) << arguments[0];
  }
}

}  // namespace
}  // namespace firn::sim
