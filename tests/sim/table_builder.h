// SPDX-License-Identifier: Apache-2.0
//
// A small table in memory storage, and the other writers that change it while firn works.
//
// In: rows as ids. Out: real metadata, manifests and Parquet files; what a reader sees; which files are needed.
// Guarantees: the writers here share no code with firn's committer: each reads the head, writes its manifests and
//   commits on the head that it has read, again until it succeeds. Reading applies every kind of delete by the
//   specification's scope rules, written down here a second time.
// Errors: those of storage and catalog; kNotFound for files that are not live.
// Threads: one table object a thread; several may work on one table.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "base/random.h"
#include "iceberg/manifest.h"
#include "iceberg/metadata.h"
#include "ports/catalog.h"
#include "ports/clock.h"
#include "ports/file_io.h"
#include "sim/parquet_rows.h"

namespace firn::sim {

struct LiveFile {
  iceberg::DataFile file;
  std::string manifest;
  std::int64_t sequence_number = 0, file_sequence_number = 0;
  std::vector<Row> rows;                       // of a data file, in its order, when they were read
  std::vector<bool> visible;                   // which of them no delete hides
  std::vector<iceberg::FileIdentity> deletes;  // that apply to it
};

/// What one snapshot holds.
struct Contents {
  std::vector<Row> rows;                  // sorted
  std::map<std::string, LiveFile> files;  // live data files
  std::vector<LiveFile> deletes;          // live delete files
};

class SimTable {
 public:
  /// Everything is kept by reference.
  SimTable(ports::FileIO& io, ports::Catalog& catalog, ports::Clock& clock, std::uint64_t seed)
      : io_(io), catalog_(catalog), clock_(clock), random_(seed) {}

  /// Metadata of an empty table "db.t", partitioned by identity(part).
  static Result<iceberg::TableMetadata> NewMetadata(std::int32_t format_version);
  static ports::TableIdentifier Id() { return {{"db"}, "t"}; }

  /// One snapshot with one file a list of ids, all of partition `part`. Returns the paths.
  Result<std::vector<std::string>> Append(std::int32_t part, const std::vector<std::vector<std::int64_t>>& files);
  /// Copy on write: the file goes, another with `keep` of its rows comes.
  Status Overwrite(const std::string& path, const std::vector<std::int64_t>& keep);
  Status RemoveFile(const std::string& path);
  /// Adds a file that the parent of the head had as if it were new.
  Status AddAgain(const std::string& path);
  Status AddPositionDelete(const std::string& path, std::int64_t row);
  /// Of one partition.
  Status AddEqualityDelete(std::int32_t part, const std::vector<std::int64_t>& ids);
  /// One file for rows of one partition; `referenced`: it says whose they are, if all are of one file.
  Status AddPositionDeletes(const std::vector<Position>& positions, bool referenced);
  /// The same, of the first one's partition, by a writer whose entry is wrong: bounds of other paths, none if empty.
  Status AddPositionDeletesSaying(const std::vector<Position>& positions, const std::string& lower_path,
                                  const std::string& upper_path);
  /// One row of a file, by a writer that puts the delete file into another partition.
  Status AddPositionDeleteIn(std::int32_t part, const std::string& path, std::int64_t row);
  /// One Puffin file. The vectors take the place of older ones, whose rows they hold as well.
  Status AddVectors(const std::vector<Position>& positions);
  /// Takes all equality deletes out and puts the positions of their rows in, as a `replace`.
  Status ConvertEqualityDeletes();
  /// Leaves all delete files out of the next snapshot, whether they are still needed or not.
  Status DropDeletes();
  /// Puts all live data entries into one manifest.
  Status RewriteManifests();
  Status SetProperty(const std::string& key, const std::string& value);
  /// To format version 3.
  Status Upgrade();
  /// Sets the branch back to an older snapshot.
  Status RollBack(SnapshotId snapshot_id);

  Result<ports::LoadedTable> Load() { return catalog_.LoadTable(Id()); }
  /// Live files without their rows.
  Result<Contents> List(const iceberg::TableMetadata& metadata, const iceberg::Snapshot& snapshot);
  Result<Contents> Read(const iceberg::TableMetadata& metadata, const iceberg::Snapshot& snapshot);
  Result<Contents> ReadHead();
  /// Reads every snapshot, so that a missing file is an error; returns all files that the table needs.
  Result<std::set<std::string>> NeededFiles();

 private:
  struct Edit {  // of one foreign commit
    std::string operation;
    std::vector<iceberg::DataFile> added_data, added_deletes;
    std::set<std::string> removed;  // data files; their vectors go with them
    std::set<iceberg::FileIdentity> removed_deletes;
    bool regroup = false;
    bool drop_deletes = false;
  };
  Status Commit(const Edit& edit);
  Result<ports::TableCommit> Prepare(const ports::LoadedTable& base, const Edit& edit);
  Status WriteAdded(const ports::LoadedTable& base, SnapshotId id, const std::vector<iceberg::DataFile>& files,
                    iceberg::ManifestContent content, std::vector<iceberg::ManifestFile>& lines);
  Status CarryOver(const ports::LoadedTable& base, SnapshotId id, const Edit& edit,
                   std::vector<iceberg::ManifestFile>& lines);
  Status AddPositionsTo(Edit& edit, const std::vector<Position>& positions, bool referenced);
  Result<iceberg::DataFile> NewPositionDeletes(std::vector<Position> positions);
  Status AddVectorsTo(Edit& edit, const std::vector<Position>& positions);
  Result<iceberg::DataFile> NewFile(std::int32_t part, const Bytes& bytes, std::int64_t records);
  Result<iceberg::DataFile> FindLive(const std::string& path);
  std::string NewName(const std::string& folder, const std::string& ending);

  ports::FileIO& io_;
  ports::Catalog& catalog_;
  ports::Clock& clock_;
  Random random_;
};

}  // namespace firn::sim
