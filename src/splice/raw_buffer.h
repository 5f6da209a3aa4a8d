// SPDX-License-Identifier: Apache-2.0
//
// A growing byte buffer whose new bytes are not zeroed, with slack behind them for wide loads and stores.
//
// Guarantees: kSlackBytes behind capacity belong to the buffer, so that a kernel may load or store a few bytes too
// many. Cost: growing doubles; Clear keeps the memory. Threads: one owner.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>
#include <span>

#include "base/bytes.h"

namespace firn::splice {

class RawBuffer {
 public:
  static constexpr std::size_t kSlackBytes = 64;

  std::uint8_t* data() { return data_.get(); }
  const std::uint8_t* data() const { return data_.get(); }
  std::size_t size() const { return size_; }
  std::size_t capacity() const { return capacity_; }
  bool empty() const { return size_ == 0; }
  ByteView view() const { return {data_.get(), size_}; }
  std::span<std::uint8_t> span() { return {data_.get(), size_}; }

  void Clear() { size_ = 0; }
  /// Makes room for `extra` bytes behind the content and returns where they begin; Advance() makes them content.
  std::uint8_t* Room(std::size_t extra) {
    if (data_ == nullptr || capacity_ - size_ < extra) Grow(size_ + extra);
    return data_.get() + size_;
  }
  void Advance(std::size_t count) { size_ += count; }
  /// Bytes beyond the old size hold anything.
  void Resize(std::size_t size) {
    if (data_ == nullptr || size > capacity_) Grow(size);
    size_ = size;
  }
  /// Drops what is behind the first `size` bytes, and its memory.
  void ShrinkTo(std::size_t size) {
    if (size >= size_) return;
    size_ = size;
    auto* shrunk = static_cast<std::uint8_t*>(std::realloc(data_.get(), size + kSlackBytes));
    if (shrunk == nullptr) return;
    static_cast<void>(data_.release());
    data_.reset(shrunk);
    capacity_ = size;
  }
  void Append(ByteView bytes) {
    if (bytes.empty()) return;
    std::memcpy(Room(bytes.size()), bytes.data(), bytes.size());
    size_ += bytes.size();
  }
  void AppendByte(std::uint8_t byte) {
    *Room(1) = byte;
    ++size_;
  }

 private:
  struct Free {
    void operator()(std::uint8_t* bytes) const { std::free(bytes); }
  };

  void Grow(std::size_t needed) {
    const std::size_t wanted = size_ == 0 ? needed : std::max(needed, capacity_ + capacity_ / 2);
    if (size_ == 0) data_.reset();  // nothing worth copying
    auto* grown = static_cast<std::uint8_t*>(std::realloc(data_.get(), wanted + kSlackBytes));
    if (grown == nullptr) throw std::bad_alloc();
    static_cast<void>(data_.release());
    data_.reset(grown);
    capacity_ = wanted;
  }

  std::unique_ptr<std::uint8_t, Free> data_;
  std::size_t size_ = 0, capacity_ = 0;
};

}  // namespace firn::splice
