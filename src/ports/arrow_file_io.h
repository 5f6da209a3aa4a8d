// SPDX-License-Identifier: Apache-2.0
//
// Objects of a store that Arrow has a file system for.
//
// In: the file system, and how a location of the store becomes its path ("bucket/key").
// Out: as file_io.h says; List is in the order of the store.
// Guarantees: Create looks first (one request) and refuses a name that is taken; that is no compare-and-set, so names
//   must be unique, as those of data files are. The size is checked after the upload.
// Cost: Open with a known size sends nothing; ReadAt is one request. A page of List is held until it is asked for; at
//   most 16 listings at once.
// Threads: any; one listing belongs to one thread.
// Errors: as file_io.h; kUnsupported for keys with an empty component ("a//b"), which Arrow cannot name.
// Source: arrow/filesystem/filesystem.h.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "ports/file_io.h"

namespace arrow::fs {
class FileSystem;
}

namespace firn::ports {

struct ArrowStore {
  /// Path of a location of this store; kUnsupported for others, kInvalidArgument for a location without a key.
  std::function<Result<std::string>(const std::string& location)> path_of;
  /// So many bytes are held before an upload is begun; for stores whose uploads show before they are whole. What was
  /// begun and is given up is deleted. 0: uploads are begun at once, and giving them up leaves nothing.
  std::uint64_t held_bytes = 0;
  /// Deletes a file, Ok if there is none; errors name it. Empty: the file system does.
  std::function<Status(const std::string& location)> remove = {};
  /// With which properties the store would make a metadata file for one writer alone; empty: with none.
  std::string exclusive_with = {};
};

inline constexpr std::uint64_t kSmallUploadBytes = std::uint64_t{8} << 20;

/// "bucket/key" of "scheme://bucket/key"; kInvalidArgument without a key.
Result<std::string> BucketPath(const std::string& location);

std::unique_ptr<FileIO> MakeArrowFileIO(std::shared_ptr<arrow::fs::FileSystem> files, ArrowStore store);

}  // namespace firn::ports
