// SPDX-License-Identifier: Apache-2.0
//
// Does what a candidate stands for: plans it anew on the table as it is now, and rewrites.
//
// In: a candidate, the table's catalog, a policy. Out: what it did, measured in the terms in which it was predicted.
// Guarantees: a stale candidate does only what is still worth doing, which may be nothing. All writing goes through
//   service/optimize.h and service/rewrite_deletes.h, and so through the one commit path.
// Cost: one assessment of the candidate's partitions and the rewrite.
// Threads: one call a thread; `cancelled` may be set from any.
// Errors: in the result: why nothing, or not everything, was done.
// Source: docs/deciding.md.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/random.h"
#include "decide/candidate.h"
#include "decide/earlier_runs.h"
#include "ports/catalog.h"
#include "ports/clock.h"
#include "ports/processes.h"
#include "service/look.h"

namespace firn::service {

struct WorkOptions {
  TableSettingsOf settings_of = {};
  /// Bytes that may be read; absent: as many as it takes.
  std::optional<std::int64_t> max_bytes = {};
  std::int64_t memory_bytes = std::int64_t{1} << 30;
  int threads = 1;
  std::string service_id = {};
  const std::atomic<bool>* cancelled = nullptr;
  /// From 0 to 1.
  std::function<void(double)> progress = {};
  /// Name of the plan, before anything of it is written.
  std::function<void(const std::string& plan_id)> planned = {};
  /// Of analyses: a local folder for the experiment, empty: the system's; and what is remembered of earlier work.
  std::string scratch = {};
  std::function<Result<decide::EarlierRuns>()> earlier = {};
  const ports::Processes* processes = nullptr;
};

struct WorkResult {
  decide::Effect measured;
  std::string plan_id;
  std::int64_t delete_files_added = 0;
  std::int64_t commits = 0;
  std::int64_t retries = 0;        // attempts to commit that others were faster than
  Status status = Ok();            // why something was not done
  std::int64_t failures = 0;       // groups that were not done
  std::vector<std::string> notes;  // for people
  std::optional<AnalysisRow> analysis;
};

WorkResult DoWork(const decide::Candidate& candidate, ports::Catalog& catalog, const ports::TableIdentifier& table,
                  const WorkOptions& options, ports::Clock& clock, Random& random);

}  // namespace firn::service
