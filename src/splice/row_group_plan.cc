// SPDX-License-Identifier: Apache-2.0
#include "splice/row_group_plan.h"

#include <algorithm>
#include <utility>

namespace firn::splice {

namespace {

/// The share of the rows that stay.
std::int64_t BytesOf(const PlannedSource& source) {
  const std::int64_t bytes = RowGroupPlanner::ChunkBytesOf(source);
  if (source.filter == nullptr) return bytes;
  const double share = static_cast<double>(source.rows()) / static_cast<double>(source.rows_in());
  return static_cast<std::int64_t>(static_cast<double>(bytes) * share);
}

}  // namespace

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

/// Most rows are deleted, and what is left of them must not keep all of their bytes in memory.
bool RowGroupPlanner::TooMuchToRead(const PlannedSource& source) const {
  const std::int64_t bytes = ChunkBytesOf(source), held = source.group->file().whole() ? bytes : 0;
  return plan_.held_bytes + held > limits_.held_bytes || (plan_.chunk_bytes + bytes) / 4 > limits_.bytes;
}

bool RowGroupPlanner::Ends(const PlannedSource& source) const {
  if (plan_.sources.empty()) return false;
  const std::int64_t rows = source.rows(), bytes = BytesOf(source);
  if (plan_.chunk_bytes > plan_.bytes && TooMuchToRead(source)) return true;
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
  if (source.group->file().whole()) plan_.held_bytes += ChunkBytesOf(source);
  plan_.sources.push_back(std::move(source));
}

RowGroupPlan RowGroupPlanner::Take() { return std::exchange(plan_, RowGroupPlan()); }

}  // namespace firn::splice
