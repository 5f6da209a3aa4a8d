// SPDX-License-Identifier: Apache-2.0
#include "ports/hive_table_lock.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/log.h"

namespace firn::ports {
namespace {

constexpr std::int64_t kPauseMinMs = 50, kPauseMaxMs = 1000;
constexpr std::int64_t kSearchMaxMs = 1500;

/// A request without an answer may have made a lock, which would stand in everybody's way.
Result<HiveLockTicket> Ask(HiveMetastore& metastore, Clock& clock, const HiveTableLock::Request& request) {
  auto ticket = metastore.Lock(request.database, request.table, request.agent);
  if (ticket || ticket.error().code != Code::kOutcomeUnknown) return ticket;
  ticket.error().code = Code::kUnavailable;
  // The server may be at it still.
  const std::int64_t start_ns = clock.MonotonicNs();
  for (std::int64_t pause_ms = kPauseMinMs;; pause_ms *= 2) {
    auto found = metastore.FindLock(request.database, request.table, request.agent);
    if (found && *found) return **found;
    if ((clock.MonotonicNs() - start_ns) / 1'000'000 + pause_ms > kSearchMaxMs) return ticket;
    clock.SleepMs(pause_ms);
  }
}

}  // namespace

Result<HiveTableLock> HiveTableLock::Take(HiveMetastore& metastore, Clock& clock, const Request& request,
                                          const std::function<Status()>& still_wanted) {
  auto ticket = Ask(metastore, clock, request);
  if (!ticket) {
    Error& error = ticket.error();
    if (error.code == Code::kUnsupported) error.message += " (without locks: engine.hive.lock-enabled=false)";
    return std::move(error);
  }
  HiveTableLock lock(metastore, ticket->id);
  FIRN_TRY(lock.Await(clock, request, ticket->state, still_wanted));
  return lock;
}

Status HiveTableLock::Await(Clock& clock, const Request& request, HiveLockState state,
                            const std::function<Status()>& still_wanted) {
  const std::int64_t start_ns = clock.MonotonicNs();
  std::int64_t pause_ms = kPauseMinMs;
  while (state == HiveLockState::kWaiting) {
    const std::int64_t waited_ms = (clock.MonotonicNs() - start_ns) / 1'000'000;
    if (waited_ms >= request.wait_max_ms) {
      return Error{
          Code::kUnavailable,
          fmt::format("others hold the metastore's lock of the table; waited for it for {} s", waited_ms / 1000)};
    }
    clock.SleepMs(std::min(pause_ms, request.wait_max_ms - waited_ms));
    pause_ms = std::min(pause_ms * 3 / 2, kPauseMaxMs);
    FIRN_TRY(still_wanted());
    auto ticket = metastore_.CheckLock(id_);
    if (!ticket && ticket.error().code == Code::kNotFound) ticket.error().code = Code::kUnavailable;
    if (!ticket) return std::move(ticket.error());
    state = ticket->state;
  }
  if (state == HiveLockState::kAcquired) return Ok();
  return Error{Code::kUnavailable, "the metastore does not give the lock of the table"};
}

HiveTableLock::~HiveTableLock() {
  Status released = Release();
  if (!released && released.error().code != Code::kNotFound) {
    Log(LogLevel::kWarn, "lock of a Hive table not released, it ends by itself: " + released.error().message);
  }
}

Status HiveTableLock::KeepAlive() {
  auto ticket = metastore_.CheckLock(id_);
  if (ticket && ticket->state == HiveLockState::kAcquired) return Ok();
  if (!ticket && ticket.error().code != Code::kNotFound) return std::move(ticket.error());
  is_held_ = !ticket ? false : is_held_;
  return Error{Code::kUnavailable, "the lock of the table has ended too early (metastore.txn.timeout)"};
}

Status HiveTableLock::Release() {
  if (!std::exchange(is_held_, false)) return Ok();
  return metastore_.Unlock(id_);
}

}  // namespace firn::ports
