// SPDX-License-Identifier: Apache-2.0
#include "cli/service_options.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <utility>

#include "ports/posix.h"

namespace firn::cli {

Result<std::int64_t> ParseDurationOption(std::string_view option, std::string_view text) {
  static constexpr std::pair<std::string_view, std::int64_t> kUnits[] = {
      {"ms", 1}, {"s", 1'000}, {"m", 60'000}, {"h", 3'600'000}, {"d", 86'400'000}};
  std::int64_t count = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), count);
  const std::string_view unit = text.substr(static_cast<std::size_t>(end - text.data()));
  for (const auto& [name, ms] : kUnits) {
    constexpr std::int64_t kDaysMax = 3'650;
    if (error != std::errc() || unit != name || count < 0 || count > kDaysMax * 86'400'000 / ms) continue;
    return count * ms;
  }
  return Error{Code::kInvalidArgument,
               fmt::format("{}: \"{}\" is no time such as 500ms, 30s, 5m, 2h or 1d", option, text)};
}

Result<int> ParsePort(std::string_view option, std::string_view text) {
  int port = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  if (error == std::errc() && end == text.data() + text.size() && port >= 0 && port <= 65'535) return port;
  return Error{Code::kInvalidArgument, fmt::format("{}: \"{}\" is no port", option, text)};
}

namespace {

struct OpenFile {
  ports::FileDescriptor descriptor;
  mode_t rights = 0;
};

/// Says what is true: the file is not there, it may not be read, or something else is wrong.
Result<OpenFile> OpenToRead(const std::string& path) {
  OpenFile file{ports::FileDescriptor(::open(path.c_str(), O_RDONLY | O_CLOEXEC))};
  struct stat info{};
  if (!file.descriptor.valid() || ::fstat(file.descriptor.get(), &info) != 0) {
    return ports::PosixError(path, "open", errno);
  }
  file.rights = info.st_mode;
  return file;
}

Result<std::string> ReadAll(const OpenFile& file, const std::string& path, std::size_t bytes_max) {
  std::string text(bytes_max + 1, '\0');
  std::size_t size = 0;
  while (size < text.size()) {
    const ssize_t count = ::read(file.descriptor.get(), text.data() + size, text.size() - size);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return ports::PosixError(path, "read", errno);
    if (count == 0) break;
    size += static_cast<std::size_t>(count);
  }
  text.resize(size);
  if (text.size() > bytes_max) return Error{Code::kLimit, fmt::format("{}: more than {} bytes", path, bytes_max)};
  return text;
}

}  // namespace

Result<std::string> ReadSmallFile(const std::string& path, std::size_t bytes_max) {
  FIRN_ASSIGN(const OpenFile file, OpenToRead(path));
  return ReadAll(file, path, bytes_max);
}

Result<std::string> ReadTokenFile(const std::string& path) {
  constexpr std::size_t kBytesMax = 4096, kBytesMin = 8;
  FIRN_ASSIGN(const OpenFile file, OpenToRead(path));
  if ((file.rights & (S_IRGRP | S_IWGRP | S_IROTH | S_IWOTH)) != 0) {
    return Error{Code::kInvalidArgument, path + ": others can read or change the token: chmod 600"};
  }
  FIRN_ASSIGN(std::string token, ReadAll(file, path, kBytesMax));
  while (!token.empty() && (token.back() == '\n' || token.back() == '\r')) token.pop_back();
  if (token.size() < kBytesMin || token.find_first_of(" \t\r\n") != std::string::npos) {
    return Error{Code::kInvalidArgument,
                 fmt::format("{}: a token is one line of at least {} characters", path, kBytesMin)};
  }
  return token;
}

Result<std::string> DefaultStateFile() {
  const char* state = std::getenv("XDG_STATE_HOME");
  const char* home = std::getenv("HOME");
  if ((state == nullptr || *state == '\0') && (home == nullptr || *home == '\0')) {
    return Error{Code::kInvalidArgument, "neither XDG_STATE_HOME nor HOME is set: give --state FILE"};
  }
  const bool has_state = state != nullptr && *state != '\0';
  const auto folder = has_state ? std::filesystem::path(state) : std::filesystem::path(home) / ".local/state";
  return (folder / "firn" / "state.db").string();
}

Status MakeFolderOf(const std::string& file) {
  const std::filesystem::path folder = std::filesystem::path(file).parent_path();
  std::error_code error;
  if (!folder.empty()) std::filesystem::create_directories(folder, error);
  if (error) return ports::PosixError(folder.string(), "make the folder", error.value());
  return Ok();
}

}  // namespace firn::cli
