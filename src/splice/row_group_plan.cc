// SPDX-License-Identifier: Apache-2.0
#include "splice/row_group_plan.h"

#include <utility>

namespace firn::splice {

std::int64_t RowGroupPlanner::BytesOf(const PlannedSource& source) {
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

bool RowGroupPlanner::Ends(const PlannedSource& source) const {
  if (plan_.sources.empty()) return false;
  const std::int64_t rows = source.group->meta().num_rows, bytes = BytesOf(source);
  if (Large(rows, bytes, 2) || (plan_.sources.size() == 1 && Large(plan_.rows, plan_.bytes, 2))) {
    return Large(plan_.rows, plan_.bytes, 8);
  }
  return plan_.rows + rows > limits_.rows ||
         static_cast<double>(plan_.bytes + bytes) * ratio_ > static_cast<double>(limits_.bytes);
}

void RowGroupPlanner::Add(PlannedSource source) {
  plan_.rows += source.group->meta().num_rows;
  plan_.bytes += BytesOf(source);
  plan_.sources.push_back(std::move(source));
}

RowGroupPlan RowGroupPlanner::Take() { return std::exchange(plan_, RowGroupPlan()); }

}  // namespace firn::splice
