// SPDX-License-Identifier: Apache-2.0
//
// Holds the measured constants that turn bytes and files into predicted seconds and sizes.
//
// Guarantees: the only place of such constants. Threads: constants.
// Source: background measurements of joined merges (2,000 files of 110 KB and 100 files of 1.8 MB of one table, one
//   core), docs/packing.md.
#pragma once

#include <cstdint>

namespace firn::decide {

struct CostModel {
  double input_bytes_per_second = 150e6;  // decode, join and compress, one worker
  double seconds_per_file = 0.00005;      // open, footer, headers; local storage
  double seconds_per_group = 0.02;        // durable output, its check, manifest entries
  /// A merged file of sizes s has (sum of s^p)^(1/p) bytes: joined pages and dictionaries save more the more and
  /// the smaller the inputs are. 1.05 fits both measurements (0.66 and 0.81 of the input bytes).
  double size_exponent = 1.05;
};

inline double PredictSeconds(const CostModel& cost, std::int64_t input_bytes, std::int64_t input_files) {
  return static_cast<double>(input_bytes) / cost.input_bytes_per_second +
         static_cast<double>(input_files) * cost.seconds_per_file + cost.seconds_per_group;
}

}  // namespace firn::decide
