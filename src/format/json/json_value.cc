// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "format/json/json.h"

namespace firn::json {
namespace {

constexpr std::size_t kLinearMembersMax = 16;

std::vector<const Value::Member*> SortedMembers(const Value& value) {
  std::vector<const Value::Member*> sorted;
  sorted.reserve(value.members().size());
  for (const auto& member : value.members()) sorted.push_back(&member);
  std::sort(sorted.begin(), sorted.end(), [](const auto* a, const auto* b) { return a->first < b->first; });
  return sorted;
}

bool SameMembers(const Value& a, const Value& b) {
  if (a.members().size() != b.members().size()) return false;
  if (a.members().size() <= kLinearMembersMax) {
    return std::all_of(a.members().begin(), a.members().end(), [&b](const auto& member) {
      const Value* other = b.Find(member.first);
      return other != nullptr && member.second == *other;
    });
  }
  const auto left = SortedMembers(a), right = SortedMembers(b);
  return std::equal(left.begin(), left.end(), right.begin(),
                    [](const auto* x, const auto* y) { return x->first == y->first && x->second == y->second; });
}

Error Missing(std::string_view name) { return {Code::kCorrupt, fmt::format("`{}` is missing", name)}; }
Error NotA(std::string_view name, std::string_view kind) {
  return {Code::kCorrupt, fmt::format("`{}` is not {}", name, kind)};
}

Result<std::int32_t> Narrow(std::string_view name, std::int64_t wide) {
  const auto narrow = static_cast<std::int32_t>(wide);
  if (narrow != wide) return NotA(name, "a signed integer of 32 bits");
  return narrow;
}

}  // namespace

Value::Value(bool value) : kind_(Kind::kBool), bool_(value) {}
Value::Value(std::int64_t value) : kind_(Kind::kNumber), text_(fmt::format("{}", value)) {}
Value::Value(std::string value) : kind_(Kind::kString), text_(std::move(value)) {}

Value::Value(double value) {
  if (!std::isfinite(value)) return;  // JSON has no such number: null, as most writers do
  kind_ = Kind::kNumber;
  char digits[40];
  const auto end = std::to_chars(digits, digits + sizeof digits, value).ptr;
  text_.assign(digits, end);
  if (text_.find_first_of(".e") == text_.npos) text_ += ".0";
}

Value Value::Array() {
  Value value;
  value.kind_ = Kind::kArray;
  return value;
}

Value Value::Object() {
  Value value;
  value.kind_ = Kind::kObject;
  return value;
}

Value Value::Number(std::string digits) {
  Value value;
  value.kind_ = Kind::kNumber;
  value.text_ = std::move(digits);
  return value;
}

std::optional<bool> Value::AsBool() const {
  if (!is_bool()) return std::nullopt;
  return bool_;
}

std::optional<std::int64_t> Value::AsInt64() const {
  if (!is_number()) return std::nullopt;
  std::int64_t number = 0;
  const char* end = text_.data() + text_.size();
  const auto [stop, fault] = std::from_chars(text_.data(), end, number);
  if (fault != std::errc() || stop != end) return std::nullopt;
  return number;
}

std::optional<double> Value::AsDouble() const {
  if (!is_number()) return std::nullopt;
  double number = 0;
  const char* end = text_.data() + text_.size();
  const auto [stop, fault] = std::from_chars(text_.data(), end, number);
  if (fault != std::errc() || stop != end) return std::nullopt;
  return number;
}

const std::string* Value::AsString() const { return is_string() ? &text_ : nullptr; }

const Value* Value::Find(std::string_view name) const {
  for (const auto& [known, value] : members_) {
    if (known == name) return &value;
  }
  return nullptr;
}

Value* Value::Find(std::string_view name) { return const_cast<Value*>(static_cast<const Value*>(this)->Find(name)); }

void Value::Set(std::string_view name, Value value) {
  if (Value* known = Find(name)) {
    *known = std::move(value);
  } else {
    members_.emplace_back(std::string(name), std::move(value));
  }
}

bool Value::Remove(std::string_view name) {
  return std::erase_if(members_, [name](const Member& member) { return member.first == name; }) > 0;
}

bool Value::operator==(const Value& other) const {
  if (kind_ != other.kind_) return false;
  switch (kind_) {
    case Kind::kNull: return true;
    case Kind::kBool: return bool_ == other.bool_;
    case Kind::kNumber:
    case Kind::kString: return text_ == other.text_;
    case Kind::kArray: return elements_ == other.elements_;
    case Kind::kObject: return SameMembers(*this, other);
  }
  return false;
}

Result<std::optional<std::int64_t>> FindInt64(const Value& object, std::string_view name) {
  const Value* value = object.Find(name);
  if (value == nullptr || value->is_null()) return std::optional<std::int64_t>();
  const auto number = value->AsInt64();
  if (!number) return NotA(name, "a signed integer of 64 bits");
  return number;
}

Result<std::optional<std::int32_t>> FindInt32(const Value& object, std::string_view name) {
  FIRN_ASSIGN(const auto wide, FindInt64(object, name));
  if (!wide) return std::optional<std::int32_t>();
  FIRN_ASSIGN(const std::int32_t narrow, Narrow(name, *wide));
  return std::optional<std::int32_t>(narrow);
}

Result<std::optional<std::string>> FindString(const Value& object, std::string_view name) {
  const Value* value = object.Find(name);
  if (value == nullptr || value->is_null()) return std::optional<std::string>();
  if (!value->is_string()) return NotA(name, "a string");
  return std::optional<std::string>(*value->AsString());
}

Result<std::int64_t> GetInt64(const Value& object, std::string_view name) {
  FIRN_ASSIGN(const auto value, FindInt64(object, name));
  if (!value) return Missing(name);
  return *value;
}

Result<std::int32_t> GetInt32(const Value& object, std::string_view name) {
  FIRN_ASSIGN(const auto value, FindInt32(object, name));
  if (!value) return Missing(name);
  return *value;
}

Result<std::string> GetString(const Value& object, std::string_view name) {
  FIRN_ASSIGN(auto value, FindString(object, name));
  if (!value) return Missing(name);
  return std::move(*value);
}

Result<bool> GetBool(const Value& object, std::string_view name) {
  const Value* value = object.Find(name);
  if (value == nullptr || value->is_null()) return Missing(name);
  if (!value->is_bool()) return NotA(name, "true or false");
  return *value->AsBool();
}

}  // namespace firn::json
