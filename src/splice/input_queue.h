// SPDX-License-Identifier: Apache-2.0
//
// Opens the inputs in order, some of them ahead of time.
//
// In: sources. Out: opened inputs, one a call, in order.
// Guarantees: at most `ahead_bytes` of files are read and not yet taken (one file may be more).
// Cost: a few reading threads, so that requests to a store, or reading and merging, overlap. Who asks for an input that
//   is not there yet opens others meanwhile: to sleep and be woken takes longer than to open a small file.
// Threads: Next belongs to one thread.
// Errors: those of InputFile::Open, at the input's turn.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "splice/input_file.h"
#include "splice/memory_limits.h"
#include "splice/splice.h"

namespace firn::splice {

class InputQueue {
 public:
  /// With no readers nothing is opened ahead. `copies`: see InputFile::Open.
  InputQueue(const std::vector<Input>& inputs, std::size_t readers_max, const MemoryLimits& limits,
             RangeCopies* copies);
  ~InputQueue();
  InputQueue(const InputQueue&) = delete;
  InputQueue& operator=(const InputQueue&) = delete;

  /// The input after the one of the last call.
  Result<std::shared_ptr<InputFile>> Next();

 private:
  void Read();
  bool MayStart() const;
  void OpenOne(std::unique_lock<std::mutex>& lock);
  static std::int64_t CostOf(const Input& input);

  const std::vector<Input>& inputs_;
  RangeCopies* const copies_;
  const std::int64_t ahead_bytes_max_;
  const std::uint64_t footer_bytes_max_;
  std::size_t taken_ = 0;
  std::mutex mutex_;
  std::condition_variable room_;   // for readers
  std::condition_variable there_;  // for Next: the input that it waits for
  std::map<std::size_t, Result<std::shared_ptr<InputFile>>> ready_;
  std::size_t started_ = 0;
  std::size_t wanted_ = SIZE_MAX;  // Next sleeps until it is there
  std::int64_t ahead_bytes_ = 0;
  bool stop_ = false;
  std::vector<std::jthread> readers_;
};

}  // namespace firn::splice
