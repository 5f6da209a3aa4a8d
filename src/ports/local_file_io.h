// SPDX-License-Identifier: Apache-2.0
//
// Files of the local file system (or one mounted there).
//
// In: "/a", "a" (from the working directory), "file:/a", "file:///a"; bytes of a path are used as they are.
// Out: as file_io.h says. List is sorted by the bytes of the whole path and names files the way its prefix was
//   written; links to files are listed, links to directories are not followed.
// Guarantees: a file appears at Close() by link() after fsync, so it never replaces another one and is whole and
//   durable, as are the directories on its way. A file system without link() is used through
//   renameat2(RENAME_NOREPLACE); one without either is refused.
// Cost: Create keeps a buffer of 256 kB; one List page reads the directories on the way to its first file again.
// Threads: any.
// Errors: kLimit for a full disk or quota, kInvalidArgument for missing rights, kConflict, kUnavailable for what the
//   device refuses, also when the name appeared and then the directory could not be made durable.
// Source: open(2) O_TMPFILE, link(2), renameat2(2), fsync(2).
#pragma once

#include "ports/file_io.h"

namespace firn::ports {

class LocalFileIO final : public FileIO {
 public:
  Result<std::unique_ptr<RandomAccessSource>> Open(
      const std::string& location, std::optional<std::uint64_t> known_size_bytes = std::nullopt) override;
  Result<std::unique_ptr<OutputFile>> Create(const std::string& location) override;
  Status Delete(const std::string& location) override;
  Result<bool> Exists(const std::string& location) override;
  Result<ListPage> List(const std::string& prefix, const std::string& page) override;
  Status CheckCreate(const std::string&) override { return Ok(); }
  Status CheckExclusive(const std::string&) override { return Ok(); }
  Status Replace(const std::string& location, ByteView bytes) override;

  /// Files of one List page.
  void set_page_files(std::size_t count) { page_files_ = count; }
  /// Writes through a named temporary file, as on file systems without O_TMPFILE. For tests.
  void set_anonymous_files(bool on) { anonymous_files_ = on; }

 private:
  std::size_t page_files_ = 20'000;
  bool anonymous_files_ = true;
};

/// Puts `bytes` under `path` at once, replacing what was there. Only for hints, never for data or metadata.
Status ReplaceLocalFile(const std::string& path, ByteView bytes);

}  // namespace firn::ports
