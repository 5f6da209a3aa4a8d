// SPDX-License-Identifier: Apache-2.0
#include "decide/where.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace firn::decide {
namespace {

/// The tree with every parenthesis written out.
std::string Print(const Where& where) {
  static constexpr const char* kTests[] = {"=", "<>", "<", "<=", ">", ">=", "in", "not in", "is null", "not null"};
  std::vector<std::string> parts;
  switch (where.kind) {
    case Where::Kind::kConstant: return where.constant ? "true" : "false";
    case Where::Kind::kNot: return "!" + Print(where.children[0]);
    case Where::Kind::kTest:
      for (const auto& literal : where.literals) parts.push_back(literal.text);
      return fmt::format("[{} {} {}]", where.column, kTests[static_cast<int>(where.test)], fmt::join(parts, ","));
    default: break;
  }
  for (const auto& child : where.children) parts.push_back(Print(child));
  return fmt::format("({})", fmt::join(parts, where.kind == Where::Kind::kAnd ? " & " : " | "));
}

TEST(ParseWhere, Trees) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"a=1", "[a = 1]"},
      {"1 < a", "[a > 1]"},
      {"a >= -1.5e-3", "[a >= -1.5e-3]"},
      {"a = 'it''s'", "[a = it's]"},
      {"\"a b\" <> 'x' or `c` != X'0fFF'", "([a b <> x] | [c <> 0fFF])"},
      {"a=1 and b=2 OR c=3 And not d=4", "(([a = 1] & [b = 2]) | ([c = 3] & ![d = 4]))"},
      {"a=1 and (b=2 or c=3)", "([a = 1] & ([b = 2] | [c = 3]))"},
      {"a in ('x', 'y')", "[a in x,y]"},
      {"a not in (1)", "[a not in 1]"},
      {"a between 1 and 2 and b = 3", "(([a >= 1] & [a <= 2]) & [b = 3])"},
      {"a not between 1 and 2", "([a < 1] | [a > 2])"},
      {"a is null or b IS NOT NULL", "([a is null ] | [b not null ])"},
      {"d = DATE '2024-01-01'", "[d = 2024-01-01]"},
      {"date = '2024-01-01' and timestamp > 5", "([date = 2024-01-01] & [timestamp > 5])"},
      {"TIMESTAMP '2024-01-01 00:00' <= t", "[t >= 2024-01-01 00:00]"},
      {"true", "true"},
      {"not FALSE", "!false"},
      {"active = true", "[active = true]"},
      {"true = active", "[active = true]"},
      {"a.b.c=1", "[a.b.c = 1]"},
      {"größe > 1", "[größe > 1]"},
  };
  for (const auto& [text, tree] : cases) {
    auto where = ParseWhere(text);
    ASSERT_TRUE(where.has_value()) << text << ": " << where.error().message;
    EXPECT_EQ(Print(*where), tree) << text;
  }
}

TEST(ParseWhere, Errors_NameThePosition) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"", "condition, character 1: expected a column, but the condition ends"},
      {"a", "condition, character 2: expected =, <>, <, <=, >, >=, IS, IN or BETWEEN, but the condition ends"},
      {"a =",
       "condition, character 4: expected a number, a string in single quotes, true or false, but the condition ends"},
      {"a = b", "condition, character 5: expected a number, a string in single quotes, true or false, but found `b`"},
      {"a = 1 b = 2", "condition, character 7: expected AND, OR or the end, but found `b`"},
      {"(a = 1", "condition, character 7: expected `)`, but the condition ends"},
      {"a = 'x", "condition, character 5: the quote ' is not closed"},
      {"a = NULL", "condition, character 5: nothing equals NULL: write IS NULL or IS NOT NULL"},
      {"a in ()", "condition, character 7: expected a number, a string in single quotes, true or false, but found `)`"},
      {"a ; drop", "condition, character 3: ';' has no meaning here"},
      {"and = 1", "condition, character 1: expected a column, but found `and`"},
      {"a is 5", "condition, character 6: expected NULL, but found `5`"},
      {"5", "condition, character 2: expected a comparison sign, but the condition ends"},
  };
  for (const auto& [text, message] : cases) {
    auto where = ParseWhere(text);
    ASSERT_FALSE(where.has_value()) << text;
    EXPECT_EQ(where.error().code, Code::kInvalidArgument);
    EXPECT_EQ(where.error().message, message) << text;
  }
}

TEST(ParseWhere, DeepNesting_IsRefused) {
  EXPECT_FALSE(ParseWhere(std::string(100'000, '(') + "a=1" + std::string(100'000, ')')).has_value());
  std::string nots;
  for (int i = 0; i < 100'000; ++i) nots += "not ";
  EXPECT_FALSE(ParseWhere(nots + "a=1").has_value());
  EXPECT_TRUE(ParseWhere(std::string(50, '(') + "a=1" + std::string(50, ')')).has_value());
}

}  // namespace
}  // namespace firn::decide
