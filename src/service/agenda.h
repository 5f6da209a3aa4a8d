// SPDX-License-Identifier: Apache-2.0
//
// Which tables are to be looked at, and from when on.
//
// In: tables with a time, from events, requests and the sweep. Out: the one that is due first.
// Guarantees: a table is on it at most once: the earlier time and the stronger cause win. While somebody looks at a
// table
//   it is not given to another; what is added meanwhile waits for Done, so that nothing is missed.
// Cost: O(log tables) a call. Threads: any.
// Errors: none.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "decide/candidate.h"

namespace firn::service {

struct AgendaItem {
  std::string table;
  std::int64_t due_ms = 0;
  decide::Cause cause = decide::Cause::kSweep;
  bool is_full = false;  // scan everything
};

class Agenda {
 public:
  void Add(AgendaItem item);
  /// The first item that is due at `now_ms`; waits up to `wait_ms` for a change of the agenda where there is none.
  std::optional<AgendaItem> Take(std::int64_t now_ms, std::int64_t wait_ms);
  void Done(std::string_view table);
  std::size_t size() const;
  /// How long the item that is most overdue has waited at `now_ms`.
  std::int64_t LateMs(std::int64_t now_ms) const;
  /// Everybody who waits returns at once, from now on.
  void Close();

 private:
  std::optional<AgendaItem> TakeLocked(std::int64_t now_ms);

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  bool closed_ = false;
  std::map<std::string, AgendaItem, std::less<>> items_;
  std::set<std::pair<std::int64_t, std::string>> by_time_;  // without those that are being looked at
  std::set<std::string, std::less<>> busy_;
};

}  // namespace firn::service
