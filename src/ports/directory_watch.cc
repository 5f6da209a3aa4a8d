// SPDX-License-Identifier: Apache-2.0
#include "ports/directory_watch.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <mutex>
#include <system_error>
#include <thread>
#include <unordered_map>

#include "base/human_text.h"
#include "base/log.h"
#include "base/threads.h"
#include "ports/event_parse.h"
#include "ports/metadata_file.h"
#include "ports/posix.h"

namespace firn::ports {
namespace {

namespace fs = std::filesystem;

constexpr std::uint32_t kFolderEvents = IN_CREATE | IN_MOVED_TO | IN_ONLYDIR | IN_DONT_FOLLOW;
constexpr std::uint32_t kMetadataEvents = IN_CLOSE_WRITE | IN_MOVED_TO | IN_ONLYDIR | IN_DONT_FOLLOW;
constexpr std::size_t kBufferBytes = 64 << 10;

bool IsMetadataFile(std::string_view name) { return name == "version-hint.text" || IsMetadataFileName(name); }

class InotifyWatch final : public DirectoryWatch {
 public:
  InotifyWatch(FileDescriptor inotify, FileDescriptor wake, EventQueue& queue, DirectoryWatchOptions options,
               std::string root)
      : inotify_(std::move(inotify)), wake_(std::move(wake)), queue_(queue), options_(options), root_(std::move(root)) {
    Walk(root_, 0, false);
  }
  ~InotifyWatch() override {
    const std::uint64_t one = 1;
    [[maybe_unused]] const ssize_t written = ::write(wake_.get(), &one, sizeof one);
  }
  Status Begin() {
    FIRN_ASSIGN(thread_, StartThread([this] { Run(); }).In(root_));
    return Ok();
  }

  DirectoryWatchCounts counts() const override {
    const std::lock_guard lock(mutex_);
    return counts_;
  }

 private:
  struct Folder {
    std::string path;
    int depth = 0;
    bool metadata = false;
  };

  void Run();
  void ReadEvents();
  void Heard(const inotify_event& event);
  /// Everything is watched anew, and every table is told of: what was lost may have been about any of them.
  void StartAgain();
  /// Watches the folder and what is below it; `tell` of the tables that are found.
  void Walk(const std::string& path, int depth, bool tell);
  void WalkMetadata(const std::string& path, int depth, bool tell);
  bool Watch(const std::string& path, int depth, bool metadata);
  void Tell(const std::string& metadata_folder);

