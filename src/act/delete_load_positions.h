// SPDX-License-Identifier: Apache-2.0
//
// Position delete files and deletion vectors as sets of positions.
//
// In: entries of delete manifests. Out: positions by data file path, or of one data file.
// Guarantees: columns are found by their reserved ids; paths match byte by byte; positions may be unsorted and
//   repeated. A vector has the place, data file and cardinality that its entry says.
// Cost: one pass over two columns; with `wanted`, row groups whose paths lie elsewhere are not read unless `whole`.
// Errors: kCorrupt (null or negative positions, a vector that does not fit its entry), kUnsupported, kLimit; with the
//   location.
// Threads: pure.
// Source: Iceberg table spec, "Position Delete Files", "Deletion Vectors".
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "act/delete_load_context.h"
#include "format/roaring/position_set.h"

namespace firn::act {

/// Columns of position delete files.
inline constexpr FieldId kDeletePathField = 2147483546, kDeletePosField = 2147483545;

struct PathHash {
  using is_transparent = void;
  std::size_t operator()(std::string_view path) const { return std::hash<std::string_view>{}(path); }
};

/// The data files that the rows of a position delete file name. Two paths with the same key are taken for one: then a
/// delete file stays that might have gone.
struct PathKeys {
  bool is_complete = false;             // all rows were looked at
  std::vector<std::uint64_t> all;       // ascending
  std::vector<std::uint64_t> excluded;  // ascending: of paths that the entry says are in none of its rows
  std::string example;                  // one of the excluded paths
};

std::uint64_t PathKey(std::string_view path);

struct PositionDeletes {
  std::unordered_map<std::string, roaring::PositionSet, PathHash, std::equal_to<>> by_path;
  PathKeys keys;
  std::size_t memory_bytes() const;
  /// Null if no row of that file is deleted.
  const roaring::PositionSet* Find(std::string_view path) const;
};

/// Everything, as long as it fits into `memory_bytes` (kLimit).
Result<PositionDeletes> LoadPositionDeletes(const DeleteLoadContext& context, const iceberg::DataFile& delete_file,
                                            std::int64_t memory_bytes);
/// Only the positions in data files with a path in `wanted`; `whole`: all rows are looked at for their paths.
Result<PositionDeletes> LoadPositionDeletes(const DeleteLoadContext& context, const iceberg::DataFile& delete_file,
                                            std::vector<std::string_view> wanted, bool whole = false);
/// Paths alone: one column is read.
Result<PathKeys> LoadPathKeys(const DeleteLoadContext& context, const iceberg::DataFile& delete_file);

Result<roaring::PositionSet> LoadDeletionVector(const DeleteLoadContext& context, const iceberg::DataFile& vector,
                                                const std::string& data_file_path);

}  // namespace firn::act
