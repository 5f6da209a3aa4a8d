// SPDX-License-Identifier: Apache-2.0
#include "ports/cached_file_io.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "ports/hooked_file_io.h"
#include "ports/memory_file_io.h"

namespace firn::ports {
namespace {

class CachedFileIOTest : public testing::Test {
 protected:
  CachedFileIOTest()
      : files_(std::make_shared<MemoryFileIO>()), counted_(files_, [this](const IoEvent& event) -> Status {
          if (event.moment != IoMoment::kBefore) return Ok();
          reads_ += event.operation == IoOperation::kReadAt;
          return is_down_ ? Status(Error{Code::kUnavailable, "down"}) : Ok();
        }) {}

  /// The content through a FileIO of `scope`; "" after an error.
  std::string Read(const std::string& location, std::optional<std::uint64_t> size, const std::string& scope = "a") {
    const auto io = MakeCached(counted_, cache_, scope);
    const auto source = io->Open(location, size);
    if (!source) return "";
    const auto bytes = ReadAll(**source, 1 << 20);
    return bytes ? std::string(AsText(*bytes)) : "";
  }
  void Put(const std::string& location, const std::string& text) {
    files_->Put(location, Bytes(text.begin(), text.end()));
  }

  std::shared_ptr<MemoryFileIO> files_;
  HookedFileIO counted_;
  FileCache cache_{8000};
  int reads_ = 0;
  bool is_down_ = false;
};

TEST_F(CachedFileIOTest, SecondRead_ComesFromMemory) {
  Put("m/a", "hello");
  EXPECT_EQ(Read("m/a", 5), "hello");
  EXPECT_EQ(reads_, 1);
  is_down_ = true;
  EXPECT_EQ(Read("m/a", 5), "hello");
  EXPECT_EQ(reads_, 1);
  EXPECT_EQ(cache_.counts().hits, 1);
  EXPECT_EQ(cache_.counts().misses, 1);
}

TEST_F(CachedFileIOTest, AnotherSizeOrScope_IsAnotherFile) {
  Put("m/a", "hello");
  EXPECT_EQ(Read("m/a", 5), "hello");
  Put("m/a", "hello!");
  EXPECT_EQ(Read("m/a", 6), "hello!");
  EXPECT_EQ(Read("m/a", 5), "hello");
  EXPECT_EQ(Read("m/a", 6, "b"), "hello!");
  EXPECT_EQ(cache_.counts().misses, 3);
}

TEST_F(CachedFileIOTest, UnknownSizeAndLargeFiles_PassThrough) {
  Put("m/a", "hello");
  Put("m/large", std::string(1001, 'x'));
  EXPECT_EQ(Read("m/a", std::nullopt), "hello");
  EXPECT_EQ(Read("m/large", 1001).size(), 1001U);
  EXPECT_EQ(cache_.counts().files, 0);
  EXPECT_EQ(cache_.counts().misses, 0);
}

TEST_F(CachedFileIOTest, Full_ForgetsWhatWasNotUsedForLongest) {
  for (int i = 0; i < 20; ++i) {
    Put("m/" + std::to_string(i), std::string(900, 'x'));
    (void)Read("m/" + std::to_string(i), 900);
    (void)Read("m/0", 900);
    EXPECT_LE(cache_.counts().size_bytes, 8000);
  }
  EXPECT_GT(cache_.counts().evictions, 5);
  const int before = reads_;
  EXPECT_EQ(Read("m/0", 900).size(), 900U);
  EXPECT_EQ(reads_, before);
  EXPECT_EQ(Read("m/1", 900).size(), 900U);
  EXPECT_EQ(reads_, before + 1);
}

TEST_F(CachedFileIOTest, Errors_AreNotKept) {
  EXPECT_EQ(Read("m/a", 5), "");
  Put("m/a", "hello");
  is_down_ = true;
  EXPECT_EQ(Read("m/a", 5), "");
  is_down_ = false;
  EXPECT_EQ(Read("m/a", 5), "hello");
}

TEST_F(CachedFileIOTest, WhatTheStorageGuarantees_IsPassedOn) {
  const auto io = MakeCached(counted_, cache_, "a");
  EXPECT_TRUE(io->CheckExclusive("/v1.metadata.json"));
  ASSERT_TRUE(io->Replace("/hint", AsBytes("2")));
  EXPECT_EQ(Read("/hint", std::nullopt), "2");
}

TEST_F(CachedFileIOTest, NoCapacity_KeepsNothing) {
  FileCache none(0);
  EXPECT_FALSE(none.Takes(1));
  EXPECT_FALSE(cache_.Takes(0));
  EXPECT_TRUE(cache_.Takes(1000));
  EXPECT_FALSE(cache_.Takes(1001));
}

}  // namespace
}  // namespace firn::ports
