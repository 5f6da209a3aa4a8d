// SPDX-License-Identifier: Apache-2.0
#include "decide/where.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "base/ascii.h"
#include "decide/where_lexer.h"

namespace firn::decide {
namespace {

using Kind = WhereToken::Kind;

constexpr int kDepthMax = 100;

Where Join(Where::Kind kind, std::vector<Where> children) {
  if (children.size() == 1) return std::move(children[0]);
  Where node;
  node.kind = kind;
  node.children = std::move(children);
  return node;
}

Where Test(std::string column, WhereTest test, std::vector<WhereLiteral> literals) {
  Where node;
  node.kind = Where::Kind::kTest;
  node.column = std::move(column);
  node.test = test;
  node.literals = std::move(literals);
  return node;
}

std::optional<WhereTest> TestOfSign(std::string_view sign) {
  if (sign == "=" || sign == "==") return WhereTest::kEqual;
  if (sign == "<>" || sign == "!=") return WhereTest::kNotEqual;
  if (sign == "<") return WhereTest::kLess;
  if (sign == "<=") return WhereTest::kLessEqual;
  if (sign == ">") return WhereTest::kGreater;
  if (sign == ">=") return WhereTest::kGreaterEqual;
  return std::nullopt;
}

/// The test with its sides exchanged: 5 < a is a > 5.
WhereTest Mirror(WhereTest test) {
  switch (test) {
    case WhereTest::kLess: return WhereTest::kGreater;
    case WhereTest::kLessEqual: return WhereTest::kGreaterEqual;
    case WhereTest::kGreater: return WhereTest::kLess;
    case WhereTest::kGreaterEqual: return WhereTest::kLessEqual;
    default: return test;
  }
}

class Parser {
 public:
  explicit Parser(std::vector<WhereToken> tokens) : tokens_(std::move(tokens)) {}

  Result<Where> Run() {
    FIRN_ASSIGN(Where where, Or(0));
    if (Peek().kind != Kind::kEnd) return Expected("AND, OR or the end");
    return where;
  }

 private:
  const WhereToken& Peek() const { return tokens_[at_]; }
  bool IsKeyword(std::string_view keyword) const {
    return Peek().kind == Kind::kWord && AsciiUpper(Peek().text) == keyword;
  }
  bool TakeKeyword(std::string_view keyword) {
    if (!IsKeyword(keyword)) return false;
    ++at_;
    return true;
  }
  bool TakeSign(std::string_view sign) {
    if (Peek().kind != Kind::kSign || Peek().text != sign) return false;
    ++at_;
    return true;
  }
  Error Expected(std::string_view what) const {
    const std::string found = Peek().kind == Kind::kEnd ? "the condition ends" : fmt::format("found `{}`", Peek().text);
    return WhereError(Peek().position, fmt::format("expected {}, but {}", what, found));
  }

  Result<Where> Or(int depth) {
    std::vector<Where> children;
    do {
      FIRN_ASSIGN(Where child, And(depth));
      children.push_back(std::move(child));
    } while (TakeKeyword("OR"));
    return Join(Where::Kind::kOr, std::move(children));
  }

  Result<Where> And(int depth) {
    std::vector<Where> children;
    do {
      FIRN_ASSIGN(Where child, Not(depth));
      children.push_back(std::move(child));
    } while (TakeKeyword("AND"));
    return Join(Where::Kind::kAnd, std::move(children));
  }

  Result<Where> Not(int depth) {
    if (depth > kDepthMax) return WhereError(Peek().position, "conditions are nested too deeply");
    if (TakeKeyword("NOT")) {
      FIRN_ASSIGN(Where child, Not(depth + 1));
      Where node;
      node.kind = Where::Kind::kNot;
      node.children.push_back(std::move(child));
      return node;
    }
    if (TakeSign("(")) {
      FIRN_ASSIGN(Where inner, Or(depth + 1));
      if (!TakeSign(")")) return Expected("`)`");
      return inner;
    }
    return Comparison();
  }

