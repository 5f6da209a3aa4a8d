// SPDX-License-Identifier: Apache-2.0
#include "service/partition_page.h"

#include <algorithm>
#include <cmath>

#include "base/byte_text.h"
#include "orient/triage.h"
#include "service/page_cursor.h"

namespace firn::service {
namespace {

/// Smaller is earlier.
struct Rank {
  double noise = 0;            // negative
  std::int64_t removable = 0;  // negative
  std::string_view key;
  std::uint32_t index = 0;
  bool operator<(const Rank& other) const {
    return std::tie(noise, removable, key) < std::tie(other.noise, other.removable, other.key);
  }
};

std::string CursorOf(const Rank& rank) {
  return CursorOf(Place{rank.noise, static_cast<double>(rank.removable), HexText(AsBytes(rank.key))});
}

/// `key` keeps the bytes that the rank points to.
Result<Rank> RankOf(std::string_view cursor, std::string& key) {
  FIRN_ASSIGN(const Place place, ParseCursor(cursor));
  const auto bytes = ParseHex(place.name);
  constexpr double kMost = 1e15;
  if (!bytes || !(std::abs(place.second) < kMost)) {
    return Error{Code::kInvalidArgument, "`after` is not the `next` of an answer"};
  }
  key = AsText(*bytes);
  return Rank{place.first, static_cast<std::int64_t>(place.second), key, 0};
}

PartitionRow RowOf(const WatchedTable& table, std::uint32_t index, TimestampMs now) {
  const orient::PartitionState& state = table.state.partition(index);
  const orient::Verdict verdict = orient::Triage(state, table.wanted.policy, now);
  PartitionRow row;
  if (table.text_of) row.text = table.text_of(table.state.key(index));
  row.files = state.file_count;
  row.bytes = state.size_bytes;
  row.small_files = verdict.small_files;
  row.removable_files = verdict.removable_files;
  row.delete_files = orient::DeleteFilesOf(state);
  row.entropy = verdict.entropy;
  row.noise = verdict.noise.threshold > 0 ? verdict.noise.total() / verdict.noise.threshold : verdict.noise.total();
  row.last_change_ms = std::int64_t{state.last_change} * 1000;
  row.last_scan_ms = std::int64_t{state.last_scan} * 1000;
  row.verdict = VerdictName(verdict.kind);
  row.reason = verdict.reason;
  return row;
}

}  // namespace

Result<Page<PartitionRow>> PartitionPage(const WatchedTable& table, const PageOf& page, TimestampMs now) {
  std::string after_key;
  std::optional<Rank> after;
  if (!page.after.empty()) {
    FIRN_ASSIGN(after, RankOf(page.after, after_key));
  }
  const auto wanted = static_cast<std::size_t>(std::clamp(page.limit, 1, kPageItemsMax)) + 1;
  const orient::Policy& policy = table.wanted.policy;
  std::vector<Rank> best;  // a heap, the last one on top
  for (std::uint32_t i = 0; i < table.state.size(); ++i) {
    const orient::PartitionState& state = table.state.partition(i);
    const Rank place{-orient::MeasureNoise(state, policy, now).total(),
                     -orient::RemovableFilesOf(state, policy.target_size_bytes), table.state.key(i), i};
    if ((after && !(*after < place)) || (best.size() == wanted && !(place < best.front()))) continue;
    if (best.size() == wanted) {
      std::ranges::pop_heap(best, std::less<>());
      best.pop_back();
    }
    best.push_back(place);
    std::ranges::push_heap(best, std::less<>());
  }
  std::ranges::sort_heap(best, std::less<>());
  Page<PartitionRow> result;
  if (best.size() == wanted) {
    best.pop_back();
    result.next = CursorOf(best.back());
  }
  for (const Rank& place : best) result.items.push_back(RowOf(table, place.index, now));
  return result;
}

}  // namespace firn::service
