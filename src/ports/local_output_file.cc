// SPDX-License-Identifier: Apache-2.0
#include "ports/local_output_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>

#include "base/check.h"
#include "ports/location.h"
#include "ports/process_token.h"

namespace firn::ports {
namespace {

constexpr std::size_t kBufferBytes = 256 * 1024;
constexpr int kTemporaryNameTries = 1000;
/// So often the kernel is asked to begin writing to the device, so that fsync finds little left to wait for.
constexpr std::uint64_t kWriteBehindBytes = 8 << 20;

/// A name that no other process uses, also in another PID namespace or on another machine that shares the file system.
std::string TemporaryName() {
  static std::atomic<std::uint64_t> counter = 0;
  return fmt::format(".firn-{}-{}-{}.tmp", ::getpid(), ProcessToken(), ++counter);
}

}  // namespace

Result<std::unique_ptr<OutputFile>> LocalOutputFile::Create(std::string location, std::string path, bool anonymous,
                                                            bool replace) {
  const std::string_view file_name = FileNameOf(path);
  if (file_name.empty() || file_name == "." || file_name == "..") {
    return Error{Code::kInvalidArgument, fmt::format("`{}` cannot be the name of a file", location)};
  }
  std::unique_ptr<LocalOutputFile> file(new LocalOutputFile(std::move(location), std::move(path), replace));
  file->directory_ = ParentOf(file->path_);
  FIRN_TRY(MakeDirectories(file->directory_, file->location_));
  if (file->directory_.empty()) file->directory_ = ".";
  struct stat info{};
  if (!replace && ::lstat(file->path_.c_str(), &info) == 0) {
    return Error{Code::kConflict, file->location_ + ": file exists already"};
  }
  FIRN_TRY(file->OpenTemporary(anonymous));
  return std::unique_ptr<OutputFile>(std::move(file));
}

Status LocalOutputFile::OpenTemporary(bool anonymous) {
  if (anonymous) {
    file_ = FileDescriptor(::open(directory_.c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666));
    if (file_.valid()) return Ok();
    const bool unsupported = errno == EOPNOTSUPP || errno == EISDIR || errno == ENOENT || errno == EINVAL;
    if (!unsupported) return PosixError(location_, "create", errno);
  }
  for (int i = 0; i < kTemporaryNameTries; ++i) {
    temporary_path_ = Join(directory_, TemporaryName());
    file_ = FileDescriptor(::open(temporary_path_.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0666));
    if (file_.valid()) return Ok();
    if (errno != EEXIST) break;
  }
  temporary_path_.clear();
  return PosixError(location_, "create", errno);
}

Status LocalOutputFile::Write(ByteView bytes) {
  FIRN_CHECK(!done_);
  position_ += bytes.size();
  if (buffer_.size() + bytes.size() < kBufferBytes) {
    buffer_.insert(buffer_.end(), bytes.begin(), bytes.end());
    return Ok();
  }
  FIRN_TRY(Flush(buffer_));
  buffer_.clear();
  if (bytes.size() >= kBufferBytes) return Flush(bytes);
  buffer_.assign(bytes.begin(), bytes.end());
  return Ok();
}

Status LocalOutputFile::Flush(ByteView bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ::write(file_.get(), bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return PosixError(location_, "write", errno);
    bytes = bytes.subspan(static_cast<std::size_t>(count));
    flushed_ += static_cast<std::uint64_t>(count);
  }
  if (flushed_ - written_behind_ >= kWriteBehindBytes) {
    // Only a hint: file systems that do not know it say so, and fsync does all the work.
    static_cast<void>(::sync_file_range(file_.get(), static_cast<off64_t>(written_behind_),
                                        static_cast<off64_t>(flushed_ - written_behind_), SYNC_FILE_RANGE_WRITE));
    written_behind_ = flushed_;
  }
  return Ok();
}

Status LocalOutputFile::Close() {
  FIRN_CHECK(!done_);
  Status published = Flush(buffer_);
  buffer_ = {};
  if (published && ::fsync(file_.get()) != 0) published = PosixError(location_, "fsync", errno);
  if (published) published = Publish();
  if (!published) {
    Abort();
    return published;
  }
  done_ = true;
  file_.Close();
  if (Status synced = SyncDirectory(directory_, location_); !synced) {
    // The name stays: it may be a commit on which others have built already. Only the caller knows.
    synced.error().code = Code::kUnavailable;
    return std::move(synced.error()).In("the file has its name, but that may not survive a power failure");
  }
  return Ok();
}

Status LocalOutputFile::Publish() {
  if (!temporary_path_.empty()) return PublishNamed();
  const std::string self = fmt::format("/proc/self/fd/{}", file_.get());
  if (::linkat(AT_FDCWD, self.c_str(), AT_FDCWD, path_.c_str(), AT_SYMLINK_FOLLOW) == 0) return Ok();
  // Without /proc; needs a capability.
  if (errno == ENOENT && ::linkat(file_.get(), "", AT_FDCWD, path_.c_str(), AT_EMPTY_PATH) == 0) return Ok();
  if (errno == EEXIST) return Error{Code::kConflict, location_ + ": file exists already"};
  return PosixError(location_, "give the file its name", errno);
}

Status LocalOutputFile::PublishNamed() {
  if (replace_) {
    if (::rename(temporary_path_.c_str(), path_.c_str()) != 0) return PosixError(location_, "rename", errno);
    temporary_path_.clear();
    return Ok();
  }
  if (::link(temporary_path_.c_str(), path_.c_str()) == 0) {
    ::unlink(temporary_path_.c_str());
    temporary_path_.clear();
    return Ok();
  }
  const bool no_links = errno == EPERM || errno == EOPNOTSUPP || errno == ENOSYS || errno == EMLINK;
  if (no_links) {
    if (::renameat2(AT_FDCWD, temporary_path_.c_str(), AT_FDCWD, path_.c_str(), RENAME_NOREPLACE) == 0) {
      temporary_path_.clear();
      return Ok();
    }
    if (errno == EINVAL || errno == ENOSYS) {
      return Error{Code::kUnsupported, location_ + ": the file system can neither link nor rename without replacing"};
    }
  }
  if (errno == EEXIST) return Error{Code::kConflict, location_ + ": file exists already"};
  return PosixError(location_, "give the file its name", errno);
}

void LocalOutputFile::Abort() {
  if (done_) return;
  done_ = true;
  file_.Close();
  if (!temporary_path_.empty()) ::unlink(temporary_path_.c_str());
}

}  // namespace firn::ports
