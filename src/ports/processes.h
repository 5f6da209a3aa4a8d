// SPDX-License-Identifier: Apache-2.0
//
// Which process this is, and whether another one still runs.
//
// In: what a process wrote down about itself, perhaps on another machine. Out: runs, ended, or nobody here can say.
// Guarantees: kEnded is said only of a process of this machine and this PID namespace, since its last start. A number
//   that another process got since is told apart by the time at which the process began.
// Cost: some reads of /proc. Errors: none: what cannot be read is not known.
// Threads: any.
// Source: proc(5): /proc/PID/stat, /proc/sys/kernel/random/boot_id; pid_namespaces(7).
#pragma once

#include <cstdint>
#include <string>

namespace firn::ports {

/// Of this machine; empty if it has none.
std::string HostName();

struct ProcessIdentity {
  std::string host;           // for people
  std::string boot;           // of the kernel; changes when the machine starts
  std::string pid_namespace;  // in which `pid` counts
  std::int64_t pid = 0;
  std::string began;  // ticks since the machine started
};

enum class ProcessState : std::uint8_t { kRuns, kEnded, kUnknown };

class Processes {
 public:
  virtual ~Processes() = default;
  virtual ProcessIdentity Self() const = 0;
  virtual ProcessState StateOf(const ProcessIdentity& process) const = 0;
  /// No process here has that number now.
  virtual bool IsFree(std::int64_t pid) const = 0;
};

class LocalProcesses final : public Processes {
 public:
  ProcessIdentity Self() const override;
  ProcessState StateOf(const ProcessIdentity& process) const override;
  bool IsFree(std::int64_t pid) const override;
};

}  // namespace firn::ports
