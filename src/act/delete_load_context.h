// SPDX-License-Identifier: Apache-2.0
//
// What reading deletes needs to know, and how their Parquet files are opened.
//
// Guarantees: a file whose footer does not count the rows that its manifest entry promises is refused.
// Cost: one or two reads a file. Threads: a context may be shared.
// Errors: kUnsupported (another format, encrypted), kCorrupt, those of FileIO; with the location.
// Source: Iceberg table spec, "Data File Fields".
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>

#include "iceberg/delete_index.h"
#include "iceberg/manifest.h"
#include "iceberg/metadata.h"
#include "iceberg/name_mapping.h"
#include "ports/file_io.h"
#include "splice/column_scan.h"

namespace firn::act {

class NamedFiles;

struct DeleteLoadContext {
  const iceberg::TableMetadata& metadata;
  ports::FileIO& io;
  const iceberg::NameMapping* name_mapping = nullptr;  // for files without field ids
  std::int64_t memory_bytes = 256 << 20;               // of one call, besides its result
  int threads = 1;
  const std::atomic<bool>* cancelled = nullptr;  // asked before every batch of rows
  /// After the keys of a data file were compared, once a pass; from several threads.
  std::function<void(const iceberg::DataFile&)> compared = {};
  /// Told of every delete file that cannot be read or must not be believed; from several threads.
  std::function<void(const iceberg::DeleteEntry&, const Error&)> unreadable = {};
  /// Learns which data files position delete files name, and refuses those that name others than their entry says.
  NamedFiles* named_files = nullptr;
};

/// A live data file as a scan sees it.
struct DataFileRef {
  const iceberg::DataFile* file = nullptr;
  SequenceNumber sequence_number{0};  // data sequence number
};

Result<std::unique_ptr<splice::ScanFile>> OpenForScan(const DeleteLoadContext& context, const iceberg::DataFile& file);

/// Whether an error is about single files, and not about the work: broken, unsupported, too large, missing.
bool IsOfOneFile(Code code);

/// kCancelled once the caller wants to stop.
Status CheckGoesOn(const DeleteLoadContext& context);

/// What the Parquet library may hold for one file.
std::int64_t ScanMemoryBytes(const DeleteLoadContext& context);

}  // namespace firn::act
