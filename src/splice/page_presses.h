// SPDX-License-Identifier: Apache-2.0
//
// Lets threads that have no column left compress pages for those that still merge one.
//
// In: bodies of pages. Out: the same bodies, compressed at the level that was asked for.
// Guarantees: a page is taken only while a thread waits for work, or would soon; so with nobody idle nothing changes.
//   Whoever needs a page that nobody has begun compresses it alone: no one waits for a thread that does not come.
// Cost: one copy of the body; a lock a page. Memory: a few pages a column that is being merged, see kPagesMax.
// Errors: those of PageCodecs, to the one who takes the page. Threads: all functions, from any thread.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <memory>
#include <mutex>

#include "format/parquet/compression.h"
#include "splice/raw_buffer.h"

namespace firn::splice {

/// A page on its way. `body` is the caller's until Offer, `stored` from Take on.
struct PressedPage {
  parquet::Codec codec = parquet::Codec::kZstd;
  int level = parquet::kDefaultLevel;
  RawBuffer body, stored;
  Status status = Ok();
  enum class State : std::uint8_t { kWaiting, kBegun, kDone } state = State::kWaiting;  // behind the lock
};

class PagePresses {
 public:
  /// Larger bodies are not worth their memory.
  static constexpr std::size_t kBodyBytesMax = 2 << 20;
  /// That one column may have on their way.
  static constexpr std::size_t kPagesMax = 3;

  /// Whether a page would find a thread before long.
  bool HasRoom() const;
  void Offer(std::shared_ptr<PressedPage> page);
  /// Waits until the page is done, or does it with `codecs` if nobody has begun.
  Status Take(PressedPage& page, parquet::PageCodecs& codecs);
  /// Compresses what is offered until Close.
  void Serve(parquet::PageCodecs& codecs);
  void Close();

 private:
  static void Press(PressedPage& page, parquet::PageCodecs& codecs);

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::shared_ptr<PressedPage>> waiting_;
  std::size_t idle_ = 0, serving_ = 0;
  bool closed_ = false;
};

}  // namespace firn::splice
