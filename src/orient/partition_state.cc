// SPDX-License-Identifier: Apache-2.0
#include "orient/partition_state.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "orient/file_size_entropy.h"

namespace firn::orient {
namespace {

__int128 SquaresOf(const PartitionState& state) {
  return static_cast<__int128>((static_cast<unsigned __int128>(state.error_squares_high) << 64) |
                               state.error_squares_low);
}

void SetSquares(__int128 squares, PartitionState& state) {
  state.error_squares_low = static_cast<std::uint64_t>(squares);
  state.error_squares_high = static_cast<std::uint64_t>(static_cast<unsigned __int128>(squares) >> 64);
}

bool IsSmall(const observe::ChangedFile& file, const StateBasis& basis) {
  return file.size_bytes < basis.healthy_size_bytes && (file.flags & ~basis.mergeable_flags) == 0;
}

/// The sums without meaning are 0, so that equal histories give equal states.
void Contradict(PartitionState& state) {
  state.flags |= kContradicted;
  SetSquares(0, state);
  state.size_bytes = state.small_bytes = state.small_bytes_delta = 0;
  state.file_count = state.small_files = state.position_delete_files = state.equality_delete_files = 0;
  state.small_files_delta = 0;
}

}  // namespace

StateBasis BasisOf(const Policy& policy) {
  return {policy.target_size_bytes, policy.healthy_size_bytes(), policy.delete_ratio_threshold,
          policy.delete_file_threshold, policy.mergeable_flags};
}

void AddFile(const observe::ChangedFile& file, const StateBasis& basis, PartitionState& state) {
  if (!state.has_numbers()) return;
  const bool is_small = IsSmall(file, basis);
  if (file.size_bytes < 0 || state.file_count == std::numeric_limits<std::uint32_t>::max() ||
      __builtin_add_overflow(state.size_bytes, file.size_bytes, &state.size_bytes) ||
      (is_small && __builtin_add_overflow(state.small_bytes, file.size_bytes, &state.small_bytes))) {
    return Contradict(state);
  }
  ++state.file_count;
  state.small_files += is_small ? 1 : 0;
  SetSquares(SquaresOf(state) + SquaredErrorOf(file.size_bytes, basis.target_size_bytes), state);
}

void RemoveFile(const observe::ChangedFile& file, const StateBasis& basis, PartitionState& state) {
  if (!state.has_numbers()) return;
  const bool is_small = IsSmall(file, basis);
  const __int128 error = SquaredErrorOf(file.size_bytes, basis.target_size_bytes);
  if (file.size_bytes < 0 || state.file_count == 0 || state.size_bytes < file.size_bytes || SquaresOf(state) < error ||
      (is_small && (state.small_files == 0 || state.small_bytes < file.size_bytes))) {
    return Contradict(state);
  }
  --state.file_count;
  state.size_bytes -= file.size_bytes;
  if (is_small) {
    --state.small_files;
    state.small_bytes -= file.size_bytes;
  }
  SetSquares(SquaresOf(state) - error, state);
}

double MeanSquaredErrorOf(const PartitionState& state) { return MeanSquaredError(SquaresOf(state), state.file_count); }

double EntropyOf(const PartitionState& state, std::int64_t target_size_bytes) {
  return std::sqrt(MeanSquaredErrorOf(state)) / static_cast<double>(target_size_bytes);
}

std::int64_t DeleteFilesOf(const PartitionState& state) {
  return std::int64_t{state.position_delete_files} + state.equality_delete_files;
}

std::int64_t SmallFilesOf(const PartitionState& state) {
  return std::clamp<std::int64_t>(std::int64_t{state.small_files} + state.small_files_delta, 0, state.file_count);
}

std::int64_t SmallBytesOf(const PartitionState& state) {
  const __int128 bytes = static_cast<__int128>(state.small_bytes) + state.small_bytes_delta;
  return static_cast<std::int64_t>(std::clamp<__int128>(bytes, 0, state.size_bytes));
}

std::int64_t RemovableFilesOf(const PartitionState& state, std::int64_t target_size_bytes) {
  const std::int64_t bytes = SmallBytesOf(state);
  const std::int64_t filled = bytes / target_size_bytes + (bytes % target_size_bytes == 0 ? 0 : 1);
  return std::max<std::int64_t>(0, SmallFilesOf(state) - filled);
}

std::uint32_t StateSeconds(TimestampMs time) {
  return static_cast<std::uint32_t>(
      std::clamp<std::int64_t>(time.value / 1000, 1, std::numeric_limits<std::uint32_t>::max()));
}

}  // namespace firn::orient
