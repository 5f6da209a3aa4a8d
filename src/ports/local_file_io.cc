// SPDX-License-Identifier: Apache-2.0
#include "ports/local_file_io.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <limits>

#include "ports/local_listing.h"
#include "ports/local_output_file.h"
#include "ports/location.h"
#include "ports/posix.h"

namespace firn::ports {
namespace {

Result<std::string> PathOf(const std::string& location) {
  auto path = LocalPathOf(location);
  if (!path) return Error{Code::kUnsupported, fmt::format("`{}` is no location of the local file system", location)};
  // A C string ends at NUL: such a name would silently mean another file.
  if (path->find('\0') != std::string::npos) {
    return Error{Code::kInvalidArgument, "a location must not contain NUL"};
  }
  return std::move(*path);
}

class LocalSource final : public RandomAccessSource {
 public:
  LocalSource(std::string name, FileDescriptor file, std::uint64_t size_bytes)
      : name_(std::move(name)), file_(std::move(file)), size_bytes_(size_bytes) {}
  const std::string& name() const override { return name_; }
  std::uint64_t size() const override { return size_bytes_; }
  Status ReadAt(std::uint64_t offset, std::span<std::uint8_t> out) override {
    if (offset > size_bytes_ || out.size() > size_bytes_ - offset) {
      return Error{Code::kCorrupt, fmt::format("{}: read past the end at offset {}", name_, offset)};
    }
    while (!out.empty()) {
      const ssize_t count = ::pread(file_.get(), out.data(), out.size(), static_cast<off_t>(offset));
      if (count < 0 && errno == EINTR) continue;
      if (count < 0) return PosixError(name_, fmt::format("read at {}", offset), errno);
      if (count == 0) {
        return Error{Code::kCorrupt, fmt::format("{}: ends at offset {}, it had {} bytes", name_, offset, size_bytes_)};
      }
      offset += static_cast<std::uint64_t>(count);
      out = out.subspan(static_cast<std::size_t>(count));
    }
    return Ok();
  }

 private:
  std::string name_;
  FileDescriptor file_;
  std::uint64_t size_bytes_;
};

}  // namespace

Result<std::unique_ptr<RandomAccessSource>> LocalFileIO::Open(const std::string& location,
                                                              std::optional<std::uint64_t>) {
  FIRN_ASSIGN(const std::string path, PathOf(location));
  // O_NONBLOCK: opening a FIFO must not wait for a writer.
  FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!file.valid()) return PosixError(location, "open", errno);
  struct stat info{};
  if (::fstat(file.get(), &info) != 0) return PosixError(location, "stat", errno);
  if (!S_ISREG(info.st_mode)) return Error{Code::kInvalidArgument, location + ": not a file"};
  return std::unique_ptr<RandomAccessSource>(
      new LocalSource(location, std::move(file), static_cast<std::uint64_t>(info.st_size)));
}

Result<std::unique_ptr<OutputFile>> LocalFileIO::Create(const std::string& location) {
  FIRN_ASSIGN(const std::string path, PathOf(location));
  return LocalOutputFile::Create(location, path, anonymous_files_);
}

Status LocalFileIO::Delete(const std::string& location) {
  FIRN_ASSIGN(const std::string path, PathOf(location));
  if (::unlink(path.c_str()) == 0 || errno == ENOENT) return Ok();
  return PosixError(location, "delete", errno);
}

Result<bool> LocalFileIO::Exists(const std::string& location) {
  FIRN_ASSIGN(const std::string path, PathOf(location));
  struct stat info{};
  if (::stat(path.c_str(), &info) == 0) return S_ISREG(info.st_mode);
  if (errno == ENOENT || errno == ENOTDIR) return false;
  return PosixError(location, "look at file", errno);
}

Result<ListPage> LocalFileIO::List(const std::string& prefix, const std::string& page) {
  const std::string start = AsPrefix(prefix);
  FIRN_ASSIGN(const std::string path, PathOf(start));
  return ListLocalFiles(start, path, page, page_files_);
}

Status LocalFileIO::Replace(const std::string& location, ByteView bytes) {
  const auto path = LocalPathOf(location);
  if (!path) return Error{Code::kUnsupported, fmt::format("`{}` is not a local file", location)};
  return ReplaceLocalFile(*path, bytes);
}

Status ReplaceLocalFile(const std::string& path, ByteView bytes) {
  FIRN_ASSIGN(auto file, LocalOutputFile::Create(path, path, /*anonymous=*/false, /*replace=*/true));
  FIRN_TRY(file->Write(bytes));
  return file->Close();
}

}  // namespace firn::ports
