// SPDX-License-Identifier: Apache-2.0
//
// Reads JSON into a tree that can be edited and written back without losing anything it did not understand.
//
// In: UTF-8 text. Out: a tree; text again.
// Guarantees: members keep their order; numbers keep their digits (integers above 2^53, "1.0", "1e5");
//   duplicate member names are refused; depth is bounded (kDepthMax).
// Cost: about 200 bytes a value while parsing; O(text).
// Errors: kCorrupt with the byte offset.
// Threads: value type.
// Source: RFC 8259. The lexer is nlohmann's, through its SAX interface, in json.cc only.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace firn::json {

inline constexpr int kDepthMax = 512;

class Value {
 public:
  enum class Kind { kNull, kBool, kNumber, kString, kArray, kObject };
  using Member = std::pair<std::string, Value>;

  Value() = default;  // null
  Value(bool value);
  Value(std::int64_t value);
  Value(std::int32_t value) : Value(static_cast<std::int64_t>(value)) {}
  Value(double value);
  Value(std::string value);
  Value(std::string_view value) : Value(std::string(value)) {}
  Value(const char* value) : Value(std::string(value)) {}
  static Value Array();
  static Value Object();
  /// A number written exactly as `digits`, which must be JSON number text.
  static Value Number(std::string digits);

  Kind kind() const { return kind_; }
  bool is_null() const { return kind_ == Kind::kNull; }
  bool is_object() const { return kind_ == Kind::kObject; }
  bool is_array() const { return kind_ == Kind::kArray; }
  bool is_string() const { return kind_ == Kind::kString; }
  bool is_number() const { return kind_ == Kind::kNumber; }
  bool is_bool() const { return kind_ == Kind::kBool; }

  /// Typed access: nullopt when the kind differs or an integer does not fit.
  std::optional<bool> AsBool() const;
  std::optional<std::int64_t> AsInt64() const;
  std::optional<double> AsDouble() const;
  const std::string* AsString() const;
  /// Digits of a number as they were written.
  const std::string& number_text() const { return text_; }

  /// Elements of an array; empty for other kinds.
  const std::vector<Value>& elements() const { return elements_; }
  std::vector<Value>& elements() { return elements_; }
  void Append(Value value) { elements_.push_back(std::move(value)); }

  /// Members of an object in order; empty for other kinds.
  const std::vector<Member>& members() const { return members_; }
  std::vector<Member>& members() { return members_; }
  const Value* Find(std::string_view name) const;
  Value* Find(std::string_view name);
  /// Replaces the member in place, or adds it at the end.
  void Set(std::string_view name, Value value);
  /// True if there was such a member.
  bool Remove(std::string_view name);

  /// Deep equality; objects compare without regard to order, numbers by their text.
  bool operator==(const Value& other) const;

 private:
  Kind kind_ = Kind::kNull;
  bool bool_ = false;
  std::string text_;  // string value, or digits of a number
  std::vector<Value> elements_;
  std::vector<Member> members_;
};

Result<Value> Parse(std::string_view text);
/// Compact text.
std::string Write(const Value& value);
/// Indented by two spaces, for people.
std::string WritePretty(const Value& value);

/// Required and optional members with errors that name the member: "`schema-id` is missing".
Result<std::int64_t> GetInt64(const Value& object, std::string_view name);
Result<std::int32_t> GetInt32(const Value& object, std::string_view name);
Result<std::string> GetString(const Value& object, std::string_view name);
Result<bool> GetBool(const Value& object, std::string_view name);
/// nullopt when missing or null; an error when of another kind.
Result<std::optional<std::int64_t>> FindInt64(const Value& object, std::string_view name);
Result<std::optional<std::int32_t>> FindInt32(const Value& object, std::string_view name);
Result<std::optional<std::string>> FindString(const Value& object, std::string_view name);

}  // namespace firn::json
