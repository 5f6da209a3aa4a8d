// SPDX-License-Identifier: Apache-2.0
// Data files that turn out to be broken, before a merge or in its middle: the others are merged, those stay.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>

#include "service/optimize.h"
#include "sim/world.h"

namespace firn::sim {
namespace {

constexpr std::size_t kFirstPageHeader = 4;

class BrokenFileTest : public testing::Test {
 protected:
  BrokenFileTest() { world_.Fill(kFiles, 3); }

  /// Breaks that many files of the first of the two partitions: their footers, or a page.
  void Break(std::size_t count, bool in_footer) {
    const Result<Contents> contents = world_.table().ReadHead();
    ASSERT_TRUE(contents);
    for (const auto& [path, live] : contents->files) {
      if (good_.size() == count) break;
      if (std::get<std::int32_t>(live.file.partition.values[0]) != 1) continue;
      Bytes bytes = *ports::ReadFile(*world_.storage, path);
      good_[path] = bytes;
      bytes[in_footer ? bytes.size() - 6 : kFirstPageHeader] ^= 0xff;
      world_.storage->Put(path, bytes);
    }
    ASSERT_EQ(good_.size(), count);
  }

  /// Optimizes, and repairs the files, so that all rows can be read.
  act::Outcome Optimize() {
    act::CommitEnvironment environment = world_.Environment(*world_.catalog);
    service::OptimizeOptions options;
    options.rewrite.memory_bytes = 256 << 20;
    const Result<service::Optimized> done =
        world_.AsProcess([&] { return service::Optimize(environment, SimTable::Id(), options); });
    for (const auto& [path, bytes] : good_) world_.storage->Put(path, bytes);
    EXPECT_TRUE(done) << ToString(done.error());
    return done ? done->outcome : act::Outcome();
  }

  std::set<std::string> LiveFiles() {
    std::set<std::string> paths;
    const Result<Contents> contents = world_.table().ReadHead();
    EXPECT_TRUE(contents);
    for (const auto& [path, live] : contents->files) paths.insert(path);
    return paths;
  }

  void CheckNothingLost(const std::vector<Row>& rows) {
    EXPECT_EQ(world_.Rows(), rows);
    world_.CheckSound();
    EXPECT_EQ(world_.Orphans(), std::set<std::string>());
  }

  static constexpr int kFiles = 14;
  World world_{2};
  std::map<std::string, Bytes> good_;
};

TEST_F(BrokenFileTest, Footer_TheOthersAreMerged) {
  const std::vector<Row> rows = world_.Rows();
  Break(1, true);
  const act::Outcome outcome = Optimize();
  ASSERT_EQ(outcome.failures.size(), 1U);
  EXPECT_EQ(outcome.failures[0].files, 1);
  EXPECT_EQ(outcome.failures[0].error.code, Code::kCorrupt);
  EXPECT_EQ(LiveFiles().size(), 3U);
  EXPECT_TRUE(LiveFiles().contains(good_.begin()->first));
  CheckNothingLost(rows);
}

TEST_F(BrokenFileTest, Pages_TheOthersAreMerged) {
  for (const std::size_t count : {1U, 2U}) {
    const std::vector<Row> rows = world_.Rows();
    Break(count, false);
    const act::Outcome outcome = Optimize();
    ASSERT_EQ(outcome.failures.size(), count);
    for (const auto& [path, bytes] : good_) {
      const auto named = std::ranges::find_if(
          outcome.failures, [&](const act::GroupFailure& f) { return f.error.message.starts_with(path); });
      ASSERT_NE(named, outcome.failures.end()) << path;
      EXPECT_EQ(named->files, 1);
      EXPECT_EQ(named->error.code, Code::kCorrupt);
    }
    for (const auto& [path, bytes] : good_) EXPECT_TRUE(LiveFiles().contains(path));
    EXPECT_EQ(LiveFiles().size(), 2 + count);
    CheckNothingLost(rows);
    good_.clear();
    world_.Fill(kFiles, 3);
  }
}

TEST_F(BrokenFileTest, TooManyOfThem_NothingOfTheGroupIsMerged) {
  const std::vector<Row> rows = world_.Rows();
  Break(9, false);
  const act::Outcome outcome = Optimize();
  ASSERT_EQ(outcome.failures.size(), 1U);
  EXPECT_EQ(outcome.failures[0].files, kFiles);
  EXPECT_EQ(outcome.failures[0].error.code, Code::kCorrupt);
  EXPECT_EQ(LiveFiles().size(), kFiles + 1U);
  CheckNothingLost(rows);
}

}  // namespace
}  // namespace firn::sim
