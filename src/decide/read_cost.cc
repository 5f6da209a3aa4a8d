// SPDX-License-Identifier: Apache-2.0
#include "decide/read_cost.h"

#include <algorithm>
#include <cmath>

namespace firn::decide {
namespace {

constexpr double kFilesRatioMin = 1.5;
constexpr double kExponentMax = 1.5;

/// Least squares of one constant alone.
double FitOne(std::span<const ReadMeasurement> measurements, double ReadMeasurement::* what) {
  double product = 0, square = 0;
  for (const auto& m : measurements) {
    const double x = m.*what / m.seconds;
    product += x;
    square += x * x;
  }
  return square > 0 ? product / square : 0;
}

double Size(std::span<const std::int64_t> input_bytes, double exponent) {
  double sum = 0;
  const auto largest = static_cast<double>(*std::ranges::max_element(input_bytes));
  for (const std::int64_t bytes : input_bytes) sum += std::pow(static_cast<double>(bytes) / largest, exponent);
  return largest * std::pow(sum, 1 / exponent);
}

}  // namespace

std::optional<ReadCost> FitReadCost(std::span<const ReadMeasurement> measurements) {
  double low = HUGE_VAL, high = 0;
  for (const auto& m : measurements) {
    if (!(m.seconds > 0) || !(m.bytes > 0) || !(m.files > 0)) return std::nullopt;
    low = std::min(low, m.files / m.bytes);
    high = std::max(high, m.files / m.bytes);
  }
  if (measurements.size() < 2 || high < kFilesRatioMin * low) return std::nullopt;
  double ff = 0, fb = 0, bb = 0, f = 0, b = 0;  // of files and bytes, divided by the seconds that are to come out
  for (const auto& m : measurements) {
    const double files = m.files / m.seconds, bytes = m.bytes / m.seconds;
    ff += files * files;
    fb += files * bytes;
    bb += bytes * bytes;
    f += files;
    b += bytes;
  }
  const double determinant = ff * bb - fb * fb;
  if (determinant > 1e-9 * ff * bb) {
    const ReadCost cost{(f * bb - b * fb) / determinant, (b * ff - f * fb) / determinant};
    if (cost.seconds_per_file >= 0 && cost.seconds_per_byte >= 0) return cost;
    if (cost.seconds_per_file >= 0) return ReadCost{FitOne(measurements, &ReadMeasurement::files), 0};
  }
  return ReadCost{0, FitOne(measurements, &ReadMeasurement::bytes)};
}

std::optional<double> FitSizeExponent(std::span<const std::int64_t> input_bytes, std::int64_t output_bytes) {
  if (input_bytes.size() < 2 || std::ranges::any_of(input_bytes, [](std::int64_t bytes) { return bytes <= 0; })) {
    return std::nullopt;
  }
  const auto output = static_cast<double>(output_bytes);
  if (output > Size(input_bytes, 1)) return std::nullopt;
  double low = 1, high = kExponentMax;
  if (output <= Size(input_bytes, high)) return high;
  for (int i = 0; i < 60; ++i) {
    const double middle = (low + high) / 2;
    (Size(input_bytes, middle) > output ? low : high) = middle;
  }
  return low;
}

}  // namespace firn::decide
