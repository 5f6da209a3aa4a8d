// SPDX-License-Identifier: Apache-2.0
#include "cli/service_options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace firn::cli {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::StartsWith;

class TokenFileTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::temp_directory_path() / ("firn-token-" + std::to_string(::getpid()));
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }
  std::string Write(const std::string& name, const std::string& text, mode_t rights = 0600) {
    const std::string path = folder_ / name;
    std::ofstream(path) << text;
    EXPECT_EQ(::chmod(path.c_str(), rights), 0);
    return path;
  }

  fs::path folder_;
};

TEST_F(TokenFileTest, AToken_IsOneLineThatItsOwnerAloneReads) {
  EXPECT_EQ(ReadTokenFile(Write("a", "0123456789\n")).value(), "0123456789");
  EXPECT_THAT(ReadTokenFile(Write("b", "0123456789\n", 0640)).error().message, HasSubstr("chmod 600"));
  EXPECT_EQ(ReadTokenFile(Write("c", "0123\n")).error().code, Code::kInvalidArgument);
  EXPECT_EQ(ReadTokenFile(Write("d", std::string(5'000, 'x'))).error().code, Code::kLimit);
}

TEST_F(TokenFileTest, WhyItCannotBeRead_IsSaid) {
  const auto missing = ReadTokenFile(folder_ / "none");
  EXPECT_EQ(missing.error().code, Code::kNotFound);
  EXPECT_THAT(missing.error().message, StartsWith((folder_ / "none").string() + ": open: No such file"));
  const auto below_a_file = ReadTokenFile(Write("file", "0123456789") + "/token");
  EXPECT_EQ(below_a_file.error().code, Code::kInvalidArgument);
  EXPECT_THAT(below_a_file.error().message, HasSubstr("Not a directory"));
  fs::create_symlink("loop", folder_ / "loop");
  EXPECT_EQ(ReadTokenFile(folder_ / "loop").error().code, Code::kInvalidArgument);
  fs::create_directory(folder_ / "folder");
  fs::permissions(folder_ / "folder", fs::perms::owner_all);
  const auto folder = ReadTokenFile(folder_ / "folder");
  EXPECT_EQ(folder.error().code, Code::kInvalidArgument);
  EXPECT_THAT(folder.error().message, HasSubstr("read: Is a directory"));
  if (::geteuid() == 0) return;  // nothing is forbidden to root
  const auto forbidden = ReadTokenFile(Write("forbidden", "0123456789", 0200));
  EXPECT_EQ(forbidden.error().code, Code::kInvalidArgument);
  EXPECT_THAT(forbidden.error().message, HasSubstr("Permission denied"));
}

TEST_F(TokenFileTest, AFolderThatCannotBeMade_SaysWhy) {
  EXPECT_TRUE(MakeFolderOf(folder_ / "x/y/state.db").has_value());
  EXPECT_TRUE(fs::is_directory(folder_ / "x/y"));
  const Status made = MakeFolderOf(Write("file", "") + "/y/state.db");
  EXPECT_EQ(made.error().code, Code::kInvalidArgument);
  EXPECT_THAT(made.error().message, HasSubstr("Not a directory"));
}

}  // namespace
}  // namespace firn::cli
