// SPDX-License-Identifier: Apache-2.0
//
// The FileIOs that the suite runs on.
//
// In: environment variables for servers. Out: fixtures by name.
// Guarantees: every fixture has an empty root of its own. Threads: one test at a time.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "ports/file_io.h"

namespace firn::contract {

struct FileIOFixture {
  std::unique_ptr<ports::FileIO> io;
  /// The same storage with credentials that it does not take; null where there are none.
  std::unique_ptr<ports::FileIO> refused = nullptr;
  /// Ends with '/'.
  std::string root;
  /// Two writers of one name of a metadata file: exactly one Close() succeeds.
  bool exclusive = true;
  /// A name may have a backslash.
  bool has_backslash = true;
  /// List is in the order of bytes.
  bool sorted = true;
  /// Keys may have empty components.
  bool any_key = true;
  /// range_copies() is not null.
  bool copies_ranges = false;
  std::shared_ptr<void> owner;
};

struct FileIOCase {
  std::string name;
  std::function<FileIOFixture()> make;
};

std::vector<FileIOCase> FileIOCases();
/// Lines that say what is left out and which variable is missing.
std::vector<std::string> FileIOsLeftOut();

}  // namespace firn::contract