  const FileDescriptor inotify_;
  const FileDescriptor wake_;
  EventQueue& queue_;
  const DirectoryWatchOptions options_;
  const std::string root_;
  std::unordered_map<int, Folder> folders_;  // by watch; of the constructor, then of the thread alone
  mutable std::mutex mutex_;
  DirectoryWatchCounts counts_;
  std::jthread thread_;  // the last one, so that it ends first
};

bool InotifyWatch::Watch(const std::string& path, int depth, bool metadata) {
  const bool room = folders_.size() < options_.watches_max && depth <= options_.depth_max;
  const std::uint32_t events = metadata ? kMetadataEvents : kFolderEvents;
  const int watch = room ? ::inotify_add_watch(inotify_.get(), path.c_str(), events) : -1;
  // A folder that is gone already needs no watch.
  const bool gone = room && watch < 0 && (errno == ENOENT || errno == ENOTDIR);
  const std::lock_guard lock(mutex_);
  if (watch < 0) {
    if (!gone && counts_.not_watched++ == 0) {
      Log(LogLevel::kWarn,
          fmt::format("{}: changes in {}, and maybe in more folders, are seen by the sweep alone: they "
                      "are too many, or too deep",
                      root_, path));
    }
    return false;
  }
  folders_.insert_or_assign(watch, Folder{path, depth, metadata});
  counts_.watched = static_cast<std::int64_t>(folders_.size());
  return true;
}

void InotifyWatch::Walk(const std::string& path, int depth, bool tell) {
  // The watch comes first: what is made while we look is then seen twice rather than never.
  if (!Watch(path, depth, false)) return;
  std::error_code error;
  const std::string metadata = path + "/metadata";
  if (fs::is_directory(fs::symlink_status(metadata, error))) return WalkMetadata(metadata, depth + 1, tell);
  for (fs::directory_iterator at(path, fs::directory_options::skip_permission_denied, error), end; !error && at != end;
       at.increment(error)) {
    std::error_code ignored;
    if (fs::is_directory(at->symlink_status(ignored))) Walk(at->path().string(), depth + 1, tell);
  }
}

void InotifyWatch::WalkMetadata(const std::string& path, int depth, bool tell) {
  if (!Watch(path, depth, true) || !tell) return;
  std::error_code error;
  for (fs::directory_iterator at(path, error), end; !error && at != end; at.increment(error)) {
    if (IsMetadataFile(at->path().filename().string())) return Tell(path);
  }
}

void InotifyWatch::Tell(const std::string& metadata_folder) {
  queue_.Push({.kind = TableEvent::Kind::kCommit,
               .source = TableEvent::Source::kDirectory,
               .location = fs::path(metadata_folder).parent_path().string()});
}

void InotifyWatch::Run() {
  while (true) {
    std::array<pollfd, 2> waited = {{{inotify_.get(), POLLIN, 0}, {wake_.get(), POLLIN, 0}}};
    if (::poll(waited.data(), waited.size(), -1) < 0 && errno != EINTR) return;
    if (waited[1].revents != 0) return;
    if (waited[0].revents != 0) ReadEvents();
  }
}

void InotifyWatch::ReadEvents() {
  alignas(inotify_event) std::array<char, kBufferBytes> buffer;
  const ssize_t size = ::read(inotify_.get(), buffer.data(), buffer.size());
  for (ssize_t at = 0; at + static_cast<ssize_t>(sizeof(inotify_event)) <= size;) {
    const auto* event = reinterpret_cast<const inotify_event*>(buffer.data() + at);
    Heard(*event);
    at += static_cast<ssize_t>(sizeof(inotify_event) + event->len);
  }
}

void InotifyWatch::StartAgain() {
  // That folders are gone is among what was lost: those that are not found any more must not fill the limit.
  std::unordered_map<int, Folder> before;
  {
    const std::lock_guard lock(mutex_);
    ++counts_.overflows;
    counts_.watched = counts_.not_watched = 0;
    before.swap(folders_);
  }
  Log(LogLevel::kWarn, root_ + ": the system has lost events: every table below is looked at");
  Walk(root_, 0, true);
  for (const auto& [watch, folder] : before) {
    if (!folders_.contains(watch)) ::inotify_rm_watch(inotify_.get(), watch);
  }
}

void InotifyWatch::Heard(const inotify_event& event) {
  if ((event.mask & IN_Q_OVERFLOW) != 0) return StartAgain();
  const auto found = folders_.find(event.wd);
  if (found == folders_.end()) return;
  if ((event.mask & IN_IGNORED) != 0) {
    const std::lock_guard lock(mutex_);
    folders_.erase(found);
    counts_.watched = static_cast<std::int64_t>(folders_.size());
    return;
  }
  const Folder folder = found->second;
  const std::string name = event.len > 0 ? event.name : "";
  if (folder.metadata) {
    if (IsMetadataFile(name)) Tell(folder.path);
  } else if ((event.mask & IN_ISDIR) != 0) {
    const std::string path = folder.path + "/" + name;
    // A folder beside `metadata` belongs to a table: its data is of no interest.
    std::error_code error;
    if (name == "metadata") return WalkMetadata(path, folder.depth + 1, true);
    if (!fs::exists(folder.path + "/metadata", error)) Walk(path, folder.depth + 1, true);
  }
}

}  // namespace

Result<std::unique_ptr<DirectoryWatch>> DirectoryWatch::Start(const std::string& root, EventQueue& queue,
                                                              DirectoryWatchOptions options) {
  std::error_code error;
  const fs::path path = fs::canonical(root, error);
  if (error) return PosixError(root, "look at the directory to watch", error.value());
  if (!fs::is_directory(path)) return PosixError(root, "look at the directory to watch", ENOTDIR);
  FileDescriptor inotify(::inotify_init1(IN_CLOEXEC | IN_NONBLOCK));
  if (!inotify.valid()) return PosixError(root, "start inotify", errno);
  FileDescriptor wake(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!wake.valid()) return PosixError(root, "eventfd", errno);
  auto watch = std::make_unique<InotifyWatch>(std::move(inotify), std::move(wake), queue, options, path.string());
  FIRN_TRY(watch->Begin());
  return std::unique_ptr<DirectoryWatch>(std::move(watch));
}

}  // namespace firn::ports
