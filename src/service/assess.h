// SPDX-License-Identifier: Apache-2.0
//
// Joins the stages that only read: observe, orient, decide.
//
// In: a loaded table, its files, a policy, a selection of partitions. Out: Facts, Diagnosis, Plan.
// Guarantees: nothing is written. The plan names the snapshot that was read.
// Cost: one read of the manifests of the branch that may hold what is selected; of a sorted table, another of those in
//   which something can be merged.
// Errors: those of observe/ and of reading key ranges.
// Threads: those of observe/, joined.
// Source: docs/architecture.md.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "decide/decide.h"
#include "decide/partition_selection.h"
#include "observe/observe.h"
#include "orient/orient.h"
#include "ports/catalog.h"
#include "service/partition_keys.h"

namespace firn::service {

struct AssessOptions {
  std::string ref = "main";
  orient::Policy policy = {};
  std::string plan_id = {};
  std::optional<std::int64_t> max_bytes = std::nullopt;
  /// Partitions to look at; null: all. Borrowed.
  const decide::PartitionSelection* selection = nullptr;
  /// Of those, the ones to look at; null: all. Borrowed.
  const PartitionKeys* keys = nullptr;
  int threads = 1;
  /// Refuse a table that names a data file twice: no rewrite of it could be right.
  bool check_duplicates = false;
  std::function<void(const observe::ObserveProgress&)> progress = {};
};

struct Assessment {
  observe::Facts facts;
  orient::Diagnosis diagnosis;
  decide::Plan plan;
};

/// Observe and orient; the plan stays empty. A data file that is named twice is an error only where that is asked for.
Result<Assessment> Diagnose(const ports::LoadedTable& table, ports::FileIO& io, const AssessOptions& options,
                            TimestampMs now);
/// Decides on what Diagnose found with the same arguments.
Status MakePlan(const ports::LoadedTable& table, ports::FileIO& io, const AssessOptions& options,
                Assessment& assessment);
/// All three; a data file that is named twice is an error.
Result<Assessment> Assess(const ports::LoadedTable& table, ports::FileIO& io, const AssessOptions& options,
                          TimestampMs now);

}  // namespace firn::service
