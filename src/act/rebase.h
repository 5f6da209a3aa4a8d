// SPDX-License-Identifier: Apache-2.0
//
// Translates deletes that arrived while files were being rewritten to the files that replace them.
//
// In: a group of a rewrite, the live deletes of a base. Out: per added file the positions that must be deleted in it.
// Guarantees: after the commit exactly those rows of the group are visible that were visible on the base, or the
//   group is refused: every live position delete and vector of a removed file was applied on the way or is
//   translated; every live equality delete was applied or goes on to apply; what was applied and is gone from the
//   base is still deleted by something else. Of a vector that took the place of an older one only the new rows are
//   translated.
// Cost: each new delete is read once for all attempts; O(new positions).
// Errors: kConflict for what cannot be translated; kUnavailable; those of reading the deletes.
// Threads: one owner.
// Source: Iceberg table spec, "Scan Planning", "Position Delete Files"; docs/decisions/0003.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "act/delete_load.h"
#include "act/delete_window.h"
#include "act/rewrite_group.h"
#include "format/roaring/position_set.h"
#include "iceberg/delete_index.h"
#include "iceberg/metadata.h"
#include "ports/file_io.h"

namespace firn::act {

class DeleteRebase {
 public:
  DeleteRebase();
  /// One set an added file of the group.
  Result<std::vector<roaring::PositionSet>> Translate(const iceberg::TableMetadata& metadata, ports::FileIO& io,
                                                      const RewriteGroup& group, const iceberg::DeleteIndex& live,
                                                      const DeleteWindow& window);

 private:
  using Deletes = std::vector<const iceberg::DeleteEntry*>;
  struct Work {  // of one removed file
    const RemovedFile* file = nullptr;
    iceberg::DataFile data;
    Deletes live;  // position deletes and vectors of the base
    Deletes lost;  // applied, but on the base they do not apply any more
    bool has_new = false;
  };
  struct Loaded {
    std::vector<iceberg::FileIdentity> deletes;
    roaring::PositionSet positions;
  };

  static Result<Work> WorkOf(const iceberg::TableMetadata& metadata, const RewriteGroup& group, const RemovedFile& file,
                             const iceberg::DeleteIndex& live, const DeleteWindow& window);
  Status Load(const iceberg::TableMetadata& metadata, ports::FileIO& io, const std::vector<Work>& works);
  Status CheckLost(const iceberg::TableMetadata& metadata, ports::FileIO& io, const Work& work,
                   const roaring::PositionSet& live);

  DeleteCache cache_;
  std::unordered_map<std::string, Loaded> loaded_;  // by removed file
};

}  // namespace firn::act
