// SPDX-License-Identifier: Apache-2.0
//
// Walks from a snapshot to its oldest known ancestor.
//
// In: metadata, a snapshot of it. Out: the snapshot and its ancestors, newest first.
// Guarantees: ends whatever the parents are: a snapshot that would come a second time ends the walk, and is named.
// Cost: the length of the walk. Threads: pure.
// Source: Iceberg table spec, "Snapshots" (`parent-snapshot-id`).
#pragma once

#include <cstddef>
#include <limits>
#include <optional>
#include <vector>

#include "iceberg/metadata.h"

namespace firn::iceberg {

struct Ancestors {
  std::vector<const Snapshot*> path;  // borrowed from the metadata
  std::optional<SnapshotId> circle;   // the snapshot that is its own ancestor
};

/// `head` may be null: an empty path.
Ancestors AncestorsOf(const TableMetadata& metadata, const Snapshot* head,
                      std::size_t length_max = std::numeric_limits<std::size_t>::max());

}  // namespace firn::iceberg
