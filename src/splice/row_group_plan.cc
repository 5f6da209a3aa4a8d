// SPDX-License-Identifier: Apache-2.0
#include "splice/row_group_plan.h"

#include <algorithm>
#include <utility>

#include "splice/column_merge.h"

namespace firn::splice {

namespace {

/// The share of the rows that stay.
std::int64_t BytesOf(const PlannedSource& source) {
  const std::int64_t bytes = RowGroupPlanner::ChunkBytesOf(source);
  if (source.filter == nullptr) return bytes;
  const double share = static_cast<double>(source.rows()) / static_cast<double>(source.rows_in());
  return static_cast<std::int64_t>(static_cast<double>(bytes) * share);
}

/// As far as the footer tells.
std::int64_t PagesOfChunk(const parquet::ColumnMetaData& meta) {
  constexpr std::int64_t kPageBytes = 1 << 20;
  std::int64_t pages = 0;
  for (const parquet::PageEncodingStats& stats : meta.encoding_stats) pages += std::max(stats.count, 0);
  return pages > 0 ? pages : 1 + meta.total_uncompressed_size / kPageBytes;
}

}  // namespace

std::int64_t PlannedSource::FixedBytes(bool first_of_file) const {
  std::int64_t bytes = sizeof(PlannedSource) + sizeof(SourceGroup);
  if (first_of_file) {
    bytes += group->file().memory_bytes() + static_cast<std::int64_t>(columns->size() * sizeof(ColumnSource));
  }
  if (filter != nullptr) bytes += rows_in() / 8;
  for (const ColumnRoute& route : routes->columns) {
    bytes += sizeof(ColumnInput);
    if (route.leaf < 0) continue;
    bytes += PagesOf(route.leaf) * static_cast<std::int64_t>(sizeof(PageRecord));
  }
  // A decoded column is there twice for a moment.
  for (const std::int32_t leaf : routes->decoded) {
    bytes += 2 * group->chunk(static_cast<std::size_t>(leaf)).total_compressed_size;
  }
  return bytes;
}

std::int64_t PlannedSource::Pages() const {
  std::int64_t pages = 0;
  for (const std::int32_t leaf : routes->leaves) pages += PagesOf(leaf);
  return pages;
}

std::int64_t PlannedSource::PagesOf(std::int32_t leaf) const {
  return PagesOfChunk(group->chunk(static_cast<std::size_t>(leaf)));
}

std::int64_t PlannedSource::SpanBytes() const {
  return group->file().whole() ? 0 : static_cast<std::int64_t>(group->SpanOf(routes->leaves).size);
}

std::int64_t RowGroupPlanner::ChunkBytesOf(const PlannedSource& source) {
  std::int64_t bytes = 0;
  for (const std::int32_t leaf : source.routes->leaves) {
    bytes += source.group->chunk(static_cast<std::size_t>(leaf)).total_compressed_size;
  }
  return bytes;
}

/// At least 1/parts of a full row group.
bool RowGroupPlanner::Large(std::int64_t rows, std::int64_t bytes, int parts) const {
  return rows >= limits_.rows / parts ||
         static_cast<double>(bytes) * ratio_ >= static_cast<double>(limits_.bytes / parts);
}

/// Most rows are deleted: what is left of them is not worth reading so much.
bool RowGroupPlanner::TooMuchToRead(const PlannedSource& source) const {
  return plan_.chunk_bytes > plan_.bytes && (plan_.chunk_bytes + ChunkBytesOf(source)) / 4 > limits_.bytes;
}

bool RowGroupPlanner::StartsFile(const PlannedSource& source) const {
  return plan_.sources.empty() || &plan_.sources.back().group->file() != &source.group->file();
}

bool RowGroupPlanner::ExceedsMemory(const PlannedSource& source) const {
  const std::int64_t fixed = plan_.fixed_bytes + source.FixedBytes(StartsFile(source));
  if (fixed > limits_.memory_bytes) return true;
  const std::int64_t all = fixed + plan_.span_bytes + source.SpanBytes();
  return all > limits_.memory_bytes && Large(plan_.rows, plan_.bytes, 8);
}

bool RowGroupPlanner::Ends(const PlannedSource& source) const {
  if (plan_.sources.empty()) return false;
  if (ExceedsMemory(source) || TooMuchToRead(source)) return true;
  const std::int64_t rows = source.rows(), bytes = BytesOf(source);
  if (Large(rows, bytes, 2) || (plan_.sources.size() == 1 && Large(plan_.rows, plan_.bytes, 2))) {
    return Large(plan_.rows, plan_.bytes, 8);
  }
  return plan_.rows + rows > limits_.rows ||
         static_cast<double>(plan_.bytes + bytes) * ratio_ > static_cast<double>(limits_.bytes);
}

void RowGroupPlanner::Add(PlannedSource source) {
  plan_.rows += source.rows();
  plan_.bytes += BytesOf(source);
  plan_.chunk_bytes += ChunkBytesOf(source);
  plan_.fixed_bytes += source.FixedBytes(StartsFile(source));
  plan_.span_bytes += source.SpanBytes();
  plan_.sources.push_back(std::move(source));
}

RowGroupPlan RowGroupPlanner::Take() { return std::exchange(plan_, RowGroupPlan()); }

}  // namespace firn::splice
