// SPDX-License-Identifier: Apache-2.0
#include "ports/processes.h"

#include <fmt/format.h>
#include <sys/types.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <fstream>
#include <optional>
#include <sstream>
#include <string_view>

namespace firn::ports {
namespace {

std::string FirstLineOf(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

std::string LinkOf(const char* path) {
  std::array<char, 128> text{};
  const ssize_t size = ::readlink(path, text.data(), text.size());
  return size > 0 ? std::string(text.data(), static_cast<std::size_t>(size)) : "";
}

/// When a process began; empty if that cannot be seen.
std::string BeganOf(const std::string& pid) {
  const std::string line = FirstLineOf(fmt::format("/proc/{}/stat", pid));
  // The second member is a name in parentheses, in which anything may be.
  const std::size_t name_end = line.rfind(')');
  if (name_end == std::string::npos) return "";
  constexpr int kAfterName = 20;  // of the 22nd member
  std::istringstream members(line.substr(name_end + 1));
  std::string member;
  for (int i = 0; i < kAfterName; ++i) members >> member;
  return members ? member : "";
}

}  // namespace

std::string HostName() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? std::string(name.data()) : "";
}

ProcessIdentity LocalProcesses::Self() const {
  return {HostName(), FirstLineOf("/proc/sys/kernel/random/boot_id"), LinkOf("/proc/self/ns/pid"), ::getpid(),
          BeganOf("self")};
}

ProcessState LocalProcesses::StateOf(const ProcessIdentity& process) const {
  const ProcessIdentity self = Self();
  const bool is_known = !process.boot.empty() && !process.pid_namespace.empty() && !process.began.empty() &&
                        process.pid > 0 && !self.began.empty();
  const bool is_near =
      process.host == self.host && process.boot == self.boot && process.pid_namespace == self.pid_namespace;
  if (!is_known || !is_near) return ProcessState::kUnknown;
  const std::string began = BeganOf(std::to_string(process.pid));
  if (began == process.began) return ProcessState::kRuns;
  if (!began.empty()) return ProcessState::kEnded;  // its number belongs to another one
  // With hidepid the processes of others cannot be seen.
  return IsFree(process.pid) ? ProcessState::kEnded : ProcessState::kUnknown;
}

bool LocalProcesses::IsFree(std::int64_t pid) const {
  return ::kill(static_cast<pid_t>(pid), 0) != 0 && errno == ESRCH;
}

}  // namespace firn::ports
