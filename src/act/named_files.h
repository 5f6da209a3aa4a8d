// SPDX-License-Identifier: Apache-2.0
//
// Which data files position delete files name, and whether they are live.
//
// In: a snapshot; what the rows of position delete files name. Out: refusals; keys of paths.
// Guarantees: a delete file whose rows name a live data file that its manifest entry excludes is refused: readers that
//   go by the entry and readers that go by the rows see different tables. What names are known is known of all rows.
// Cost: the data manifests of the snapshot once, when it is first asked whether a path is live, and 8 bytes a live
//   data file; 8 bytes a named path.
// Errors: kCorrupt for a refused file; those of reading manifests.
// Threads: any.
// Source: Iceberg table spec, "Position Delete Files", "Scan Planning".
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "act/delete_load_positions.h"
#include "base/ids.h"

namespace firn::act {

/// The live data files of one snapshot, by path.
class LivePaths {
 public:
  /// What is passed outlives this object.
  LivePaths(const iceberg::TableMetadata& metadata, ports::FileIO& io, SnapshotId snapshot)
      : metadata_(metadata), io_(io), snapshot_(snapshot) {}
  Result<bool> Contains(std::uint64_t path_key);

 private:
  Status Read();

  const iceberg::TableMetadata& metadata_;
  ports::FileIO& io_;
  SnapshotId snapshot_;
  std::mutex mutex_;
  std::optional<std::vector<std::uint64_t>> keys_;  // ascending
};

class NamedFiles {
 public:
  using Keys = std::shared_ptr<const std::vector<std::uint64_t>>;

  /// `live` outlives this object.
  explicit NamedFiles(LivePaths& live) : live_(live) {}
  /// After the rows were read. What is incomplete is not kept.
  Status Note(const iceberg::DataFile& delete_file, const PathKeys& keys);
  /// The refusal of a file that was noted.
  Status Check(const iceberg::DataFile& delete_file) const;
  /// Null if they are not known.
  Keys Find(const std::string& delete_file_path) const;
  /// Of a data file that rows of a refused file name: some readers see its rows, others do not.
  Status CheckUndisputed(const std::string& data_file_path) const;

 private:
  struct Noted {
    Keys keys;
    Status verdict;
  };

  LivePaths& live_;
  mutable std::mutex mutex_;
  std::unordered_map<std::string, Noted> noted_;
  std::unordered_map<std::uint64_t, std::string> disputed_;  // delete files by key of the data file
};

}  // namespace firn::act
