// SPDX-License-Identifier: Apache-2.0
#include "ports/directory_watch.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <set>

namespace firn::ports {
namespace {

namespace fs = std::filesystem;

class DirectoryWatchTest : public testing::Test {
 protected:
  DirectoryWatchTest() {
    root_ = fs::canonical(fs::temp_directory_path()) / ("firn-watch-" + std::to_string(::getpid()));
    fs::remove_all(root_);
    fs::create_directories(root_ / "db/old/metadata");
    fs::create_directories(root_ / "db/old/data/day=1");
    Write(root_ / "db/old/metadata/v1.metadata.json");
  }
  ~DirectoryWatchTest() override {
    watch_.reset();
    fs::remove_all(root_);
  }
  void Start(DirectoryWatchOptions options = {}) {
    auto started = DirectoryWatch::Start(root_.string(), queue_, options);
    ASSERT_TRUE(started) << ToString(started.error());
    watch_ = std::move(*started);
  }
  static void Write(const fs::path& path) { std::ofstream(path) << "{}"; }
  /// The locations of the next events, once there are as many different ones.
  std::set<std::string> Locations(std::size_t count, std::int64_t wait_ms = 5'000) {
    std::set<std::string> locations;
    while (locations.size() < count) {
      const auto events = queue_.Take(10, wait_ms);
      if (events.empty()) break;
      for (const TableEvent& event : events) locations.insert(event.location);
    }
    return locations;
  }

  fs::path root_;
  EventQueue queue_{1'000};
  std::unique_ptr<DirectoryWatch> watch_;
};

TEST_F(DirectoryWatchTest, TellsOfNewMetadataAndOfNothingElse) {
  Start();
  Write(root_ / "db/old/data/day=1/a.parquet");
  Write(root_ / "db/old/metadata/snap-1.avro");
  EXPECT_TRUE(queue_.Take(1, 200).empty());
  Write(root_ / "db/old/metadata/v2.metadata.json");
  EXPECT_EQ(Locations(1), std::set<std::string>{(root_ / "db/old").string()});
  Write(root_ / "db/old/metadata/.tmp");
  fs::rename(root_ / "db/old/metadata/.tmp", root_ / "db/old/metadata/v3.metadata.json");
  EXPECT_EQ(Locations(1).size(), 1U);
}

TEST_F(DirectoryWatchTest, FindsTablesThatAreMadeLaterInOneGoOrStepByStep) {
  Start();
  fs::create_directories(root_ / "new/deep/t/metadata");
  Write(root_ / "new/deep/t/metadata/v1.metadata.json");
  EXPECT_EQ(Locations(1), std::set<std::string>{(root_ / "new/deep/t").string()});
  fs::create_directories(root_ / "../firn-watch-aside" / "u/metadata");
  Write(root_ / "../firn-watch-aside" / "u/metadata/v1.metadata.json");
  fs::rename(root_ / "../firn-watch-aside", root_ / "moved");
  EXPECT_EQ(Locations(1), std::set<std::string>{(root_ / "moved/u").string()});
}

TEST_F(DirectoryWatchTest, DroppedFoldersAreForgotten) {
  Start();
  const std::int64_t before = watch_->counts().watched;
  fs::remove_all(root_ / "db/old");
  for (int i = 0; i < 200 && watch_->counts().watched >= before; ++i) ::usleep(10'000);
  EXPECT_LT(watch_->counts().watched, before);
  fs::create_directories(root_ / "db/old/metadata");
  Write(root_ / "db/old/metadata/v1.metadata.json");
  EXPECT_EQ(Locations(1).size(), 1U) << "made again under the same name";
}

TEST_F(DirectoryWatchTest, LinksAreNotFollowedAndLimitsAreCounted) {
  fs::create_directory_symlink(root_ / "db", root_ / "link");
  fs::create_directory_symlink(root_, root_ / "db/loop");
  fs::create_directories(root_ / "1/2/3/4/5/6/7/8/9/10");
  Start({.depth_max = 4});
  EXPECT_EQ(watch_->counts().not_watched, 1);
  watch_.reset();
  Start({.watches_max = 2});
  EXPECT_GT(watch_->counts().not_watched, 0);
  EXPECT_EQ(watch_->counts().watched, 2);
}

TEST_F(DirectoryWatchTest, AMissingRootIsAnError) {
  EXPECT_EQ(DirectoryWatch::Start((root_ / "none").string(), queue_, {}).error().code, Code::kNotFound);
  EXPECT_EQ(DirectoryWatch::Start((root_ / "db/old/metadata/v1.metadata.json").string(), queue_, {}).error().code,
            Code::kInvalidArgument);
}

}  // namespace
}  // namespace firn::ports
