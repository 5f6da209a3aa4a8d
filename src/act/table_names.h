// SPDX-License-Identifier: Apache-2.0
//
// All that a table names: whatever is not among it, no snapshot needs.
//
// In: a table, what is looked for. Out: each location, to a function.
// Guarantees: with `manifests` every manifest, and with `entries` every file of every manifest too, of every snapshot
//   that is in the metadata, whatever its branch; always every text of the metadata itself, which are manifest lists,
//   statistics, the metadata log. Left out is only what is certainly older than the files that are looked for: the
//   snapshot `made_after`, its ancestors, and the manifests of its list. Snapshots do not change, and each is made
//   after its parent, so this holds also for a table that was put back and went on in another way; numbers of snapshots
//   and times say nothing of the kind.
// Cost: the manifest lists of all other snapshots, and their manifests, each once. Where `made_after` is not known any
//   more these are all of the table: about as much as planning it. More than `NamingLimits` is not read.
// Errors: kLimit; those of reading.
// Threads: `name` is called from several at once if there are many manifests.
// Source: Iceberg table spec, "Snapshots".
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>

#include "base/ids.h"
#include "ports/catalog.h"

namespace firn::act {

struct NamingLimits {
  std::int64_t list_lines_max = 20'000'000;
  std::int64_t manifests_max = 200'000;
  std::int64_t manifest_bytes_max = std::int64_t{8} << 30;
};

struct NamingScope {
  bool manifests = true;
  bool entries = true;
  std::optional<SnapshotId> made_after = {};
  NamingLimits limits = {};
};

/// Ends early when `name` gives false: nothing is looked for any more.
Status NameAll(ports::FileIO& io, const ports::LoadedTable& table, const NamingScope& scope,
               const std::function<bool(std::string_view)>& name);

}  // namespace firn::act
