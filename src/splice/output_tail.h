// SPDX-License-Identifier: Apache-2.0
//
// Keeps what an output file says about its row groups until it is written behind them: page indexes and the footer.
//
// In: written row groups. Out: their column indexes, offset indexes and the footer, to a sink.
// Guarantees: indexes stand in the order of row groups and columns, the offsets in the footer are theirs.
// Cost: memory: about 300 bytes a chunk and 30 a page, as it is stored. Errors: those of the sink. Threads: one owner.
// Source: PageIndex.md.
#pragma once

#include <cstdint>
#include <vector>

#include "base/byte_io.h"
#include "format/parquet/metadata.h"
#include "splice/row_group_merge.h"

namespace firn::splice {

class OutputTail {
 public:
  void Add(WrittenGroup group);
  std::size_t size() const { return groups_.size(); }
  std::int64_t memory_bytes() const;
  /// Once. `footer` lacks the row groups.
  Status Write(const parquet::FileMetaData& footer, ByteSink& sink) const;

 private:
  struct Group {
    Bytes meta;                                                // packed
    std::vector<std::int32_t> column_lengths, offset_lengths;  // of its indexes; 0: there is none
  };
  std::vector<Group> groups_;
  Bytes column_indexes_, offset_indexes_;
  std::int64_t meta_bytes_ = 0;
};

}  // namespace firn::splice
