// SPDX-License-Identifier: Apache-2.0
#include "splice/output_tail.h"

#include <optional>
#include <utility>

#include "format/parquet/footer.h"

namespace firn::splice {

namespace {

/// Gives indexes their places, one behind the other.
class Places {
 public:
  explicit Places(std::uint64_t start) : next_(static_cast<std::int64_t>(start)) {}
  void Put(std::int32_t length, std::optional<std::int64_t>& offset_out, std::optional<std::int32_t>& length_out) {
    if (length == 0) return;
    offset_out = next_;
    length_out = length;
    next_ += length;
  }

 private:
  std::int64_t next_;
};

}  // namespace

void OutputTail::Add(WrittenGroup group) {
  Group& added = groups_.emplace_back();
  for (std::size_t c = 0; c < group.meta.columns.size(); ++c) {
    const std::size_t before = column_indexes_.size();
    if (group.column_indexes[c]) parquet::WriteColumnIndex(*group.column_indexes[c], column_indexes_);
    added.column_lengths.push_back(static_cast<std::int32_t>(column_indexes_.size() - before));
  }
  for (std::size_t c = 0; c < group.meta.columns.size(); ++c) {
    const std::size_t before = offset_indexes_.size();
    if (!group.locations[c].empty()) {
      parquet::OffsetIndex offsets;
      offsets.pages = std::move(group.locations[c]);
      parquet::WriteOffsetIndex(offsets, offset_indexes_);
    }
    added.offset_lengths.push_back(static_cast<std::int32_t>(offset_indexes_.size() - before));
  }
  added.meta = parquet::PackRowGroup(group.meta);
  added.meta.shrink_to_fit();
  meta_bytes_ += static_cast<std::int64_t>(sizeof(Group) + added.meta.size() +
                                           2 * sizeof(std::int32_t) * group.meta.columns.size());
}

std::int64_t OutputTail::memory_bytes() const {
  // The packed row groups are there a second time when the footer is put together.
  return static_cast<std::int64_t>(column_indexes_.capacity() + offset_indexes_.capacity()) + 2 * meta_bytes_;
}

Status OutputTail::Write(const parquet::FileMetaData& footer, ByteSink& sink) const {
  Places columns(sink.position());
  FIRN_TRY(sink.Write(column_indexes_));
  Places offsets(sink.position());
  FIRN_TRY(sink.Write(offset_indexes_));
  return sink.Write(parquet::WriteFooter(footer, groups_.size(), [&](std::size_t g) {
    // What was packed here is well formed.
    parquet::RowGroup meta = parquet::UnpackRowGroup(groups_[g].meta).value();
    for (std::size_t c = 0; c < meta.columns.size(); ++c) {
      parquet::ColumnChunk& chunk = meta.columns[c];
      columns.Put(groups_[g].column_lengths[c], chunk.column_index_offset, chunk.column_index_length);
      offsets.Put(groups_[g].offset_lengths[c], chunk.offset_index_offset, chunk.offset_index_length);
    }
    return meta;
  }));
}

}  // namespace firn::splice
