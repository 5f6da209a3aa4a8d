// SPDX-License-Identifier: Apache-2.0
#include "ports/posix.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "ports/location.h"

namespace firn::ports {
namespace {

Code CodeOf(int error_number) {
  switch (error_number) {
    case ENOENT: return Code::kNotFound;
    case EEXIST: return Code::kConflict;
    case ENOSPC:
    case EDQUOT:
    case EFBIG:
    case EMFILE:
    case ENFILE:
    case ENOMEM: return Code::kLimit;
    case ENOTDIR:
    case EISDIR:
    case ENAMETOOLONG:
    case ELOOP:
    case EINVAL:
    case EACCES:  // missing rights do not come by waiting
    case EPERM:
    case EROFS: return Code::kInvalidArgument;
    case EOPNOTSUPP:
    case ENOSYS: return Code::kUnsupported;
    default: return Code::kUnavailable;  // EIO, ESTALE, EINTR, ...
  }
}

}  // namespace

void FileDescriptor::Close() {
  if (fd_ >= 0) ::close(std::exchange(fd_, -1));
}

Error PosixError(std::string_view location, std::string_view what, int error_number) {
  return {CodeOf(error_number),
          fmt::format("{}: {}: {}", location, what, std::generic_category().message(error_number))};
}

Status SyncDirectory(const std::string& path, std::string_view location) {
  const FileDescriptor directory(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!directory.valid()) return PosixError(location, "open directory", errno);
  // Some file systems have nothing to sync for a directory and say EINVAL.
  if (::fsync(directory.get()) != 0 && errno != EINVAL) return PosixError(location, "fsync directory", errno);
  return Ok();
}

Status MakeDirectories(const std::string& path, std::string_view location) {
  struct stat info{};
  if (path.empty() || ::stat(path.c_str(), &info) == 0) return Ok();
  if (errno != ENOENT) return PosixError(location, "look at directory " + path, errno);
  const std::string parent(ParentOf(WithoutSlash(path)));
  FIRN_TRY(MakeDirectories(parent, location));
  // Somebody else may be making the same directory; both sync it.
  if (::mkdir(path.c_str(), 0777) != 0 && errno != EEXIST) {
    return PosixError(location, "make directory " + path, errno);
  }
  return SyncDirectory(parent.empty() ? "." : parent, location);
}

}  // namespace firn::ports
