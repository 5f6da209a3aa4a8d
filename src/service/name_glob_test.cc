// SPDX-License-Identifier: Apache-2.0
#include "service/name_glob.h"

#include <gtest/gtest.h>

#include "base/random.h"

namespace firn::service {
namespace {

bool Matches(std::string_view pattern, std::string_view name) { return NameGlob::Parse(pattern).value().Matches(name); }

TEST(NameGlob, StarsStayWithinALevel) {
  EXPECT_TRUE(Matches("prod.sales.orders", "prod.sales.orders"));
  EXPECT_FALSE(Matches("prod.sales.orders", "prod.sales.Orders"));
  EXPECT_TRUE(Matches("prod.*.orders", "prod.sales.orders"));
  EXPECT_FALSE(Matches("prod.*", "prod.sales.orders"));
  EXPECT_TRUE(Matches("*.tmp_*_?.t", "c.tmp_a_b_1.t"));
  EXPECT_FALSE(Matches("*.tmp_?.t", "c.tmp_.t"));
  EXPECT_TRUE(Matches("a*b*c.x", "aXbYbZc.x"));
}

TEST(NameGlob, TwoStarsStandForLevels) {
  EXPECT_TRUE(Matches("**", "c.d.t"));
  EXPECT_TRUE(Matches("prod.**", "prod"));
  EXPECT_TRUE(Matches("prod.**", "prod.a.b.c"));
  EXPECT_TRUE(Matches("prod.**.orders", "prod.orders"));
  EXPECT_TRUE(Matches("**.a.**.b", "x.a.a.y.b"));
  EXPECT_FALSE(Matches("**.a.**.b", "x.a.a.y.c"));
  EXPECT_FALSE(Matches("prod.**", "production.a"));
}

TEST(NameGlob, QuotedLevelsAreOneLevel) {
  EXPECT_TRUE(Matches("lake.a.*", R"(lake.a."b.c")"));
  EXPECT_TRUE(Matches(R"(lake.a."b.c")", R"(lake.a."b.c")"));
  EXPECT_TRUE(Matches(R"(lake.a."b.*")", R"(lake.a."b.c")"));
  EXPECT_FALSE(Matches("lake.a.b.c", R"(lake.a."b.c")"));
  EXPECT_FALSE(Matches("lake.*.*.*", R"(lake.a."b.c")"));
}

TEST(NameGlob, BadPatterns_AreRefused) {
  for (const char* pattern : {"", ".", "a.", ".a", "a..b", "a**", "a.***", "a.b**c"}) {
    EXPECT_FALSE(NameGlob::Parse(pattern).has_value()) << pattern;
  }
}

/// The plain definition, which takes exponential time.
bool Slow(std::string_view pattern, std::string_view name) {
  if (pattern.empty()) return name.empty();
  if (pattern.starts_with("**")) {  // here: any text, over all levels
    for (std::size_t i = 0; i <= name.size(); ++i) {
      if (Slow(pattern.substr(2), name.substr(i))) return true;
    }
    return false;
  }
  if (pattern[0] == '*') {
    for (std::size_t i = 0;; ++i) {
      if (Slow(pattern.substr(1), name.substr(i))) return true;
      if (i == name.size() || name[i] == '.') return false;
    }
  }
  if (name.empty()) return false;
  const bool fits = pattern[0] == name[0] || (pattern[0] == '?' && name[0] != '.');
  return fits && Slow(pattern.substr(1), name.substr(1));
}

TEST(NameGlob, RandomPatterns_AgreeWithThePlainDefinition) {
  Random random(17);
  int hits = 0;
  for (int i = 0; i < 20'000; ++i) {
    auto text = [&](std::string_view letters) {
      std::string made;
      for (std::uint64_t level = 0, levels = 1 + random.Below(3); level < levels; ++level) {
        if (level > 0) made += '.';
        for (std::uint64_t n = 1 + random.Below(4); n > 0; --n) {
          const char c = letters[random.Below(letters.size())];
          if (c != '*' || !made.ends_with('*')) made += c;
        }
      }
      return made;
    };
    const std::string pattern = text("aab*?"), name = text("ab");
    EXPECT_EQ(Matches(pattern, name), Slow(pattern, name)) << pattern << " and " << name;
    hits += Slow(pattern, name) ? 1 : 0;
    EXPECT_TRUE(Matches("**." + pattern + ".**", name + "." + name) || !Slow(pattern, name));
  }
  EXPECT_GT(hits, 300);
}

TEST(NameGlob, ManyStars_TakeNoLongTime) {
  std::string pattern, name(1'000, 'a');
  for (int i = 0; i < 200; ++i) pattern += "*a";
  EXPECT_FALSE(Matches(pattern + "*b", name));
  std::string levels = "a", many = "**";
  for (int i = 0; i < 300; ++i) levels += ".a";
  for (int i = 0; i < 100; ++i) many += ".a.**";
  EXPECT_FALSE(Matches(many + ".b", levels));
}

TEST(DottedName, TheFirstSlashOnly) {
  EXPECT_EQ(DottedName("lake/db.t"), "lake.db.t");
  EXPECT_EQ(DottedName("lake/db.a/b"), "lake.db.a/b");
  EXPECT_EQ(DottedName("t"), "t");
}

}  // namespace
}  // namespace firn::service
