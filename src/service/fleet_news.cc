// SPDX-License-Identifier: Apache-2.0
#include "service/fleet_news.h"

#include <algorithm>
#include <chrono>
#include <utility>

namespace firn::service {

void FleetNews::Publish(News::Kind kind, std::string table, std::string id) {
  {
    const std::lock_guard lock(mutex_);
    News note{next_position_, kind, std::move(table), std::move(id)};
    const bool newest_unread = !ring_.empty() && ring_.back().position > read_up_to_;
    if (newest_unread && ring_.back().Same(note)) return;
    ++next_position_;
    ring_.push_back(std::move(note));
    if (ring_.size() > kNewsMax) ring_.pop_front();
  }
  arrived_.notify_all();
}

std::uint64_t FleetNews::Position() const {
  const std::lock_guard lock(mutex_);
  return next_position_ - 1;
}

NewsSince FleetNews::After(std::uint64_t position, std::size_t count_max, std::int64_t wait_ms) {
  std::unique_lock lock(mutex_);
  // A position from before a restart may lie ahead of ours: such a reader has lost everything.
  if (position >= next_position_) return {.items = {}, .position = next_position_ - 1, .lost = true, .closed = closed_};
  arrived_.wait_for(lock, std::chrono::milliseconds(wait_ms), [&] { return closed_ || next_position_ - 1 > position; });
  NewsSince since{.items = {}, .position = position, .lost = false, .closed = closed_};
  if (ring_.empty()) return since;
  since.lost = ring_.front().position > position + 1;
  const std::uint64_t first = ring_.front().position;
  for (std::size_t i = position >= first ? position - first + 1 : 0; i < ring_.size(); ++i) {
    if (since.items.size() == count_max) break;
    since.items.push_back(ring_[i]);
  }
  if (!since.items.empty()) since.position = since.items.back().position;
  read_up_to_ = std::max(read_up_to_, since.position);
  return since;
}

void FleetNews::Close() {
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
  }
  arrived_.notify_all();
}

}  // namespace firn::service
