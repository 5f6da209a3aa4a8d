// SPDX-License-Identifier: Apache-2.0
//
// Measures how far file sizes are from the target, in a form that a commit's delta updates.
//
// In: sizes of files that were added or removed. Out: count, sum and sum of squares of the clipped error
//   e(s) = target - min(s, target), and the mean squared error.
// Guarantees: integers only, so updating gives bit by bit the state that counting anew gives, in any order.
//   Files at or above the target have no error.
// Cost: O(1) a file. 48 bytes of state.
// Threads: value type.
// Source: docs/health-score.md. 128 bits: a target of at most 2^42 and 2^43 files.
#pragma once

#include <cstdint>

namespace firn::orient {

/// (target - min(size, target))^2; sizes below 0 count as 0.
__int128 SquaredErrorOf(std::int64_t size_bytes, std::int64_t target_size_bytes);
/// 0 without files.
double MeanSquaredError(__int128 squared_error, std::int64_t file_count);

class FileSizeEntropy {
 public:
  /// `target_size_bytes` > 0.
  explicit FileSizeEntropy(std::int64_t target_size_bytes) : target_size_bytes_(target_size_bytes) {}

  void Add(std::int64_t size_bytes) { Update(size_bytes, 1); }
  /// The file must have been added before with the same size.
  void Remove(std::int64_t size_bytes) { Update(size_bytes, -1); }
  /// Both must have the same target.
  void Merge(const FileSizeEntropy& other);

  std::int64_t file_count() const { return file_count_; }
  std::int64_t target_size_bytes() const { return target_size_bytes_; }
  /// Sum of e^2 in bytes squared.
  double squared_error() const { return static_cast<double>(error_squares_); }
  /// squared_error() / file_count(); 0 without files.
  double mean_squared_error() const;
  /// sqrt(MSE) / target: 0 = every file reaches the target, towards 1 = all are nearly empty.
  double entropy() const;
  /// Mean of min(size, target).
  double mean_clipped_size_bytes() const;

  friend bool operator==(const FileSizeEntropy&, const FileSizeEntropy&) = default;

 private:
  void Update(std::int64_t size_bytes, int sign);

  std::int64_t target_size_bytes_;
  std::int64_t file_count_ = 0;
  __int128 error_sum_ = 0;
  __int128 error_squares_ = 0;
};

}  // namespace firn::orient
