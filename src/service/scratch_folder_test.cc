// SPDX-License-Identifier: Apache-2.0
#include "service/scratch_folder.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "ports/memory_file_io.h"

namespace firn::service {
namespace {

std::string Read(ports::FileIO& io, const std::string& location) {
  const auto bytes = ports::ReadFile(io, location);
  return bytes ? std::string(AsText(*bytes)) : "error: " + bytes.error().message;
}

TEST(ScratchFolder, WritesNothingIntoTheTable_AndLeavesNothingBehind) {
  ports::MemoryFileIO table;
  table.Put("s3://b/t/a.parquet", Bytes{'a', 'b', 'c'});
  std::string path;
  {
    auto made = ScratchFolder::Make(::testing::TempDir(), table);
    ASSERT_TRUE(made.has_value()) << made.error().message;
    ScratchFolder& scratch = **made;
    path = scratch.path();
    ASSERT_TRUE(scratch.Copy("s3://b/t/a.parquet", 3));
    ASSERT_TRUE(ports::WriteFile(scratch, "s3://b/t/data/new.parquet", AsBytes("new")));
    EXPECT_EQ(Read(scratch, "s3://b/t/data/new.parquet"), "new");
    EXPECT_FALSE(*table.Exists("s3://b/t/data/new.parquet"));
    EXPECT_TRUE(scratch.PathOf("s3://b/t/data/new.parquet").starts_with(path));

    // The copy is read, not the table's file; what was not copied comes from the table.
    table.Put("s3://b/t/a.parquet", Bytes{'x', 'y', 'z'});
    table.Put("s3://b/t/m.avro", Bytes{'m'});
    EXPECT_EQ(Read(scratch, "s3://b/t/a.parquet"), "abc");
    EXPECT_EQ(Read(scratch, "s3://b/t/m.avro"), "m");

    EXPECT_FALSE(scratch.Delete("s3://b/t/m.avro"));
    EXPECT_TRUE(*table.Exists("s3://b/t/m.avro"));
    EXPECT_TRUE(scratch.Delete("s3://b/t/data/new.parquet"));
    EXPECT_TRUE(std::filesystem::exists(path));
    const auto rights = std::filesystem::status(path).permissions();
    EXPECT_EQ(rights & (std::filesystem::perms::group_all | std::filesystem::perms::others_all),
              std::filesystem::perms::none);
  }
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST(ScratchFolder, NoSuchParent_Refused) {
  ports::MemoryFileIO table;
  const auto made = ScratchFolder::Make("/no/such/folder", table);
  ASSERT_FALSE(made.has_value());
  EXPECT_EQ(made.error().code, Code::kInvalidArgument);
  EXPECT_NE(made.error().message.find("/no/such/folder"), std::string::npos);
}

TEST(ScratchFolder, CopyOfAMissingFile_NotFound) {
  ports::MemoryFileIO table;
  auto made = ScratchFolder::Make(::testing::TempDir(), table);
  ASSERT_TRUE(made.has_value());
  const Status copied = (*made)->Copy("s3://b/t/none.parquet", 3);
  ASSERT_FALSE(copied);
  EXPECT_EQ(copied.error().code, Code::kNotFound);
}

}  // namespace
}  // namespace firn::service
