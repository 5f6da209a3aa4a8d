// SPDX-License-Identifier: Apache-2.0
//
// Counts what a snapshot adds and removes, and writes it as the members of its summary.
//
// In: files added and removed, the summary of the parent. Out: "added-data-files", ..., "total-records", ...
// Guarantees: members that are zero are left out, as Java does. A total appears only when the parent's is there, is a
//   number and the result is not negative: a wrong total would poison every later count.
// Threads: values.
// Source: Iceberg table spec, Appendix F "Optional Snapshot Summary Fields".
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "iceberg/manifest.h"
#include "iceberg/metadata.h"

namespace firn::act {

using SummaryMembers = std::vector<std::pair<std::string, std::string>>;

struct SnapshotCounts {
  std::int64_t added_data_files = 0, deleted_data_files = 0;
  std::int64_t added_records = 0, deleted_records = 0;
  std::int64_t added_files_size = 0, removed_files_size = 0;  // bytes
  std::int64_t added_delete_files = 0, removed_delete_files = 0;
  std::int64_t added_equality_delete_files = 0, removed_equality_delete_files = 0;
  std::int64_t added_position_delete_files = 0, removed_position_delete_files = 0;
  std::int64_t added_dvs = 0, removed_dvs = 0;
  std::int64_t added_position_deletes = 0, removed_position_deletes = 0;
  std::int64_t added_equality_deletes = 0, removed_equality_deletes = 0;
  std::int64_t manifests_created = 0, manifests_kept = 0, manifests_replaced = 0, entries_processed = 0;
  std::set<std::string> changed_partitions;  // partition paths

  void Added(const iceberg::DataFile& file);
  void Removed(const iceberg::DataFile& file);
  void Merge(const SnapshotCounts& other);
};

/// All members but "operation". `parent` null: the totals start at 0.
SummaryMembers SummaryOf(const SnapshotCounts& counts, const iceberg::Snapshot* parent);

}  // namespace firn::act
