// SPDX-License-Identifier: Apache-2.0
//
// Merges the sources of one output row group, column by column, and writes them.
//
// In: a plan. Out: bytes to the sink, the row group's metadata, its page indexes.
// Guarantees: columns appear in order; what a column's merge found out (a dictionary that does not pay) is kept for the
//   next row group.
// Cost: reads each held source once; with several threads columns are merged at the same time, the longest first, and
//   wait in memory for their turn.
// Errors: those of MergeColumn and the fallback; kCancelled when the progress callback says so.
// Threads: Run belongs to one thread; it starts helpers that end before it returns.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "splice/column_merge.h"
#include "splice/memory_limits.h"
#include "splice/row_group_plan.h"
#include "splice/splice.h"

namespace firn::splice {

/// A written row group.
struct WrittenGroup {
  parquet::RowGroup meta;
  std::vector<std::vector<parquet::PageLocation>> locations;        // by column; empty: no offset index
  std::vector<std::optional<parquet::ColumnIndex>> column_indexes;  // by column
  std::vector<BuiltBloom> blooms;                                   // by column; not written yet
};

/// Column merges done so far, for progress.
using ColumnDone = std::function<Status(std::int64_t input_bytes)>;

class RowGroupMerger {
 public:
  RowGroupMerger(const std::vector<parquet::SchemaElement>& schema, const std::vector<OutputColumn>& columns,
                 const Options& options, const MemoryLimits& limits, const MergeSettings& settings);
  ~RowGroupMerger();

  /// `report` gets pages, tiers and notes.
  Result<WrittenGroup> Run(RowGroupPlan plan, ByteSink& sink, Report& report, const ColumnDone& column_done);

 private:
  struct Work;
  Status Prepare(Work& work);
  Status HoldSources(Work& work);
  ChunkSink SinkOf(const Work& work, ByteSink& sink) const;
  Status ScanSource(Work& work, const PlannedSource& source);
  Status DecodeFields(Work& work, const PlannedSource& source, const std::vector<std::int32_t>& fields);
  static void SetRows(const PlannedSource& source, std::size_t column, ColumnInput& input);
  Status RunHere(Work& work, ByteSink& sink, WrittenGroup& out, Report& report, const ColumnDone& column_done);
  Status RunParallel(Work& work, ByteSink& sink, WrittenGroup& out, Report& report, const ColumnDone& column_done);
  void Take(std::size_t column, ColumnResult result, std::int64_t start, bool alone, WrittenGroup& out, Report& report);
  void Note(Report& report, std::string note) const;

  const std::vector<parquet::SchemaElement>& schema_;
  const std::vector<OutputColumn>& columns_;
  const Options& options_;
  const MemoryLimits limits_;
  MergeSettings settings_;
  std::vector<LevelMap> identity_levels_;               // by column
  std::vector<ColumnMemory> memories_;                  // by column
  std::vector<std::vector<InputPrints>> prints_;        // by column and input, of the row group that is being written
  std::vector<std::unique_ptr<MergeBuffers>> buffers_;  // by thread
};

}  // namespace firn::splice
