// SPDX-License-Identifier: Apache-2.0
//
// Opens the inputs in order, some of them ahead of time.
//
// In: sources. Out: opened inputs, one a call, in order.
// Guarantees: at most `ahead_bytes` of files are read and not yet taken (one file may be more).
// Cost: with one thread nothing is read ahead; else a few reading threads, so that requests to a store overlap.
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
#include "splice/splice.h"

namespace firn::splice {

class InputQueue {
 public:
  /// `footer_bytes_max`: see InputFile::Open.
  InputQueue(const std::vector<Input>& inputs, bool read_ahead, std::int64_t ahead_bytes,
             std::uint64_t footer_bytes_max);
  ~InputQueue();
  InputQueue(const InputQueue&) = delete;
  InputQueue& operator=(const InputQueue&) = delete;

  /// The input after the one of the last call.
  Result<std::shared_ptr<InputFile>> Next();

 private:
  void Read();
  static std::int64_t CostOf(const Input& input);

  const std::vector<Input>& inputs_;
  const std::int64_t ahead_bytes_max_;
  const std::uint64_t footer_bytes_max_;
  std::size_t taken_ = 0;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::size_t, Result<std::shared_ptr<InputFile>>> ready_;
  std::size_t started_ = 0;
  std::int64_t ahead_bytes_ = 0;
  bool stop_ = false;
  std::vector<std::jthread> readers_;
};

}  // namespace firn::splice
