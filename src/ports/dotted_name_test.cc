// SPDX-License-Identifier: Apache-2.0
#include "ports/dotted_name.h"

#include <gtest/gtest.h>

#include "base/random.h"
#include "ports/catalog.h"

namespace firn::ports {
namespace {

using Levels = std::vector<std::string>;

TEST(DottedName, PartsWithDotsAreQuoted) {
  EXPECT_EQ(DottedName(Levels{"a", "b", "c"}), "a.b.c");
  EXPECT_EQ(DottedName(Levels{"a", "b.c"}), R"(a."b.c")");
  EXPECT_EQ(DottedName(Levels{"a.b", "c"}), R"("a.b".c)");
  EXPECT_EQ(DottedName(Levels{R"(a"b)"}), R"("a""b")");
  EXPECT_EQ(ToString({{"a"}, "b.c"}), R"(a."b.c")");
  EXPECT_EQ(ToString({{}, "/lake/t.v1"}), "/lake/t.v1") << "a place, not a name";
}

TEST(DottedName, IsReadBack) {
  const auto read = ParseTableIdentifier(R"(a."b.c")");
  ASSERT_TRUE(read.has_value()) << read.error().message;
  EXPECT_EQ(read->name_space, Levels{"a"});
  EXPECT_EQ(read->name, "b.c");
  Random random(3);
  for (int i = 0; i < 20'000; ++i) {
    Levels levels(1 + random.Below(3));
    for (std::string& level : levels) {
      for (auto n = 1 + random.Below(4); n > 0; --n) level += R"(ab."/)"[random.Below(5)];
    }
    const auto again = SplitDottedName(DottedName(levels));
    ASSERT_TRUE(again.has_value()) << DottedName(levels);
    EXPECT_EQ(*again, levels) << DottedName(levels);
  }
}

TEST(DottedName, WhatDoesNotCloseOrIsEmptyIsRefused) {
  for (const char* text : {"", ".", "a.", ".a", "a..b", R"(")", R"("")", R"("a)", R"("a"b)", R"(a."")", R"("a"".b)"}) {
    EXPECT_EQ(SplitDottedName(text).error().code, Code::kInvalidArgument) << text;
  }
}

}  // namespace
}  // namespace firn::ports
