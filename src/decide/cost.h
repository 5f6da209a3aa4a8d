// SPDX-License-Identifier: Apache-2.0
//
// Holds the measured constants that turn bytes and files into predicted seconds and sizes.
//
// Guarantees: the only place of such constants. Threads: constants; pure.
// Source: measurements of joined merges (2,000 files of 110 KB and 100 files of 1.8 MB of one table, one core),
//   docs/packing.md; of codecs and levels, docs/deciding.md ("Predicted seconds").
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace firn::decide {

struct CostModel {
  double input_bytes_per_second = 150e6;  // decode, join and compress with a quick codec, one worker
  double seconds_per_file = 0.00005;      // open, footer, headers; local storage
  double seconds_per_group = 0.02;        // durable output, its check, manifest entries
  /// A merged file of sizes s has (sum of s^p)^(1/p) bytes: joined pages and dictionaries save more the more and
  /// the smaller the inputs are. 1.05 fits both measurements (0.66 and 0.81 of the input bytes).
  double size_exponent = 1.05;

  // Conversion of deletes: reading keys and writing positions is far cheaper than merging.
  double key_rows_per_second = 5e6;
  double seconds_per_delete_file = 0.002;
  double seconds_per_delete_commit = 0.05;
};

/// Of merges whose outputs have that codec (as in `write.parquet.compression-codec`) and level; absent: the codec's
/// usual one. Inputs are taken to be as large as with the same codec. An unknown codec counts as a quick one.
CostModel CostModelOf(std::string_view codec, std::optional<int> level);

inline double PredictSeconds(const CostModel& cost, std::int64_t input_bytes, std::int64_t input_files) {
  return static_cast<double>(input_bytes) / cost.input_bytes_per_second +
         static_cast<double>(input_files) * cost.seconds_per_file + cost.seconds_per_group;
}

}  // namespace firn::decide
