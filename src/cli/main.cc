// SPDX-License-Identifier: Apache-2.0
//
// The program: real clock, randomness, storage and catalogs around the commands.
#include <fcntl.h>
#include <malloc.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <mutex>
#include <new>
#include <string>
#include <string_view>
#include <vector>

#include "cli/command_line.h"
#include "cli/exit_codes.h"
#include "ports/routed_file_io.h"
#include "service/configuration_table.h"

namespace {

using namespace firn;

std::atomic<bool> cancelled = false;
static_assert(std::atomic<bool>::is_always_lock_free, "a signal handler writes it");

extern "C" void OnSignal(int number) {
  // The second signal is for people who will not wait for the clean-up. Of a closed terminal come two: the shell sends
  // one more.
  if (cancelled.exchange(true) && number != SIGHUP) _exit(cli::ExitNumber(Code::kCancelled));
}

void CatchSignals() {
  struct sigaction action{};
  action.sa_handler = OnSignal;
  action.sa_flags = SA_RESTART;
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
  // The terminal was closed. Under nohup it is ignored, and stays so.
  struct sigaction hangup{};
  if (sigaction(SIGHUP, nullptr, &hangup) == 0 && hangup.sa_handler != SIG_IGN) sigaction(SIGHUP, &action, nullptr);
  // A reader that goes away ends the writing, not the process in the middle of a commit.
  std::signal(SIGPIPE, SIG_IGN);
}

/// A file of ours must not get the number of a standard stream that is closed: what we say would be written into it.
/// Writing to what stands there now fails.
void HoldStandardStreams() {
  int file = 0;
  while ((file = open("/dev/null", O_RDONLY)) >= 0 && file <= STDERR_FILENO) {
  }
  if (file > STDERR_FILENO) close(file);
}

/// Memory that is used up ends the program as a crash would: what it leaves is found by the next run. But it says so.
void EndWithReason() {
  const std::exception_ptr thrown = std::current_exception();
  try {
    if (thrown) std::rethrow_exception(thrown);
  } catch (const std::bad_alloc&) {
    constexpr std::string_view kText = "firn: limit reached: there is no more memory\n";
    [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, kText.data(), kText.size());
    _exit(cli::ExitNumber(Code::kLimit));
  } catch (const std::exception& fault) {
    std::fprintf(stderr, "firn: internal error: %s\n", fault.what());
  } catch (...) {
    std::fputs("firn: internal error\n", stderr);
  }
  std::abort();
}

/// Merging thousands of inputs keeps many of them open. The kernel's table of open files grows when a number is first
/// used, and in a process with threads that waits for all processors, 20 ms a time; Arrow starts one before main().
void ReserveOpenFiles() {
  HoldStandardStreams();
  constexpr rlim_t kFiles = 4096;
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
  const int file = open("/", O_PATH | O_CLOEXEC);
  if (file < 0) return;
  const int last = fcntl(file, F_DUPFD_CLOEXEC, static_cast<int>(std::min(kFiles, limit.rlim_cur) - 1));
  if (last >= 0) close(last);
  close(file);
}

#ifdef __clang__  // builds with sanitizers: their runtime must come first
const bool reserved = (ReserveOpenFiles(), true);
#else
[[gnu::section(".preinit_array"), gnu::used]] void (*const kBeforeLibraries)() = &ReserveOpenFiles;
#endif

/// Blocks that one thread freed are of use to the others: with an arena for each of them, as by default, merges of a
/// few groups kept up to twice the memory that they were given. Large blocks are rare enough for two locks.
void ShareFreedMemory() {
#ifdef M_ARENA_MAX
  mallopt(M_ARENA_MAX, 2);
#endif
}

Result<service::Configuration> LoadConfiguration(const cli::TableRequest& request) {
  FIRN_ASSIGN(auto flags,
              service::ParseCatalogFlags(request.catalog, request.config_file, request.properties, request.maps));
  return service::Configuration::Load(service::ProcessSurroundings(), std::move(flags));
}

Result<cli::OpenedTable> OpenTable(const cli::TableRequest& request, ports::Clock& clock, Random& random) {
  FIRN_ASSIGN(const auto configuration, LoadConfiguration(request));
  FIRN_ASSIGN(const auto opened,
              service::OpenTable(configuration, request.table, {clock, random.Next(), nullptr, &cancelled}));
  cli::OpenedTable table;
  table.catalog = opened.catalog;
  FIRN_ASSIGN(table.table, opened.catalog->LoadTable(opened.id));
  FIRN_ASSIGN(table.io, opened.catalog->TableIO(table.table));
  return table;
}

Result<std::shared_ptr<ports::Catalog>> OpenCatalog(const cli::TableRequest& request, ports::Clock& clock,
                                                    Random& random) {
  FIRN_ASSIGN(const auto configuration, LoadConfiguration(request));
  std::uint64_t seed = 0;
  {
    // Catalogs are opened from several threads; randomness has one owner at a time.
    static std::mutex one_at_a_time;
    const std::lock_guard lock(one_at_a_time);
    seed = random.Next();
  }
  return service::OpenCatalog(configuration, configuration.default_catalog(), {clock, seed, nullptr, &cancelled});
}

Result<std::shared_ptr<service::PolicySource>> OpenPolicies(const cli::TableRequest& request, ports::Clock& clock) {
  FIRN_ASSIGN(const auto configuration, LoadConfiguration(request));
  return service::OpenPolicies(configuration, configuration.default_catalog(), {clock, 0, nullptr, &cancelled});
}

Result<std::string> CatalogName(const cli::TableRequest& request) {
  FIRN_ASSIGN(const auto configuration, LoadConfiguration(request));
  return configuration.default_catalog();
}

Result<ports::Properties> Settings(const cli::TableRequest& request) {
  FIRN_ASSIGN(const auto configuration, LoadConfiguration(request));
  return configuration.settings();
}

Result<std::shared_ptr<ports::FileIO>> OpenFiles(const cli::TableRequest& request) {
  FIRN_ASSIGN(const auto configuration, LoadConfiguration(request));
  return ports::StandardFileIO(configuration.rules())(configuration.StorageProperties());
}

}  // namespace

int main(int argc, char** argv) {
  ShareFreedMemory();
  CatchSignals();
  std::set_terminate(EndWithReason);
  cli::SystemTerminal terminal;
  ports::SystemClock clock;
  Random random(EntropySeed());
  const ports::LocalProcesses processes;
  cli::Environment environment{terminal,
                               clock,
                               random,
                               [&](const cli::TableRequest& request) { return OpenTable(request, clock, random); },
                               OpenFiles,
                               cancelled,
                               [&](const cli::TableRequest& request) { return OpenCatalog(request, clock, random); },
                               Settings,
                               CatalogName,
                               [&](const cli::TableRequest& request) { return OpenPolicies(request, clock); },
                               &processes};
  return cli::RunCommandLine({argv + 1, argv + argc}, environment);
}
