// SPDX-License-Identifier: Apache-2.0
//
// The calls of a Hive Metastore that a catalog needs, and connections to make them on.
//
// In: properties uri ("thrift://host:port", several with commas), ugi ("user:group:..."); names. Out: tables' entries
//   as they came, with all that the server's version knows; locks.
// Guarantees: what only reads is asked once more on a new connection when the old one turns out to be lost, what
//   changes something never. The servers of `uri` are tried in their order, beginning with the last that answered.
// Cost: a call is one round trip. Threads: any; each call has a connection of its own, some are kept.
// Errors: kNotFound, kInvalidArgument (refused, nothing was done), kUnsupported (unknown call, kind of connection),
//   kUnavailable (nothing was done), kLimit (what was read is too large), kOutcomeUnknown (of what changes something).
// Source: Hive's hive_metastore.thrift of versions 3.1 and 4.0: names, field ids and exceptions.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "format/thrift/thrift_value.h"
#include "ports/hive_connection.h"
#include "ports/properties.h"

namespace firn::ports {

/// "thrift://a:9083,thrift://[::1]"; the port is 9083 where it is missing.
Result<std::vector<HiveAddress>> ParseHiveUri(std::string_view uri);

enum class HiveLockState : std::uint8_t { kAcquired = 1, kWaiting = 2, kAborted = 3, kNotAcquired = 4 };

struct HiveLockTicket {
  std::int64_t id = 0;
  HiveLockState state = HiveLockState::kWaiting;
};

class HiveMetastore {
 public:
  /// `stop` must live longer, may be null; once it is true, servers that do not answer are given up soon.
  static Result<std::unique_ptr<HiveMetastore>> Open(const Properties& properties,
                                                     const std::atomic<bool>* stop = nullptr);

  /// Its own word, which is "3.0" for versions 2 and 3.
  Result<std::string> Version();
  Result<std::vector<std::string>> Databases();
  Result<std::vector<std::string>> Tables(const std::string& database);
  Result<std::vector<thrift::Value>> Entries(const std::string& database, const std::vector<std::string>& tables);
  Result<thrift::Value> Entry(const std::string& database, const std::string& table);
  /// `entry` becomes the table's. `expected`: the value that its parameter metadata_location must have, which servers
  /// before Hive 4 do not look at, unless it was ported back to them. kConflict when it had another: this call's own,
  /// if the server repeated it after a fault of its database.
  /// `was_answered`: the server is done with it, whatever it did.
  Status Alter(const std::string& database, const std::string& table, thrift::Value entry, const std::string& expected,
               bool& was_answered);

  /// Asks for the table alone. `agent` is the name under which FindLock finds the lock again.
  Result<HiveLockTicket> Lock(const std::string& database, const std::string& table, const std::string& agent);
  Result<std::optional<HiveLockTicket>> FindLock(const std::string& database, const std::string& table,
                                                 const std::string& agent);
  /// Also keeps it alive. kNotFound when it has ended.
  Result<HiveLockTicket> CheckLock(std::int64_t id);
  Status Unlock(std::int64_t id);

 private:
  struct Method;
  HiveMetastore(std::vector<HiveAddress> addresses, std::vector<std::string> user, const std::atomic<bool>* stop)
      : addresses_(std::move(addresses)), user_(std::move(user)), stop_(stop) {}
  bool IsStopped() const { return stop_ != nullptr && stop_->load(); }
  Result<thrift::Value> Call(const Method& method, const thrift::Value& arguments, bool* was_answered = nullptr);
  struct Attempt {
    bool is_reused = false;  // on a connection that was there before
    bool was_answered = false;
  };
  Result<thrift::Value> CallOnce(const Method& method, const thrift::Value& arguments, bool may_reuse,
                                 Attempt& attempt);
  Result<std::unique_ptr<HiveConnection>> Take(bool may_reuse, bool& is_reused);
  Result<std::unique_ptr<HiveConnection>> Connect();
  Status SetUser(HiveConnection& connection);

  std::vector<HiveAddress> addresses_;
  std::vector<std::string> user_;  // name, then groups; may be empty
  const std::atomic<bool>* stop_;
  std::mutex mutex_;
  std::size_t first_ = 0;  // of addresses_
  std::vector<std::unique_ptr<HiveConnection>> idle_;
};

}  // namespace firn::ports
