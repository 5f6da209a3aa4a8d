// SPDX-License-Identifier: Apache-2.0
//
// One local file on its way: written under no name or a temporary one, published by link().
//
// Guarantees: those of OutputFile; see local_file_io.h.
// Threads: one owner.
#pragma once

#include <memory>
#include <string>

#include "ports/file_io.h"
#include "ports/posix.h"

namespace firn::ports {

class LocalOutputFile final : public OutputFile {
 public:
  /// `anonymous`: try O_TMPFILE first. `replace`: publish by rename over an existing file.
  static Result<std::unique_ptr<OutputFile>> Create(std::string location, std::string path, bool anonymous,
                                                    bool replace = false);
  ~LocalOutputFile() override { Abort(); }

  const std::string& name() const override { return location_; }
  std::uint64_t position() const override { return position_; }
  Status Write(ByteView bytes) override;
  Status Close() override;
  void Abort() override;
  RangeCopies* range_copies() override { return nullptr; }

 private:
  LocalOutputFile(std::string location, std::string path, bool replace)
      : location_(std::move(location)), path_(std::move(path)), replace_(replace) {}
  Status OpenTemporary(bool anonymous);
  Status Flush(ByteView bytes);
  Status Publish();
  Status PublishNamed();

  std::string location_;
  std::string path_;
  std::string directory_;
  std::string temporary_path_;  // empty: the file has no name yet
  bool replace_;
  bool done_ = false;
  FileDescriptor file_;
  Bytes buffer_;
  std::uint64_t position_ = 0;
  std::uint64_t flushed_ = 0, written_behind_ = 0;
};

}  // namespace firn::ports
