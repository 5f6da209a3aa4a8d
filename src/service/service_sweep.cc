// SPDX-License-Identifier: Apache-2.0
// How the service finds its tables, and looks at all of them now and then.
#include <fmt/format.h>

#include <algorithm>

#include "base/log.h"
#include "format/json/json.h"
#include "service/service.h"
#include "service/table_name.h"

namespace firn::service {
namespace {

constexpr std::int64_t kStateRetryMs = 2'000;
/// Between two lists that events ask for, at least; more where they find nothing.
constexpr std::int64_t kListGapMs = 2'000;

}  // namespace

void Service::RunSweep() {
  Random random(options_.seed ^ 0x5357454550ULL);
  std::int64_t gap_ms = kListGapMs;
  while (!stopping_) {
    Sweep(random);
    std::int64_t listed_ms_ago = 0;
    // A state that could not be written is tried again long before the next sweep, and so are lists of tables when an
    // event tells of an unknown one.
    for (std::int64_t left_ms = options_.sweep_interval_ms; left_ms > 0 && !stopping_; left_ms -= kStateRetryMs) {
      WaitMs(std::min(left_ms, kStateRetryMs));
      if (stopping_) return;
      if (!dispatch_->is_state_writable()) NoteState(SaveCounters());
      listed_ms_ago += kStateRetryMs;
      if (listed_ms_ago < gap_ms || !is_listing_wanted_.exchange(false)) continue;
      gap_ms = ListCatalogs(random) > 0 ? kListGapMs : std::min(2 * gap_ms, options_.sweep_interval_ms);
      listed_ms_ago = 0;
    }
  }
}

/// For a look within the sweep's interval, spread over it so that they do not come at once; at once if it was never
/// seen.
void Service::AddToAgenda(FleetTable& table, Random& random) {
  const auto spread = static_cast<std::uint64_t>(std::max<std::int64_t>(options_.sweep_interval_ms, 1));
  bool was_seen = false;
  {
    const std::lock_guard lock(table.news_mutex);
    was_seen = table.was_seen;
  }
  const std::int64_t delay = was_seen ? static_cast<std::int64_t>(random.Below(spread)) : 0;
  agenda_.Add({table.id, clock_.Now().value + delay, decide::Cause::kSweep, false});
}

/// Puts all tables on the agenda, and looks for new ones.
void Service::Sweep(Random& random) {
  const std::int64_t now_ms = clock_.Now().value;
  for (const auto& table : tables_.All()) AddToAgenda(*table, random);
  is_listing_wanted_ = false;
  ListCatalogs(random);
  if (stopping_) return;
  ++sweeps_;
  NoteFleet(now_ms);
}

/// Finds new tables: how many. A catalog that does not answer holds up only what it has.
std::size_t Service::ListCatalogs(Random& random) {
  std::size_t found = 0;
  for (const auto& catalog : tables_.catalogs()) {
    if (stopping_) return found;
    auto listed = catalog->ListTables();
    if (stopping_) return found;
    {
      const std::lock_guard lock(counters_mutex_);
      const bool is_back = listed && catalog_errors_.erase(catalog->name()) > 0;
      if (is_back) Log(LogLevel::kInfo, fmt::format("catalog {}: answers again", catalog->name()));
      if (!listed) catalog_errors_[catalog->name()] = listed.error().message;
    }
    if (!listed) {
      Log(LogLevel::kWarn, fmt::format("catalog {}: {}", catalog->name(), listed.error().message));
      continue;
    }
    for (const ports::TableIdentifier& name : *listed) {
      if (!IsText(ToString(name))) {
        if (left_out_.insert(catalog->name() + "/" + ToString(name)).second) {
          Log(LogLevel::kWarn, fmt::format("catalog {}: a table whose name is not UTF-8 is left out: {}",
                                           catalog->name(), json::Write(json::Value(ToString(name)))));
        }
        continue;
      }
      const auto [table, is_new] = tables_.Add(catalog, name);
      if (!is_new) continue;
      AddToAgenda(*table, random);
      ++found;
    }
  }
  return found;
}

/// The fleet's trend, and what has become too old.
void Service::NoteFleet(std::int64_t now_ms) {
  if (const auto sum = Summary(); sum && sum->tables > 0) {
    NoteState(store_->AddTrend("", {now_ms, sum->files, sum->bytes, sum->entropy}));
  }
  if (Status pruned = store_->Prune(); !pruned) Log(LogLevel::kWarn, pruned.error().message);
  NoteState(SaveCounters());
}

}  // namespace firn::service
