// SPDX-License-Identifier: Apache-2.0
//
// Catalogs that keep one location a table and leave it to the client to write the metadata file.
//
// In: a compare-and-set on the location. Out: the Catalog port.
// Guarantees: the new metadata file is durable before the location is swapped. It is removed again only when it is
// known
//   that the catalog does not name it and will not; after an unknown outcome it stays.
//   write.metadata.delete-after-commit.enabled removes only metadata files in the table's own metadata folder that left
//   the metadata-log in this very commit.
// Cost: a load reads the metadata file, a commit writes one.
// Threads: any, if the subclass is.
// Source: Java BaseMetastoreTableOperations, CatalogUtil.deleteRemovedMetadataFiles.
#pragma once

#include <memory>
#include <mutex>
#include <string>

#include "base/random.h"
#include "ports/catalog.h"
#include "ports/clock.h"

namespace firn::ports {

/// One compare-and-set, and what it means.
struct PointerSwap {
  const TableIdentifier& id;
  const std::string& from;
  const std::string& to;
  const iceberg::TableMetadata& base;
  const iceberg::TableMetadata& updated;
};

/// Whether a metastore's parameter table_type is that of an Iceberg table, in any case.
bool IsIcebergType(std::string_view table_type);
/// `metadata_location` of an entry that a metastore has for the table; kUnsupported when it is no Iceberg table,
/// kCorrupt without a location. `server` stands in messages: "Glue".
Result<std::string> PointerOfEntry(const TableIdentifier& id, std::string_view server, const std::string& table_type,
                                   std::string metadata_location);

class PointerCatalog : public Catalog {
 public:
  const std::string& name() const override { return name_; }
  Result<LoadedTable> LoadTable(const TableIdentifier& id) override;
  Result<LoadedTable> CommitTable(const LoadedTable& base, const TableCommit& commit) override;
  Status CheckWritable(const LoadedTable&) const override { return Ok(); }
  Result<std::shared_ptr<FileIO>> TableIO(const LoadedTable&) override { return io_; }

 protected:
  /// `clock` must live longer than the catalog.
  PointerCatalog(std::string name, std::shared_ptr<FileIO> io, Clock& clock, std::uint64_t seed)
      : name_(std::move(name)), io_(std::move(io)), clock_(clock), random_(seed) {}

  virtual Result<std::string> ReadPointer(const TableIdentifier& id) = 0;
  /// Ok: `swap.to` is current, or was. kConflict: it was not `swap.from` any more, or the table is gone.
  /// kOutcomeUnknown: cannot tell, or a request may arrive late. Every other code, and kConflict: nothing changed and
  /// nothing will, which a refusal alone does not prove: the request may have been done before, in another copy. Either
  /// it was not sent, or the location was read after the refusal.
  virtual Status SwapPointer(const PointerSwap& swap) = 0;

  /// After a swap that was not acknowledged, when `location` is neither `from` nor `to` any more: whether it happened,
  /// by the log of older files in what is current. `fault` if that proves nothing.
  Status DecideByLog(const std::string& location, const std::string& from, const std::string& to, Error fault);

  FileIO& io() { return *io_; }
  std::string NewUuid();

 private:
  Status WriteNewFile(const std::string& location, ByteView bytes);
  Error Explain(Error conflict, const LoadedTable& base);
  void RemoveOldFiles(const iceberg::TableMetadata& base, const iceberg::TableMetadata& updated);

  std::string name_;
  std::shared_ptr<FileIO> io_;
  Clock& clock_;
  std::mutex random_mutex_;
  Random random_;
};

}  // namespace firn::ports
