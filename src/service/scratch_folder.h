// SPDX-License-Identifier: Apache-2.0
//
// A folder for experiments on a table's files: what a merge creates goes there and nowhere else.
//
// In: where to make it, the table's files. Out: a FileIO whose files are created in the folder.
// Guarantees: Create and Delete never reach the table's storage. Copies and created files are found again under the
//   location that they stand for; everything else is read from the table. The folder is new, for its owner alone, and
//   removed with all it holds on destruction: after errors and cancellation too. A process that is killed leaves it.
// Errors: kInvalidArgument for a place that does not exist or may not be written to; kLimit for a full disk; others
// those
//   of FileIO.
// Threads: any; Remember and destruction by the owner.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "ports/file_io.h"
#include "ports/local_file_io.h"

namespace firn::service {

class ScratchFolder final : public ports::FileIO {
 public:
  /// `parent` is a local folder; empty: the system's folder for temporary files.
  static Result<std::unique_ptr<ScratchFolder>> Make(const std::string& parent, ports::FileIO& table_io);
  ~ScratchFolder() override;
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;

  const std::string& path() const { return path_; }
  /// Copies a file of the table, so that reading it is local from now on.
  Status Copy(const std::string& location, std::int64_t size_bytes);
  /// Local path of a copy or a created file; empty: there is none.
  std::string PathOf(const std::string& location) const;

  Result<std::unique_ptr<RandomAccessSource>> Open(const std::string& location,
                                                   std::optional<std::uint64_t> known_size_bytes) override;
  Result<std::unique_ptr<ports::OutputFile>> Create(const std::string& location) override;
  Status CheckCreate(const std::string&) override { return Ok(); }
  /// kUnsupported: nothing here becomes part of a table.
  Status CheckExclusive(const std::string& location) override { return ports::NotExclusive(location); }
  /// kUnsupported.
  Status Replace(const std::string& location, ByteView bytes) override;
  /// Only of files in the folder.
  Status Delete(const std::string& location) override;
  Result<bool> Exists(const std::string& location) override;
  /// kUnsupported.
  Result<ports::ListPage> List(const std::string& prefix, const std::string& page) override;

 private:
  ScratchFolder(std::string path, ports::FileIO& table_io) : path_(std::move(path)), table_io_(table_io) {}
  std::string NewPath(const std::string& location);

  const std::string path_;
  ports::FileIO& table_io_;
  ports::LocalFileIO local_;
  mutable std::mutex mutex_;
  std::map<std::string, std::string> paths_;  // by location
  std::int64_t created_ = 0;
};

}  // namespace firn::service
