// SPDX-License-Identifier: Apache-2.0
#include "ports/renewed_file_io.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>
#include <future>
#include <thread>

#include "ports/hooked_file_io.h"
#include "ports/memory_file_io.h"

namespace firn::ports {
namespace {

using ::testing::HasSubstr;

constexpr std::int64_t kMinute = 60'000;

/// What the wall shows can be set.
class SetClock final : public Clock {
 public:
  TimestampMs Now() override { return {passed_ms_ + wall_ms_}; }
  std::int64_t MonotonicNs() override { return passed_ms_ * 1'000'000; }
  void SleepMs(std::int64_t duration_ms) override { passed_ms_ += duration_ms; }
  void Set(std::int64_t ahead_ms) { wall_ms_ += ahead_ms; }

 private:
  std::atomic<std::int64_t> passed_ms_ = 0;
  std::atomic<std::int64_t> wall_ms_ = 1'700'000'000'000;
};

/// Credentials that the store refuses after their end, as S3 does.
class RenewedFileIOTest : public testing::Test {
 protected:
  EndingFileIO Until(std::int64_t ends_at_ms) {
    const IoHook check = [this, ends_at_ms](const IoEvent&) -> Status {
      if (clock_.Now().value < ends_at_ms && !refuses_) return Ok();
      if (heals_) refuses_ = false;
      ++refusals_;
      return Error{Code::kInvalidArgument, "ExpiredToken"};
    };
    return {std::make_shared<HookedFileIO>(store_, check), {ends_at_ms}};
  }
  RenewedFileIO Make(std::int64_t ends_at_ms) {
    return RenewedFileIO(
        Until(ends_at_ms),
        [this]() -> Result<EndingFileIO> {
          ++renewals_;
          if (on_renewal_) on_renewal_();
          if (is_down_) return Error{Code::kUnavailable, "catalog is down"};
          return Until(clock_.Now().value + 60 * kMinute);
        },
        clock_);
  }
  void Wait(std::int64_t duration_ms) { clock_.SleepMs(duration_ms); }

