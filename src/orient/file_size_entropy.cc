// SPDX-License-Identifier: Apache-2.0
#include "orient/file_size_entropy.h"

#include <algorithm>
#include <cmath>

namespace firn::orient {
namespace {

__int128 ErrorOf(std::int64_t size_bytes, std::int64_t target) {
  return target - std::clamp<std::int64_t>(size_bytes, 0, target);
}

}  // namespace

__int128 SquaredErrorOf(std::int64_t size_bytes, std::int64_t target_size_bytes) {
  const __int128 error = ErrorOf(size_bytes, target_size_bytes);
  return error * error;
}

double MeanSquaredError(__int128 squared_error, std::int64_t file_count) {
  return file_count == 0 ? 0 : static_cast<double>(squared_error) / static_cast<double>(file_count);
}

void FileSizeEntropy::Update(std::int64_t size_bytes, int sign) {
  const __int128 error = ErrorOf(size_bytes, target_size_bytes_);
  file_count_ += sign;
  error_sum_ += sign * error;
  error_squares_ += sign * error * error;
}

void FileSizeEntropy::Merge(const FileSizeEntropy& other) {
  file_count_ += other.file_count_;
  error_sum_ += other.error_sum_;
  error_squares_ += other.error_squares_;
}

double FileSizeEntropy::mean_squared_error() const { return MeanSquaredError(error_squares_, file_count_); }

double FileSizeEntropy::entropy() const {
  return std::sqrt(mean_squared_error()) / static_cast<double>(target_size_bytes_);
}

double FileSizeEntropy::mean_clipped_size_bytes() const {
  if (file_count_ == 0) return 0;
  return static_cast<double>(target_size_bytes_) - static_cast<double>(error_sum_) / static_cast<double>(file_count_);
}

}  // namespace firn::orient
