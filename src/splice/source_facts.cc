// SPDX-License-Identifier: Apache-2.0
#include "splice/source_facts.h"

#include "format/parquet/footer.h"

namespace firn::splice {

namespace {

/// Larger indexes are not worth reading.
constexpr std::int32_t kIndexBytesMax = 16 << 20;

std::optional<std::int64_t> InRange(std::optional<std::int64_t> count, std::int64_t max) {
  return count && *count >= 0 && *count <= max ? count : std::nullopt;
}

}  // namespace

SourceFacts::SourceFacts(const OutputColumn& column, const ChunkScan& scan, std::uint32_t input_max_definition)
    : column_(column), scan_(scan) {
  const InputFile& file = scan.source->file();
  trust_.element = &file.footer().schema[static_cast<std::size_t>(file.leaves()[scan.leaf].schema_index)];
  trust_.order = file.OrderOf(scan.leaf);
  trust_.quirks = &file.quirks();
  trust_.value_order = column.order;
  if (scan.meta->statistics) {
    chunk_bounds_ = TrustedBounds(*scan.meta->statistics, trust_);
    chunk_nulls_ = InRange(scan.meta->statistics->null_count, scan.meta->num_values);
  }
  if (input_max_definition == 0) chunk_nulls_ = 0;
}

bool SourceFacts::LocationsFit(const parquet::OffsetIndex& index) const {
  if (index.pages.size() != scan_.pages.size()) return false;
  std::int64_t row = -1;
  for (std::size_t i = 0; i < index.pages.size(); ++i) {
    const parquet::PageLocation& location = index.pages[i];
    if (static_cast<std::uint64_t>(location.offset) != scan_.pages[i].offset) return false;
    if (location.first_row_index <= row || (i == 0 && location.first_row_index != 0)) return false;
    row = location.first_row_index;
  }
  return row < scan_.source->meta().num_rows;
}

void SourceFacts::LoadIndexes() {
  if (loaded_) return;
  loaded_ = true;
  const parquet::ColumnChunk& chunk = scan_.source->meta().columns[scan_.leaf];
  const auto read = [&](std::optional<std::int64_t> offset, std::optional<std::int32_t> length,
                        RawBuffer& scratch) -> ByteView {
    if (!offset || !length || *offset < 0 || *length <= 0 || *length > kIndexBytesMax) return {};
    const Result<ByteView> view =
        scan_.source->View(static_cast<std::uint64_t>(*offset), static_cast<std::uint64_t>(*length), scratch);
    return view ? *view : ByteView();
  };
  RawBuffer scratch;
  if (const ByteView bytes = read(chunk.offset_index_offset, chunk.offset_index_length, scratch); !bytes.empty()) {
    Result<parquet::OffsetIndex> parsed = parquet::ParseOffsetIndex(bytes);
    if (parsed && LocationsFit(*parsed)) offsets_ = std::move(*parsed);
  }
  // Without offsets it is not known that the lists are of these pages (empty ones were left out).
  if (!offsets_) return;
  if (const ByteView bytes = read(chunk.column_index_offset, chunk.column_index_length, scratch); !bytes.empty()) {
    Result<parquet::ColumnIndex> parsed = parquet::ParseColumnIndex(bytes, scan_.pages.size());
    if (parsed) index_ = std::move(*parsed);
  }
}

BoundsView SourceFacts::PageBounds(std::size_t page) {
  if (column_.order == ValueOrder::kNone) return {};
  if (scan_.pages.size() == 1 && chunk_bounds_.known) return chunk_bounds_;
  LoadIndexes();
  if (index_ && !index_->null_pages[page] &&
      parquet::HasReliableBounds(*trust_.quirks, *trust_.element, trust_.order, false)) {
    const BoundsView view = TrustedBounds(index_->min_values[page], index_->max_values[page], trust_);
    if (view.known) return view;
  }
  if (const std::int32_t at = scan_.pages[page].statistics; at >= 0) {
    const BoundsView view = TrustedBounds(scan_.statistics[static_cast<std::size_t>(at)], trust_);
    if (view.known) return view;
  }
  return chunk_bounds_;
}

std::optional<std::int64_t> SourceFacts::PageNulls(std::size_t page) {
  const PageRecord& record = scan_.pages[page];
  if (chunk_nulls_ == 0) return 0;
  if (scan_.pages.size() == 1) return chunk_nulls_;
  if (column_.max_repetition == 0 && record.type == parquet::PageType::kDataV2) return record.num_nulls;
  LoadIndexes();
  if (index_ && page < index_->null_counts.size()) {
    return InRange(index_->null_counts[page], record.num_values);
  }
  if (record.statistics >= 0) {
    return InRange(scan_.statistics[static_cast<std::size_t>(record.statistics)].null_count, record.num_values);
  }
  return std::nullopt;
}

std::optional<std::int64_t> SourceFacts::PageRows(std::size_t page) {
  const PageRecord& record = scan_.pages[page];
  if (column_.max_repetition == 0) return record.num_values;
  if (scan_.pages.size() == 1) return scan_.source->meta().num_rows;
  if (scan_.splits_rows) return std::nullopt;
  if (record.type == parquet::PageType::kDataV2) return record.num_rows;
  LoadIndexes();
  if (!offsets_) return std::nullopt;
  const std::int64_t end =
      page + 1 < offsets_->pages.size() ? offsets_->pages[page + 1].first_row_index : scan_.source->meta().num_rows;
  return end - offsets_->pages[page].first_row_index;
}

}  // namespace firn::splice
