// SPDX-License-Identifier: Apache-2.0
//
// Makes a column index from what is known of each page.
//
// Guarantees: nothing is made unless every page's null count and, where it has values, its bounds are known. Bounds of
//   byte arrays are shortened to 64 bytes or so and stay bounds. The boundary order is that of the bounds written.
// Cost: O(pages). Threads: pure.
// Source: PageIndex.md; parquet.thrift ColumnIndex, BoundaryOrder.
#pragma once

#include <optional>
#include <vector>

#include "splice/chunk_writer.h"

namespace firn::splice {

std::optional<parquet::ColumnIndex> BuildColumnIndex(const OutputColumn& column, const std::vector<PageFacts>& pages);

}  // namespace firn::splice
