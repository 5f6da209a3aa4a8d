// SPDX-License-Identifier: Apache-2.0
//
// Makes the Bloom filter of an output chunk: joined from those of the inputs, or built from values.
//
// In: what the column is asked for; the inputs of the chunk; then its dictionary and the values of pages that are made.
// Out: the filter as it is stored, or why there is none.
// Guarantees: a filter denies no value of the chunk. It is the cheapest that can be had: that of the only input as it
//   is; else from the dictionary, if all pages use it; else the inputs' filters united, if they do not get too full;
//   else, only if the column asks for it, from every value, and pages without a dictionary must then not be copied.
//   It is folded to the smallest size that keeps the wanted share of false positives.
// Cost: a hash an entry or value (about 5 ns); or the bytes of the inputs' filters.
// Errors: none: a filter of an input that cannot be read or understood counts as absent.
// Threads: one owner.
// Source: BloomFilter.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "format/parquet/bloom_filter.h"
#include "splice/chunk_scan.h"
#include "splice/column_options.h"
#include "splice/output_column.h"

namespace firn::splice {

struct ColumnInput;
struct ColumnSettings;

struct BloomSettings {
  std::optional<bool> wanted;
  double fpp = 0.01;
  std::optional<std::int64_t> distinct;
  std::size_t bytes_max = 1 << 20;       // of one that is built
  std::size_t read_bytes_max = 4 << 20;  // of an input's
};

struct BuiltBloom {
  Bytes filter;            // header and bitset; empty: there is none
  std::string lost;        // why not, if it was asked for or inputs had some
  bool of_values = false;  // it has every entry of the dictionary
};

/// Divides `memory_bytes` among the columns of a row group that may get a filter; `asked_bytes_max` bounds built ones.
void ShareFilterMemory(const std::vector<std::vector<ColumnInput>>& inputs, std::size_t memory_bytes,
                       std::size_t asked_bytes_max, std::vector<ColumnSettings>& columns);

class BloomBuild {
 public:
  BloomBuild(const OutputColumn& column, const BloomSettings& settings) : column_(column), settings_(settings) {}

  /// First. `coded`: every page of the output will be dictionary-encoded.
  void Choose(const std::vector<ColumnInput>& inputs, bool coded);
  /// Whether values that are not in the dictionary have to be shown.
  bool wants_values() const { return kind_ == Kind::kValues; }
  /// PLAIN entries, checked.
  void AddDictionary(ByteView plain, std::size_t entries);
  /// PLAIN values of a page that is made here.
  void AddValues(ByteView plain, std::size_t count);
  BuiltBloom Finish();

 private:
  enum class Kind : std::uint8_t { kNone, kKept, kUnited, kDictionary, kValues };

  Result<parquet::BloomFilter> ReadFilter(const ChunkScan& scan) const;
  bool Unite(const std::vector<ColumnInput>& inputs);
  void Insert(ByteView plain, std::size_t count);

  const OutputColumn& column_;
  const BloomSettings& settings_;
  Kind kind_ = Kind::kNone;
  std::optional<parquet::BloomFilter> filter_;
  std::string lost_;
};

}  // namespace firn::splice
