// SPDX-License-Identifier: Apache-2.0
#include "service/agenda.h"

#include <algorithm>
#include <chrono>

namespace firn::service {

void Agenda::Add(AgendaItem item) {
  const std::lock_guard lock(mutex_);
  auto [place, is_new] = items_.try_emplace(item.table, item);
  AgendaItem& kept = place->second;
  if (!is_new) {
    by_time_.erase({kept.due_ms, kept.table});
    kept.due_ms = std::min(kept.due_ms, item.due_ms);
    kept.is_full |= item.is_full;
    // Commit before sweep, a request before both: the cause decides about priority later.
    const auto strength = [](decide::Cause cause) {
      return cause == decide::Cause::kRequest ? 2 : cause == decide::Cause::kCommit ? 1 : 0;
    };
    if (strength(item.cause) > strength(kept.cause)) kept.cause = item.cause;
  }
  if (!busy_.contains(kept.table)) by_time_.insert({kept.due_ms, kept.table});
  changed_.notify_one();
}

std::optional<AgendaItem> Agenda::TakeLocked(std::int64_t now_ms) {
  if (closed_ || by_time_.empty() || by_time_.begin()->first > now_ms) return std::nullopt;
  const auto place = items_.find(by_time_.begin()->second);
  by_time_.erase(by_time_.begin());
  AgendaItem item = std::move(place->second);
  items_.erase(place);
  busy_.insert(item.table);
  return item;
}

std::optional<AgendaItem> Agenda::Take(std::int64_t now_ms, std::int64_t wait_ms) {
  std::unique_lock lock(mutex_);
  if (auto item = TakeLocked(now_ms)) return item;
  if (closed_) return std::nullopt;
  std::int64_t patience_ms = wait_ms;
  if (!by_time_.empty()) patience_ms = std::min(patience_ms, by_time_.begin()->first - now_ms);
  // A change may bring something that is due at once; the caller comes back with a new time.
  changed_.wait_for(lock, std::chrono::milliseconds(patience_ms));
  return TakeLocked(now_ms);
}

void Agenda::Done(std::string_view table) {
  const std::lock_guard lock(mutex_);
  if (const auto busy = busy_.find(table); busy != busy_.end()) busy_.erase(busy);
  if (const auto again = items_.find(table); again != items_.end()) {
    by_time_.insert({again->second.due_ms, again->second.table});
    changed_.notify_one();
  }
}

std::size_t Agenda::size() const {
  const std::lock_guard lock(mutex_);
  return items_.size();
}

std::int64_t Agenda::LateMs(std::int64_t now_ms) const {
  const std::lock_guard lock(mutex_);
  return by_time_.empty() ? 0 : std::max<std::int64_t>(0, now_ms - by_time_.begin()->first);
}

void Agenda::Close() {
  const std::lock_guard lock(mutex_);
  closed_ = true;
  changed_.notify_all();
}

}  // namespace firn::service
