// SPDX-License-Identifier: Apache-2.0
#include "service/other_service.h"

#include <utility>

namespace firn::service {

std::optional<std::string> FindOtherService(const iceberg::TableMetadata& metadata, std::string_view own_id,
                                            OtherService& seen) {
  if (own_id.empty()) return std::nullopt;
  std::optional<std::string> found;
  TimestampMs newest = seen.committed_at;
  for (const iceberg::Snapshot& snapshot : metadata.snapshots()) {
    if (snapshot.timestamp <= newest) continue;
    const std::string* id = snapshot.FindSummary("firn.service-id");
    if (id == nullptr || id->empty() || *id == own_id) continue;
    newest = snapshot.timestamp;
    // Whoever writes to the table may say anything here, but not much of it.
    constexpr std::size_t kIdBytesMax = 64;
    found = id->substr(0, kIdBytesMax);
  }
  seen.committed_at = newest;
  return std::exchange(seen.has_looked, true) ? found : std::nullopt;
}

}  // namespace firn::service
