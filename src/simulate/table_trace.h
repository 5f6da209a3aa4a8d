// SPDX-License-Identifier: Apache-2.0
//
// What writers did to a real table, as a trace: its history without the rewrites of other optimizers.
//
// In: the files of an old snapshot, the changes after it (observe/history.h). Out: commits, and what was left out.
// Guarantees: the first commit brings the files that were there; each later one is a snapshot of a writer, with the
//   time, sizes and rows of its entries. Snapshots whose operation is `replace`, and those of firn, are left out and
//   counted: the policies do that work. A partition that a writer emptied is empty afterwards whatever was merged.
//   Times never go back: a clock that did is taken to stand still.
// Cost: 32 bytes a file that came or went. Threads: values.
// Errors: kInvalidArgument when no writer did anything.
// Source: docs/simulator.md ("From a table").
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "format/json/json.h"
#include "observe/change.h"
#include "observe/facts.h"
#include "simulate/trace.h"

namespace firn::simulate {

/// After the last commit, for what it leads to.
inline constexpr std::int64_t kTailMs = 3'600'000;

struct TableHistory {
  std::string table, ref;
  std::int64_t first_snapshot_id = 0;
  std::string start_reason;      // why it does not start earlier
  TimestampMs start, end;        // of the run: kTailMs after the last commit
  std::vector<Commit> commits;   // the first one: files that were there
  std::int64_t start_files = 0;  // of the first snapshot
  std::uint32_t partitions = 0;
  std::int64_t rewrites_left_out = 0, files_of_rewrites = 0;  // files: that they replaced
  std::int64_t empty_snapshots = 0;                           // without any file
};

Result<TableHistory> MakeTableHistory(const observe::Facts& start, const observe::ChangeSet& changes,
                                      std::string start_reason);

/// One sentence each, for people: where it starts, how much is there, what was left out.
std::vector<std::string> Sentences(const TableHistory& history);
json::Value ToJson(const TableHistory& history);

/// Several can read one history at the same time.
class HistoryTrace final : public Trace {
 public:
  explicit HistoryTrace(std::shared_ptr<const TableHistory> history) : history_(std::move(history)) {}
  bool Next(Commit& commit) override {
    if (next_ == history_->commits.size()) return false;
    commit = history_->commits[next_++];
    return true;
  }
  std::uint32_t table_count() const override { return 1; }

 private:
  std::shared_ptr<const TableHistory> history_;
  std::size_t next_ = 0;
};

}  // namespace firn::simulate
