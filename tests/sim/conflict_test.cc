// SPDX-License-Identifier: Apache-2.0
//
// Another writer commits at every moment of a commit: what it did must stay true, and what firn did too, or not
// at all.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <string>

#include "sim/world.h"

namespace firn::sim {
namespace {

/// A foreign change and what must come of the merge of files[0..] in partition 0.
struct Foreign {
  std::string name;
  std::function<Status(World&, const std::vector<std::string>& inputs)> act;
  bool merge_survives = true;  // if it came before firn's commit
};

const std::vector<Foreign>& Changes() {
  static const std::vector<Foreign> kChanges = {
      {"append",
       [](World& world, const auto&) -> Status {
         FIRN_TRY(world.table().Append(0, {{9001, 9002}}));
         return Ok();
       }},
      {"append_elsewhere_and_manifest_rewrite",
       [](World& world, const auto&) -> Status {
         FIRN_TRY(world.table().Append(1, {{9001}}));
         return world.table().RewriteManifests();
       }},
      {"manifest_rewrite", [](World& world, const auto&) { return world.table().RewriteManifests(); }},
      {"property", [](World& world, const auto&) { return world.table().SetProperty("owner", "somebody"); }},
      {"remove_input", [](World& world, const auto& inputs) { return world.table().RemoveFile(inputs[1]); }, false},
      {"overwrite_input", [](World& world, const auto& inputs) { return world.table().Overwrite(inputs[0], {0}); },
       false},
      {"position_delete",
       [](World& world, const auto& inputs) { return world.table().AddPositionDelete(inputs[2], 1); }, false},
      {"position_delete_elsewhere",
       [](World& world, const auto& inputs) { return world.table().AddPositionDelete(inputs.back(), 1); }},
      {"equality_delete", [](World& world, const auto&) { return world.table().AddEqualityDelete(0, {1, 4}); }},
      {"equality_delete_then_append",
       [](World& world, const auto&) -> Status {
         FIRN_TRY(world.table().AddEqualityDelete(0, {1, 4}));
         FIRN_TRY(world.table().Append(0, {{1, 9001}}));
         return Ok();
       }},
      {"equality_delete_elsewhere", [](World& world, const auto&) { return world.table().AddEqualityDelete(1, {3}); }},
      {"manifest_rewrite_then_remove_input",
       [](World& world, const auto& inputs) -> Status {
         FIRN_TRY(world.table().RewriteManifests());
         return world.table().RemoveFile(inputs[1]);
       },
       false},
  };
  return kChanges;
}

struct Case {
  std::int32_t format_version;
  std::size_t change;
};

class ConflictTest : public testing::TestWithParam<Case> {};

/// Runs the change before call `at` (0: never). Returns the number of calls.
std::int64_t RunWith(const Case& param, std::int64_t at, bool& finished) {
  const Foreign& foreign = Changes()[param.change];
  World world(param.format_version, 7 + static_cast<std::uint64_t>(at));
  world.Fill(6, 3);
  act::RewriteGroup group = world.MergeOf(0, 4);
  std::vector<std::string> inputs;
  for (const act::RemovedFile& file : group.removed) inputs.push_back(file.path);
  {
    const Result<Contents> contents = world.table().ReadHead();
    EXPECT_TRUE(contents.has_value());
    for (const auto& [path, live] : contents->files) {
      if (std::ranges::count(inputs, path) == 0) inputs.push_back(path);
    }
  }
  act::Rewrite rewrite = world.PlanOf({std::move(group)});
  bool acted = false;
  bool committed_before = false;
  std::vector<Row> expected = world.Rows();
  const auto act = [&] {
    acted = true;
    committed_before = world.CommitsOf() == 1;
    // Once the merge is in, the inputs are gone and changes to them are another story.
    if (!committed_before) world.Fail(foreign.act(world, inputs));
    expected = world.Rows();
  };
  world.injector.Reset();
  world.intrude = [&](std::int64_t call, const ports::IoEvent&) {
    if (call == at && !acted) act();
  };
  const RewriteReport report = world.Run(std::move(rewrite));
  const std::int64_t calls = world.injector.call_count();
  finished = at > calls;

  EXPECT_EQ(world.Rows(), expected);
  world.CheckSound();
  const bool fits = !acted || committed_before || foreign.merge_survives;
  EXPECT_EQ(world.CommitsOf(), fits ? 1 : 0);
  EXPECT_EQ(report.commit.status.has_value(), fits);
  if (!report.commit.status) {
    EXPECT_EQ(report.commit.status.error().code, Code::kConflict);
  }
  EXPECT_EQ(report.commit.leftover_files, std::vector<std::string>());
  EXPECT_EQ(world.Orphans(), std::set<std::string>());
  return calls;
}

TEST_P(ConflictTest, ForeignCommitAtAnyCall_BothHoldOrMergeIsRefused) {
  bool finished = false;
  for (std::int64_t at = 1; !finished; ++at) {
    SCOPED_TRACE(testing::Message() << Changes()[GetParam().change].name << " before call " << at);
    RunWith(GetParam(), at, finished);
    if (HasFailure()) return;
  }
}

std::vector<Case> AllCases() {
  std::vector<Case> cases;
  for (std::size_t change = 0; change < Changes().size(); ++change) {
    const bool has_deletes = Changes()[change].name.find("_delete") != std::string::npos;
    for (const std::int32_t version : {1, 2, 3}) {
      // Version 1 has no deletes, version 3 no new position deletes.
      if (has_deletes && version == 1) continue;
      if (version == 3 && Changes()[change].name.starts_with("position")) continue;
      cases.push_back({version, change});
    }
  }
  return cases;
}

INSTANTIATE_TEST_SUITE_P(Writers, ConflictTest, testing::ValuesIn(AllCases()), [](const auto& param) {
  return Changes()[param.param.change].name + "_v" + std::to_string(param.param.format_version);
});

}  // namespace
}  // namespace firn::sim
