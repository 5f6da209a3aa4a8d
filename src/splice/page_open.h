// SPDX-License-Identifier: Apache-2.0
//
// Decompresses a page and takes it apart into levels and values.
//
// In: a page record and its stored body. Out: views of its sections, valid until the next call.
// Guarantees: sections lie inside the body, whose size is that of the header; no page takes more memory than allowed.
// Cost: one decompression; none for uncompressed pages.
// Errors: kCorrupt, kLimit, kUnsupported (codec, deprecated BIT_PACKED levels) without a place: the caller adds it.
// Threads: one owner.
// Source: parquet.thrift DataPageHeader, DataPageHeaderV2; README.md "Data Pages".
#pragma once

#include "base/result.h"
#include "format/parquet/compression.h"
#include "splice/chunk_scan.h"
#include "splice/raw_buffer.h"

namespace firn::splice {

struct PageSections {
  ByteView repetition, definition;  // RLE hybrids without their length
  ByteView values;
};

/// Whether repetition levels begin with a row; false when there are none to be read.
bool StartsRow(ByteView repetition, std::uint32_t max_repetition);

class PageOpener {
 public:
  PageOpener(parquet::PageCodecs& codecs, std::int64_t page_bytes_max)
      : codecs_(&codecs), page_bytes_max_(page_bytes_max) {}

  Result<PageSections> Open(const PageRecord& page, ByteView body, parquet::Codec codec, bool has_repetition,
                            bool has_definition);
  /// Without values where the levels can be had without them.
  Result<PageSections> OpenLevels(const PageRecord& page, ByteView body, parquet::Codec codec, bool has_repetition,
                                  bool has_definition);
  /// The PLAIN values of a dictionary page.
  Result<ByteView> OpenDictionary(const PageRecord& page, ByteView body, parquet::Codec codec);

 private:
  Result<ByteView> Decompress(parquet::Codec codec, ByteView in, std::int64_t size_bytes);

  parquet::PageCodecs* codecs_;
  std::int64_t page_bytes_max_;
  RawBuffer body_;
};

}  // namespace firn::splice
