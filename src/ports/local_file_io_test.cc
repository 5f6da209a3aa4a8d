// SPDX-License-Identifier: Apache-2.0
#include "ports/local_file_io.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <filesystem>
#include <thread>

#include "base/random.h"
#include "ports/posix.h"

namespace {
bool directory_syncs_fail = false;
}  // namespace

/// Takes the place of libc's: no other way makes a disk fail at the wanted moment.
extern "C" int fsync(int file) {
  struct stat info{};
  if (directory_syncs_fail && ::fstat(file, &info) == 0 && S_ISDIR(info.st_mode)) {
    errno = EIO;
    return -1;
  }
  return static_cast<int>(::syscall(SYS_fsync, file));
}

namespace firn::ports {
namespace {

using ::testing::HasSubstr;

class LocalFileIOTest : public testing::Test {
 protected:
  LocalFileIOTest() {
    root_ = (std::filesystem::temp_directory_path() / ("firn-local-" + std::to_string(::getpid()))).string();
    std::filesystem::remove_all(root_);
    std::filesystem::create_directories(root_);
  }
  ~LocalFileIOTest() override { std::filesystem::remove_all(root_); }
  std::string At(const std::string& name) const { return root_ + "/" + name; }
  std::vector<std::string> List(const std::string& prefix) {
    std::vector<std::string> names;
    std::string page;
    do {
      const auto listed = io_.List(prefix, page);
      EXPECT_TRUE(listed) << ToString(listed.error());
      if (!listed) break;
      for (const auto& file : listed->files) names.push_back(file.location.substr(root_.size() + 1));
      page = listed->next_page;
    } while (!page.empty());
    return names;
  }

  std::string root_;
  LocalFileIO io_;
};

TEST_F(LocalFileIOTest, Schemes_OfOtherStorage_AreRefused) {
  for (const char* location : {"s3://b/k", "hdfs://n/k", "file://host/k", ""}) {
    EXPECT_EQ(io_.Open(location).error().code, Code::kUnsupported) << location;
    EXPECT_EQ(io_.Create(location).error().code, Code::kUnsupported) << location;
  }
  const std::string with_zero = At(std::string("a\0b", 3));
  EXPECT_EQ(io_.Open(with_zero).error().code, Code::kInvalidArgument);
  EXPECT_EQ(io_.Create(with_zero).error().code, Code::kInvalidArgument);
}

TEST_F(LocalFileIOTest, RelativePath_IsFromTheWorkingDirectory) {
  const auto before = std::filesystem::current_path();
  std::filesystem::current_path(root_);
  EXPECT_TRUE(WriteFile(io_, "data/f", AsBytes("x")));
  EXPECT_TRUE(WriteFile(io_, "top", AsBytes("x")));
  EXPECT_TRUE(io_.Exists("data/f").value());
  std::filesystem::current_path(before);
  EXPECT_TRUE(io_.Exists(At("data/f")).value());
  EXPECT_TRUE(io_.Exists(At("top")).value());
}

TEST_F(LocalFileIOTest, NotFiles_AreNotOpened) {
  ASSERT_EQ(::mkfifo(At("fifo").c_str(), 0600), 0);
  for (const auto& location : {At("fifo"), root_, std::string("/dev/zero")}) {
    const auto opened = io_.Open(location);
    ASSERT_FALSE(opened) << location;
    EXPECT_EQ(opened.error().code, Code::kInvalidArgument);
    EXPECT_FALSE(io_.Exists(location).value());
  }
  EXPECT_FALSE(io_.Delete(root_)) << "directories are not deleted";
}

TEST_F(LocalFileIOTest, FileInTheWayOfADirectory_IsInvalid) {
  ASSERT_TRUE(WriteFile(io_, At("a"), AsBytes("x")));
  const auto created = io_.Create(At("a/b/c"));
  ASSERT_FALSE(created);
  EXPECT_EQ(created.error().code, Code::kInvalidArgument) << ToString(created.error());
  EXPECT_FALSE(io_.Exists(At("a/b")).value());
}

TEST_F(LocalFileIOTest, MissingRights_AreNotAskedAgain) {
  for (const int error_number : {EACCES, EPERM, EROFS}) {
    EXPECT_EQ(PosixError("/a", "create", error_number).code, Code::kInvalidArgument) << error_number;
  }
  for (const int error_number : {EIO, ESTALE, EINTR}) {
    EXPECT_EQ(PosixError("/a", "create", error_number).code, Code::kUnavailable) << error_number;
  }
  EXPECT_EQ(PosixError("/a", "create", ENOSPC).code, Code::kLimit);
}

TEST_F(LocalFileIOTest, DirectoryCannotBeMadeDurable_UnavailableNotUnknown) {
  for (const bool anonymous : {true, false}) {
    io_.set_anonymous_files(anonymous);
    directory_syncs_fail = true;
    const Status written = WriteFile(io_, At("f"), AsBytes("x"));
    directory_syncs_fail = false;
    ASSERT_FALSE(written);
    EXPECT_EQ(written.error().code, Code::kUnavailable) << ToString(written.error());
    EXPECT_TRUE(io_.Delete(At("f")));
  }
}

TEST_F(LocalFileIOTest, NameTooLong_IsInvalid) {
  const auto created = io_.Create(At(std::string(300, 'x')));
  // The name is only given at the end.
  const Status status = created ? (*created)->Close() : Status(created.error());
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, Code::kInvalidArgument) << ToString(status.error());
}

TEST_F(LocalFileIOTest, SizeLimit_IsLimitAndLeavesNothing) {
  std::signal(SIGXFSZ, SIG_IGN);
  rlimit old_limit{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &old_limit), 0);
  for (const bool anonymous : {true, false}) {
    io_.set_anonymous_files(anonymous);
    const rlimit small{100'000, old_limit.rlim_max};
    ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
    const Status written = WriteFile(io_, At("big"), Bytes(1'000'000));
    ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &old_limit), 0);
    ASSERT_FALSE(written);
    EXPECT_EQ(written.error().code, Code::kLimit) << ToString(written.error());
    EXPECT_THAT(written.error().message, HasSubstr(At("big")));
    EXPECT_TRUE(std::filesystem::is_empty(root_));
  }
}

