// SPDX-License-Identifier: Apache-2.0
//
// What is known of a table's partitions between scans: made exact by a scan, kept up by the deltas of commits.
//
// In: facts of a scan; changes of snapshots. Out: partition states; which of them a change touched; whether the whole
//   table has to be scanned.
// Guarantees: while needs_scan() is empty, the exact numbers of a partition (partition_state.h) are those of the
//   snapshot snapshot_id(), bit by bit. A change is taken once and in order, or not at all: one that was taken already
//   has no effect, one that does not follow makes everything unknown. So does another table, another partitioning,
//   another basis of the policy, and history that is not complete. A lost, damaged or forgotten state costs a scan.
//   At most partitions_max partitions and 64 times that many bytes of keys are kept: the quietest are forgotten, an
//   eighth at a time, and counted. A partition that was forgotten with something pending leads to a scan of the table
//   after firn.noise-age-seconds. When the policy wants more than before (fewer removable files, less entropy), what is
//   worth doing now is pending from then on.
//   Times are those of the changes, at most `now`: the same changes give the same state again.
// Cost: about 120 bytes and the key a partition. Apply: O(changed files). AbsorbScan: O(files).
// Threads: one owner.
// Errors: AbsorbScan: kConflict (facts of another snapshot). Parse: kCorrupt.
// Source: docs/deciding.md.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "observe/change.h"
#include "observe/facts.h"
#include "orient/partition_key.h"
#include "orient/partition_store.h"

namespace firn::orient {

inline constexpr std::size_t kPartitionsMax = 10'000'000;

class TableState {
 public:
  explicit TableState(std::size_t partitions_max = kPartitionsMax) : partitions_max_(partitions_max) {}

  /// Of the last scan.
  const std::string& table_uuid() const { return table_uuid_; }
  const std::string& ref() const { return ref_; }
  /// The snapshot that the numbers are of; absent: the empty table, or not known (needs_scan).
  const std::optional<SnapshotId>& snapshot_id() const { return snapshot_id_; }
  /// Why everything has to be scanned before anything can be said; empty: not needed.
  const std::string& needs_scan() const { return needs_scan_; }

  struct Applied {
    std::vector<std::uint32_t> touched;  // partitions that foreign or own files came to or went from, ascending
    std::int64_t changes = 0;            // that were new
  };
  /// Brings the state to set.head. `policy` has passed CheckPolicy. Touches nothing when needs_scan() says why.
  Applied Apply(const observe::ChangeSet& set, const Policy& policy, TimestampMs now);
  /// One change that follows snapshot_id(); the table, the partitioning and the policy's basis are as before.
  Applied Apply(const observe::Change& change, const Policy& policy, TimestampMs now);

  /// Replaces everything by what a scan of the whole table found.
  void AbsorbScan(const observe::Facts& facts, const Policy& policy);
  /// Replaces the partitions named by `keys`; those that the facts do not have are empty now.
  Status AbsorbScan(const observe::Facts& facts, const Policy& policy, std::span<const std::string> keys);
  /// Everything is unknown from now on.
  void Reset(std::string reason);
  /// Why the whole table should be scanned by now although its state is usable; empty: no reason.
  std::string WhyScanAll(const Policy& policy, TimestampMs now) const;

  std::size_t size() const { return store_.size(); }
  /// Index below size(); valid until the next Apply, AbsorbScan or Reset.
  const PartitionState& partition(std::uint32_t index) const { return store_.at(index); }
  std::string_view key(std::uint32_t index) const { return store_.key(index); }
  std::optional<std::uint32_t> Find(std::string_view key) const { return store_.Find(key); }
  /// Partitions forgotten since this object was made.
  std::int64_t forgotten_total() const { return forgotten_total_; }

  /// Version, content, checksum.
  Bytes Serialize() const;
  /// Partitions above the maximum are forgotten. kCorrupt: make a new state and scan.
  static Result<TableState> Parse(ByteView bytes, std::size_t partitions_max = kPartitionsMax);

  friend bool operator==(const TableState& a, const TableState& b);

 private:
  friend class TableStateCodec;

  std::uint32_t Insert(std::string_view key, std::vector<std::uint32_t>* touched);
  void ForgetQuietest(std::vector<std::uint32_t>* touched);
  void NotePolicy(const Policy& policy, TimestampMs now);
  bool CheckFollows(const observe::Change& change);
  void Take(const observe::Change& change, const Policy& policy, TimestampMs now, std::vector<std::uint32_t>& touched);
  void NoteGlobalDeletes(const observe::Change& change, std::uint32_t seconds);
  std::string WhyUnknown(const observe::ChangeSet& set, const Policy& policy) const;

  std::size_t partitions_max_;
  std::string table_uuid_, ref_ = "main";
  std::string needs_scan_ = "never scanned";
  std::optional<SnapshotId> snapshot_id_;
  std::uint64_t partitioning_ = 0;
  StateBasis basis_;
  /// By which it was decided what is pending.
  std::int64_t removable_files_min_ = 1;
  double tolerated_entropy_ = 0;
  /// Partitions that had files or something pending when they were forgotten, since the last scan of the table: a
  /// partition that is not found may be one of them.
  std::int64_t forgotten_ = 0, forgotten_total_ = 0;
  /// Seconds; 0: no.
  std::uint32_t forgotten_pending_since_ = 0, global_deletes_since_ = 0;
  std::int64_t global_deletes_ = 0;  // equality deletes of all partitions that came since the last scan of the table
  PartitionStore store_;
};

}  // namespace firn::orient
