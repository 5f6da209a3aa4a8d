// SPDX-License-Identifier: Apache-2.0
//
// Turns a proposal into the request that a catalog gets: manifest list, snapshot, updates, requirements.
//
// In: the base of an attempt, the proposal. Out: the request and the metadata files that it names.
// Guarantees: sequence number, row ids and parent come from this base only; the timestamp is never before that of the
//   parent or of the table; retention settings of the branch stay; requirements pin table and branch head.
// Errors: those of writing the list.
// Threads: any, with different arguments.
// Source: Iceberg table spec, "Snapshots", "Snapshot Row IDs", "Manifest Lists".
#pragma once

#include <string>
#include <vector>

#include "act/change.h"
#include "base/random.h"
#include "base/time.h"
#include "ports/catalog.h"

namespace firn::act {

/// A positive id that no snapshot of the table has.
SnapshotId NewSnapshotId(const iceberg::TableMetadata& metadata, Random& random);

struct PreparedCommit {
  ports::TableCommit commit;
  std::string manifest_list;                // empty: no snapshot
  std::vector<std::string> metadata_files;  // the list, and the manifests and delete files that this commit wrote
};

/// `attempt` counts from 1 and makes the list's name unique.
Result<PreparedCommit> PrepareCommit(const CommitBase& base, const Change& change, Proposal proposal, TimestampMs now,
                                     int attempt, MetadataFiles& files);

}  // namespace firn::act
