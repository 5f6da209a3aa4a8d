// SPDX-License-Identifier: Apache-2.0
//
// What a rewrite of deletes cannot deal with, as far as it is known: delete files and data files.
//
// In: errors about single files. Out: the planned delete files that have to stay, and the reasons.
// Guarantees: an equality delete stays if one data file that it applies to could not be compared, or can get no vector;
//   a position delete file stays if it would be merged with nothing but itself.
//   Nothing is taken back, so that repeating what a new obstacle concerns comes to an end.
// Cost: of a data file its deletes. Memory O(obstacles) and 2 bytes a delete file.
// Threads: any.
// Source: Iceberg table spec, "Row-level Deletes".
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "act/outcome.h"
#include "base/result.h"
#include "decide/delete_rewrite.h"
#include "observe/delete_facts.h"

namespace firn::act {

class DeleteObstacles {
 public:
  DeleteObstacles(const observe::DeleteFacts& facts, const decide::DeletePlan& plan);

  /// A delete file that cannot be read, or may not go.
  void Block(std::uint32_t entry, Error error);
  /// A data file whose keys could not be compared.
  void CannotCompare(std::uint32_t target, const Error& error);
  /// A data file that can get no vector, because a delete file of it is blocked.
  void CannotWrite(std::uint32_t target);
  /// An error of a data file that is one of a delete file.
  bool IsOfDelete(const Error& error) const;

  struct Staying {
    std::vector<bool> entries;  // one a delete file
    std::size_t version = 0;
  };
  Staying staying() const;
  /// Whether a delete file that has to stay since that version applies to data files of those partitions.
  bool Concerns(std::size_t since_version, std::uint32_t first_partition, std::uint32_t last_partition) const;
  /// One a delete file, up to a number; data files by partition and code.
  std::vector<GroupFailure> Failures() const;

 private:
  void Keep(std::uint32_t entry);
  void KeepEquality(std::uint32_t target);
  std::string MergeOf(std::uint32_t entry) const;
  std::string PartitionOf(std::uint32_t entry) const;

  const observe::DeleteFacts& facts_;
  bool by_file_;
  std::vector<bool> is_planned_;
  mutable std::mutex mutex_;  // of what follows
  std::vector<bool> stays_;
  std::map<std::string, std::vector<std::uint32_t>> merges_;  // position deletes that become one, as far as they go
  std::vector<std::uint32_t> staying_;                        // in the order in which it was found
  std::map<std::uint32_t, Error> blocked_;
  std::set<std::uint32_t> data_files_;  // that could not be compared
  std::map<std::pair<std::uint32_t, Code>, GroupFailure> data_failures_;
};

}  // namespace firn::act
