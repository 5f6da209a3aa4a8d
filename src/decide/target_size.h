// SPDX-License-Identifier: Apache-2.0
//
// Compares target file sizes for a table: what each would do to its files now, what its readers would pay then and
// later, and how much rewriting it would mean; and says whether anything is worth changing.
//
// In: facts, policy, constants of reading and merging. Out: one line a target, and advice.
// Guarantees: files are packed by Decide itself with another target, also where the table has firn.enabled=false. A
//   larger target never means more files in the end, so what speaks for a small one is the rewriting: advised is the
//   target that is rewritten least among those that read nearly as fast as the fastest one. Where earlier runs tell
//   what rewriting costs and how much comes, it is the one that costs least a day, reads and rewriting together; and
//   a merge has to gain more until its partitions are merged again than it takes. The present target stays unless
//   another one gains at least `gain_min`.
// Cost: a plan a target, and what ingest_rewrites.h says.
// Errors: those of Decide.
// Threads: pure.
// Source: docs/analyze.md.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "decide/decide.h"
#include "decide/earlier_runs.h"
#include "decide/ingest_rewrites.h"
#include "decide/read_cost.h"

namespace firn::decide {

struct TargetOptions {
  CostModel cost = {};
  ReadCosts read = {};
  IngestHistory ingest = {};
  KeyRangeLookup key_ranges = {};
};

/// The table read whole by one worker.
struct ReadSeconds {
  double all = 0, two = 0;  // all columns, two of them
};

struct TargetCandidate {
  std::int64_t target_size_bytes = 0;
  bool is_current = false;
  // If the present files were merged now:
  std::int64_t files_after = 0, bytes_after = 0;
  std::int64_t files_replaced = 0, bytes_rewritten = 0;
  double merge_seconds = 0;
  ReadSeconds read_after;
  // If the table had been written and kept at this target:
  std::int64_t lasting_files = 0;
  ReadSeconds lasting_read;
  double rewrites_per_byte = 0;  // 0: no history
};

/// 32, 64, 128, 256 and 512 MiB and the present target, ascending; sizes that are larger than one that holds the
/// largest partition whole are left out, but for the present one.
std::vector<std::int64_t> CandidateTargets(const observe::Facts& facts, std::int64_t current_target_bytes);

Result<TargetCandidate> EvaluateTarget(const observe::Facts& facts, const orient::Policy& policy,
                                       std::int64_t target_size_bytes, const TargetOptions& options);

ReadSeconds ReadNow(const observe::Facts& facts, const ReadCosts& read);

struct AdviceLimits {
  double gain_min = 0.1;       // of a read of two columns, or of the rewriting
  double seconds_min = 0.01;   // that a read must save
  double day_seconds_min = 1;  // that another target must save a day
  double near = 0.05;          // reads as fast as the fastest
};

struct Advice {
  bool merge = false;
  bool change_target = false;
  std::int64_t target_size_bytes = 0;
  double read_saved = 0;                    // share of a read of two columns that merging at this target saves
  double seconds_saved = 0;                 // the same in seconds
  std::string merge_reason, target_reason;  // a sentence each
};

/// "leave", "merge", "change-target", "change-target-and-merge".
std::string_view AdviceWord(const Advice& advice);

/// `candidates` has the present target among them. Without `weighing`, reads come first and rewriting breaks ties.
Advice Advise(const std::vector<TargetCandidate>& candidates, const ReadSeconds& now, std::int64_t files_now,
              const AdviceLimits& limits = {}, const std::optional<Weighing>& weighing = std::nullopt);

}  // namespace firn::decide
