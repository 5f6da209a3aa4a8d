// SPDX-License-Identifier: Apache-2.0
#include "cli/service_options.h"

#include <fmt/format.h>

#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <utility>

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

Result<std::string> ReadSmallFile(const std::string& path, std::size_t bytes_max) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return Error{Code::kNotFound, path + ": cannot be opened"};
  std::string text(bytes_max + 1, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (file.bad()) return Error{Code::kUnavailable, path + ": cannot be read"};
  text.resize(static_cast<std::size_t>(file.gcount()));
  if (text.size() > bytes_max) return Error{Code::kLimit, fmt::format("{}: more than {} bytes", path, bytes_max)};
  return text;
}

Result<std::string> ReadTokenFile(const std::string& path) {
  constexpr std::size_t kBytesMax = 4096, kBytesMin = 8;
  std::error_code error;
  const auto rights = std::filesystem::status(path, error).permissions();
  using std::filesystem::perms;
  if (!error &&
      (rights & (perms::group_read | perms::others_read | perms::group_write | perms::others_write)) != perms::none) {
    return Error{Code::kInvalidArgument, path + ": others can read or change the token: chmod 600"};
  }
  FIRN_ASSIGN(std::string token, ReadSmallFile(path, kBytesMax));
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
  if (error) return Error{Code::kUnavailable, fmt::format("{}: {}", folder.string(), error.message())};
  return Ok();
}

}  // namespace firn::cli
