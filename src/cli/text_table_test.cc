// SPDX-License-Identifier: Apache-2.0
#include "cli/text_table.h"

#include <gtest/gtest.h>

namespace firn::cli {
namespace {

TEST(TextTable, AlignsByCharacters) {
  TextTable table({{"name", TextTable::Align::kLeft}, {"files", TextTable::Align::kRight}, {"why"}});
  table.AddRow({"größe=1", "1,998", "ok"});
  table.AddRow({"b", "7", ""});
  EXPECT_EQ(table.Print(),
            "  NAME     FILES  WHY\n"
            "  größe=1  1,998  ok\n"
            "  b            7\n");
}

TEST(TextTable, ForeignText_CannotDriveTheTerminal) {
  EXPECT_EQ(Printable("a\x1b[2Jb\n\x7f\xc2\x9b"
                      "c\tü"),
            "a?[2Jb???c?ü");
  TextTable table({{"x"}});
  table.AddRow({"\x1b[31mred"});
  EXPECT_EQ(table.Print().find('\x1b'), std::string::npos);
}

TEST(Wrap, BreaksAtBlanks) {
  EXPECT_EQ(Wrap("one two three four", 9, 2), "one two\n  three\n  four");
  EXPECT_EQ(Wrap("", 9, 2), "");
  EXPECT_EQ(Wrap("unbreakablelongword x", 5, 1), "unbreakablelongword\n x");
}

}  // namespace
}  // namespace firn::cli
