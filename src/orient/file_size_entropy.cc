// SPDX-License-Identifier: Apache-2.0
#include "orient/file_size_entropy.h"

#include <algorithm>
#include <cmath>

namespace firn::orient {

void FileSizeEntropy::Update(std::int64_t size_bytes, int sign) {
  const __int128 error = target_size_bytes_ - std::clamp<std::int64_t>(size_bytes, 0, target_size_bytes_);
  file_count_ += sign;
  error_sum_ += sign * error;
  error_squares_ += sign * error * error;
}

void FileSizeEntropy::Merge(const FileSizeEntropy& other) {
  file_count_ += other.file_count_;
  error_sum_ += other.error_sum_;
  error_squares_ += other.error_squares_;
}

double FileSizeEntropy::mean_squared_error() const {
  return file_count_ == 0 ? 0 : static_cast<double>(error_squares_) / static_cast<double>(file_count_);
}

double FileSizeEntropy::entropy() const {
  return std::sqrt(mean_squared_error()) / static_cast<double>(target_size_bytes_);
}

double FileSizeEntropy::mean_clipped_size_bytes() const {
  if (file_count_ == 0) return 0;
  return static_cast<double>(target_size_bytes_) - static_cast<double>(error_sum_) / static_cast<double>(file_count_);
}

}  // namespace firn::orient
