// SPDX-License-Identifier: Apache-2.0
#include "ports/processes.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

namespace firn::ports {
namespace {

TEST(LocalProcesses, OwnProcessRuns_AnotherThatHadItsNumberHasEnded) {
  const LocalProcesses processes;
  ProcessIdentity self = processes.Self();
  EXPECT_EQ(self.pid, ::getpid());
  EXPECT_EQ(processes.StateOf(self), ProcessState::kRuns);
  self.began = "1" + self.began;
  EXPECT_EQ(processes.StateOf(self), ProcessState::kEnded);
}

TEST(LocalProcesses, KilledChildHasEnded) {
  const LocalProcesses processes;
  int ready[2];
  ASSERT_EQ(::pipe(ready), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    const std::string began = processes.Self().began;
    (void)!::write(ready[1], began.c_str(), began.size());
    ::pause();
    ::_exit(0);
  }
  char began[64] = {};
  ASSERT_GT(::read(ready[0], began, sizeof began - 1), 0);
  ProcessIdentity identity = processes.Self();
  identity.pid = child;
  identity.began = began;
  EXPECT_EQ(processes.StateOf(identity), ProcessState::kRuns);
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  EXPECT_EQ(processes.StateOf(identity), ProcessState::kEnded);
  for (const int fd : ready) ::close(fd);
}

TEST(LocalProcesses, OfOtherMachinesAndNamespaces_NobodyKnows) {
  const LocalProcesses processes;
  using Member = std::string ProcessIdentity::*;
  for (const Member member : {&ProcessIdentity::host, &ProcessIdentity::boot, &ProcessIdentity::pid_namespace}) {
    for (const char* text : {"", "other"}) {
      ProcessIdentity other = processes.Self();
      other.*member = text;
      EXPECT_EQ(processes.StateOf(other), ProcessState::kUnknown) << text;
    }
  }
  ProcessIdentity nobody = processes.Self();
  nobody.began.clear();
  EXPECT_EQ(processes.StateOf(nobody), ProcessState::kUnknown);
}

}  // namespace
}  // namespace firn::ports
