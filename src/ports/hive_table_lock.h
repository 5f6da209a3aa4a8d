// SPDX-License-Identifier: Apache-2.0
//
// The lock of one table in a Hive Metastore, which Java's HiveCatalog and PyIceberg take for every commit.
//
// In: a metastore and the names. Out: a lock that is held until it is given up.
// Guarantees: the server ends a lock of which it has heard nothing for metastore.txn.timeout, so that one of a process
//   that died does not stay. A request that was given up, or whose wait is over, is taken back. When the answer to
//   it is lost, its lock is looked for for about a second and a half; one that is made later ends by that time-out.
// Cost: one call when the lock is free, else one every 50 ms to a second; one to keep it alive, one to release it.
// Errors: kUnavailable (not got within the limit, or lost), what `still_wanted` says, those of the metastore.
// Threads: one owner.
// Source: Java MetastoreLock; PyIceberg catalog/hive.py.
#pragma once

#include <functional>
#include <string>
#include <utility>

#include "ports/clock.h"
#include "ports/hive_metastore.h"

namespace firn::ports {

class HiveTableLock {
 public:
  struct Request {
    std::string database;
    std::string table;
    std::string agent;
    std::int64_t wait_max_ms = 60'000;
  };
  /// `still_wanted` is asked while others hold the lock; its error ends the wait.
  static Result<HiveTableLock> Take(HiveMetastore& metastore, Clock& clock, const Request& request,
                                    const std::function<Status()>& still_wanted);
  HiveTableLock(HiveTableLock&& other) noexcept
      : metastore_(other.metastore_), id_(other.id_), is_held_(std::exchange(other.is_held_, false)) {}
  HiveTableLock& operator=(HiveTableLock&&) = delete;
  ~HiveTableLock();

  /// The server's word that it is held still; it lives for metastore.txn.timeout from now.
  Status KeepAlive();
  /// kNotFound when it had ended before.
  Status Release();
  /// Leaves it to the server to end it.
  void Abandon() { is_held_ = false; }

 private:
  HiveTableLock(HiveMetastore& metastore, std::int64_t id) : metastore_(metastore), id_(id) {}
  Status Await(Clock& clock, const Request& request, HiveLockState state, const std::function<Status()>& still_wanted);

  HiveMetastore& metastore_;
  std::int64_t id_;
  bool is_held_ = true;
};

}  // namespace firn::ports
