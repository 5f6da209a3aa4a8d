// SPDX-License-Identifier: Apache-2.0
//
// Divides the memory of one call among everything that it may hold at a time.
//
// In: Options, what is held. Out: limits in bytes.
// Guarantees: the parts together are at most the whole, which is at least 16 MiB.
// Threads: constants after Make.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/range_copies.h"
#include "splice/splice.h"

namespace firn::splice {

struct MemoryLimits {
  std::int64_t total_bytes = 0;
  /// The inputs of one output row group: files and chunks that are held, footers, page records, decoded columns.
  std::int64_t source_bytes = 0;
  /// Of files that are opened before their turn.
  std::int64_t ahead_bytes = 0;
  /// What is written last: row groups and page indexes, packed.
  std::int64_t tail_bytes = 0;
  /// A longer footer of an input is not read.
  std::uint64_t footer_bytes = 0;
  /// Dictionaries, pages, and mappings of dictionaries of a column.
  std::int64_t column_bytes = 0;
  /// Threads that merge columns.
  int threads = 1;

  static MemoryLimits Of(const Options& options) {
    MemoryLimits limits;
    const std::int64_t held = options.range_copies == nullptr ? 0 : kRangeCopiesBytes;
    limits.total_bytes = std::max<std::int64_t>(options.memory_bytes - held, kTotalMin);
    const auto by_memory = static_cast<int>(std::clamp<std::int64_t>(limits.total_bytes / 4 / kThreadBytes, 1, 256));
    limits.threads = std::clamp(options.threads, 1, by_memory);
    // With threads, finished columns wait for their turn: about as much as was read.
    limits.source_bytes = limits.total_bytes / (limits.threads > 1 ? 3 : 2);
    limits.ahead_bytes = std::min(limits.total_bytes / 16, options.row_group_size_bytes);
    limits.tail_bytes = limits.total_bytes / 10;
    limits.footer_bytes = static_cast<std::uint64_t>(std::max(limits.total_bytes / 32, kFooterMin));
    limits.column_bytes = limits.total_bytes / 16;
    return limits;
  }

  /// The largest page that each of `workers` can open, join and write beside `held_bytes`: it is in memory about five
  /// times.
  std::int64_t PageBytes(std::int64_t held_bytes, int workers) const {
    const std::int64_t left = std::max<std::int64_t>(total_bytes - tail_bytes - held_bytes, 0);
    return std::clamp<std::int64_t>(left / 5 / workers, std::min(kPageMin, total_bytes / 2), std::int64_t{1} << 30);
  }
  /// For each of the four buffers of a decoded field.
  std::int64_t DecodeBytes(std::int64_t held_bytes) const {
    const std::int64_t left = std::max<std::int64_t>(total_bytes - tail_bytes - held_bytes, 0);
    return std::max(left / 4, kPageMin);
  }

 private:
  static constexpr std::int64_t kTotalMin = 16 << 20, kThreadBytes = 12 << 20, kFooterMin = 1 << 20;
  static constexpr std::int64_t kPageMin = 8 << 20;
};

}  // namespace firn::splice
