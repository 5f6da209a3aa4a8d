// SPDX-License-Identifier: Apache-2.0
//
// Accounts for every row of a position delete file before the file may go.
//
// In: facts of a snapshot, the paths that the rows of a delete file name. Out: a refusal, or the paths of which
//   nothing is live.
// Guarantees: a delete file may go only if each data file that its rows name is one that it applies to (or that has a
//   vector, which stands for it), or is not live.
// Cost: O(named paths), and what named_files.h says about live paths that it does not apply to.
// Errors: kCorrupt for rows of other live data files; those of reading manifests.
// Threads: any.
// Source: Iceberg table spec, "Position Delete Files", "Scan Planning".
#pragma once

#include <cstdint>
#include <mutex>
#include <utility>
#include <vector>

#include "act/named_files.h"
#include "observe/delete_facts.h"

namespace firn::act {

class DeleteStrays {
 public:
  /// A path that is not live, and the delete file whose rows name it.
  using Dangling = std::vector<std::pair<std::uint64_t, std::uint32_t>>;

  DeleteStrays(const observe::DeleteFacts& facts, LivePaths& live) : facts_(facts), live_(live) {}
  Status Check(std::uint32_t entry, const std::vector<std::uint64_t>& path_keys);
  /// Ascending. Once, at the end.
  Dangling TakeDangling();

 private:
  bool AppliesTo(std::uint32_t entry, std::uint64_t path_key);

  const observe::DeleteFacts& facts_;
  LivePaths& live_;
  std::mutex mutex_;
  std::vector<std::pair<std::uint64_t, std::uint32_t>> targets_;  // by key of the path; made when first needed
  Dangling dangling_;
};

}  // namespace firn::act
