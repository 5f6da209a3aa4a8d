// SPDX-License-Identifier: Apache-2.0
//
// What the suites over every FileIO have in common.
//
// In: a case of file_io_fixture.h. Out: short words for files below the fixture's root.
// Guarantees: failures of the storage fail the test. Threads: one test at a time.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "contract/file_io_fixture.h"

namespace firn::contract {

class FileIOSuite : public testing::TestWithParam<FileIOCase> {
 protected:
  FileIOSuite() : fixture_(GetParam().make()) {}
  ports::FileIO& io() { return *fixture_.io; }
  std::string At(const std::string& name) const { return fixture_.root + name; }

  void Put(const std::string& name, const std::string& text) {
    const Status written = ports::WriteFile(io(), At(name), AsBytes(text));
    ASSERT_TRUE(written) << ToString(written.error());
  }
  Result<std::string> Get(const std::string& name) {
    FIRN_ASSIGN(const Bytes bytes, ports::ReadFile(io(), At(name)));
    return std::string(AsText(bytes));
  }
  std::vector<std::string> ListNames(const std::string& prefix) {
    std::vector<std::string> names;
    std::string page;
    do {
      auto listed = io().List(prefix, page);
      EXPECT_TRUE(listed) << ToString(listed.error());
      if (!listed) break;
      for (const ports::FileInfo& file : listed->files) {
        EXPECT_TRUE(file.location.starts_with(fixture_.root)) << file.location;
        names.push_back(file.location.substr(fixture_.root.size()));
      }
      page = listed->next_page;
    } while (!page.empty());
    return names;
  }
  std::unique_ptr<ports::OutputFile> Create(const std::string& name) {
    auto file = io().Create(At(name));
    EXPECT_TRUE(file) << ToString(file.error());
    return file ? std::move(*file) : nullptr;
  }

  FileIOFixture fixture_;
};

}  // namespace firn::contract
