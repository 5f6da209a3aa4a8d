// SPDX-License-Identifier: Apache-2.0
//
// A value of Thrift as a tree, whatever structs its sender knows.
//
// In: nothing but values. Out: trees that are read, changed and sent back.
// Guarantees: fields that nobody here knows stay in the tree, in their order, so that what was read can be sent back
//   whole.
// Cost: about a hundred bytes a node.
// Errors: none; what is missing or of another type is not found.
// Threads: value types.
// Source: Apache Thrift, "Thrift interface description language".
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace firn::thrift {

/// Numbers are those of the binary protocol.
enum class Type : std::uint8_t {
  kBool = 2,
  kByte = 3,
  kDouble = 4,
  kI16 = 6,
  kI32 = 8,
  kI64 = 10,
  kString = 11,
  kStruct = 12,
  kMap = 13,
  kSet = 14,
  kList = 15,
  kUuid = 16,
};

struct Field;

struct Value {
  Type type = Type::kStruct;
  std::int64_t number = 0;  // of bool, byte, i16, i32, i64; the bits of a double
  std::string text;         // of string and uuid
  std::vector<Field> fields;
  Type key_type = Type::kString;      // of map
  Type element_type = Type::kString;  // of list and set; of the values of a map
  std::vector<Value> elements;        // of list and set; of map: key, value, key, value, ...

  static Value Struct(std::vector<Field> fields);
  static Value Text(std::string_view text);
  static Value I32(std::int32_t number);
  static Value I64(std::int64_t number);
  static Value Bool(bool value);
  static Value List(Type element_type, std::vector<Value> elements);
  /// An empty map of strings.
  static Value TextMap();

  /// A field of a struct; null if it is missing or of another type.
  const Value* Find(std::int16_t id, Type wanted) const;
  Value* Find(std::int16_t id, Type wanted);
  /// A string field of a struct, or "".
  std::string_view TextOf(std::int16_t id) const;
  /// A number of a struct, or `fallback`.
  std::int64_t NumberOf(std::int16_t id, Type wanted, std::int64_t fallback = 0) const;

  /// The value of a key in a map of strings; null if it is missing.
  const std::string* FindKey(std::string_view key) const;
  void SetKey(std::string_view key, std::string_view value);
  void RemoveKey(std::string_view key);

  bool operator==(const Value&) const;
};

struct Field {
  std::int16_t id = 0;
  Value value;
  bool operator==(const Field&) const = default;
};

}  // namespace firn::thrift
