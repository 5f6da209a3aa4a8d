// SPDX-License-Identifier: Apache-2.0
//
// Cuts the sequence of input row groups into output row groups.
//
// In: input row groups in order. Out: plans of about the wanted number of rows or bytes, deleted rows not counted.
// Guarantees: an input row group is never split; the order is kept; a row group that is large already stays alone, so
//   that it can be copied, unless what waits before it would become a tiny one. What the sources of a plan hold in
//   memory stays below the limit, or there is one source; only chunks that can be read piece by piece may exceed it.
// Cost: O(1) a row group. Threads: one owner.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "splice/input_file.h"
#include "splice/schema_match.h"

namespace firn::splice {

/// The routes of an input's columns; inputs of the same schema share them.
struct InputRoutes {
  std::vector<ColumnRoute> columns;   // by output leaf
  std::vector<std::int32_t> leaves;   // of the input, that are needed
  std::vector<std::int32_t> decoded;  // those of fields that are decoded as a whole
};

struct PlannedSource {
  std::shared_ptr<SourceGroup> group;
  std::shared_ptr<const InputRoutes> routes;
  std::shared_ptr<const std::vector<ColumnSource>> columns;  // of the input; empty: its leaves in order
  std::int64_t first_row = 0;                                // of the row group, in its file
  std::shared_ptr<const RowFilter> filter = nullptr;         // of the row group; null: every row stays

  std::int64_t rows_in() const { return group->meta().num_rows; }
  /// Rows that go into the output.
  std::int64_t rows() const { return rows_in() - (filter ? filter->deleted() : 0); }
  /// Bytes of memory until the row group is written: page records, decoded columns, and with the first source of a
  /// file its footer, its columns and the file itself if it is whole.
  std::int64_t FixedBytes(bool first_of_file) const;
  /// Of chunks that are needed, as far as the footer tells.
  std::int64_t Pages() const;
  std::int64_t PagesOf(std::int32_t leaf) const;
  /// Bytes to read for chunks that are not in memory yet.
  std::int64_t SpanBytes() const;
};

struct RowGroupPlan {
  std::vector<PlannedSource> sources;
  std::int64_t rows = 0;
  std::int64_t bytes = 0;        // of the chunks, compressed, the share of the rows that stay
  std::int64_t chunk_bytes = 0;  // of the chunks, compressed
  std::int64_t fixed_bytes = 0;  // of memory, in all sources
  std::int64_t span_bytes = 0;   // likewise
};

struct RowGroupLimits {
  std::int64_t rows = 1 << 20;
  std::int64_t bytes = 128 << 20;
  std::int64_t memory_bytes = 256 << 20;  // of fixed_bytes and span_bytes
};

class RowGroupPlanner {
 public:
  explicit RowGroupPlanner(const RowGroupLimits& limits) : limits_(limits) {}

  /// Whether `source` begins a new row group; then take the plan first.
  bool Ends(const PlannedSource& source) const;
  void Add(PlannedSource source);
  bool empty() const { return plan_.sources.empty(); }
  RowGroupPlan Take();
  /// Output bytes an input byte, as measured: the byte limit is about the output.
  void SetRatio(double ratio) { ratio_ = ratio; }

  static std::int64_t ChunkBytesOf(const PlannedSource& source);

 private:
  bool ExceedsMemory(const PlannedSource& source) const;
  bool TooMuchToRead(const PlannedSource& source) const;
  bool StartsFile(const PlannedSource& source) const;
  bool Large(std::int64_t rows, std::int64_t bytes, int parts) const;

  RowGroupLimits limits_;
  RowGroupPlan plan_;
  double ratio_ = 1.0;
};

}  // namespace firn::splice
