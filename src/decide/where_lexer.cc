// SPDX-License-Identifier: Apache-2.0
#include "decide/where_lexer.h"

#include <fmt/format.h>

#include <array>

#include "base/ascii.h"

namespace firn::decide {
namespace {

using Kind = WhereToken::Kind;

constexpr std::size_t kTextMax = 1 << 20;

bool IsSpace(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }
/// Letters of any alphabet: bytes of multi-byte UTF-8 characters count.
bool StartsWord(char c) { return IsAsciiLetter(c) || c == '_' || static_cast<unsigned char>(c) >= 0x80; }
bool InWord(char c) { return StartsWord(c) || IsAsciiDigit(c) || c == '.' || c == '$'; }

class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) {}

  Result<std::vector<WhereToken>> Run() {
    std::vector<WhereToken> tokens;
    while (true) {
      while (at_ < text_.size() && IsSpace(text_[at_])) ++at_;
      if (at_ == text_.size()) break;
      FIRN_ASSIGN(WhereToken token, Next());
      tokens.push_back(std::move(token));
    }
    tokens.push_back({Kind::kEnd, "", text_.size() + 1});
    return tokens;
  }

 private:
  char Peek(std::size_t ahead = 0) const { return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0'; }

  Result<WhereToken> Next() {
    const char c = Peek();
    if (c == '\'') return Quoted(Kind::kString, '\'');
    if (c == '"' || c == '`') return Quoted(Kind::kQuotedName, c);
    if ((c == 'x' || c == 'X') && Peek(1) == '\'') {
      ++at_;
      return Quoted(Kind::kHex, '\'');
    }
    if (StartsWord(c)) return Word();
    const char number = c == '-' || c == '+' ? Peek(1) : c;
    if (IsAsciiDigit(number) || number == '.') return Number();
    return Sign();
  }

  Result<WhereToken> Quoted(Kind kind, char quote) {
    WhereToken token{kind, "", at_ + 1};
    for (++at_; at_ < text_.size(); ++at_) {
      if (text_[at_] != quote) {
        token.text += text_[at_];
      } else if (Peek(1) == quote) {
        token.text += quote;
        ++at_;
      } else {
        ++at_;
        return token;
      }
    }
    return WhereError(token.position, fmt::format("the quote {} is not closed", quote));
  }

  WhereToken Word() {
    WhereToken token{Kind::kWord, "", at_ + 1};
    while (at_ < text_.size() && InWord(text_[at_])) token.text += text_[at_++];
    return token;
  }

  WhereToken Number() {
    WhereToken token{Kind::kNumber, "", at_ + 1};
    token.text += text_[at_++];
    while (at_ < text_.size()) {
      const char c = text_[at_];
      const bool exponent_sign = (c == '-' || c == '+') && (token.text.back() == 'e' || token.text.back() == 'E');
      if (!IsAsciiDigit(c) && c != '.' && c != 'e' && c != 'E' && !exponent_sign) break;
      token.text += c;
      ++at_;
    }
    return token;
  }

  Result<WhereToken> Sign() {
    constexpr std::array<std::string_view, 11> kSigns = {"<>", "!=", "<=", ">=", "==", "<", ">", "=", "(", ")", ","};
    for (std::string_view sign : kSigns) {
      if (!text_.substr(at_).starts_with(sign)) continue;
      WhereToken token{Kind::kSign, std::string(sign), at_ + 1};
      at_ += sign.size();
      return token;
    }
    return WhereError(at_ + 1, fmt::format("'{}' has no meaning here", Peek()));
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace

Error WhereError(std::size_t position, std::string_view message) {
  return {Code::kInvalidArgument, fmt::format("condition, character {}: {}", position, message)};
}

Result<std::vector<WhereToken>> LexWhere(std::string_view text) {
  if (text.size() > kTextMax) return WhereError(kTextMax, "a condition has at most 1 MiB");
  return Lexer(text).Run();
}

}  // namespace firn::decide
