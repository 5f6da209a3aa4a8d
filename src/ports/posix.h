// SPDX-License-Identifier: Apache-2.0
//
// Owns file descriptors and turns errno into errors.
//
// Guarantees: a descriptor is closed once. Messages hold the location and the text of errno.
// Threads: value types.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"

namespace firn::ports {

class FileDescriptor {
 public:
  FileDescriptor() = default;
  explicit FileDescriptor(int fd) : fd_(fd) {}
  FileDescriptor(FileDescriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  FileDescriptor& operator=(FileDescriptor&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~FileDescriptor() { Close(); }
  int get() const { return fd_; }
  bool valid() const { return fd_ >= 0; }
  void Close();

 private:
  int fd_ = -1;
};

/// "location: what: No space left on device", with the code that the caller needs.
Error PosixError(std::string_view location, std::string_view what, int error_number);

/// Makes the entries of a directory durable.
Status SyncDirectory(const std::string& path, std::string_view location);
/// Makes `path` and its missing parents, each durable in its parent.
Status MakeDirectories(const std::string& path, std::string_view location);

}  // namespace firn::ports
