// SPDX-License-Identifier: Apache-2.0
#include "service/scratch_folder.h"

#include <fmt/format.h>
#include <stdlib.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

#include "base/log.h"

namespace firn::service {
namespace {

constexpr std::size_t kCopyBytes = 1 << 20;

}  // namespace

Result<std::unique_ptr<ScratchFolder>> ScratchFolder::Make(const std::string& parent, ports::FileIO& table_io) {
  std::error_code failed;
  std::string folder = parent;
  if (folder.empty()) folder = std::filesystem::temp_directory_path(failed).string();
  if (failed) {
    return Error{Code::kInvalidArgument,
                 "scratch folder: that for temporary files, such as TMPDIR says: " + failed.message()};
  }
  if (!std::filesystem::is_directory(folder, failed)) {
    return Error{Code::kInvalidArgument, fmt::format("scratch folder: {} is no folder", folder)};
  }
  std::string path = folder + (folder.ends_with('/') ? "" : "/") + "firn-analyze-XXXXXX";
  if (mkdtemp(path.data()) == nullptr) {
    const Code code = errno == ENOSPC || errno == EDQUOT ? Code::kLimit : Code::kInvalidArgument;
    return Error{code, fmt::format("scratch folder in {}: {}", folder, std::strerror(errno))};
  }
  return std::unique_ptr<ScratchFolder>(new ScratchFolder(path, table_io));
}

ScratchFolder::~ScratchFolder() {
  std::error_code failed;
  std::filesystem::remove_all(path_, failed);
  if (failed) Log(LogLevel::kWarn, fmt::format("{} could not be removed: {}", path_, failed.message()));
}

std::string ScratchFolder::NewPath(const std::string& location) {
  const std::lock_guard lock(mutex_);
  std::string path = fmt::format("{}/{:06d}.parquet", path_, created_++);
  paths_[location] = path;
  return path;
}

std::string ScratchFolder::PathOf(const std::string& location) const {
  const std::lock_guard lock(mutex_);
  const auto found = paths_.find(location);
  return found == paths_.end() ? std::string() : found->second;
}

Status ScratchFolder::Copy(const std::string& location, std::int64_t size_bytes) {
  FIRN_ASSIGN(const auto source, table_io_.Open(location, static_cast<std::uint64_t>(size_bytes)));
  const std::string path = NewPath(location);
  FIRN_ASSIGN(const auto copy, local_.Create(path));
  Bytes buffer;
  for (std::uint64_t at = 0; at < source->size(); at += buffer.size()) {
    buffer.resize(static_cast<std::size_t>(std::min<std::uint64_t>(kCopyBytes, source->size() - at)));
    FIRN_TRY(source->ReadAt(at, buffer));
    FIRN_TRY(copy->Write(buffer));
  }
  return copy->Close();
}

Result<std::unique_ptr<RandomAccessSource>> ScratchFolder::Open(const std::string& location,
                                                                std::optional<std::uint64_t> known_size_bytes) {
  const std::string path = PathOf(location);
  return path.empty() ? table_io_.Open(location, known_size_bytes) : local_.Open(path, known_size_bytes);
}

Result<std::unique_ptr<ports::OutputFile>> ScratchFolder::Create(const std::string& location) {
  return local_.Create(NewPath(location));
}

Status ScratchFolder::Delete(const std::string& location) {
  const std::string path = PathOf(location);
  if (path.empty()) return Error{Code::kInternal, location + ": an experiment does not delete a table's files"};
  return local_.Delete(path);
}

Result<bool> ScratchFolder::Exists(const std::string& location) {
  const std::string path = PathOf(location);
  return path.empty() ? table_io_.Exists(location) : local_.Exists(path);
}

Status ScratchFolder::Replace(const std::string& location, ByteView) {
  return Error{Code::kUnsupported, location + ": an experiment replaces nothing"};
}

Result<ports::ListPage> ScratchFolder::List(const std::string& prefix, const std::string&) {
  return Error{Code::kUnsupported, prefix + ": an experiment lists nothing"};
}

}  // namespace firn::service
