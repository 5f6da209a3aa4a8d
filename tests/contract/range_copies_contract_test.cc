// SPDX-License-Identifier: Apache-2.0
// Ranges that a storage copies itself, on every FileIO.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/random.h"
#include "base/range_copies.h"
#include "contract/file_io_suite.h"

namespace firn::contract {
namespace {

using ::testing::ElementsAreArray;

class RangeCopiesContract : public FileIOSuite {};

TEST_P(RangeCopiesContract, RunsBetweenBytes_AreAppendedInOrder) {
  Random random(5);
  Bytes from(30'000'000);
  for (auto& byte : from) byte = static_cast<std::uint8_t>(random.Next());
  ASSERT_TRUE(ports::WriteFile(io(), At("from a"), from));
  auto file = Create("data/to");
  ASSERT_TRUE(file);
  RangeCopies* const copies = file->range_copies();
  EXPECT_EQ(copies != nullptr, fixture_.copies_ranges);
  if (copies == nullptr) GTEST_SKIP() << GetParam().name << " copies no ranges";
  const auto mark = copies->Mark(At("from a"), from.size());
  ASSERT_TRUE(mark);
  EXPECT_FALSE(copies->Mark(At("from a"), from.size() + 1));
  EXPECT_FALSE(copies->Mark(At("none"), 10));
  auto source = io().Open(At("from a"), from.size());
  ASSERT_TRUE(source);
  Bytes expected;
  const auto copy = [&](std::size_t offset, std::size_t size) {
    expected.insert(expected.end(), from.data() + offset, from.data() + offset + size);
    return copies->Append(**source, *mark, offset, size);
  };
  const auto write = [&](std::size_t size) {
    expected.insert(expected.end(), size, 'x');
    return file->Write(Bytes(size, 'x'));
  };
  ASSERT_TRUE(write(4));
  for (std::size_t at = 1000; at < 20'000'000; at += 500'000) ASSERT_TRUE(copy(at, 500'000));
  ASSERT_TRUE(write(300'000));
  ASSERT_TRUE(copy(0, 12'000'000));
  ASSERT_TRUE(copy(25'000'000, 1000));
  ASSERT_TRUE(write(9'000'000));
  EXPECT_EQ(file->position(), expected.size());
  EXPECT_FALSE(copies->Append(**source, *mark, from.size() - 5, 6)) << "beyond the end";
  const Status closed = file->Close();
  ASSERT_TRUE(closed) << ToString(closed.error());
  EXPECT_GT(copies->copied().size_bytes, 20'000'000U);
  EXPECT_EQ(copies->copied().refusal, "");
  auto written = io().Open(At("data/to"));
  ASSERT_TRUE(written);
  EXPECT_TRUE(ReadAll(**written, expected.size()).value() == expected);
}

TEST_P(RangeCopiesContract, FileThatHasChanged_IsRefusedAndLeavesNothing) {
  if (!fixture_.copies_ranges) GTEST_SKIP() << GetParam().name << " copies no ranges";
  const std::string text(20'000'000, 'a');
  Put("from", text);
  auto file = Create("data/to");
  ASSERT_TRUE(file);
  RangeCopies* const copies = file->range_copies();
  ASSERT_TRUE(copies);
  const auto mark = copies->Mark(At("from"), text.size());
  ASSERT_TRUE(mark);
  auto source = io().Open(At("from"));
  ASSERT_TRUE(source);
  ASSERT_TRUE(io().Replace(At("from"), Bytes(text.size(), 'b')));
  Status outcome = copies->Append(**source, *mark, 0, text.size());
  if (outcome) outcome = file->Close();
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().code, Code::kCorrupt) << ToString(outcome.error());
  EXPECT_THAT(outcome.error().message, testing::HasSubstr("has changed"));
  file.reset();
  EXPECT_THAT(ListNames(fixture_.root), ElementsAreArray({"from"}));
}

TEST_P(RangeCopiesContract, GivenUp_LeavesNothing) {
  if (!fixture_.copies_ranges) GTEST_SKIP() << GetParam().name << " copies no ranges";
  Put("from", std::string(20'000'000, 'a'));
  auto file = Create("data/to");
  ASSERT_TRUE(file);
  RangeCopies* const copies = file->range_copies();
  ASSERT_TRUE(copies);
  const auto mark = copies->Mark(At("from"), 20'000'000);
  auto source = io().Open(At("from"));
  ASSERT_TRUE(mark && source);
  ASSERT_TRUE(copies->Append(**source, *mark, 0, 20'000'000));
  ASSERT_TRUE(file->Write(Bytes(9'000'000, 'x')));
  file->Abort();
  file.reset();
  EXPECT_THAT(ListNames(fixture_.root), ElementsAreArray({"from"}));
}

INSTANTIATE_TEST_SUITE_P(All, RangeCopiesContract, testing::ValuesIn(FileIOCases()),
                         [](const auto& suite) { return suite.param.name; });

}  // namespace
}  // namespace firn::contract
