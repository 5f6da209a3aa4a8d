// SPDX-License-Identifier: Apache-2.0
//
// Tells which delete files apply to a data file.
//
// In: the live delete files of a snapshot. Out: per data file, the deletes that a reader must apply.
// Guarantees: never leaves out a delete that applies; position deletes are pruned only by
//   referenced_data_file or untruncated file_path bounds. Equality deletes apply to strictly lower data sequence
//   numbers, position deletes and deletion vectors to equal or lower ones; spec id and tuple must match, except for
//   equality deletes of an unpartitioned spec.
// Cost: O(delete files) memory; O(log) a look-up plus the candidates of one partition.
// Threads: immutable after Build().
// Source: Iceberg table spec, "Scan Planning"; hazards 9, 18, 19, 21, 30, 36, 39.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/ids.h"
#include "iceberg/manifest.h"
#include "iceberg/metadata.h"

namespace firn::iceberg {

struct DeleteEntry {
  DataFile file;
  SequenceNumber sequence_number{0};
};

class DeleteIndex {
 public:
  void Add(DeleteEntry entry, bool spec_is_unpartitioned);
  /// Sorts; call once after the last Add.
  void Build();
  bool empty() const { return entries_.empty(); }
  const std::vector<DeleteEntry>& entries() const { return entries_; }
  /// Indexes into entries() of all deletes that apply to `file`.
  std::vector<std::uint32_t> Find(const DataFile& file, SequenceNumber sequence_number) const;
  /// Cheaper: whether any applies.
  bool Any(const DataFile& file, SequenceNumber sequence_number) const;

 private:
  std::vector<DeleteEntry> entries_;
  std::unordered_map<std::string, std::vector<std::uint32_t>> by_referenced_path_;
  std::unordered_map<std::string, std::vector<std::uint32_t>> position_by_partition_;
  std::unordered_map<std::string, std::vector<std::uint32_t>> equality_by_partition_;
  std::vector<std::uint32_t> global_equality_;
};

}  // namespace firn::iceberg
