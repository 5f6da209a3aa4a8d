// SPDX-License-Identifier: Apache-2.0
//
// A Hive Metastore as a catalog, shared with Java's HiveCatalog, PyIceberg and Spark.
//
// In: properties uri ("thrift://host:port,..."), ugi, iceberg.engine.hive.lock-enabled, iceberg.hive.lock-timeout-ms;
//   of a table engine.hive.lock-enabled. Out: the Catalog port.
// Guarantees: a commit takes the table's lock, as the others do, sees that the location is the old one, and changes the
//   table's entry once, on the condition that it is still so, where the server knows conditions (Hive 4). Without
//   locks that condition is all there is. When the change is not acknowledged, the entry is read; what that does not
//   prove stays unknown, also after a refusal. When its answer was lost, the lock is left to end by itself where a late
//   change could still overwrite others'.
// Cost: a load is one call, a commit six. Threads: any.
// Errors: as catalog.h, with the server's words.
// Source: Java HiveTableOperations and MetastoreLock; PyIceberg catalog/hive.py; HIVE-26882 and HIVE-28121 for the
//   condition.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "ports/hive_metastore.h"
#include "ports/pointer_catalog.h"
#include "ports/routed_file_io.h"

namespace firn::ports {

class HiveCatalog final : public PointerCatalog {
 public:
  /// `clock` and `stop` must live longer; once it is true, nobody waits for a lock any more. Nothing is connected yet.
  static Result<std::shared_ptr<Catalog>> Open(std::string name, const Properties& properties,
                                               const FileIOFactory& make_io, Clock& clock, std::uint64_t seed,
                                               const std::atomic<bool>* stop = nullptr);

  /// Only where the server looks at the condition of a change: others may apply one after its lock has ended.
  bool SwapsNames() const override { return ServerChecks(); }
  Result<std::vector<TableIdentifier>> ListTables() override;

 private:
  HiveCatalog(std::string name, std::shared_ptr<FileIO> io, Clock& clock, std::uint64_t seed,
              std::unique_ptr<HiveMetastore> metastore)
      : PointerCatalog(std::move(name), std::move(io), clock, seed), clock_(clock), metastore_(std::move(metastore)) {}

  Result<std::string> ReadPointer(const TableIdentifier& id) override;
  Status SwapPointer(const PointerSwap& swap) override;
  Result<thrift::Value> EntryOf(const TableIdentifier& id);
  Result<thrift::Value> EntryAt(const PointerSwap& swap);
  Status SwapUnderLock(const PointerSwap& swap);
  /// `is_open`: the server may be at it still.
  Status Alter(const PointerSwap& swap, thrift::Value entry, bool& is_open);
  Status Reconcile(const PointerSwap& swap, Error error);
  Result<bool> UsesLock(const iceberg::TableMetadata& base) const;
  bool ServerChecks() const;

  Clock& clock_;
  std::unique_ptr<HiveMetastore> metastore_;
  const std::atomic<bool>* stop_ = nullptr;  // may be null
  bool has_locks_ = true;
  std::int64_t lock_wait_ms_ = 0;
  std::atomic<bool> has_warned_ = false;
};

/// Whether a server of this version certainly looks at the condition of a change.
bool ChecksExpectedParameter(std::string_view version);

}  // namespace firn::ports
