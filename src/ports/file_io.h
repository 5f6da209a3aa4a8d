// SPDX-License-Identifier: Apache-2.0
//
// Files where tables live: read, write once, list, delete.
//
// In: locations exactly as metadata records them ("s3://b/k", "file:/a", "file:///a", "/a").
// Guarantees: a location is never re-encoded. Create never replaces an existing file: the file appears whole and
//   durable under its name when Close() succeeds. Abort() or destruction before Close() leaves nothing behind. After a
//   failed Close() the name may exist, unless the error is kConflict: who chose a unique name deletes it then.
// Cost: ReadAt is one request on an object store. List returns pages.
// Threads: a FileIO may be used from several threads; an OutputFile belongs to one.
// Errors: kNotFound, kConflict (name is taken), kUnavailable, kLimit (full disk, quota, size), kInvalidArgument (no
// name
//   of a file, missing rights), kUnsupported (scheme, what the storage cannot do), kCorrupt (a file is shorter than it
//   was), each with the location. Never kOutcomeUnknown: whether a file is a commit is known to the catalog alone.
// Source: Java FileIO, with exclusive creation and listing besides.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/byte_io.h"
#include "base/time.h"

namespace firn {
class RangeCopies;
}

namespace firn::ports {

struct FileInfo {
  std::string location;
  std::uint64_t size_bytes = 0;
  TimestampMs modified;
};

struct ListPage {
  std::vector<FileInfo> files;
  /// Give it to the next List call; empty after the last page.
  std::string next_page;
};

class OutputFile : public ByteSink {
 public:
  /// Makes the file durable and visible. Once.
  virtual Status Close() = 0;
  virtual void Abort() = 0;
  /// Appends ranges of other files of the storage without reading them; null where the storage cannot. Ask before the
  /// first Write, and only for files that may need it: they may be written in another way then.
  virtual RangeCopies* range_copies() = 0;
};

/// Nothing has a default: a FileIO in front of another must not promise more or less than that one.
class FileIO {
 public:
  virtual ~FileIO() = default;
  /// `known_size_bytes`, from metadata, saves a request.
  virtual Result<std::unique_ptr<RandomAccessSource>> Open(
      const std::string& location, std::optional<std::uint64_t> known_size_bytes = std::nullopt) = 0;
  virtual Result<std::unique_ptr<OutputFile>> Create(const std::string& location) = 0;
  /// Why nothing can ever be created at a location, known without asking the storage.
  virtual Status CheckCreate(const std::string& location) = 0;
  /// Ok where Create is a compare-and-set for names of metadata files: of two writers exactly one can succeed. Asks
  /// the storage, if it must, once a process.
  virtual Status CheckExclusive(const std::string& location) = 0;
  /// Puts a small file in the place of what is there, at once. Only for hints, never for data or metadata.
  virtual Status Replace(const std::string& location, ByteView bytes) = 0;
  /// Ok when the file does not exist.
  virtual Status Delete(const std::string& location) = 0;
  virtual Result<bool> Exists(const std::string& location) = 0;
  /// Files below `prefix` at any depth. `prefix` should end with '/'.
  virtual Result<ListPage> List(const std::string& prefix, const std::string& page) = 0;
};

/// What CheckExclusive answers where Create only looks before it writes.
Error NotExclusive(const std::string& location);
/// Whole small file (metadata). kLimit above `size_max_bytes`.
Result<Bytes> ReadFile(FileIO& io, const std::string& location, std::uint64_t size_max_bytes = std::uint64_t{4} << 30);
/// Create, Write, Close.
Status WriteFile(FileIO& io, const std::string& location, ByteView bytes);

}  // namespace firn::ports
