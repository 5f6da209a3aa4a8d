// SPDX-License-Identifier: Apache-2.0
//
// What every plan must still find before work on it begins, and what every commit of one says of it.
//
// In: a table as it is now, and what the plan was made on. Out: a refusal, or nothing.
// Guarantees: what catalog, storage or the committer would refuse after the work is refused before it, as far as it can
//   be seen then; whoever commits checks everything again.
// Cost: none but the catalog's and the storage's own checks.
// Errors: kConflict (the plan is out of date), kInvalidArgument, kUnsupported; those of catalog and storage.
// Threads: pure.
// Source: Iceberg table spec, "Commit Conflict Resolution and Retry".
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "act/commit.h"
#include "act/data_location.h"

namespace firn::act {

struct PlanBase {
  std::string_view table_uuid;
  std::int32_t format_version = 0;
  const std::string& ref;
  std::optional<SnapshotId> snapshot_id;           // of the plan
  std::optional<SnapshotId> observed_snapshot_id;  // of the facts
};

/// Whether the plan's snapshot is still known, and `head` stands on it.
bool IsInHistory(const iceberg::TableMetadata& metadata, SnapshotId plan, const iceberg::Snapshot* head);

/// kConflict: "TABLE: the plan is out of date: `what`".
Error OutOfDate(const ports::LoadedTable& table, std::string_view what);

/// Afterwards the branch has a head, and the plan's snapshot is given and known.
Status CheckPlanBase(const ports::LoadedTable& table, const PlanBase& plan);

/// Whether the table may be changed, and `file_name` and manifests be created where they belong.
Status CheckPlaces(CommitEnvironment& environment, const ports::LoadedTable& table, const DataLocations& locations,
                   const std::string& file_name);

/// Before there is a plan: whether `ref` of the table may be changed at all, as far as metadata and the rules of `io`
/// tell. The catalog is not asked.
Status CheckChangeable(ports::FileIO& io, const ports::LoadedTable& table, const std::string& ref);

/// After all checks, before the first file: marks the run, where runs are marked.
Status BeginRun(CommitEnvironment& environment, const ports::LoadedTable& table);

/// Members of the snapshot's summary.
std::vector<std::pair<std::string, std::string>> PlanSummary(const std::string& service_id, SnapshotId plan);

}  // namespace firn::act
