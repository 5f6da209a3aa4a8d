// SPDX-License-Identifier: Apache-2.0
#include "service/other_service.h"

#include <utility>

namespace firn::service {

std::optional<std::string> FindOtherService(const iceberg::TableMetadata& metadata, std::string_view own_id,
                                            TimestampMs now, OtherService& seen) {
  if (own_id.empty()) return std::nullopt;
  if (seen.table_uuid != metadata.table_uuid()) seen = {.table_uuid = metadata.table_uuid()};
  constexpr std::int64_t kAheadMaxMs = 3'600'000;
  std::optional<std::string> found;
  OtherService newest = seen;
  for (const iceberg::Snapshot& snapshot : metadata.snapshots()) {
    const bool has_number = snapshot.sequence_number > SequenceNumber(0);
    if (has_number && snapshot.sequence_number <= newest.sequence_number) continue;
    const bool is_ahead = snapshot.timestamp.value - now.value > kAheadMaxMs;
    if (!has_number && (snapshot.timestamp <= newest.committed_at || is_ahead)) continue;
    const std::string* id = snapshot.FindSummary("firn.service-id");
    if (id == nullptr || id->empty() || *id == own_id) continue;
    if (has_number) {
      newest.sequence_number = snapshot.sequence_number;
    } else {
      newest.committed_at = snapshot.timestamp;
    }
    // Whoever writes to the table may say anything here, but not much of it.
    constexpr std::size_t kIdBytesMax = 64;
    found = id->substr(0, kIdBytesMax);
  }
  seen = std::move(newest);
  return std::exchange(seen.has_looked, true) ? found : std::nullopt;
}

}  // namespace firn::service
