// SPDX-License-Identifier: Apache-2.0
#include "simulate/table_trace.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "base/human_text.h"
#include "orient/partition_key.h"

namespace firn::simulate {
namespace {

constexpr std::int64_t kPlacesMax = 10'000;

class HistoryMaker {
 public:
  HistoryMaker(const observe::Facts& start, const observe::ChangeSet& changes) : start_(start), changes_(changes) {}

  Result<TableHistory> Make(TimestampMs started_at) {
    history_.start = started_at;
    AddStart();
    bool has_writer = false;
    for (const observe::Change& change : changes_.changes) {
      if (change.operation == "replace" || change.is_own) {
        LeaveOut(change);
      } else if (change.partitions.empty()) {
        ++history_.empty_snapshots;
      } else {
        AddCommit(change);
        has_writer = true;
      }
    }
    if (!has_writer) {
      return Error{Code::kInvalidArgument,
                   fmt::format("{}: no writer changed a file in the history of `{}`: {} after the first one, {} of "
                               "them rewrites",
                               changes_.table, changes_.ref, HumanCount(Size(changes_.changes), "snapshot"),
                               history_.rewrites_left_out)};
    }
    history_.partitions = static_cast<std::uint32_t>(live_files_.size());
    history_.end = TimestampMs{history_.commits.back().at.value + kTailMs};
    return std::move(history_);
  }

 private:
  template <typename List>
  static std::int64_t Size(const List& list) {
    return static_cast<std::int64_t>(list.size());
  }

  std::uint32_t PartitionOf(SpecId spec, const iceberg::PartitionTuple& tuple) {
    const auto [found, is_new] =
        partitions_.try_emplace(orient::PartitionKeyOf(spec, tuple), static_cast<std::uint32_t>(partitions_.size()));
    if (is_new) live_files_.push_back(0);
    return found->second;
  }

  void AddStart() {
    history_.start_files = Size(start_.files);
    Commit commit{.at = history_.start, .table = 0, .partitions = {}};
    for (const observe::PartitionFacts& facts : start_.partitions) {
      PartitionCommit& partition = commit.partitions.emplace_back();
      partition.partition = PartitionOf(facts.spec_id, facts.tuple);
      partition.equality_deletes = static_cast<std::int32_t>(std::min<std::int64_t>(facts.equality_delete_files, 1e6));
    }
    for (const observe::DataFileFacts& facts : start_.files) {
      PartitionCommit& partition = commit.partitions[facts.partition];
      ++live_files_[partition.partition];
      NewFile& file = partition.added.emplace_back(NewFile{.size_bytes = facts.size_bytes, .rows = facts.record_count});
      const bool has_positional = (facts.flags & (observe::kHasPositionDeletes | observe::kHasDeletionVector)) != 0;
      // How many rows a delete file of several data files deletes in one of them is not known: one is.
      if (has_positional) file.deleted_rows = std::max<std::int64_t>(1, facts.deleted_rows);
      if ((facts.flags & observe::kHasEqualityDeletes) == 0) continue;
      const std::int64_t others = std::int64_t{facts.delete_files} - (has_positional ? 1 : 0);
      file.equality_deletes = static_cast<std::int32_t>(std::clamp<std::int64_t>(others, 1, 1'000'000));
      partition.equality_deletes = std::max(partition.equality_deletes, file.equality_deletes);
    }
    // Partitions of delete files alone have nothing that a merge could read.
    std::erase_if(commit.partitions, [](const PartitionCommit& partition) { return partition.added.empty(); });
    if (!commit.partitions.empty()) history_.commits.push_back(std::move(commit));
  }

  void CountLive(std::uint32_t partition, const observe::PartitionDelta& delta) {
    live_files_[partition] += Size(delta.added) - Size(delta.removed);
  }

  void LeaveOut(const observe::Change& change) {
    ++history_.rewrites_left_out;
    for (const observe::PartitionDelta& delta : change.partitions) {
      history_.files_of_rewrites += Size(delta.removed);
      CountLive(PartitionOf(delta.spec_id, delta.tuple), delta);
    }
  }