  SetClock clock_;
  const std::int64_t start_ = 1'700'000'000'000;
  std::shared_ptr<MemoryFileIO> store_ = std::make_shared<MemoryFileIO>();
  std::atomic<int> renewals_ = 0;
  std::atomic<int> refusals_ = 0;
  std::atomic<bool> refuses_ = false;  // whatever the credentials
  bool heals_ = false;                 // only one call
  bool is_down_ = false;
  std::function<void()> on_renewal_;
};

TEST_F(RenewedFileIOTest, AJobOfHours_NeverMeetsTheEnd) {
  auto io = Make(start_ + 60 * kMinute);
  ASSERT_TRUE(WriteFile(io, "mem://a", AsBytes("abc")));
  const auto source = io.Open("mem://a", 3).value();
  for (int minute = 0; minute < 300; ++minute) {
    Bytes read(3);
    ASSERT_TRUE(source->ReadAt(0, read)) << "the file was opened long ago, minute " << minute;
    ASSERT_EQ(AsText(read), "abc");
    ASSERT_TRUE(WriteFile(io, fmt::format("mem://{}", minute), AsBytes("x")));
    ASSERT_TRUE(io.Exists("mem://a").value());
    Wait(kMinute);
  }
  EXPECT_EQ(renewals_, 5) << "every 55 minutes";
}

TEST_F(RenewedFileIOTest, ShortLife_IsRenewedHalfway) {
  auto io = Make(start_ + 2 * kMinute);
  EXPECT_TRUE(io.Exists("mem://a"));
  Wait(kMinute - 1);
  EXPECT_TRUE(io.Exists("mem://a"));
  EXPECT_EQ(renewals_, 0);
  Wait(1);
  EXPECT_TRUE(io.Exists("mem://a"));
  EXPECT_EQ(renewals_, 1);
}

TEST_F(RenewedFileIOTest, NewOnesSeemToHaveEnded_AreUsedAndNotRenewedForEachCall) {
  ASSERT_TRUE(WriteFile(*store_, "mem://a", AsBytes("abc")));
  // A clock that is ahead by two hours, an end in seconds, and what is left of a life by a clock that is nearly right.
  for (const std::int64_t end_ms : {start_ - 120 * kMinute, start_ / 1000, start_ + 100}) {
    clock_.Set(start_ - clock_.Now().value);
    int renewals = 0;
    RenewedFileIO io(
        {store_, {end_ms}},
        [&]() -> Result<EndingFileIO> {
          ++renewals;
          return EndingFileIO{store_, {std::min(end_ms, start_) + (clock_.Now().value - start_)}};
        },
        clock_);
    Wait(1000);
    const auto source = io.Open("mem://a", 3).value();
    for (int i = 0; i < 100; ++i) {
      Bytes read(3);
      ASSERT_TRUE(source->ReadAt(0, read));
      ASSERT_TRUE(io.Exists("mem://a").value());
      Wait(100);
    }
    EXPECT_LE(renewals, 2) << "one in ten seconds, end " << end_ms;
    EXPECT_GE(renewals, 1);
    Wait(kMinute);
    ASSERT_TRUE(io.Exists("mem://a").value());
    EXPECT_LE(renewals, 3);
    EXPECT_GE(renewals, 2) << "asked again all the same";
  }
}

TEST_F(RenewedFileIOTest, RefusedAndTheClockGoesBack_NewOnesAreAskedForAllTheSame) {
  auto io = Make(start_ + 60 * kMinute);
  refuses_ = true;
  EXPECT_FALSE(io.Exists("mem://a"));
  EXPECT_EQ(renewals_, 1);
  clock_.Set(-120 * kMinute);
  EXPECT_FALSE(io.Exists("mem://a"));
  EXPECT_EQ(renewals_, 1) << "a moment later";
  Wait(11'000);
  heals_ = true;
  EXPECT_TRUE(io.Exists("mem://a"));
  EXPECT_EQ(renewals_, 2);
}

TEST_F(RenewedFileIOTest, CatalogIsDown_OldOnesAreUsedToTheirEndAndThenItIsSaid) {
  auto io = Make(start_ + 60 * kMinute);
  is_down_ = true;
  Wait(56 * kMinute);
  EXPECT_TRUE(io.Exists("mem://a"));
  EXPECT_TRUE(io.Exists("mem://a"));
  EXPECT_EQ(renewals_, 1) << "not asked for each file";
  Wait(4 * kMinute);
  const auto ended = io.Exists("mem://a");
  ASSERT_FALSE(ended);
  EXPECT_EQ(ended.error().code, Code::kUnavailable);
  EXPECT_THAT(ended.error().message, HasSubstr("have ended"));
  is_down_ = false;
  EXPECT_TRUE(io.Exists("mem://a"));
}

TEST_F(RenewedFileIOTest, WithoutAnEnd_NothingIsAskedFor) {
  RenewedStorage storage({store_, {0}}, nullptr, clock_);
  Wait(1'000'000 * kMinute);
  EXPECT_EQ(storage.Get().value().number, 0U);
}

TEST_F(RenewedFileIOTest, ManyThreads_OneRenewal) {
  auto io = Make(start_ + 10 * kMinute);
  ASSERT_TRUE(WriteFile(io, "mem://a", AsBytes("abc")));
  const auto source = io.Open("mem://a").value();
  Wait(9 * kMinute);
  std::vector<std::jthread> threads;
  std::atomic<int> good = 0;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&] {
      Bytes read(3);
      good += source->ReadAt(0, read) && AsText(read) == "abc";
    });
  }
  threads.clear();
  EXPECT_EQ(good, 8);
  EXPECT_EQ(renewals_, 1);
}

/// A renewal that lasts until it is released.
class SlowRenewal {
 public:
  std::function<void()> Wait() {
    return [this] {
      began_.set_value();
      released_.get_future().wait();
    };
  }
  void AwaitBegin() { began_.get_future().wait(); }
  void Release() { released_.set_value(); }

 private:
  std::promise<void> began_, released_;
};

TEST_F(RenewedFileIOTest, SlowRenewal_HoldsUpOneThreadAlone) {
  auto io = Make(start_ + 60 * kMinute);
  ASSERT_TRUE(WriteFile(io, "mem://a", AsBytes("abc")));
  const auto source = io.Open("mem://a", 3).value();
  SlowRenewal renewal;
  on_renewal_ = renewal.Wait();
  Wait(56 * kMinute);
  auto renewing = std::async(std::launch::async, [&] { return io.Exists("mem://a").has_value(); });
  renewal.AwaitBegin();
  auto reading = std::async(std::launch::async, [&] {
    Bytes read(3);
    return source->ReadAt(0, read) && AsText(read) == "abc" && io.Exists("mem://a") && io.Open("mem://a");
  });
  const bool went_on = reading.wait_for(std::chrono::seconds(20)) == std::future_status::ready;
  renewal.Release();
  EXPECT_TRUE(went_on) << "the old credentials hold for four minutes more";
  EXPECT_TRUE(reading.get());
  EXPECT_TRUE(renewing.get());
  EXPECT_EQ(renewals_, 1);
}

