// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "cli/command_answer_test.h"
#include "cli/command_line.h"
#include "format/json/json.h"
#include "ports/memory_file_io.h"

namespace firn::cli {
namespace {

class SimulateCommand : public testing::Test {
 protected:
  Answer Run(std::vector<std::string> arguments) {
    MemoryTerminal terminal;
    const auto no_table = [](const TableRequest&) -> Result<OpenedTable> { return Error{Code::kNotFound, "no table"}; };
    Environment environment{terminal,
                            clock,
                            random,
                            no_table,
                            [&](const TableRequest&) -> Result<std::shared_ptr<ports::FileIO>> { return io; },
                            cancelled};
    arguments.insert(arguments.begin(), "simulate");
    Answer answer;
    answer.exit = RunCommandLine(std::move(arguments), environment);
    answer.out = terminal.out;
    answer.err = terminal.err;
    return answer;
  }

  ports::ManualClock clock{TimestampMs{1'700'000'000'000}};
  Random random{1};
  std::atomic<bool> cancelled = false;
  std::shared_ptr<ports::MemoryFileIO> io = std::make_shared<ports::MemoryFileIO>();
};

TEST_F(SimulateCommand, SameSeedSameOutput) {
  const std::vector<std::string> words = {"bursty", "--hours", "8", "--tables", "5", "--json", "--seed", "3"};
  const Answer first = Run(words);
  EXPECT_EQ(first.exit, 0) << first.err;
  EXPECT_EQ(first.out, Run(words).out);
  auto others = words;
  others.back() = "4";
  EXPECT_NE(first.out, Run(others).out);
  auto alone = words;
  alone.insert(alone.end(), {"--threads", "1"});
  EXPECT_EQ(first.out, Run(alone).out);
}

TEST_F(SimulateCommand, JsonHasTheFunnelOfEveryPolicy) {
  const json::Value value = Run({"steady-wide", "--hours", "6", "--tables", "1", "--policies", "every-commit,none",
                                 "--samples", "3", "--json"})
                                .Json();
  ASSERT_EQ(value.elements().size(), 1U);
  const json::Value& run = value.elements()[0];
  EXPECT_EQ(*run.Find("workload")->Find("hours")->AsDouble(), 6);
  ASSERT_EQ(run.Find("policies")->elements().size(), 2U);
  const json::Value& first = run.Find("policies")->elements()[0];
  EXPECT_EQ(*first.Find("policy")->AsString(), "every-commit");
  EXPECT_GT(*first.Find("funnel")->Find("files_replaced")->AsInt64(), 0);
  EXPECT_EQ(first.Find("samples")->elements().size(), 4U);
  const json::Value* savings = run.Find("savings")->Find("none");
  ASSERT_NE(savings, nullptr);
  EXPECT_GT(*savings->Find("files")->AsDouble(), 0.5);
  EXPECT_TRUE(savings->Find("merges")->is_null());
  EXPECT_EQ(run.Find("speed"), nullptr);
}

TEST_F(SimulateCommand, TextNamesPoliciesAndPublishedFigures) {
  const Answer answer = Run({"bursty", "--hours", "8", "--tables", "5"});
  EXPECT_EQ(answer.exit, 0) << answer.err;
  for (const char* part : {"bursty: 5 tables", "periodic", "72 % fewer", "AGAINST PERIODIC", "READ COST"}) {
    EXPECT_NE(answer.out.find(part), std::string::npos) << part << "\n" << answer.out;
  }
}

TEST_F(SimulateCommand, PlotsAreFilesAndReplaceOlderOnes) {
  for (int i = 0; i < 2; ++i) {
    const Answer answer =
        Run({"bursty", "--hours", "8", "--tables", "3", "--plot", "out", "--policies", "threshold,none"});
    EXPECT_EQ(answer.exit, 0) << answer.err;
  }
  for (const char* name : {"out/bursty-files.svg", "out/bursty-read-cost.svg", "out/bursty-worker-seconds.svg"}) {
    const auto bytes = ports::ReadFile(*io, name);
    ASSERT_TRUE(bytes.has_value()) << name;
    EXPECT_TRUE(AsText(*bytes).starts_with("<svg")) << name;
  }
}

TEST_F(SimulateCommand, BenchAddsSpeed) {
  const json::Value value = Run({"fleet", "--tables", "50", "--policies", "none", "--bench", "--json"}).Json();
  const json::Value* speed = value.elements()[0].Find("speed");
  ASSERT_NE(speed, nullptr);
  EXPECT_GT(*speed->Find("peak_memory_bytes")->AsInt64(), 1 << 20);
}

TEST_F(SimulateCommand, ListShowsTheWorkloads) {
  const Answer answer = Run({"--list"});
  EXPECT_EQ(answer.exit, 0);
  EXPECT_NE(answer.out.find("many-small-tables"), std::string::npos);
  EXPECT_GE(Run({"--list", "--json"}).Json().elements().size(), 4U);
}

TEST_F(SimulateCommand, BadArgumentsAreNamed) {
  const std::vector<std::pair<std::vector<std::string>, std::string>> cases = {
      {{"streaming"}, "streaming-late"},
      {{"bursty", "--policies", "hourly"}, "periodic"},
      {{"bursty", "--hours", "0"}, "hours"},
      {{"bursty", "--hours", "nan"}, "hours"},
      {{"bursty", "--tables", "-3"}, "tables"},
      {{"bursty", "--target-file-size", "many"}, "--target-file-size"},
      {{"bursty", "--workers", "0"}, "--workers"},
      {{"bursty", "--entropy", "2"}, "--entropy"},
      {{"bursty", "--small-files", "1"}, "--small-files"},
      {{"bursty", "--seed", "-1"}, "--seed"},
  };
  for (const auto& [words, named] : cases) {
    const Answer answer = Run(words);
    EXPECT_EQ(answer.exit, 2) << words.back();
    EXPECT_NE(answer.err.find(named), std::string::npos) << answer.err;
    EXPECT_EQ(answer.out, "") << words.back();
  }
}

TEST_F(SimulateCommand, ASignalEndsIt) {
  cancelled = true;
  EXPECT_EQ(Run({"bursty"}).exit, 10);
}

}  // namespace
}  // namespace firn::cli
