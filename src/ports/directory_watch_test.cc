// SPDX-License-Identifier: Apache-2.0
#include "ports/directory_watch.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>

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
  testing::internal::CaptureStderr();
  Start({.depth_max = 4});
  EXPECT_EQ(watch_->counts().not_watched, 1);
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "firn warn: " + root_.string() + ": changes in " + root_.string() +
                "/1/2/3/4/5, and maybe in more folders, are seen by the sweep alone: they are too many, or too deep\n");
  watch_.reset();
  Start({.watches_max = 2});
  EXPECT_GT(watch_->counts().not_watched, 0);
  EXPECT_EQ(watch_->counts().watched, 2);
}

/// Keeps one thread of this process from running: only its events wait meanwhile.
class StoppedThread {
 public:
  explicit StoppedThread(pid_t thread) {
    EXPECT_EQ(::pipe(pipe_), 0);
    struct sigaction action{};
    action.sa_handler = [](int) {
      char byte = 0;
      is_held_ = true;
      [[maybe_unused]] const ssize_t count = ::read(pipe_[0], &byte, 1);
    };
    EXPECT_EQ(::sigaction(SIGUSR1, &action, nullptr), 0);
    EXPECT_EQ(::syscall(SYS_tgkill, ::getpid(), thread, SIGUSR1), 0);
    for (int i = 0; i < 500 && !is_held_; ++i) ::usleep(10'000);
    EXPECT_TRUE(is_held_);
  }
  ~StoppedThread() {
    is_held_ = false;
    EXPECT_EQ(::write(pipe_[1], "x", 1), 1);
  }

 private:
  static inline int pipe_[2];
  static inline std::atomic<bool> is_held_ = false;
};

std::set<pid_t> Threads() {
  std::set<pid_t> threads;
  for (const auto& entry : fs::directory_iterator("/proc/self/task")) {
    threads.insert(std::stoi(entry.path().filename().string()));
  }
  return threads;
}

TEST_F(DirectoryWatchTest, WhereEventsAreLost_EveryTableIsToldOfAndItIsLogged) {
  for (const char* table : {"db/a", "db/b"}) {
    fs::create_directories(root_ / table / "metadata");
    Write(root_ / table / "metadata/v1.metadata.json");
  }
  const std::set<pid_t> before = Threads();
  Start({.watches_max = 8});  // root, db, and two for each table
  std::set<pid_t> started = Threads();
  std::erase_if(started, [&](pid_t thread) { return before.contains(thread); });
  ASSERT_EQ(started.size(), 1U);
  std::int64_t room = 0;
  std::ifstream("/proc/sys/fs/inotify/max_queued_events") >> room;
  ASSERT_GT(room, 0);
  testing::internal::CaptureStderr();
  {
    const StoppedThread stopped(*started.begin());
    const std::string files[] = {root_ / "db/old/metadata/x.avro", root_ / "db/old/metadata/y.avro"};
    for (const std::string& file : files) Write(file);
    // Equal events that follow one another are one. None of these is of a table's metadata.
    for (std::int64_t i = 0; i <= room / 2; ++i) {
      for (const std::string& file : files) ::close(::open(file.c_str(), O_WRONLY));
    }
    // What comes now is lost: a table that is gone, and a new one, for which there is only room without the other.
    fs::remove_all(root_ / "db/b");
    fs::create_directories(root_ / "db/c/metadata");
    Write(root_ / "db/c/metadata/v1.metadata.json");
    Write(root_ / "db/a/metadata/v2.metadata.json");
  }
  const std::set<std::string> all = {(root_ / "db/old").string(), (root_ / "db/a").string(), (root_ / "db/c").string()};
  EXPECT_EQ(Locations(3), all);
  EXPECT_EQ(watch_->counts().overflows, 1);
  // It goes on, also with what was new.
  Write(root_ / "db/c/metadata/v2.metadata.json");
  EXPECT_EQ(Locations(1), std::set<std::string>{(root_ / "db/c").string()});
  EXPECT_EQ(watch_->counts().not_watched, 0);
  watch_.reset();
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "firn warn: " + root_.string() + ": the system has lost events: every table below is looked at\n");
}

TEST_F(DirectoryWatchTest, AMissingRootIsAnError) {
  EXPECT_EQ(DirectoryWatch::Start((root_ / "none").string(), queue_, {}).error().code, Code::kNotFound);
  EXPECT_EQ(DirectoryWatch::Start((root_ / "db/old/metadata/v1.metadata.json").string(), queue_, {}).error().code,
            Code::kInvalidArgument);
}

}  // namespace
}  // namespace firn::ports
