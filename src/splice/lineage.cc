// SPDX-License-Identifier: Apache-2.0
#include "splice/lineage.h"

#include <algorithm>

namespace firn::splice {

void LineageFill::Append(std::int64_t row, std::size_t count, std::uint32_t index, PageValues& out) const {
  if (out.mode() == ValueMode::kIndices) return out.indices().AppendRun(index, count);
  std::uint8_t* to = out.plain().Room(count * sizeof number);
  for (std::size_t i = 0; i < count; ++i) {
    StoreLittle(to + i * sizeof number, counts ? number + row + static_cast<std::int64_t>(i) : number);
  }
  out.plain().Advance(count * sizeof number);
}

Status RowIdFeed::Take(std::size_t count, PageValues& out) {
  while (count > 0) {
    const std::int64_t row = cursor_.next_row();
    const RowCursor::Run run = cursor_.PassRun(static_cast<std::int64_t>(count));
    if (!run.kept) continue;
    fill_.Append(row, static_cast<std::size_t>(run.rows), 0, out);
    count -= static_cast<std::size_t>(run.rows);
  }
  return Ok();
}

Status RowIdFeed::Skip(std::size_t count) {
  while (count > 0) {
    const RowCursor::Run run = cursor_.PassRun(static_cast<std::int64_t>(count));
    if (run.kept) count -= static_cast<std::size_t>(run.rows);
  }
  return Ok();
}

}  // namespace firn::splice
