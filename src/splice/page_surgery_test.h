// SPDX-License-Identifier: Apache-2.0
//
// Changes single pages of Parquet files, for tests of what damaged or unusual files do.
//
// In: a file, a page of it, an edit. Out: the file with the page as edited, everything else fitting to it.
// Guarantees: sizes in the page's header and in the footer, and all offsets, are those of the edited page, unless the
//   edit sets a size itself; page indexes are dropped. A page's CRC, where it has one, is made anew.
// Threads: none.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "base/bytes.h"
#include "format/parquet/metadata.h"

namespace firn::splice::testing {

struct PagePlace {
  std::size_t row_group = 0, leaf = 0;
  std::size_t page = 0;  // counted from the dictionary page, if there is one
};

/// A page before compression. V2 levels are at the front of `body`.
struct EditedPage {
  parquet::PageHeader header;
  Bytes body;
  /// If given, what is stored instead of the compressed body.
  std::optional<Bytes> stored;
};

Bytes WithPage(const Bytes& file, const PagePlace& place, const std::function<void(EditedPage&)>& edit);

/// The page as it is.
EditedPage PageOf(const Bytes& file, const PagePlace& place);

/// The file with another footer.
Bytes WithFooter(const Bytes& file, const std::function<void(parquet::FileMetaData&)>& edit);

/// Levels of a nested V2 page, to be changed in place.
struct EditedLevels {
  std::vector<std::uint32_t> repetition, definition;
};
void EditLevels(EditedPage& page, unsigned max_repetition, unsigned max_definition,
                const std::function<void(EditedLevels&)>& edit);

}  // namespace firn::splice::testing
