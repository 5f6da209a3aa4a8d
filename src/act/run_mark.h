// SPDX-License-Identifier: Apache-2.0
//
// A small file beside a table's metadata that says: a run of firn is writing files here, and how their names look.
//
// In: who writes, and on what base. Out: JSON text; the marks of a table.
// Guarantees: the name of a run is the first 24 characters of a UUID, and every file that the run writes has it in its
//   name. A mark whose name and content do not agree is not believed. What a mark allows to remove is only what
//   leftovers.h finds by that name in the table's own folders.
// Cost: finding marks is one listing of a folder that is empty as a rule, and one read a mark, at most kMarksMax.
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

inline constexpr std::size_t kRunNameSize = 24;  // "xxxxxxxx-xxxx-4xxx-yxxx-"
inline constexpr std::size_t kMarksMax = 100;

struct RunMark {
  std::string run;
  ports::ProcessIdentity writer;
  std::string catalog, table_uuid, ref;
  TimestampMs begun;
  /// Snapshots up to this number were there before the run; absent for tables without numbers.
  std::optional<SequenceNumber> sequence_number = {};
  /// Where it lies; not part of the content.
  std::string location = {};
  /// The run may not commit any more: it has ended, or it was taken for dead.
  bool is_ended = false;
};

std::string NewRunName(Random& random);
/// A UUID that begins with `run`.
std::string UuidOf(const std::string& run, Random& random);

/// Folder of the marks, with '/' at its end.
std::string MarkFolder(const iceberg::TableMetadata& metadata);
std::string MarkLocation(std::string_view folder, std::string_view run, bool is_ended);

std::string ToText(const RunMark& mark);
Result<RunMark> ParseRunMark(std::string_view text, const std::string& location);

/// Of one run those that say that it has ended, where there are both. What cannot be read is in `unreadable`.
Result<std::vector<RunMark>> FindRunMarks(ports::FileIO& io, const iceberg::TableMetadata& metadata,
                                          std::vector<std::string>& unreadable);

}  // namespace firn::act
