// SPDX-License-Identifier: Apache-2.0
#include "format/json/json.h"

#include <fmt/format.h>

#include <exception>
#include <iterator>
#include <new>
#include <nlohmann/json.hpp>
#include <unordered_set>

namespace firn::json {
namespace {

using Lexed = nlohmann::json;

/// Above this many members an object gets a hash set of its names: the linear check would be quadratic.
constexpr std::size_t kLinearMembersMax = 16;

/// Characters of the text, which tell the builder how far the lexer has come.
class TrackedChar {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  TrackedChar(const char* at, const char** lexed_to) : at_(at), lexed_to_(lexed_to) {}
  reference operator*() const { return *at_; }
  TrackedChar& operator++() {
    *lexed_to_ = ++at_;
    return *this;
  }
  bool operator==(const TrackedChar& other) const { return at_ == other.at_; }

 private:
  const char* at_;
  const char** lexed_to_;
};

/// Receives the lexer's events and grows the tree. A false return stops the parser.
class TreeBuilder final : public nlohmann::json_sax<Lexed> {
 public:
  explicit TreeBuilder(std::string_view text) : start_(text.data()), lexed_to_(text.data()) {}

  bool null() override { return Put(Value()); }
  bool boolean(bool value) override { return Put(Value(value)); }
  // The lexer takes only "-0" for a signed zero; every other integer has one spelling.
  bool number_integer(number_integer_t value) override {
    return Put(Value::Number(value == 0 ? "-0" : fmt::format("{}", value)));
  }
  bool number_unsigned(number_unsigned_t value) override { return Put(Value::Number(fmt::format("{}", value))); }
  bool number_float(number_float_t, const string_t& text) override { return Put(Value::Number(text)); }
  bool string(string_t& value) override { return Put(Value(std::move(value))); }
  bool binary(binary_t&) override { return Fail("a binary value cannot be in JSON text"); }

  bool start_object(std::size_t) override { return Push(Value::Object()); }
  bool start_array(std::size_t) override { return Push(Value::Array()); }
  bool end_object() override { return Pop(); }
  bool end_array() override { return Pop(); }

  bool key(string_t& name) override {
    Open& open = open_.back();
    if (IsDuplicate(open, name)) return Fail(fmt::format("member `{}` appears twice", Shortened(name)));
    open.value->members().emplace_back(std::move(name), Value());
    return true;
  }

  bool parse_error(std::size_t position, const std::string&, const nlohmann::detail::exception& error) override {
    // what() is "[json.exception...] parse error at line 1, column 2: <reason>; last read: '<token>'". The token
    // may be as long as the input and hold any bytes.
    std::string_view reason = error.what();
    if (const auto start = reason.find("] "); start != reason.npos) reason.remove_prefix(start + 2);
    reason = reason.substr(0, reason.find("; last read"));
    return FailAt(static_cast<std::ptrdiff_t>(position), reason.substr(0, 200));
  }

  const char** lexed_to() { return &lexed_to_; }
  Value& root() { return root_; }
  const std::string& error() const { return error_; }

 private:
  struct Open {
    Value* value = nullptr;
    std::unordered_set<std::string> names;  // filled above kLinearMembersMax
  };

  static std::string Shortened(const std::string& name) {
    return name.size() <= 80 ? name : fmt::format("({} bytes)", name.size());
  }

  static bool IsDuplicate(Open& open, const std::string& name) {
    const auto& members = open.value->members();
    if (members.size() < kLinearMembersMax) return open.value->Find(name) != nullptr;
    if (open.names.empty()) {
      for (const auto& [known, value] : members) open.names.insert(known);
    }
    return !open.names.insert(name).second;
  }

  bool FailAt(std::ptrdiff_t position, std::string_view reason) {
    error_ = fmt::format("JSON is broken at byte {}: {}", position, reason);
    return false;
  }
  bool Fail(std::string_view reason) { return FailAt(lexed_to_ - start_, reason); }

  Value* Place(Value value) {
    if (open_.empty()) {
      root_ = std::move(value);
      return &root_;
    }
    Value& parent = *open_.back().value;
    if (parent.is_array()) {
      parent.Append(std::move(value));
      return &parent.elements().back();
    }
    parent.members().back().second = std::move(value);
    return &parent.members().back().second;
  }

  bool Put(Value value) {
    Place(std::move(value));
    return true;
  }

  // Pointers to open values stay valid: a container grows only while it is the innermost open one.
  bool Push(Value value) {
    if (open_.size() >= static_cast<std::size_t>(kDepthMax)) {
      return Fail(fmt::format("nested more than {} levels deep", kDepthMax));
    }
    open_.push_back({Place(std::move(value)), {}});
    return true;
  }

  bool Pop() {
    open_.pop_back();
    return true;
  }

  const char* start_;
  const char* lexed_to_;
  Value root_;
  std::vector<Open> open_;
  std::string error_;
};

}  // namespace

Result<Value> Parse(std::string_view text) {
  TreeBuilder builder(text);
  const TrackedChar first(text.data(), builder.lexed_to()), last(text.data() + text.size(), builder.lexed_to());
  try {
    if (Lexed::sax_parse(first, last, &builder)) return std::move(builder.root());
  } catch (const std::bad_alloc&) {
    return Error{Code::kLimit, "there is no more memory to read JSON"};
  } catch (const std::exception& error) {
    return Error{Code::kCorrupt, fmt::format("JSON cannot be read: {}", error.what())};
  }
  return Error{Code::kCorrupt, builder.error()};
}

}  // namespace firn::json
