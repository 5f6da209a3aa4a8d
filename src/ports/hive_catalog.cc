// SPDX-License-Identifier: Apache-2.0
#include "ports/hive_catalog.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/ascii.h"
#include "base/log.h"
#include "ports/hive_entry.h"
#include "ports/hive_table_lock.h"
#include "ports/tries.h"

namespace firn::ports {
namespace {

constexpr std::size_t kEntriesOnce = 100;
constexpr const char* kLocksProperty = "iceberg.engine.hive.lock-enabled";
constexpr const char* kLocksOfTable = "engine.hive.lock-enabled";

/// As the server writes names.
std::string DatabaseOf(const TableIdentifier& id) { return AsciiLower(id.name_space[0]); }
std::string TableOf(const TableIdentifier& id) { return AsciiLower(id.name); }

}  // namespace

bool ChecksExpectedParameter(std::string_view version) {
  // Versions before 4 all call themselves 3.0; previews of 4.0 may not know it yet, and 4.0.0 not on every database.
  if (version == "4.0.0") return false;
  const std::size_t dot = version.find('.');
  if (dot == 0 || dot == std::string_view::npos || version.find('-') != std::string_view::npos) return false;
  const std::string_view major = version.substr(0, dot);
  const bool is_number = std::ranges::all_of(major, IsAsciiDigit);
  return is_number && (major.size() > 1 || major[0] >= '4');
}

Result<std::shared_ptr<Catalog>> HiveCatalog::Open(std::string name, const Properties& properties,
                                                   const FileIOFactory& make_io, Clock& clock, std::uint64_t seed,
                                                   const std::atomic<bool>* stop) {
  FIRN_ASSIGN(auto metastore, HiveMetastore::Open(properties, stop));
  FIRN_ASSIGN(auto io, make_io(properties));
  std::shared_ptr<HiveCatalog> catalog(
      new HiveCatalog(std::move(name), std::move(io), clock, seed, std::move(metastore)));
  catalog->stop_ = stop;
  FIRN_ASSIGN(catalog->has_locks_, BoolProperty(properties, kLocksProperty, true));
  constexpr std::int64_t kWaitMs = 60'000, kWaitMaxMs = 3'600'000;
  FIRN_ASSIGN(catalog->lock_wait_ms_, IntProperty(properties, "iceberg.hive.lock-timeout-ms", kWaitMs, 0, kWaitMaxMs));
  return std::shared_ptr<Catalog>(std::move(catalog));
}

Result<std::vector<TableIdentifier>> HiveCatalog::ListTables() {
  FIRN_ASSIGN(const auto databases, metastore_->Databases());
  std::vector<TableIdentifier> ids;
  for (const std::string& database : databases) {
    FIRN_ASSIGN(const auto names, metastore_->Tables(database));
    std::size_t once = kEntriesOnce;
    for (std::size_t begin = 0; begin < names.size();) {
      const auto at = names.begin() + static_cast<std::ptrdiff_t>(begin);
      const std::size_t count = std::min(once, names.size() - begin);
      const auto entries = metastore_->Entries(database, {at, at + static_cast<std::ptrdiff_t>(count)});
      if (!entries && entries.error().code == Code::kNotFound) break;  // dropped meanwhile
      if (!entries && entries.error().code == Code::kLimit && count > 1) {
        once = count / 2;
        continue;
      }
      if (!entries) return Error(entries.error()).In(database);
      for (const thrift::Value& entry : *entries) {
        if (IsIcebergEntry(entry)) ids.push_back({{database}, NameOfEntry(entry)});
      }
      begin += count;
    }
  }
  return ids;
}

Result<thrift::Value> HiveCatalog::EntryOf(const TableIdentifier& id) {
  if (id.name_space.size() != 1) {
    return Error{Code::kNotFound, fmt::format("no table `{}`: databases of Hive have one level", ToString(id))};
  }
  auto entry = metastore_->Entry(DatabaseOf(id), TableOf(id));
  if (!entry && entry.error().code == Code::kNotFound) {
    return Error{Code::kNotFound,
                 fmt::format("no table `{}` in catalog `{}`: {}", ToString(id), name(), entry.error().message)};
  }
  if (!entry) return std::move(entry.error()).In(ToString(id));
  return entry;
}

Result<std::string> HiveCatalog::ReadPointer(const TableIdentifier& id) {
  FIRN_ASSIGN(const thrift::Value entry, EntryOf(id));
  return LocationOfEntry(id, entry);
}

/// The entry, if the old location is in it.
Result<thrift::Value> HiveCatalog::EntryAt(const PointerSwap& swap) {
  auto entry = EntryOf(swap.id);
  if (!entry && entry.error().code == Code::kNotFound) return Error{Code::kConflict, "the table is gone"};
  if (!entry) return entry;
  FIRN_ASSIGN(const std::string location, LocationOfEntry(swap.id, *entry));
  if (location != swap.from) return Error{Code::kConflict, "another commit came first"};
  FIRN_TRY(CheckEntryWritable(*entry));
  return entry;
}

Result<bool> HiveCatalog::UsesLock(const iceberg::TableMetadata& base) const {
  const auto own = base.properties().find(kLocksOfTable);
  if (own == base.properties().end()) return has_locks_;
  return BoolProperty({{kLocksOfTable, own->second}}, kLocksOfTable, true);
}

bool HiveCatalog::ServerChecks() const {
  const auto version = metastore_->Version();
  return version && ChecksExpectedParameter(*version);
}

Status HiveCatalog::SwapPointer(const PointerSwap& swap) {
  FIRN_ASSIGN(const bool uses_lock, UsesLock(swap.base));
  // Nobody should wait for a lock who comes too late already.
  FIRN_ASSIGN(thrift::Value entry, EntryAt(swap));
  if (uses_lock) return SwapUnderLock(swap);
  if (!ServerChecks() && !has_warned_.exchange(true)) {
    Log(LogLevel::kWarn, fmt::format("catalog `{}`: {} is false, but the metastore does not show that it knows "
                                     "HIVE-26882: without it, commits of others can be lost",
                                     name(), kLocksOfTable));
  }
  bool is_open = false;
  return Alter(swap, std::move(entry), is_open);
}

Status HiveCatalog::SwapUnderLock(const PointerSwap& swap) {
  const HiveTableLock::Request request{.database = DatabaseOf(swap.id),
                                       .table = TableOf(swap.id),
                                       .agent = "firn-" + NewUuid(),
                                       .wait_max_ms = lock_wait_ms_};
  const auto still_wanted = [&]() -> Status {
    if (stop_ != nullptr && stop_->load()) return Error{Code::kCancelled, "stopped while others held the table's lock"};
    FIRN_TRY(EntryAt(swap));
    return Ok();
  };
  FIRN_ASSIGN(HiveTableLock lock, HiveTableLock::Take(*metastore_, clock_, request, still_wanted));
  FIRN_ASSIGN(thrift::Value entry, EntryAt(swap));
  FIRN_TRY(lock.KeepAlive());
  bool is_open = false;
  Status done = Alter(swap, std::move(entry), is_open);
  if (!done && is_open && !ServerChecks()) {
    // While the lock stands, nobody who takes locks commits what a late change would overwrite.
    lock.Abandon();
    return done;
  }
  Status released = lock.Release();
  if (done && !released && released.error().code == Code::kNotFound) {
    return Reconcile(swap, {Code::kOutcomeUnknown, "the lock of the table ended while it was changed"});
  }
  if (!released) {
    Log(LogLevel::kWarn,
        fmt::format("{}: lock not released, it ends by itself: {}", ToString(swap.id), released.error().message));
  }
  return done;
}

Status HiveCatalog::Alter(const PointerSwap& swap, thrift::Value entry, bool& is_open) {
  PointEntry(entry, swap);
  bool was_answered = false;
  Status done = metastore_->Alter(DatabaseOf(swap.id), TableOf(swap.id), std::move(entry), swap.from, was_answered);
  if (done) return done;
  if (!was_answered && done.error().code != Code::kOutcomeUnknown) return done;  // the server has not got it
  is_open = !was_answered;
  return Reconcile(swap, std::move(done.error()));
}

/// After a change that was not acknowledged. Its answer is missing or proves nothing (kOutcomeUnknown): the server may
/// be at it still. Or it is a refusal: after a fault of its database the server repeats a call, and then what it found
/// there may be ours; only the table tells, and as long as it cannot be read, nobody knows. Not found is no reading: a
/// table that was renamed names our file all the same.
Status HiveCatalog::Reconcile(const PointerSwap& swap, Error error) {
  const bool may_come = error.code == Code::kOutcomeUnknown;
  const bool is_conflict = error.code == Code::kConflict;  // somebody's change was seen, so it is waited for
  Error unknown{Code::kOutcomeUnknown, error.message};
  std::string location = swap.from;
  for (Tries reads(clock_, {.count = 5, .first_pause_ms = 200}); location == swap.from && reads.Next();) {
    auto now = ReadPointer(swap.id);
    if (now) {
      location = std::move(*now);
      if (location == swap.from && !may_come && !is_conflict) return error;
    } else {
      unknown.message = fmt::format("{}; after that: {}", error.message, now.error().message);
      if (now.error().code == Code::kNotFound) break;
    }
    if (stop_ != nullptr && stop_->load()) break;
  }
  if (location == swap.to) return Ok();
  if (location == swap.from) return unknown;
  Status decided = DecideByLog(location, swap.from, swap.to, unknown);
  // Where the server does not look at the condition, the change may come late and overwrite what is there now.
  if (!decided && decided.error().code == Code::kConflict && may_come && !ServerChecks()) return unknown;
  return decided;
}

}  // namespace firn::ports
