// SPDX-License-Identifier: Apache-2.0
//
// Opens the values of a page that is not dictionary-encoded.
//
// In: the value section of a page. Out: a feed of the thread's buffers, and what it appends; or all values as PLAIN.
// Guarantees: those of the feeds. A page opened as PLAIN holds exactly as many values as its levels tell of, in at most
//   `bytes_max`.
// Cost: of the feed: nothing yet. PlainValuesOf: decompression and about 1 ns a value.
// Errors: kCorrupt, kUnsupported, kLimit without a place: the caller adds it.
// Threads: one owner.
// Source: Encodings.md.
#pragma once

#include <optional>

#include "splice/column_merge.h"
#include "splice/page_open.h"

namespace firn::splice {

struct OpenedValues {
  ValueFeed* feed = nullptr;
  ValueMode mode = ValueMode::kPlain;
};

Result<OpenedValues> OpenValues(const OutputColumn& column, const ChunkScan& scan, std::size_t page, ByteView values,
                                std::size_t page_bytes_max, MergeBuffers& buffers);

struct PlainPage {
  ByteView values;  // in the buffers of the page that is being built, until that is begun
  std::size_t count = 0;
};

/// `body` as stored. Not for booleans. Nothing: as PLAIN it would be larger than `bytes_max`.
Result<std::optional<PlainPage>> PlainValuesOf(const OutputColumn& column, const ColumnInput& input, std::size_t page,
                                               ByteView body, std::size_t bytes_max, PageOpener& opener,
                                               MergeBuffers& buffers);

}  // namespace firn::splice
