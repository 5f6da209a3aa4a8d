// SPDX-License-Identifier: Apache-2.0
#include "ports/local_listing.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <functional>
#include <memory>

#include "ports/posix.h"

namespace firn::ports {
namespace {

// A tree deeper than this is a loop or an attack.
constexpr int kDepthMax = 200;

struct CloseDirectory {
  void operator()(DIR* directory) const { ::closedir(directory); }
};

class Walk {
 public:
  Walk(std::string prefix, std::string path, std::string after, std::size_t page_files)
      : prefix_(std::move(prefix)), path_(std::move(path)), after_(std::move(after)), page_files_(page_files) {}

  Result<ListPage> Run() {
    FIRN_TRY(Visit("", 0));
    return std::move(page_);
  }

 private:
  /// Names of one directory that may lead to files behind `after_`, as a heap; directories end with '/'.
  Result<std::vector<std::string>> Names(const std::string& below) {
    std::vector<std::string> names;
    const std::string directory_path = path_ + below;
    const std::unique_ptr<DIR, CloseDirectory> directory(::opendir(directory_path.c_str()));
    if (!directory) {
      if (errno == ENOENT || errno == ENOTDIR) return names;
      return PosixError(prefix_ + below, "open directory", errno);
    }
    while (true) {
      errno = 0;
      const dirent* entry = ::readdir(directory.get());
      if (!entry) break;
      std::string name = entry->d_name;
      if (name == "." || name == "..") continue;
      if (IsDirectory(*entry, directory_path + name)) name += '/';
      const std::string location = prefix_ + below + name;
      const bool on_the_way = name.ends_with('/') && after_.starts_with(location);
      if (location > after_ || on_the_way) names.push_back(std::move(name));
    }
    if (errno != 0) return PosixError(prefix_ + below, "read directory", errno);
    // A heap, because one page needs only the first of perhaps a million names.
    std::ranges::make_heap(names, std::greater{});
    return names;
  }

  static bool IsDirectory(const dirent& entry, const std::string& path) {
    if (entry.d_type != DT_UNKNOWN) return entry.d_type == DT_DIR;
    struct stat info{};
    return ::lstat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode);
  }

  Status Visit(const std::string& below, int depth) {
    if (depth > kDepthMax) {
      return Error{Code::kLimit, fmt::format("{}{}: more than {} directories deep", prefix_, below, kDepthMax)};
    }
    FIRN_ASSIGN(std::vector<std::string> names, Names(below));
    while (!names.empty()) {
      std::ranges::pop_heap(names, std::greater{});
      const std::string name = std::move(names.back());
      names.pop_back();
      if (name.ends_with('/')) {
        FIRN_TRY(Visit(below + name, depth + 1));
      } else {
        FIRN_TRY(AddFile(below + name));
      }
      if (!page_.next_page.empty()) return Ok();
    }
    return Ok();
  }

  Status AddFile(const std::string& below) {
    struct stat info{};
    if (::stat((path_ + below).c_str(), &info) != 0) {
      // A file that vanished, or a link to nowhere.
      if (errno == ENOENT || errno == ELOOP || errno == ENOTDIR) return Ok();
      return PosixError(prefix_ + below, "look at file", errno);
    }
    if (!S_ISREG(info.st_mode)) return Ok();
    if (page_.files.size() == page_files_) {
      page_.next_page = page_.files.back().location;
      return Ok();
    }
    const std::int64_t modified_ms = std::int64_t{info.st_mtim.tv_sec} * 1000 + info.st_mtim.tv_nsec / 1'000'000;
    page_.files.push_back({prefix_ + below, static_cast<std::uint64_t>(info.st_size), TimestampMs{modified_ms}});
    return Ok();
  }

  std::string prefix_, path_, after_;
  std::size_t page_files_;
  ListPage page_;
};

}  // namespace

Result<ListPage> ListLocalFiles(const std::string& prefix, const std::string& path, const std::string& after,
                                std::size_t page_files) {
  return Walk(prefix, path, after, page_files).Run();
}

}  // namespace firn::ports
