// SPDX-License-Identifier: Apache-2.0
//
// Merges data files of one partition into one file without their deleted rows, and describes it as a manifest entry
// does.
//
// In: manifest entries in output row order, the table's schema and settings. Out: a written, checked file.
// Guarantees: a file that cannot be read as the table's schema asks, or whose deletes cannot be read, is left out with
//   its reason, also if that shows when half of the merge is done (up to eight such files); rows out equal the rows of
//   the inputs used, as their manifest entries count them, less those that the deletes of the plan delete; the finished
//   file was opened again and checked. On an error nothing stays behind, or its location is in `leftovers`.
// Cost: that of splice, once more for each file whose pages turn out to be broken; about 300 bytes an input and two
//   bytes a deleted row. Only tables with variants need every footer once more before.
// Errors: kUnsupported when fewer files can be merged than are needed; those of splice and FileIO.
// Threads: one call a thread; the context may be shared.
// Source: Iceberg table spec, "Data File Fields", "Column Projection"; docs/decisions/0002.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "act/data_location.h"
#include "act/plan_deletes.h"
#include "act/rewrite.h"
#include "iceberg/manifest.h"
#include "iceberg/metadata.h"
#include "iceberg/metrics_config.h"
#include "iceberg/name_mapping.h"
#include "ports/file_io.h"
#include "splice/splice.h"

namespace firn::act {

class ForeignChanges;

/// What all merges of one run share.
struct MergeContext {
  const iceberg::TableMetadata& metadata;
  ports::FileIO& io;
  splice::Options options;  // memory and threads are those of one merge; the schema is the table's
  iceberg::Schema schema;   // the table's, of v3 tables with the row lineage columns
  std::optional<iceberg::NameMapping> name_mapping;
  iceberg::MetricsConfig metrics;
  DataLocations locations;
  std::string run_uuid;  // part of the file names
  /// Deletes of the plan's snapshot, and its sequence number; null: there are none.
  std::shared_ptr<PlanDeletes> deletes = nullptr;
  SequenceNumber plan_sequence_number{0};
  const std::atomic<bool>* cancelled = nullptr;  // stops reading deletes
  /// Commits of others while the merges run; null: they are not looked at.
  ForeignChanges* foreign = nullptr;
};

/// Settings of a table. Errors: those of merge_settings.h and data_location.h.
Result<MergeContext> MakeMergeContext(const iceberg::TableMetadata& metadata, ports::FileIO& io,
                                      const std::string& effort, std::string run_uuid);

struct LeftOutFile {
  std::size_t input = 0;
  Error error;
};

struct MergedFile {
  std::optional<AddedFile> added;       // absent: all rows are deleted
  std::vector<std::size_t> used;        // indexes of the inputs that it stands for
  std::vector<std::int64_t> row_bases;  // parallel to `used`: see splice::Report
  std::vector<FileDeletes> deletes;     // parallel to `used`; empty: the plan has none
  std::int64_t deleted_rows = 0;        // of those
  std::vector<LeftOutFile> left_out;
  splice::Report report;
};

/// Bytes of the inputs done so far; false stops the merge.
using MergeProgress = std::function<bool(std::int64_t done_bytes)>;

/// Files to merge: entries, and a way to their metrics if the entries themselves have none (wide tables).
struct MergeInputs {
  std::vector<iceberg::ManifestEntry> entries;
  using Visitor = std::function<Status(std::size_t input, const iceberg::ManifestEntry& entry)>;
  /// Gives all inputs with their metrics, in any order; empty: the entries are complete.
  std::function<Status(const Visitor& visit)> for_each_complete = {};
};

Result<MergedFile> MergeFiles(const MergeContext& context, const MergeInputs& inputs, std::int64_t task,
                              SortOrderId sort_order_id, const MergeProgress& progress,
                              std::vector<std::string>& leftovers);

}  // namespace firn::act
