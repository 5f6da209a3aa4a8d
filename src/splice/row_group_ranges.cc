// SPDX-License-Identifier: Apache-2.0
#include "splice/row_group_ranges.h"

#include "base/parallel.h"

namespace firn::splice {

namespace {

constexpr std::int64_t kCopiedBytesMin = 8 << 20;
/// A page costs a request, which is worth about as many bytes.
constexpr std::int64_t kBytesOfAPageMin = 128 << 10;
/// Than twice what the footer tells.
constexpr std::int64_t kPagesMore = 8;

}  // namespace

bool RangesPay(const RowGroupPlan& plan, parquet::Codec output_codec) {
  if (plan.sources.size() != 1) return false;
  const PlannedSource& source = plan.sources[0];
  if (source.filter != nullptr || source.group->file().mark() == nullptr) return false;
  std::int64_t copied = 0;
  for (const ColumnRoute& route : source.routes->columns) {
    if (route.kind == ColumnRoute::Kind::kDecode) return false;
    if (route.kind != ColumnRoute::Kind::kMove) continue;
    const parquet::ColumnMetaData& meta = source.group->chunk(static_cast<std::size_t>(route.leaf));
    if (meta.codec == output_codec) copied += meta.total_compressed_size;
  }
  return copied >= kCopiedBytesMin && copied >= plan.chunk_bytes / 2 && copied / source.Pages() >= kBytesOfAPageMin;
}

Result<std::optional<ColumnScans>> ScanColumns(const PlannedSource& source, int readers) {
  const std::vector<ColumnRoute>& routes = source.routes->columns;
  ColumnScans scans(routes.size());
  Status scanned = ForEachIndex(routes.size(), readers, [&](std::size_t i) -> Status {
    if (!routes[i].reads_pages()) return Ok();
    const auto pages_max = static_cast<std::size_t>(2 * source.PagesOf(routes[i].leaf) + kPagesMore);
    FIRN_ASSIGN(scans[i], ScanChunk(*source.group, static_cast<std::size_t>(routes[i].leaf), pages_max));
    return Ok();
  });
  if (!scanned && scanned.error().code == Code::kLimit) return std::optional<ColumnScans>();
  FIRN_TRY(std::move(scanned));
  return std::optional(std::move(scans));
}

void WaitingChunk::Write(ByteView bytes) {
  if (pieces_.empty() || pieces_.back().is_copy) pieces_.push_back({false, {bytes_.size(), 0}});
  bytes_.Append(bytes);
  pieces_.back().range.size += bytes.size();
}

void WaitingChunk::Copy(const parquet::ByteRange& range) {
  const Piece* last = pieces_.empty() ? nullptr : &pieces_.back();
  const bool follows = last != nullptr && last->is_copy && last->range.offset + last->range.size == range.offset;
  if (follows) {
    pieces_.back().range.size += range.size;
  } else {
    pieces_.push_back({true, range});
  }
}

Status WaitingChunk::SendTo(const ChunkSink& sink) const {
  for (const Piece& piece : pieces_) {
    const auto at = static_cast<std::size_t>(piece.range.offset), size = static_cast<std::size_t>(piece.range.size);
    FIRN_TRY(piece.is_copy ? sink.copy(piece.range) : sink.write(bytes_.view().subspan(at, size)));
  }
  return Ok();
}

}  // namespace firn::splice
