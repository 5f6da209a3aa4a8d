// SPDX-License-Identifier: Apache-2.0
//
// A small file beside a table's metadata that says: a run of firn is writing files here, and how their names look.
//
// In: who writes, and on what base. Out: JSON text; the marks of a table.
// Guarantees: the name of a run is the first 24 characters of a UUID, and every file that the run writes has it in its
//   name. It is a digest of all that the mark says about the run, in a UUID of version 8, which no other writer gives
//   to its files. So a mark that was changed, or that was made for files of somebody else, is told from one of firn,
//   and not believed; and whatever has the name is younger than all that the mark says of the table. What a mark allows
//   to remove is only what leftovers.h finds by that name in the table's own folders.
// Cost: finding marks is a listing of a folder that is empty as a rule, and one read a mark. Of a folder that others
//   have filled the first kMarkFilesMax files are looked at.
// Errors: those of FileIO; kCorrupt for content that is none.
// Threads: values.
// Source: docs/decisions/0007.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "base/random.h"
#include "base/result.h"
#include "base/time.h"
#include "iceberg/metadata.h"
#include "ports/file_io.h"
#include "ports/processes.h"

namespace firn::act {

inline constexpr std::size_t kRunNameSize = 24;  // "xxxxxxxx-xxxx-8xxx-yxxx-"
inline constexpr std::size_t kMarkFilesMax = 300;

struct RunMark {
  std::string run;
  ports::ProcessIdentity writer;
  std::string token;  // of the writer: ports/process_token.h
  std::string catalog, table, table_uuid, ref;
  TimestampMs begun;
  /// The table's last one when the run began: where the table has not reached it, the mark is not about its present
  /// state. What is named does not depend on it. Absent for tables without numbers.
  std::optional<SequenceNumber> sequence_number = {};
  /// Head of the branch before the first file of the run was named; absent for an empty branch.
  std::optional<SnapshotId> base_snapshot_id = {};
  std::string nonce = {};  // so that no two runs have one name
  /// When it ended or was taken for dead: no request of it was sent later.
  std::optional<TimestampMs> ended = {};
  /// Where it lies; not part of the content.
  std::string location = {};
  /// The run may not commit any more: it has ended, or it was taken for dead.
  bool is_ended = false;
};

/// Names the run by what the mark says, after all of it was set but `ended`.
Status NameRun(RunMark& mark, Random& random);
/// Whether the run's name is the one that the mark's content gives.
bool IsNamedByContent(const RunMark& mark);
/// A UUID that begins with `run`.
std::string UuidOf(const std::string& run, Random& random);

/// Folder of the marks, with '/' at its end.
std::string MarkFolder(const iceberg::TableMetadata& metadata);
std::string MarkLocation(std::string_view folder, std::string_view run, bool is_ended);

/// A file that says when its run was last seen at work. It is beside the mark, and nothing depends on it when the mark
/// is gone: a mark that was written again could bring a run back that others took for dead.
std::string SightLocation(std::string_view folder, std::string_view run);
std::string SightText(std::string_view run, TimestampMs seen);
Result<TimestampMs> ParseSight(std::string_view text, const std::string& location, std::string_view run);

std::string ToText(const RunMark& mark);
Result<RunMark> ParseRunMark(std::string_view text, const std::string& location);

struct FoundMarks {
  /// Of one run the one that says that it has ended, where there are both.
  std::vector<RunMark> marks;
  std::vector<std::string> unreadable;
  /// Sights without a mark; empty where not all was looked at.
  std::vector<std::string> lone_sights;
  bool is_complete = true;
};

Result<FoundMarks> FindRunMarks(ports::FileIO& io, const iceberg::TableMetadata& metadata);

}  // namespace firn::act
