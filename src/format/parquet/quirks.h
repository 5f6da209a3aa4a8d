// SPDX-License-Identifier: Apache-2.0
//
// What is known to be wrong in the files of old writers, from the footer's created_by.
//
// In: created_by. Out: which parts of a file must not be taken as the format says.
// Guarantees: an unknown or unparsable writer has no quirks, except where the format's readers agree to distrust it
//   (deprecated statistics of byte arrays without a writer's version).
// Why: a copy gets our created_by, so a reader would begin to trust what it ignored before. Copiers must drop or
//   rewrite what is listed here.
// Cost: O(text). Threads: pure.
// Source: PARQUET-251, PARQUET-246, PARQUET-816, ARROW-17100 (their public descriptions), parquet.thrift Statistics.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "format/parquet/metadata.h"

namespace firn::parquet {

/// "parquet-mr version 1.8.1 (build ...)" taken apart.
struct Writer {
  std::string application;
  int major = 0, minor = 0, patch = 0;
  bool has_version = false;
  /// Whether it is `name` of a version below the one given.
  bool Before(std::string_view name, int major_version, int minor_version, int patch_version) const;
};

Writer ParseCreatedBy(std::string_view created_by);

struct Quirks {
  /// Deprecated min and max of byte arrays were compared as signed bytes or cut wrongly (PARQUET-251).
  bool byte_array_statistics_wrong = false;
  /// DELTA_BYTE_ARRAY pages go on from the value before them (PARQUET-246): cannot be moved or decoded alone.
  bool delta_byte_array_broken = false;
  /// total_compressed_size leaves the dictionary page's header out (PARQUET-816).
  bool chunk_size_omits_dictionary_header = false;
  /// V2 headers say is_compressed = false over compressed bytes (ARROW-17100).
  bool v2_is_compressed_flag_wrong = false;
};

Quirks QuirksOf(std::string_view created_by);

/// Whether min_value/max_value (or the deprecated pair, `deprecated`) of such a column may be used as bounds.
bool HasReliableBounds(const Quirks& quirks, const SchemaElement& element, ColumnOrder order, bool deprecated);

struct ByteRange {
  std::uint64_t offset = 0;
  std::uint64_t size = 0;
};

/// Bytes of a chunk: from its dictionary page, or its first data page. Which page the first one is, its header tells;
/// the offsets in the footer are hints (0, absent or behind the data in files that exist). `data_end` is where the
/// footer starts; with PARQUET-816 the range is longer than needed by up to 100 bytes.
ByteRange ChunkRange(const ColumnMetaData& chunk, const Quirks& quirks, std::uint64_t data_end);

}  // namespace firn::parquet
