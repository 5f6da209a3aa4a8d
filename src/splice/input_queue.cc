// SPDX-License-Identifier: Apache-2.0
#include "splice/input_queue.h"

#include <algorithm>

#include "base/threads.h"

namespace firn::splice {

namespace {

/// A parsed footer, about.
constexpr std::int64_t kFooterBytes = 128 << 10;

Result<std::shared_ptr<InputFile>> OpenInput(const Input& input, std::uint64_t footer_bytes_max, RangeCopies* copies) {
  if (input.source == nullptr) return Error{Code::kInvalidArgument, "an input without a source"};
  return InputFile::Open(*input.source, input.source, footer_bytes_max, copies);
}

}  // namespace

InputQueue::InputQueue(const std::vector<Input>& inputs, std::size_t readers_max, const MemoryLimits& limits,
                       RangeCopies* copies)
    : inputs_(inputs), copies_(copies), ahead_bytes_max_(limits.ahead_bytes), footer_bytes_max_(limits.footer_bytes) {
  const std::size_t readers = std::min(readers_max, inputs.size());
  StartThreads(readers_, readers, [this] { Read(); });
}

InputQueue::~InputQueue() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  room_.notify_all();
}

std::int64_t InputQueue::CostOf(const Input& input) {
  if (input.source == nullptr) return 0;
  const std::uint64_t size = input.source->size();
  if (size > kWholeFileBytes) return kFooterBytes;
  // Most of a small file may be its footer.
  return static_cast<std::int64_t>(size) +
         std::min<std::int64_t>(static_cast<std::int64_t>(size) * 2, kFooterBytes * 8);
}

bool InputQueue::MayStart() const {
  return started_ < inputs_.size() && (ahead_bytes_ == 0 || ahead_bytes_ < ahead_bytes_max_);
}

/// The next input that nobody has begun.
void InputQueue::OpenOne(std::unique_lock<std::mutex>& lock) {
  const std::size_t index = started_++;
  ahead_bytes_ += CostOf(inputs_[index]);
  lock.unlock();
  Result<std::shared_ptr<InputFile>> opened = OpenInput(inputs_[index], footer_bytes_max_, copies_);
  lock.lock();
  ready_.emplace(index, std::move(opened));
  if (index == wanted_) there_.notify_one();
}

void InputQueue::Read() {
  std::unique_lock lock(mutex_);
  while (true) {
    room_.wait(lock, [this] { return stop_ || started_ == inputs_.size() || MayStart(); });
    if (stop_ || started_ == inputs_.size()) return;
    OpenOne(lock);
  }
}

Result<std::shared_ptr<InputFile>> InputQueue::Next() {
  const std::size_t index = taken_++;
  if (readers_.empty()) return OpenInput(inputs_[index], footer_bytes_max_, copies_);
  std::unique_lock lock(mutex_);
  while (!ready_.contains(index)) {
    if (MayStart()) {
      OpenOne(lock);
      continue;
    }
    wanted_ = index;
    there_.wait(lock, [&] { return ready_.contains(index); });
    wanted_ = SIZE_MAX;
  }
  Result<std::shared_ptr<InputFile>> opened = std::move(ready_.at(index));
  ready_.erase(index);
  const std::int64_t before = ahead_bytes_, low = ahead_bytes_max_ - ahead_bytes_max_ / 4;
  ahead_bytes_ -= CostOf(inputs_[index]);
  // Readers that sleep are woken for several files.
  if ((before > low && ahead_bytes_ <= low) || ahead_bytes_ == 0) room_.notify_all();
  return opened;
}

}  // namespace firn::splice
