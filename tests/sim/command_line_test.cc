// SPDX-License-Identifier: Apache-2.0
//
// The commands as a user types them, on a simulated table.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "cli/exit_codes.h"
#include "ports/mapped_file_io.h"
#include "ports/static_catalog.h"
#include "service/optimize.h"
#include "sim/command_line_fixture.h"

namespace firn::sim {
namespace {

TEST_F(CommandLine, DataFileIsNamedTwice_IsFoundBeforeAnyWork) {
  const Result<Contents> contents = world.table().ReadHead();
  ASSERT_TRUE(contents.has_value());
  const std::string path = contents->files.begin()->first;
  EXPECT_EQ(Run({"plan", "db.t"}).exit, 0);
  world.Fail(world.table().AddAgain(path));
  for (const std::string command : {"plan", "optimize"}) {
    const Answer answer = Run({command, "db.t"});
    EXPECT_EQ(answer.exit, 4) << command;
    EXPECT_NE(answer.err.find(path + " is live twice"), std::string::npos) << answer.err;
  }
}

TEST_F(CommandLine, StoppedBeforeItBegan_NothingIsDone) {
  cancelled = true;
  for (const std::string command : {"health", "plan", "optimize", "rewrite-deletes"}) {
    const Answer answer = Run({command, "db.t", "--json"});
    EXPECT_EQ(answer.exit, 10) << command;
    EXPECT_EQ(*answer.Json().Find("error")->Find("code")->AsString(), "cancelled");
  }
  EXPECT_EQ(world.CommitsOf(""), 0);
}

TEST_F(CommandLine, Pin_TakesTheOptionBeforeTheProperty) {
  world.Fail(world.table().SetProperty("firn.pin-plan-snapshot", "sometimes"));
  const Answer wrong = Run({"optimize", "db.t"});
  EXPECT_EQ(wrong.exit, 2);
  EXPECT_NE(wrong.err.find("\"sometimes\" is not never, auto or always"), std::string::npos) << wrong.err;
  const auto commits_of = [&](std::vector<std::string> arguments) {
    std::int64_t commits = 0;
    world.intrude = [&](std::int64_t, const ports::IoEvent& event) {
      if (event.operation == ports::IoOperation::kCommitTable) ++commits;
    };
    EXPECT_EQ(world.AsProcess([&] { return Run(arguments); }).exit, 0);
    world.intrude = nullptr;
    world.Fill(6, 3);
    return commits;
  };
  world.Fail(world.table().SetProperty("firn.pin-plan-snapshot", "always"));
  EXPECT_EQ(commits_of({"optimize", "db.t"}), 2);
  EXPECT_EQ(commits_of({"optimize", "db.t", "--pin", "never"}), 1);
  EXPECT_EQ(commits_of({"optimize", "db.t", "--pin", "auto"}), 1);
}

TEST_F(CommandLine, Health_SaysWhatIsWrongAndWhatIsNext) {
  const Answer answer = Run({"health", "db.t"});
  EXPECT_EQ(answer.exit, 0);
  EXPECT_NE(answer.out.find("db.t, branch main, snapshot "), std::string::npos) << answer.out;
  EXPECT_NE(answer.out.find("12 files; 2 would hold the same"), std::string::npos) << answer.out;
  EXPECT_NE(answer.out.find("part=1"), std::string::npos) << answer.out;
  EXPECT_NE(answer.out.find("Next: `firn plan db.t`"), std::string::npos) << answer.out;
  EXPECT_EQ(answer.err, "");
  const json::Value json = Run({"health", "db.t", "--json"}).Json();
  EXPECT_EQ(json.Find("diagnosis")->Find("removable_files")->AsInt64(), 10);
  EXPECT_EQ(json.Find("facts")->Find("data_files")->AsInt64(), 12);
}

TEST_F(CommandLine, Plan_OfSelectedPartitions) {
  const Answer all = Run({"plan", "db.t"});
  EXPECT_NE(all.out.find("are to a large part footers"), std::string::npos) << all.out;
  EXPECT_EQ(all.exit, 0);
  EXPECT_NE(all.out.find("Merge 12 small files into 2: 10 files fewer"), std::string::npos) << all.out;
  for (const std::vector<std::string>& selection :
       {std::vector<std::string>{"--where", "part = 1"}, {"--partition", "part=1"}}) {
    std::vector<std::string> arguments = {"plan", "db.t", "--json"};
    arguments.insert(arguments.end(), selection.begin(), selection.end());
    const json::Value json = Run(arguments).Json();
    ASSERT_EQ(json.Find("groups")->elements().size(), 1U);
    EXPECT_EQ(*json.Find("groups")->elements()[0].Find("partition")->AsString(), "part=1");
  }
  EXPECT_EQ(Run({"plan", "db.t", "--where", "nope = 1"}).exit, cli::kExitUsage);
  EXPECT_EQ(Run({"plan", "db.t", "--target-file-size", "many"}).exit, cli::kExitUsage);
}

TEST_F(CommandLine, Optimize_MergesReportsAndThenHasNothingToDo) {
  const std::vector<Row> rows = world.Rows();
  const Answer dry = Run({"optimize", "db.t", "--dry-run"});
  EXPECT_EQ(dry.exit, 0);
  EXPECT_NE(dry.out.find("Dry run: nothing was written."), std::string::npos) << dry.out;
  EXPECT_EQ(world.CommitsOf(""), 0);
  EXPECT_EQ(world.table().ReadHead()->files.size(), 12U);

  for (const char* memory : {"0", "1", "191MB"}) {
    EXPECT_EQ(Run({"optimize", "db.t", "--memory", memory}).exit, cli::kExitUsage) << memory;
  }
  EXPECT_EQ(world.CommitsOf(""), 0);

  const Answer done = Run({"optimize", "db.t", "--memory", "192MB", "--threads", "1"});
  EXPECT_EQ(done.exit, 0) << done.err;
  EXPECT_NE(done.out.find("Merged 12 files into 2"), std::string::npos) << done.out;
  EXPECT_EQ(world.Rows(), rows);
  EXPECT_EQ(world.table().ReadHead()->files.size(), 2U);

  const Answer again = Run({"optimize", "db.t", "--json"});
  EXPECT_EQ(again.exit, 0);
  EXPECT_EQ(again.Json().Find("plan")->Find("groups")->elements().size(), 0U);
  EXPECT_EQ(world.table().ReadHead()->files.size(), 2U);
}

TEST_F(CommandLine, Optimize_WhatCanOnlyBeRead_RefusedBeforeAnyWork) {
  const auto refused = [&](ports::Catalog& catalog, ports::FileIO& io, const ports::TableIdentifier& id) {
    int creates = 0;
    world.intrude = [&](std::int64_t, const ports::IoEvent& event) {
      if (event.operation == ports::IoOperation::kCreate) ++creates;
    };
    act::CommitEnvironment environment{catalog, io, world.clock, world.random, {}, nullptr};
    const auto result = world.AsProcess([&] { return service::Optimize(environment, id, {}); });
    EXPECT_FALSE(result.has_value());
    if (!result) {
      EXPECT_EQ(result.error().code, Code::kUnsupported) << ToString(result.error());
    }
    EXPECT_EQ(creates, 0);
  };
  const ports::TableIdentifier id{{"db"}, "t"};
  const ports::LoadedTable loaded = *world.catalog->LoadTable(id);
  ports::StaticCatalog by_file(world.io);
  refused(by_file, *world.io, {{}, loaded.metadata_location});
  const std::string data = loaded.metadata->location() + "/data";
  ports::MappedFileIO read_elsewhere(world.io, {{data, "mem://moved"}});
  refused(*world.catalog, read_elsewhere, id);
}

TEST_F(CommandLine, Optimize_Json_HasPlanAndOutcome) {
  const Answer answer = Run({"optimize", "db.t", "--json", "--threads", "1"});
  EXPECT_EQ(answer.exit, 0) << answer.err;
  const json::Value json = answer.Json();
  EXPECT_EQ(json.Find("outcome")->Find("files_removed")->AsInt64(), 12);
  EXPECT_EQ(json.Find("outcome")->Find("commits")->elements().size(), 1U);
  EXPECT_EQ(json.Find("plan")->Find("files_replaced")->AsInt64(), 12);
}

TEST_F(CommandLine, Optimize_DisabledByTheTable_EndsWithFive) {
  ASSERT_TRUE(world.table().SetProperty("firn.enabled", "false").has_value());
  const Answer answer = Run({"optimize", "db.t"});
  EXPECT_EQ(answer.exit, 5);
  EXPECT_NE(answer.out.find("firn.enabled is false"), std::string::npos);
  ASSERT_TRUE(world.table().SetProperty("firn.enabeld", "true").has_value());
  const Answer misspelt = Run({"optimize", "db.t"});
  EXPECT_EQ(misspelt.exit, cli::kExitUsage);
  EXPECT_NE(misspelt.err.find("firn.enabeld"), std::string::npos) << misspelt.err;
}

TEST_F(CommandLine, Optimize_Cancelled_EndsWithTen) {
  cancelled = true;
  const Answer answer = Run({"optimize", "db.t"});
  EXPECT_EQ(answer.exit, 10) << answer.out << answer.err;
  EXPECT_EQ(world.table().ReadHead()->files.size(), 12U);
}

TEST_F(CommandLine, Inspect_ListsEverySubject) {
  for (const std::string subject : {"snapshots", "refs", "manifests", "files", "partitions", "statistics"}) {
    EXPECT_EQ(Run({"inspect", subject, "db.t"}).exit, 0) << subject;
    const Answer answer = Run({"inspect", subject, "db.t", "--json"});
    EXPECT_EQ(answer.exit, 0) << subject;
    EXPECT_TRUE(answer.Json().is_array()) << subject;
  }
  EXPECT_EQ(Run({"inspect", "files", "db.t", "--json"}).Json().elements().size(), 12U);
  EXPECT_EQ(Run({"inspect", "everything", "db.t"}).exit, cli::kExitUsage);
}

TEST_F(CommandLine, Splice_MakesOneFileAndReplacesNone) {
  std::vector<std::string> arguments = {"splice", "-o", "/out.parquet"};
  const Result<Contents> contents = world.table().ReadHead();
  ASSERT_TRUE(contents.has_value());
  for (const auto& [path, live] : contents->files) arguments.push_back(path);
  const Answer answer = Run(arguments);
  EXPECT_EQ(answer.exit, 0) << answer.err;
  EXPECT_NE(answer.out.find("36 rows"), std::string::npos) << answer.out;
  EXPECT_EQ(Run(arguments).exit, cli::kExitUsage);  // another run would end in the same way
}

TEST_F(CommandLine, Splice_OutputCannotBeChecked_IsRemoved) {
  std::vector<std::string> arguments = {"splice", "-o", "/out.parquet"};
  const Result<Contents> contents = world.table().ReadHead();
  ASSERT_TRUE(contents.has_value());
  for (const auto& [path, live] : contents->files) arguments.push_back(path);
  world.injector.Reset();
  ASSERT_EQ(world.AsProcess([&] { return Run(arguments); }).exit, 0);
  const std::int64_t calls = world.injector.call_count();
  for (std::int64_t k = 1; k <= calls; ++k) {
    for (const bool lost : {false, true}) {
      world.Fail(world.storage->Delete("/out.parquet"));
      world.injector.Reset();
      lost ? world.injector.LoseReplyAt(k) : world.injector.FailAt(k);
      const Answer answer = world.AsProcess([&] { return Run(arguments); });
      const std::string call = world.injector.trace().at(static_cast<std::size_t>(k - 1));
      EXPECT_NE(answer.exit, 0) << call;
      EXPECT_FALSE(*world.storage->Exists("/out.parquet")) << call << (lost ? " lost" : " failed");
    }
  }
}

TEST_F(CommandLine, NextStep_NamesTheTableAsTheUserDid) {
  const Answer health = Run({"health", "cat.db.t", "--config", "my file.yaml"});
  EXPECT_NE(health.out.find("`firn plan cat.db.t --config 'my file.yaml'`"), std::string::npos) << health.out;
  const Answer plan = Run({"plan", "db.t", "--catalog", "cat"});
  EXPECT_NE(plan.out.find("`firn optimize db.t --catalog cat`"), std::string::npos) << plan.out;
  const Answer done = Run({"optimize", "cat.db.t", "--threads", "1", "--property", "token=hunter2"});
  EXPECT_EQ(done.exit, 0) << done.err;
  EXPECT_NE(done.out.find("`firn health cat.db.t --property token=...`"), std::string::npos) << done.out;
  EXPECT_EQ(done.out.find("hunter2"), std::string::npos) << done.out;
}

TEST_F(CommandLine, Settings_StandForFlagsThatAreNotGiven) {
  const auto target = [&](std::vector<std::string> flags) {
    std::vector<std::string> arguments = {"plan", "db.t", "--json"};
    arguments.insert(arguments.end(), flags.begin(), flags.end());
    return Run(arguments).Json().Find("target_size_bytes")->AsInt64();
  };
  settings = {{"target-file-size", "64MB"}, {"threads", "3"}, {"memory", "256MB"}, {"log-level", "error"}};
  EXPECT_EQ(target({}), 64 << 20);
  EXPECT_EQ(target({"--target-file-size", "32MB"}), 32 << 20);
  EXPECT_EQ(Run({"optimize", "db.t", "--dry-run"}).exit, 0);
  for (const ports::Properties& wrong : std::vector<ports::Properties>{{{"threads", "0"}},
                                                                       {{"threads", "x"}},
                                                                       {{"memory", "much"}},
                                                                       {{"log-level", "loud"}},
                                                                       {{"target-file-size", "-1"}}}) {
    settings = wrong;
    for (const std::string command : {"health", "plan", "optimize"}) {
      const Answer answer = Run({command, "db.t"});
      EXPECT_EQ(answer.exit, cli::kExitUsage) << command << wrong.begin()->first;
      EXPECT_NE(answer.err.find(wrong.begin()->first), std::string::npos) << answer.err;
    }
  }
}

TEST_F(CommandLine, Tables_OneALine) {
  EXPECT_EQ(Run({"tables"}).out, "db.t\n");
  const json::Value json = Run({"tables", "--json"}).Json();
  ASSERT_EQ(json.elements().size(), 1U);
  EXPECT_EQ(*json.elements()[0].Find("table")->AsString(), "db.t");
}

/// The world's table has six snapshots of writers; the merge in between is not played.
TEST_F(CommandLine, Simulate_PlaysTheHistoryOfATable) {
  ASSERT_EQ(Run({"optimize", "db.t", "--quiet"}).exit, 0);
  ASSERT_TRUE(world.table().Append(0, {{900, 901}, {902}}).has_value());
  const Answer answer = Run({"simulate", "--from-table", "db.t", "--policies", "firn,none", "--json"});
  ASSERT_EQ(answer.exit, 0) << answer.err;
  const json::Value value = answer.Json();
  const json::Value& run = value.elements()[0];
  const json::Value& history = *run.Find("history");
  EXPECT_EQ(*history.Find("table")->AsString(), "db.t");
  EXPECT_EQ(*history.Find("rewrites_left_out")->AsInt64(), 1);
  EXPECT_EQ(*history.Find("files_of_rewrites")->AsInt64(), 12);
  EXPECT_EQ(*history.Find("commits")->AsInt64(), 7);
  const auto& policies = run.Find("policies")->elements();
  EXPECT_EQ(*policies[1].Find("end_files")->AsInt64(), 14);
  EXPECT_EQ(*policies[1].Find("end_rows")->AsInt64(), 39);
  EXPECT_EQ(*policies[0].Find("end_rows")->AsInt64(), 39);
  EXPECT_LT(*policies[0].Find("end_files")->AsInt64(), 14);
  const std::string text = Run({"simulate", "--from-table", "db.t", "--policies", "none"}).out;
  EXPECT_NE(text.find("Left out: 1 rewrite (`replace`, or firn's own) of 12 files"), std::string::npos) << text;
}

TEST_F(CommandLine, Simulate_SaysWhyThereIsNoHistory) {
  EXPECT_EQ(Run({"simulate", "--from-table", "db.t", "--branch", "dev"}).exit, 3);
  EXPECT_EQ(Run({"simulate", "bursty", "--from-table", "db.t"}).exit, cli::kExitUsage);
  EXPECT_EQ(Run({"simulate", "bursty", "--branch", "main"}).exit, cli::kExitUsage);
  EXPECT_EQ(Run({"simulate", "--from-table", "db.t", "--hours", "-1"}).exit, cli::kExitUsage);
  World other(2);
  world.catalog.swap(other.catalog);  // its table is empty
  const Answer empty = Run({"simulate", "--from-table", "db.t"});
  world.catalog.swap(other.catalog);
  EXPECT_EQ(empty.exit, cli::kExitUsage);
  EXPECT_NE(empty.err.find("db.t: the table has no snapshot"), std::string::npos) << empty.err;
}

TEST_F(CommandLine, Errors_GoToBothStreamsWithJson) {
  const Answer answer = Run({"health", "db.nope", "--json"});
  EXPECT_EQ(answer.exit, 3);
  EXPECT_EQ(*answer.Json().Find("error")->Find("code")->AsString(), "not found");
  EXPECT_TRUE(answer.err.starts_with("firn: not found: ")) << answer.err;
  EXPECT_EQ(Run({"health", "db.nope"}).out, "");
  EXPECT_EQ(Run({"health", "db.t", "--branch", "dev"}).exit, 3);
}

TEST_F(CommandLine, Usage_IsTwo) {
  for (const std::vector<std::string>& arguments : {std::vector<std::string>{},
                                                    {"helth", "db.t"},
                                                    {"health"},
                                                    {"health", "db.t", "--nope"},
                                                    {"optimize", "db.t", "--threads", "0"},
                                                    {"optimize", "db.t", "--effort", "most"},
                                                    {"splice", "a", "b", "-o", "c", "--memory", "63MB"},
                                                    {"splice", "a", "b", "-o", "c", "--codec", "lzo"},
                                                    {"rewrite-deletes", "db.t", "--format-version", "4"}}) {
    const Answer answer = Run(arguments);
    EXPECT_EQ(answer.exit, cli::kExitUsage);
    EXPECT_TRUE(answer.err.starts_with("firn: invalid argument: ")) << answer.err;
    EXPECT_EQ(answer.out, "");
  }
  EXPECT_EQ(Run({"--version"}).out, "firn 0.1.0\n");
  EXPECT_NE(Run({"--help"}).out.find("optimize"), std::string::npos);
}

}  // namespace
}  // namespace firn::sim
