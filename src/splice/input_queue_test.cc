// SPDX-License-Identifier: Apache-2.0
#include "splice/input_queue.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <set>
#include <thread>

namespace firn::splice {
namespace {

constexpr std::uint64_t kSize = 1000;
constexpr std::int64_t kCost = 3 * kSize;  // of such a file in memory, as the queue counts
constexpr std::uint64_t kFooterMax = 1 << 20;

/// What all files of a test see.
struct Watch {
  std::atomic<int> opened = 0, taken = 0, at_once = 0, most_at_once = 0, most_ahead = 0;
  std::atomic<int> wait_for = 0;  // that many must be at work before any goes on
  std::chrono::milliseconds delay{0};
  std::mutex mutex;
  std::set<std::thread::id> threads;
};

void Raise(std::atomic<int>& most, int value) {
  for (int old = most; value > old && !most.compare_exchange_weak(old, value);) {
  }
}

/// No Parquet file: each gives an error with its name.
class Rubbish final : public RandomAccessSource {
 public:
  Rubbish(std::string name, Watch& watch) : name_(std::move(name)), watch_(watch) {}
  const std::string& name() const override { return name_; }
  std::uint64_t size() const override { return kSize; }
  Status ReadAt(std::uint64_t, std::span<std::uint8_t> out) override {
    Raise(watch_.most_ahead, ++watch_.opened - watch_.taken);
    Raise(watch_.most_at_once, ++watch_.at_once);
    {
      const std::lock_guard lock(watch_.mutex);
      watch_.threads.insert(std::this_thread::get_id());
    }
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (watch_.at_once < watch_.wait_for && std::chrono::steady_clock::now() < end) std::this_thread::yield();
    watch_.wait_for = 0;
    if (watch_.delay.count() > 0) std::this_thread::sleep_for(watch_.delay);
    --watch_.at_once;
    std::ranges::fill(out, std::uint8_t{0});
    return Ok();
  }

 private:
  std::string name_;
  Watch& watch_;
};

std::vector<Input> Files(std::size_t count, Watch& watch) {
  std::vector<Input> inputs;
  for (std::size_t i = 0; i < count; ++i) {
    inputs.push_back({std::make_shared<Rubbish>("file-" + std::to_string(i) + "-", watch), {}, std::nullopt});
  }
  return inputs;
}

MemoryLimits Ahead(std::int64_t bytes) {
  MemoryLimits limits;
  limits.ahead_bytes = bytes;
  limits.footer_bytes = kFooterMax;
  return limits;
}

void TakeAll(InputQueue& queue, std::size_t count, Watch& watch) {
  for (std::size_t i = 0; i < count; ++i) {
    const auto input = queue.Next();
    ++watch.taken;
    ASSERT_FALSE(input);
    const std::string name = "file-" + std::to_string(i) + "-";
    EXPECT_NE(input.error().message.find(name), std::string::npos) << input.error().message;
  }
}

TEST(InputQueueTest, WithoutReadersEachFileIsOpenedInItsTurn) {
  Watch watch;
  const std::vector<Input> inputs = Files(50, watch);
  InputQueue queue(inputs, 0, Ahead(1 << 20), nullptr);
  TakeAll(queue, inputs.size(), watch);
  EXPECT_EQ(watch.most_ahead, 1);
  EXPECT_EQ(watch.threads.size(), 1U);
}

TEST(InputQueueTest, FilesComeInTheirOrder) {
  for (const std::size_t readers : {1U, 2U, 8U}) {
    Watch watch;
    const std::vector<Input> inputs = Files(500, watch);
    InputQueue queue(inputs, readers, Ahead(20 * kCost), nullptr);
    TakeAll(queue, inputs.size(), watch);
    EXPECT_EQ(watch.opened, 500);
  }
}

TEST(InputQueueTest, ReadersAndTheOneWhoWaitsOpenAtTheSameTime) {
  Watch watch;
  watch.wait_for = 4;  // three readers, and the one who asks
  const std::vector<Input> inputs = Files(40, watch);
  InputQueue queue(inputs, 3, Ahead(20 * kCost), nullptr);
  TakeAll(queue, inputs.size(), watch);
  EXPECT_EQ(watch.most_at_once, 4);
}

TEST(InputQueueTest, WhatIsAheadStaysBelowTheLimit) {
  Watch watch;
  watch.delay = std::chrono::milliseconds(1);
  const std::vector<Input> inputs = Files(200, watch);
  InputQueue queue(inputs, 4, Ahead(10 * kCost), nullptr);
  while (watch.opened < 10) std::this_thread::yield();
  TakeAll(queue, inputs.size(), watch);
  EXPECT_GE(watch.most_ahead, 10);
  EXPECT_LE(watch.most_ahead, 12);  // one is counted as taken a moment after the queue gave it away
}

TEST(InputQueueTest, ReadersThatSleptAreWoken) {
  Watch watch;
  const std::vector<Input> inputs = Files(400, watch);
  InputQueue queue(inputs, 2, Ahead(40 * kCost), nullptr);
  while (watch.opened < 40) std::this_thread::yield();  // now they sleep
  watch.delay = std::chrono::milliseconds(2);
  {
    const std::lock_guard lock(watch.mutex);
    watch.threads.clear();
  }
  TakeAll(queue, inputs.size(), watch);
  EXPECT_EQ(watch.threads.size(), 3U);
}

TEST(InputQueueTest, AnEndInTheMiddleStopsTheReaders) {
  Watch watch;
  watch.delay = std::chrono::milliseconds(1);
  const std::vector<Input> inputs = Files(1000, watch);
  {
    InputQueue queue(inputs, 4, Ahead(10 * kCost), nullptr);
    TakeAll(queue, 5, watch);
  }
  EXPECT_LT(watch.opened, 1000);
}

}  // namespace
}  // namespace firn::splice
