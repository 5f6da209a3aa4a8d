// SPDX-License-Identifier: Apache-2.0
//
// The process dies, or one call fails or loses its reply, at every call that a commit makes.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "sim/world.h"

namespace firn::sim {
namespace {

struct Shape {
  std::int32_t format_version;
  int files, snapshots;
};
constexpr Shape kShapes[] = {{1, 4, 2}, {2, 6, 3}, {3, 6, 3}};

act::Rewrite Prepare(World& world, const Shape& shape) {
  world.Fill(shape.files, shape.snapshots);
  const auto count = static_cast<std::size_t>(shape.files - 1);
  std::vector<act::RewriteGroup> groups{world.MergeOf(0, count), world.MergeOf(1, count)};
  return world.PlanOf(std::move(groups));
}

std::int64_t CallsOf(const Shape& shape) {
  World world(shape.format_version);
  act::Rewrite rewrite = Prepare(world, shape);
  world.injector.Reset();
  const RewriteReport report = world.Run(std::move(rewrite));
  EXPECT_TRUE(report.commit.status.has_value());
  return world.injector.call_count();
}

class CrashTest : public testing::TestWithParam<Shape> {};

TEST_P(CrashTest, ProcessDiesAtAnyCall_TableIsBeforeOrAfterAndNextRunCompletes) {
  const std::int64_t calls = CallsOf(GetParam());
  ASSERT_GT(calls, 20);
  for (std::int64_t k = 1; k <= calls; ++k) {
    for (const bool done : {false, true}) {
      SCOPED_TRACE(testing::Message() << "call " << k << " of " << calls << (done ? " done" : " not done"));
      World world(GetParam().format_version);
      act::Rewrite rewrite = Prepare(world, GetParam());
      const std::vector<Row> rows = world.Rows();
      world.injector.Reset();
      world.injector.CrashAt(k, done);
      (void)world.Run(rewrite);
      const std::string last = world.injector.trace().at(static_cast<std::size_t>(k - 1));
      SCOPED_TRACE(last);

      world.injector.Reset();
      world.CheckSound();
      EXPECT_EQ(world.Rows(), rows);
      const int commits = world.CommitsOf();
      EXPECT_LE(commits, 1);

      // A new process with the same plan: done once, not twice.
      const RewriteReport second = world.Run(rewrite);
      ASSERT_TRUE(second.commit.status.has_value()) << ToString(second.commit.status.error());
      EXPECT_EQ(second.commit.done_before, commits == 1);
      EXPECT_EQ(world.CommitsOf(), 1);
      world.CheckSound();
      EXPECT_EQ(world.Rows(), rows);
    }
  }
}

/// Spoils each call in turn; the commit ends well all the same, and every file left behind is named.
void ExpectCommitAroundEachCall(const Shape& shape, const std::function<void(World&, std::int64_t call)>& spoil) {
  const std::int64_t calls = CallsOf(shape);
  for (std::int64_t k = 1; k <= calls; ++k) {
    World world(shape.format_version);
    act::Rewrite rewrite = Prepare(world, shape);
    const std::vector<Row> rows = world.Rows();
    world.injector.Reset();
    spoil(world, k);
    const RewriteReport report = world.Run(std::move(rewrite));
    SCOPED_TRACE(testing::Message() << "call " << k << ": "
                                    << world.injector.trace().at(static_cast<std::size_t>(k - 1)));
    ASSERT_TRUE(report.commit.status.has_value()) << ToString(report.commit.status.error());
    EXPECT_EQ(world.CommitsOf(), 1);
    EXPECT_EQ(world.Rows(), rows);
    world.CheckSound();
    for (const std::string& orphan : world.Orphans()) {
      EXPECT_EQ(std::ranges::count(report.commit.leftover_files, orphan), 1) << orphan;
    }
  }
}

TEST_P(CrashTest, ReplyOfOneCallIsLost_CommittedOnceAndNothingUnnamedStays) {
  ExpectCommitAroundEachCall(GetParam(), [](World& world, std::int64_t call) { world.injector.LoseReplyAt(call); });
}

TEST_P(CrashTest, OneCallFails_CommittedOnceAndNothingUnnamedStays) {
  ExpectCommitAroundEachCall(GetParam(), [](World& world, std::int64_t call) { world.injector.FailAt(call); });
}

INSTANTIATE_TEST_SUITE_P(Formats, CrashTest, testing::ValuesIn(kShapes),
                         [](const auto& shape) { return "V" + std::to_string(shape.param.format_version); });

}  // namespace
}  // namespace firn::sim