  void AddCommit(const observe::Change& change) {
    Commit commit;
    const TimestampMs before = history_.commits.empty() ? history_.start : history_.commits.back().at;
    commit.at = std::max(before, change.timestamp);
    for (const observe::PartitionDelta& delta : change.partitions) {
      PartitionCommit& partition = commit.partitions.emplace_back();
      partition.partition = PartitionOf(delta.spec_id, delta.tuple);
      partition.removes_all = !delta.removed.empty() && Size(delta.removed) >= live_files_[partition.partition];
      CountLive(partition.partition, delta);
      for (const observe::ChangedFile& file : delta.added) {
        partition.added.push_back({.size_bytes = file.size_bytes, .rows = file.record_count});
      }
      for (const observe::ChangedFile& file : delta.removed) partition.removed_sizes.push_back(file.size_bytes);
      AddDeletes(delta, partition);
    }
    history_.commits.push_back(std::move(commit));
  }

  /// A vector that replaces one has its rows too. Which files are meant is not told by the numbers: they are spread.
  static void AddDeletes(const observe::PartitionDelta& delta, PartitionCommit& partition) {
    const observe::ChangedDeletes& added = delta.added_deletes;
    partition.equality_deletes = static_cast<std::int32_t>(std::min<std::int64_t>(added.equality_files, 1'000'000));
    const std::int64_t files = std::min(added.position_files + added.vectors, kPlacesMax);
    const std::int64_t rows = added.rows - delta.removed_deletes.rows;
    if (files == 0 || rows <= 0) return;
    partition.deletes = DeleteKind::kVectors;
    partition.deleted_rows = rows;
    for (std::int64_t i = 0; i < files; ++i) {
      partition.places.push_back((static_cast<float>(i) + 0.5F) / static_cast<float>(files));
    }
  }

  const observe::Facts& start_;
  const observe::ChangeSet& changes_;
  TableHistory history_;
  std::unordered_map<std::string, std::uint32_t> partitions_;
  std::vector<std::int64_t> live_files_;  // by partition, in the real table
};

}  // namespace

Result<TableHistory> MakeTableHistory(const observe::Facts& start, const observe::ChangeSet& changes,
                                      std::string start_reason) {
  FIRN_ASSIGN(TableHistory history, HistoryMaker(start, changes).Make(start.observed_at));
  history.table = changes.table;
  history.ref = changes.ref;
  history.first_snapshot_id = start.snapshot_id ? start.snapshot_id->value : 0;
  history.start_reason = std::move(start_reason);
  return history;
}

std::vector<std::string> Sentences(const TableHistory& history) {
  const std::int64_t commits = static_cast<std::int64_t>(history.commits.size()) - (history.start_files > 0 ? 1 : 0);
  std::vector<std::string> sentences = {
      fmt::format("Starts with the {} of snapshot {}, as one commit: {}.", HumanCount(history.start_files, "data file"),
                  history.first_snapshot_id, history.start_reason),
      fmt::format("Then {} of writers to {}, and one hour more.", HumanCount(commits, "commit"),
                  HumanCount(history.partitions, "partition"))};
  if (history.rewrites_left_out > 0) {
    sentences.push_back(fmt::format("Left out: {} (`replace`, or firn's own) of {}; the policies do that work here.",
                                    HumanCount(history.rewrites_left_out, "rewrite"),
                                    HumanCount(history.files_of_rewrites, "file")));
  }
  if (history.empty_snapshots > 0) {
    sentences.push_back(fmt::format("{} changed no file.", HumanCount(history.empty_snapshots, "snapshot")));
  }
  return sentences;
}

json::Value ToJson(const TableHistory& history) {
  json::Value value = json::Value::Object();
  value.Set("table", history.table);
  value.Set("ref", history.ref);
  value.Set("first_snapshot_id", history.first_snapshot_id);
  value.Set("start_reason", history.start_reason);
  value.Set("start_ms", history.start.value);
  value.Set("end_ms", history.end.value);
  value.Set("commits", static_cast<std::int64_t>(history.commits.size()));
  value.Set("partitions", std::int64_t{history.partitions});
  value.Set("start_files", history.start_files);
  value.Set("rewrites_left_out", history.rewrites_left_out);
  value.Set("files_of_rewrites", history.files_of_rewrites);
  value.Set("empty_snapshots", history.empty_snapshots);
  return value;
}

}  // namespace firn::simulate