TEST_F(RenewedFileIOTest, SlowRenewalAfterTheEnd_IsWaitedFor_AndItsFailureIsEverybodys) {
  auto io = Make(start_ + 60 * kMinute);
  ASSERT_TRUE(WriteFile(io, "mem://a", AsBytes("abc")));
  for (const bool fails : {true, false}) {
    SlowRenewal renewal;
    renewals_ = 0;
    is_down_ = fails;
    on_renewal_ = renewal.Wait();
    Wait(120 * kMinute);
    std::vector<std::future<bool>> calls;
    const auto call = [&] { return io.Exists("mem://a").has_value(); };
    calls.push_back(std::async(std::launch::async, call));
    renewal.AwaitBegin();
    for (int i = 0; i < 4; ++i) calls.push_back(std::async(std::launch::async, call));
    std::this_thread::sleep_for(std::chrono::milliseconds(200));  // all of them wait
    renewal.Release();
    for (auto& each : calls) EXPECT_EQ(each.get(), !fails);
    EXPECT_EQ(renewals_, 1);
  }
}

TEST_F(RenewedFileIOTest, RefusedBeforeTheirEnd_OneRenewalAndOneMoreTry) {
  auto io = Make(start_ + 60 * kMinute);
  ASSERT_TRUE(WriteFile(io, "mem://a", AsBytes("abc")));
  const auto source = io.Open("mem://a", 3).value();
  heals_ = true;
  const std::vector<std::function<bool()>> calls = {
      [&] {
        Bytes read(3);
        return source->ReadAt(0, read) && AsText(read) == "abc";
      },
      [&] { return io.Open("mem://a").has_value(); },
      [&] { return io.Exists("mem://a").value_or(false); },
      [&] { return io.List("mem://", "").has_value(); },
      [&] { return WriteFile(io, "mem://b", AsBytes("x")).has_value(); },
      [&] { return io.Delete("mem://b").has_value(); },
  };
  for (std::size_t i = 0; i < calls.size(); ++i) {
    Wait(kMinute);
    renewals_ = 0;
    refuses_ = true;
    EXPECT_TRUE(calls[i]()) << "call " << i;
    EXPECT_EQ(renewals_, 1) << "call " << i;
  }
}

TEST_F(RenewedFileIOTest, RefusedAgain_IsSaid_AndNewOnesAreNotAskedForEachFile) {
  auto io = Make(start_ + 60 * kMinute);
  refuses_ = true;
  const auto refused = io.Exists("mem://a");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::kInvalidArgument);
  EXPECT_THAT(refused.error().message, HasSubstr("ExpiredToken"));
  EXPECT_EQ(refusals_, 2);
  for (int i = 0; i < 20; ++i) EXPECT_FALSE(io.Exists("mem://a"));
  EXPECT_EQ(renewals_, 1);
  Wait(kMinute);
  EXPECT_FALSE(io.Exists("mem://a"));
  EXPECT_EQ(renewals_, 2);
}

TEST_F(RenewedFileIOTest, WhatTheStorageGuarantees_IsPassedOn) {
  auto io = Make(start_ + 60 * kMinute);
  EXPECT_TRUE(io.CheckExclusive("mem://v1.metadata.json"));
  ASSERT_TRUE(io.Replace("mem://hint", AsBytes("2")));
  EXPECT_EQ(AsText(ReadFile(io, "mem://hint").value()), "2");
}

TEST_F(RenewedFileIOTest, Listing_GoesOnOverARenewal) {
  store_->set_page_files(2);
  auto io = Make(start_ + 60 * kMinute);
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(WriteFile(io, fmt::format("mem://d/{}", i), AsBytes("x")));
  std::string page;
  std::size_t count = 0;
  do {
    const auto listed = io.List("mem://d/", page);
    ASSERT_TRUE(listed) << ToString(listed.error());
    count += listed->files.size();
    page = listed->next_page;
    if (count == 2) Wait(56 * kMinute);
    ASSERT_TRUE(io.Exists("mem://d/0"));
  } while (!page.empty());
  EXPECT_EQ(count, 5U);
  EXPECT_EQ(renewals_, 1);
  EXPECT_FALSE(io.List("mem://d/", "77:1"));
}

}  // namespace
}  // namespace firn::ports
