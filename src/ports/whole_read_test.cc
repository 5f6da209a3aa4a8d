// SPDX-License-Identifier: Apache-2.0
#include "ports/whole_read.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "base/byte_io.h"
#include "base/random.h"

namespace firn::ports {
namespace {

using ::testing::HasSubstr;

/// An object, and a client that is told to leave out the ends of its next reads.
class WholeReadTest : public testing::Test {
 protected:
  WholeReadTest() {
    Random random(7);
    for (std::uint8_t& byte : object_) byte = static_cast<std::uint8_t>(random.Below(256));
  }

  Status Read(std::uint64_t offset, std::size_t size) {
    out_.assign(size, 0x55);
    const auto read = [this](std::uint64_t at, std::span<std::uint8_t> out) -> Result<std::size_t> {
      const std::size_t less = reads_ < less_.size() ? std::min(less_[reads_], out.size()) : 0;
      ++reads_;
      std::copy_n(object_.begin() + static_cast<std::ptrdiff_t>(at), out.size() - less, out.begin());
      return tells_ ? out.size() - less : out.size();
    };
    const auto check = [this]() -> Status {
      ++checks_;
      return is_cut_ ? Status(Error{Code::kCorrupt, "o: too short"}) : Ok();
    };
    return ReadWhole("o", read, check, offset, out_);
  }
  bool IsRight(std::uint64_t offset) const {
    return std::ranges::equal(out_, std::span(object_).subspan(offset, out_.size()));
  }

  std::vector<std::uint8_t> object_ = std::vector<std::uint8_t>(4096);
  std::vector<std::uint8_t> out_;
  std::vector<std::size_t> less_;  // by read
  bool tells_ = false, is_cut_ = false;
  std::size_t reads_ = 0;
  int checks_ = 0;
};

TEST_F(WholeReadTest, WholeAnswers_AreReadOnceButForFew) {
  std::size_t parts = 0;
  for (std::uint64_t offset = 0; offset < 4000; ++offset) {
    ASSERT_TRUE(Read(offset, 90));
    EXPECT_TRUE(IsRight(offset));
    ++parts;
  }
  EXPECT_GT(reads_, parts) << "some bytes are those of the mark";
  EXPECT_LT(reads_, parts + parts / 64);
  EXPECT_EQ(checks_, 0);
}

TEST_F(WholeReadTest, ShortAnswer_IsAskedForAgain) {
  for (const bool tells : {false, true}) {
    for (const std::size_t less : {1U, 2U, 15U, 16U, 17U, 90U, 500U}) {
      for (const std::size_t size : {1U, 5U, 16U, 90U, 1000U}) {
        less_ = {less};
        reads_ = 0;
        tells_ = tells;
        ASSERT_TRUE(Read(300, size)) << less << " of " << size;
        EXPECT_TRUE(IsRight(300)) << less << " of " << size;
        EXPECT_GT(reads_, 1U);
      }
    }
  }
}

TEST_F(WholeReadTest, AnswersThatStayShort_AreUnavailable) {
  less_.assign(20, 5000);
  const Status read = Read(0, 1000);
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().code, Code::kUnavailable);
  EXPECT_THAT(read.error().message, HasSubstr("o: the store answers with fewer than 1000 bytes at offset 0"));
}

TEST_F(WholeReadTest, ObjectThatIsShorter_IsSaid) {
  less_ = {10};
  is_cut_ = true;
  const Status read = Read(0, 1000);
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().code, Code::kCorrupt);
}

TEST_F(WholeReadTest, ObjectThatHoldsTheMark_IsRead) {
  less_ = {16};
  ASSERT_TRUE(Read(0, 64));
  out_.assign(64, 0);
  std::vector<std::uint8_t> mark;
  const auto peek = [&](std::uint64_t, std::span<std::uint8_t> out) -> Result<std::size_t> {
    if (mark.empty()) mark.assign(out.end() - 16, out.end());
    return Error{Code::kUnavailable, "enough"};
  };
  ASSERT_FALSE(ReadWhole("o", peek, [] { return Ok(); }, 0, out_));
  std::ranges::copy(mark, object_.begin() + 1000);
  less_.clear();
  ASSERT_TRUE(Read(900, 116));
  EXPECT_TRUE(IsRight(900));
}

}  // namespace
}  // namespace firn::ports
