// SPDX-License-Identifier: Apache-2.0
//
// Row groups that stay as they are, copied by the storage: whether that pays, and what is read of them all the same.
//
// In: the plan of an output row group. Out: the records of all its pages; bytes and ranges in the order of a column.
// Guarantees: a range is a page whose header was read and checked; its body is looked at by Verify, which reads the
//   whole output.
// Cost: one read of a few KiB a page, several columns at a time, instead of one of the whole row group. So it pays for
//   large pages only.
// Errors: those of ScanChunk. Threads: ScanColumns starts threads that end before it returns.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "splice/chunk_writer.h"
#include "splice/raw_buffer.h"
#include "splice/row_group_plan.h"

namespace firn::splice {

/// Whether most bytes of the plan will be pages of one input that go as they are, and large ones.
bool RangesPay(const RowGroupPlan& plan, parquet::Codec output_codec);

/// By output column: the chunks that are moved or filled.
using ColumnScans = std::vector<std::optional<ChunkScan>>;
/// nullopt: there are many more pages than the footer tells, and a read for each would cost more than it saves.
Result<std::optional<ColumnScans>> ScanColumns(const PlannedSource& source, int readers);

/// What a column puts out while others come before it.
class WaitingChunk {
 public:
  void Write(ByteView bytes);
  void Copy(const parquet::ByteRange& range);
  Status SendTo(const ChunkSink& sink) const;

 private:
  struct Piece {
    bool is_copy = false;
    parquet::ByteRange range;  // of the input, or of bytes_
  };
  RawBuffer bytes_;
  std::vector<Piece> pieces_;
};

}  // namespace firn::splice
