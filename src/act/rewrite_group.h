// SPDX-License-Identifier: Apache-2.0
//
// What a rewrite replaces by what, as it was planned and carried out.
//
// Guarantees: plain values; row maps are shared and immutable.
// Threads: values.
// Source: Iceberg table spec, "Sequence Number Inheritance"; docs/decisions/0002 and 0003.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "act/named_files.h"
#include "act/row_map.h"
#include "iceberg/manifest.h"

namespace firn::act {

/// A live data file that a group replaces.
struct RemovedFile {
  std::string path;
  std::uint32_t manifest = 0;  // index into Rewrite::manifests: where the plan saw it
  std::int64_t record_count = 0;
  std::optional<SequenceNumber> data_sequence_number, file_sequence_number;  // absent in v1 tables
  /// Deletes, of all kinds, whose rows were left out. All others that apply must go on to apply to the added files.
  std::vector<iceberg::FileIdentity> applied_deletes;
  /// More of them: equality deletes, in one list for all files that they are the same for. May be null.
  std::shared_ptr<const std::vector<iceberg::FileIdentity>> applied_equality;
  /// Null: not known; then the group is refused if position deletes or vectors arrive during the work.
  std::shared_ptr<const RowMap> row_map;
};

struct AddedFile {
  iceberg::DataFile file;
  SequenceNumber data_sequence_number{0};
};

/// Files that are replaced together: all or none. All removed files have one spec and one tuple.
struct RewriteGroup {
  std::string name;  // for messages
  SpecId spec_id{0};
  iceberg::PartitionTuple partition;
  std::vector<RemovedFile> removed;
  std::vector<AddedFile> added;
  std::int64_t deleted_rows = 0;  // rows that deletes removed on the way
};

struct Rewrite {
  SnapshotId plan_snapshot_id{0};
  SequenceNumber plan_sequence_number{0};
  std::int32_t format_version = 2;
  std::vector<std::string> manifests;  // locations of the manifests that held the removed files
  std::vector<RewriteGroup> groups;
  std::string plan_id, fence;
  std::vector<std::pair<std::string, std::string>> summary;  // besides the firn.* members of every commit
  /// Of the position delete files that were applied, as far as they are known; may be null.
  std::shared_ptr<const NamedFiles> named_files;
};

}  // namespace firn::act
