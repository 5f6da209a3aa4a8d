// SPDX-License-Identifier: Apache-2.0
#include "cli/exit_codes.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <fstream>
#include <set>
#include <sstream>

namespace firn::cli {
namespace {

TEST(ExitCodes, EveryCodeHasItsOwnNumber) {
  std::set<int> numbers;
  for (int i = 0; i <= static_cast<int>(Code::kInternal); ++i) {
    const int number = ExitNumber(static_cast<Code>(i));
    EXPECT_TRUE(numbers.insert(number).second);
    EXPECT_GE(number, 1);
    EXPECT_LE(number, 10);
  }
  for (std::size_t i = 0; i < ExitCodes().size(); ++i) EXPECT_EQ(ExitCodes()[i].number, static_cast<int>(i));
}

TEST(ExitCodes, TheDocumentShowsTheSameTable) {
  std::ifstream file(std::string(FIRN_SOURCE_DIR) + "/docs/errors.md");
  ASSERT_TRUE(file.good());
  std::stringstream text;
  text << file.rdbuf();
  for (const auto& code : ExitCodes()) {
    const std::string row = fmt::format("| {} | {} | {} |", code.number, code.name, code.meaning);
    EXPECT_NE(text.str().find(row), std::string::npos) << row;
  }
}

}  // namespace
}  // namespace firn::cli