  Result<Where> Comparison() {
    if (AtLiteral()) {
      const bool is_bool = IsKeyword("TRUE") || IsKeyword("FALSE");
      FIRN_ASSIGN(WhereLiteral literal, TakeLiteral());
      const auto test = Peek().kind == Kind::kSign ? TestOfSign(Peek().text) : std::nullopt;
      if (!test && is_bool) {
        Where node;
        node.constant = literal.text == "true";
        return node;
      }
      if (!test) return Expected("a comparison sign");
      ++at_;
      FIRN_ASSIGN(std::string column, TakeColumn());
      return Test(std::move(column), Mirror(*test), {std::move(literal)});
    }
    FIRN_ASSIGN(std::string column, TakeColumn());
    if (Peek().kind == Kind::kSign) {
      const auto test = TestOfSign(Peek().text);
      if (!test) return Expected("a comparison");
      ++at_;
      FIRN_ASSIGN(WhereLiteral literal, TakeLiteral());
      return Test(std::move(column), *test, {std::move(literal)});
    }
    if (TakeKeyword("IS")) {
      const bool negated = TakeKeyword("NOT");
      if (!TakeKeyword("NULL")) return Expected("NULL");
      return Test(std::move(column), negated ? WhereTest::kNotNull : WhereTest::kIsNull, {});
    }
    const bool negated = TakeKeyword("NOT");
    if (TakeKeyword("IN")) return InList(std::move(column), negated);
    if (TakeKeyword("BETWEEN")) return Between(std::move(column), negated);
    return Expected("=, <>, <, <=, >, >=, IS, IN or BETWEEN");
  }

  Result<Where> InList(std::string column, bool negated) {
    if (!TakeSign("(")) return Expected("`(`");
    std::vector<WhereLiteral> literals;
    do {
      FIRN_ASSIGN(WhereLiteral literal, TakeLiteral());
      literals.push_back(std::move(literal));
    } while (TakeSign(","));
    if (!TakeSign(")")) return Expected("`,` or `)`");
    return Test(std::move(column), negated ? WhereTest::kNotIn : WhereTest::kIn, std::move(literals));
  }

  Result<Where> Between(std::string column, bool negated) {
    FIRN_ASSIGN(WhereLiteral low, TakeLiteral());
    if (!TakeKeyword("AND")) return Expected("AND");
    FIRN_ASSIGN(WhereLiteral high, TakeLiteral());
    std::vector<Where> bounds;
    bounds.push_back(Test(column, negated ? WhereTest::kLess : WhereTest::kGreaterEqual, {std::move(low)}));
    bounds.push_back(Test(column, negated ? WhereTest::kGreater : WhereTest::kLessEqual, {std::move(high)}));
    return Join(negated ? Where::Kind::kOr : Where::Kind::kAnd, std::move(bounds));
  }

  bool AtLiteral() const {
    const WhereToken& token = Peek();
    if (token.kind == Kind::kNumber || token.kind == Kind::kString || token.kind == Kind::kHex) return true;
    return IsKeyword("TRUE") || IsKeyword("FALSE") || AtTypedString();
  }

  bool AtTypedString() const {
    return (IsKeyword("DATE") || IsKeyword("TIMESTAMP")) && tokens_[at_ + 1].kind == Kind::kString;
  }

  Result<WhereLiteral> TakeLiteral() {
    if (AtTypedString()) ++at_;
    if (IsKeyword("NULL")) return WhereError(Peek().position, "nothing equals NULL: write IS NULL or IS NOT NULL");
    if (!AtLiteral()) return Expected("a number, a string in single quotes, true or false");
    const WhereToken& token = tokens_[at_++];
    switch (token.kind) {
      case Kind::kNumber: return WhereLiteral{WhereLiteral::Kind::kNumber, token.text};
      case Kind::kString: return WhereLiteral{WhereLiteral::Kind::kString, token.text};
      case Kind::kHex: return WhereLiteral{WhereLiteral::Kind::kHex, token.text};
      default: return WhereLiteral{WhereLiteral::Kind::kBool, AsciiUpper(token.text) == "TRUE" ? "true" : "false"};
    }
  }

  Result<std::string> TakeColumn() {
    static constexpr std::string_view kReserved[] = {"AND", "OR", "NOT", "IN", "IS", "NULL", "BETWEEN"};
    const WhereToken& token = Peek();
    const bool reserved = token.kind == Kind::kWord && std::ranges::count(kReserved, AsciiUpper(token.text)) > 0;
    if ((token.kind != Kind::kWord && token.kind != Kind::kQuotedName) || reserved) return Expected("a column");
    ++at_;
    return token.text;
  }

  std::vector<WhereToken> tokens_;
  std::size_t at_ = 0;
};

}  // namespace

Result<Where> ParseWhere(std::string_view text) {
  FIRN_ASSIGN(auto tokens, LexWhere(text));
  return Parser(std::move(tokens)).Run();
}

}  // namespace firn::decide
