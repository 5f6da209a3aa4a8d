// SPDX-License-Identifier: Apache-2.0
//
// Tells which delete files apply to a data file.
//
// In: the live delete files of a snapshot. Out: per data file, the deletes that a reader must apply.
// Guarantees: never leaves out a delete that applies. Position deletes are pruned only by referenced_data_file or by
//   bounds of file_path, and bounds that may have been cut never prune. Equality deletes apply to strictly lower data
//   sequence numbers, position deletes and deletion vectors to equal or lower ones; spec id and tuple must match,
//   except for equality deletes of an unpartitioned spec. A deletion vector stands for all position deletes.
// Cost: O(delete files) memory; O(log) a look-up plus the candidates of one partition.
// Threads: immutable after Build().
// Source: Iceberg table spec, "Scan Planning", "Row-level Deletes".
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/ids.h"
#include "iceberg/manifest.h"
#include "iceberg/metadata.h"

namespace firn::iceberg {

struct DeleteEntry {
  DataFile file;
  SequenceNumber sequence_number{0};
};

enum class DeleteKind : std::uint8_t { kPositions, kVector, kEquality };
DeleteKind KindOf(const DataFile& delete_file);
/// Whether a row of a position delete file may name `path`, as far as its entry tells: false if it names another data
/// file, or if its bounds lie elsewhere.
bool EntryAllows(const DataFile& position_deletes, std::string_view path);

class DeleteIndex {
 public:
  /// `entry.file` needs the bounds of file_path if it is a position delete file; no other metrics.
  void Add(DeleteEntry entry, bool spec_is_unpartitioned);
  /// Sorts; call once after the last Add.
  void Build();
  bool empty() const { return entries_.empty(); }
  const std::vector<DeleteEntry>& entries() const { return entries_; }
  /// Indexes into entries() of all deletes that apply to `file`, ascending.
  std::vector<std::uint32_t> Find(const DataFile& file, SequenceNumber sequence_number) const;
  /// Of those, the position delete files and vectors: cheap where many equality deletes apply.
  std::vector<std::uint32_t> FindPositional(const DataFile& file, SequenceNumber sequence_number) const;
  /// Whether an equality delete applies: O(1).
  bool AnyEquality(const DataFile& file, SequenceNumber sequence_number) const;
  /// Cheaper: whether any applies.
  bool Any(const DataFile& file, SequenceNumber sequence_number) const;

  struct Kinds {
    bool positions = false, vector = false, equality = false;
    bool any() const { return positions || vector || equality; }
  };
  /// Cheaper: which kinds apply.
  Kinds FindKinds(const DataFile& file, SequenceNumber sequence_number) const;
  /// What a reader of the file has to do. Position deletes that do not name the file and are older than it (by its file
  /// sequence number) are not counted: nobody can have known its path.
  struct Tally {
    std::uint32_t delete_files = 0;
    std::int64_t deleted_rows = 0;  // of vectors and position deletes that name the file and no other
    bool may_delete_more = false;   // equality deletes, or position deletes of several files
  };
  Tally Count(const DataFile& file, SequenceNumber sequence_number, SequenceNumber file_sequence_number) const;
  /// Position deletes or vectors that name the path of `file` but do not apply to it, because their partition, spec or
  /// sequence number does not fit: readers disagree about such tables.
  Kinds FindMisplaced(const DataFile& file, SequenceNumber sequence_number) const;
  /// The same, one by one.
  std::vector<std::uint32_t> Misplaced(const DataFile& file, SequenceNumber sequence_number) const;

 private:
  // Newest first, so that a look-up stops at the first one that is too old.
  using Group = std::vector<std::uint32_t>;

  /// Calls `visit(index)` for every delete file that applies, until it returns false.
  template <class Visitor>
  void ForEach(const DataFile& file, SequenceNumber sequence_number, Visitor visit) const;
  /// Vectors, or without one position delete files. False: the visitor stopped.
  template <class Visitor>
  bool ForEachPositional(const DataFile& file, SequenceNumber sequence_number, Visitor visit) const;
  template <class Visitor>
  bool ForEachPosition(const DataFile& file, SequenceNumber sequence_number, Visitor visit) const;
  template <class Visitor>
  bool ForEachBoundThatCouldBe(std::string_view path, Visitor visit) const;
  bool PositionsApply(std::uint32_t index, const DataFile& file, SequenceNumber sequence_number) const;

  std::vector<DeleteEntry> entries_;
  std::unordered_map<std::string, Group> vectors_by_path_, positions_by_path_;
  // Position deletes whose bounds are one path: sorted by it, because a path that was cut is found by prefix.
  std::vector<std::pair<std::string, std::uint32_t>> positions_by_bound_;
  std::unordered_map<std::string, Group> positions_by_scope_, equality_by_scope_;
  Group global_equality_;
};

}  // namespace firn::iceberg
