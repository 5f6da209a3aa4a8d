// SPDX-License-Identifier: Apache-2.0
//
// Pages on their way from Arrow's page reader to its column reader, with levels that it reads as they were meant.
//
// In: a page reader of a column chunk. Out: one whose V1 pages have RLE levels.
// Guarantees: pages without levels in the deprecated BIT_PACKED encoding pass as they are.
// Cost: of a page with such levels: a copy.
// Errors: exceptions of the library's kind, as those of its own readers. Threads: one owner.
#pragma once

#include <memory>

namespace arrow {
class MemoryPool;
}
namespace parquet {
class ColumnDescriptor;
class PageReader;
}  // namespace parquet

namespace firn::splice {

/// `pool` must outlive the reader.
std::unique_ptr<::parquet::PageReader> WithRunLevels(std::unique_ptr<::parquet::PageReader> pages,
                                                     const ::parquet::ColumnDescriptor& column,
                                                     ::arrow::MemoryPool* pool);

}  // namespace firn::splice
