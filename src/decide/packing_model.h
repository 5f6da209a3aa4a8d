// SPDX-License-Identifier: Apache-2.0
//
// Says how large a merged file will be, whether a set of files may become one file, and what that is worth.
//
// In: file sizes and limits. Out: weights that add up, values that can be compared.
// Guarantees: merging merged files predicts the same size as merging their inputs at once (a p-norm), so that a plan
//   made after a plan has been applied sees nothing that the first did not see.
// Cost: O(1) a question; a table of 4,096 points replaces pow() in loops.
// Threads: immutable.
// Source: docs/packing.md states the objective.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

namespace firn::decide {

/// Most inputs of one output: a merge takes about 1.1 kB of memory for each of them.
inline constexpr std::int64_t kInputFilesMax = 8192;

/// What bounds a merge. Sizes in bytes; costs in the error of one empty file (target squared).
struct PackingLimits {
  std::int64_t target_size_bytes = 0;
  std::int64_t healthy_size_bytes = 0;  // outputs of at least this size are finished
  std::int64_t size_max_bytes = 0;      // cap of a predicted output; at least twice the healthy size
  /// A merge whose output stays below the healthy size must join so many files, ...
  std::int32_t min_input_files = 5;
  std::int64_t max_input_files = kInputFilesMax;
  /// ... and have so many times the bytes of its largest file, so that no byte is rewritten more than
  /// log2(healthy / first size) times while a partition grows by small commits.
  double growth_min = 2;
  /// Output size = (sum of size^p)^(1/p).
  double size_exponent = 1;
  double file_cost = 0.05;       // of replacing one file
  double byte_cost = 1.0 / 3.0;  // of rewriting target_size_bytes
};

/// Files that move together: one file, or what an earlier round joined.
struct PackingItem {
  double weight = 0;   // (size / target)^p; adds up
  double units = 0;    // bytes read / target
  double largest = 0;  // largest input / target
  double error = 0;    // squared error in target^2, as it is now
  double cost = 0;     // of replacing what has not been replaced yet
  double benefit = 0;  // of replacing it, besides the error: deletes that readers do not have to apply any more
  std::int64_t files = 0;

  PackingItem& operator+=(const PackingItem& other);
};

class PackingModel {
 public:
  explicit PackingModel(const PackingLimits& limits);

  const PackingLimits& limits() const { return limits_; }
  double healthy_weight() const { return healthy_weight_; }
  double max_weight() const { return max_weight_; }

  PackingItem ItemOf(std::int64_t size_bytes) const;
  /// Of a file with `dead_bytes` besides, which are read for a rewrite but not written.
  PackingItem ItemOf(std::int64_t live_bytes, std::int64_t dead_bytes, double benefit) const;
  /// `item` if it is rewritten whatever is decided: that costs and brings nothing more.
  static PackingItem Decided(PackingItem item);
  /// Predicted size of the output of a weight.
  std::int64_t OutputBytes(double weight) const;
  /// Squared error of such an output, in target^2.
  double OutputError(double weight) const {
    if (weight >= 1) return 0;
    const double at = weight * kTablePoints;
    const auto low = static_cast<std::size_t>(at);
    const double* table = error_table_->data();
    return table[low] + (table[low + 1] - table[low]) * (at - static_cast<double>(low));
  }

  /// Whether files with these sums may become one file, but for their number. At least two files.
  bool Feasible(const PackingItem& sum) const {
    if (sum.files < 2 || sum.weight > max_weight_) return false;
    return sum.weight >= healthy_weight_ ||
           (sum.files >= limits_.min_input_files && sum.units >= limits_.growth_min * sum.largest);
  }
  /// Error that goes away and other benefit, less the cost. Above 0: worth it.
  double Value(const PackingItem& sum) const { return sum.error + sum.benefit - OutputError(sum.weight) - sum.cost; }
  bool Worth(const PackingItem& sum) const { return Feasible(sum) && Value(sum) > kValueMin; }
  /// What a bin is once it has been decided: one finished item without further cost.
  PackingItem Joined(const PackingItem& sum) const;

  static constexpr double kValueMin = 1e-9;

 private:
  static constexpr std::size_t kTablePoints = 4096;
  PackingLimits limits_;
  double healthy_weight_ = 0, max_weight_ = 0;
  std::shared_ptr<const std::vector<double>> error_table_;
};

/// Indexes of files that become one file, ascending.
using Bin = std::vector<std::uint32_t>;

/// Lists of files that only ever grow together: joining two is O(1).
class FileChains {
 public:
  explicit FileChains(std::size_t file_count);
  /// Appends the chain of `other` to that of `head`. Both are first files of their chains.
  void Join(std::uint32_t head, std::uint32_t other);
  /// Files of the chain that starts at `head`, ascending.
  Bin Collect(std::uint32_t head) const;

 private:
  std::vector<std::uint32_t> next_, tail_;
};

}  // namespace firn::decide
