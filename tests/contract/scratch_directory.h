// SPDX-License-Identifier: Apache-2.0
//
// A directory for one test, gone when the test is over.
//
// Guarantees: unique among processes and threads. Threads: one owner.
#pragma once

#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <string>

namespace firn::contract {

class ScratchDirectory {
 public:
  ScratchDirectory() {
    static std::atomic<int> counter = 0;
    path_ = (std::filesystem::temp_directory_path() /
             ("firn-test-" + std::to_string(::getpid()) + "-" + std::to_string(++counter)))
                .string();
    std::filesystem::create_directories(path_);
  }
  ~ScratchDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  ScratchDirectory(const ScratchDirectory&) = delete;
  ScratchDirectory& operator=(const ScratchDirectory&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace firn::contract