TEST_F(LocalFileIOTest, OpenFile_ThatShrinks_IsCorrupt) {
  ASSERT_TRUE(WriteFile(io_, At("f"), Bytes(1000, 'x')));
  auto source = io_.Open(At("f")).value();
  std::filesystem::resize_file(At("f"), 500);
  Bytes out(1000);
  const Status read = source->ReadAt(0, out);
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().code, Code::kCorrupt);
}

TEST_F(LocalFileIOTest, Links_FilesAreListedDirectoriesAreNotFollowed) {
  ASSERT_TRUE(WriteFile(io_, At("t/real"), AsBytes("x")));
  ASSERT_TRUE(WriteFile(io_, At("outside/f"), AsBytes("x")));
  std::filesystem::create_symlink(At("outside/f"), At("t/file-link"));
  std::filesystem::create_directory_symlink(At("outside"), At("t/directory-link"));
  std::filesystem::create_directory_symlink(At("t"), At("t/loop"));
  std::filesystem::create_symlink(At("nowhere"), At("t/dangling"));
  EXPECT_THAT(List(At("t")), testing::ElementsAre("t/file-link", "t/real"));
  EXPECT_EQ(WriteFile(io_, At("t/dangling"), AsBytes("x")).error().code, Code::kConflict);
}

TEST_F(LocalFileIOTest, List_RandomTrees_EveryFileOnceInOrder) {
  Random random(3);
  for (int round = 0; round < 5; ++round) {
    const std::string top = "r" + std::to_string(round);
    std::vector<std::string> expected;
    for (int i = 0; i < 60; ++i) {
      std::string name = top;
      // Bytes on both sides of '/', so that the order of paths is not the order of names.
      constexpr std::string_view kAlphabet = "+-0a~";
      for (std::uint64_t depth = 1 + random.Below(4); depth > 0; --depth) {
        name += '/';
        for (std::uint64_t size = 1 + random.Below(2); size > 0; --size) name += kAlphabet[random.Below(5)];
      }
      const std::string file = name + "f";
      if (WriteFile(io_, At(file), AsBytes(""))) expected.push_back(file);
    }
    std::ranges::sort(expected);
    for (const std::size_t page : {1UL, 2UL, 7UL, 1000UL}) {
      io_.set_page_files(page);
      EXPECT_EQ(List(At(top)), expected) << page;
    }
  }
}

TEST_F(LocalFileIOTest, List_FilesVanishMeanwhile_IsNoError) {
  for (int i = 0; i < 200; ++i) ASSERT_TRUE(WriteFile(io_, At("d/" + std::to_string(i)), AsBytes("")));
  io_.set_page_files(10);
  std::jthread remover([this] {
    for (int i = 0; i < 200; ++i) (void)io_.Delete(At("d/" + std::to_string(i)));
  });
  List(root_);
}

TEST_F(LocalFileIOTest, ReplaceLocalFile_ReplacesAtOnce) {
  ASSERT_TRUE(ReplaceLocalFile(At("hint"), AsBytes("1")));
  std::jthread reader([this](const std::stop_token& stop) {
    while (!stop.stop_requested()) EXPECT_EQ(ReadFile(io_, At("hint")).value().size(), 1U);
  });
  for (int i = 0; i < 50; ++i) ASSERT_TRUE(ReplaceLocalFile(At("hint"), AsBytes("2")));
  reader.request_stop();
  reader.join();
  EXPECT_THAT(List(root_), testing::ElementsAre("hint")) << "no temporary file is left";
}

TEST_F(LocalFileIOTest, OtherProcess_SeesWholeFilesOnly) {
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    auto file = io_.Create(At("cut"));
    (void)(*file)->Write(Bytes(1'000'000));
    ::_exit(0);  // dies without Close
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(std::filesystem::is_empty(root_)) << "O_TMPFILE leaves nothing behind";
}

}  // namespace
}  // namespace firn::ports
