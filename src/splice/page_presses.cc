// SPDX-License-Identifier: Apache-2.0
#include "splice/page_presses.h"

#include <algorithm>
#include <utility>

namespace firn::splice {

bool PagePresses::HasRoom() const {
  const std::lock_guard lock(mutex_);
  // One more than there are hands: so that a thread finds the next page when it is done with its own.
  return !closed_ && serving_ > 0 && waiting_.size() < idle_ + 1;
}

void PagePresses::Offer(std::shared_ptr<PressedPage> page) {
  {
    const std::lock_guard lock(mutex_);
    waiting_.push_back(std::move(page));
  }
  changed_.notify_all();
}

void PagePresses::Press(PressedPage& page, parquet::PageCodecs& codecs) {
  Result<ByteView> stored = codecs.Compress(page.codec, page.level, page.body.view());
  if (!stored) {
    page.status = std::move(stored.error());
    return;
  }
  page.stored.Append(*stored);
}

Status PagePresses::Take(PressedPage& page, parquet::PageCodecs& codecs) {
  std::unique_lock lock(mutex_);
  if (page.state == PressedPage::State::kWaiting) {
    std::erase_if(waiting_, [&](const std::shared_ptr<PressedPage>& other) { return other.get() == &page; });
    lock.unlock();
    Press(page, codecs);
    return std::move(page.status);
  }
  changed_.wait(lock, [&] { return page.state == PressedPage::State::kDone; });
  return std::move(page.status);
}

void PagePresses::Serve(parquet::PageCodecs& codecs) {
  std::unique_lock lock(mutex_);
  ++serving_;
  while (true) {
    ++idle_;
    changed_.wait(lock, [this] { return closed_ || !waiting_.empty(); });
    --idle_;
    if (closed_) break;
    const std::shared_ptr<PressedPage> page = std::move(waiting_.front());
    waiting_.pop_front();
    page->state = PressedPage::State::kBegun;
    lock.unlock();
    Press(*page, codecs);
    lock.lock();
    page->state = PressedPage::State::kDone;
    changed_.notify_all();
  }
  --serving_;
}

void PagePresses::Close() {
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
  }
  changed_.notify_all();
}

}  // namespace firn::splice
