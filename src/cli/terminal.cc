// SPDX-License-Identifier: Apache-2.0
#include "cli/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace firn::cli {

void SystemTerminal::Out(std::string_view text) {
  const std::lock_guard lock(mutex_);
  out_used_ = true;
  const bool is_written = std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0;
  if (!is_written && out_error_ == 0) out_error_ = errno;
}

std::string SystemTerminal::out_failure() const {
  const std::lock_guard lock(mutex_);
  return out_error_ == 0 || out_error_ == EPIPE ? "" : std::strerror(out_error_);
}

void SystemTerminal::Err(std::string_view text) {
  const std::lock_guard lock(mutex_);
  std::fwrite(text.data(), 1, text.size(), stderr);
}

bool SystemTerminal::err_is_interactive() const {
  const char* kind = std::getenv("TERM");
  return isatty(STDERR_FILENO) == 1 && kind != nullptr && std::string_view(kind) != "dumb";
}

int SystemTerminal::columns() const {
  winsize size{};
  if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col >= 20) return size.ws_col;
  return 80;
}

void MemoryTerminal::Out(std::string_view text) {
  const std::lock_guard lock(mutex_);
  out += text;
}

void MemoryTerminal::Err(std::string_view text) {
  const std::lock_guard lock(mutex_);
  err += text;
}

}  // namespace firn::cli
