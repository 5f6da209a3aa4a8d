// SPDX-License-Identifier: Apache-2.0
//
// What reading a table takes, as a line in its files and bytes, and the line that fits measurements.
//
// In: (files, bytes, seconds) of reads of the same rows in files of different sizes. Out: seconds a file and a byte.
// Guarantees: neither constant is negative, so that more files or more bytes never read faster. Nothing is fitted to
//   measurements whose numbers of files are too alike to tell the two apart.
// Cost: O(measurements). Threads: pure.
// Source: Iceberg's scan planning counts an open file as 4 MiB (read.split.open-file-cost): the same line with other
//   constants. Least squares of relative errors, so that small reads count as much as large ones.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

namespace firn::decide {

struct ReadCost {
  double seconds_per_file = 0;
  double seconds_per_byte = 0;  // of the files, whatever part of them is read

  double Seconds(double files, double bytes) const { return files * seconds_per_file + bytes * seconds_per_byte; }
};

/// Of one worker, for a read of all columns and one of two of them.
struct ReadCosts {
  ReadCost all{0.0005, 1.0 / 500e6};
  ReadCost two{0.0003, 1.0 / 4e9};
};

struct ReadMeasurement {
  double files = 0;
  double bytes = 0;
  double seconds = 0;
};

/// nullopt where fewer than two measurements differ by half in files a byte.
std::optional<ReadCost> FitReadCost(std::span<const ReadMeasurement> measurements);

/// The exponent p with (sum of size^p)^(1/p) = output, between 1 and 1.5: what CostModel::size_exponent predicts with.
/// nullopt where the output is larger than the inputs together, or there are fewer than two.
std::optional<double> FitSizeExponent(std::span<const std::int64_t> input_bytes, std::int64_t output_bytes);

}  // namespace firn::decide
