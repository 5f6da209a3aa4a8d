// SPDX-License-Identifier: Apache-2.0
#include "iceberg/ancestors.h"

#include <unordered_set>

namespace firn::iceberg {

Ancestors AncestorsOf(const TableMetadata& metadata, const Snapshot* head, std::size_t length_max) {
  Ancestors found;
  std::unordered_set<SnapshotId> visited;
  for (const Snapshot* at = head; at != nullptr && found.path.size() < length_max;) {
    if (!visited.insert(at->id).second) {
      found.circle = at->id;
      break;
    }
    found.path.push_back(at);
    at = at->parent_id ? metadata.FindSnapshot(*at->parent_id) : nullptr;
  }
  return found;
}

}  // namespace firn::iceberg
