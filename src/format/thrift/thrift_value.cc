// SPDX-License-Identifier: Apache-2.0
#include "format/thrift/thrift_value.h"

namespace firn::thrift {

Value Value::Struct(std::vector<Field> fields) {
  Value value;
  value.fields = std::move(fields);
  return value;
}

Value Value::Text(std::string_view text) {
  Value value;
  value.type = Type::kString;
  value.text = text;
  return value;
}

Value Value::I32(std::int32_t number) {
  Value value;
  value.type = Type::kI32;
  value.number = number;
  return value;
}

Value Value::I64(std::int64_t number) {
  Value value;
  value.type = Type::kI64;
  value.number = number;
  return value;
}

Value Value::Bool(bool is_true) {
  Value value;
  value.type = Type::kBool;
  value.number = is_true ? 1 : 0;
  return value;
}

Value Value::List(Type element_type, std::vector<Value> elements) {
  Value value;
  value.type = Type::kList;
  value.element_type = element_type;
  value.elements = std::move(elements);
  return value;
}

Value Value::TextMap() {
  Value value;
  value.type = Type::kMap;
  return value;
}

const Value* Value::Find(std::int16_t id, Type wanted) const {
  if (type != Type::kStruct) return nullptr;
  for (const Field& field : fields) {
    if (field.id == id && field.value.type == wanted) return &field.value;
  }
  return nullptr;
}

Value* Value::Find(std::int16_t id, Type wanted) {
  return const_cast<Value*>(std::as_const(*this).Find(id, wanted));  // the tree is this one's own
}

std::string_view Value::TextOf(std::int16_t id) const {
  const Value* found = Find(id, Type::kString);
  return found ? std::string_view(found->text) : std::string_view();
}

std::int64_t Value::NumberOf(std::int16_t id, Type wanted, std::int64_t fallback) const {
  const Value* found = Find(id, wanted);
  return found ? found->number : fallback;
}

const std::string* Value::FindKey(std::string_view key) const {
  if (type != Type::kMap || key_type != Type::kString || element_type != Type::kString) return nullptr;
  for (std::size_t i = 0; i + 1 < elements.size(); i += 2) {
    if (elements[i].text == key) return &elements[i + 1].text;
  }
  return nullptr;
}

void Value::SetKey(std::string_view key, std::string_view value) {
  key_type = element_type = Type::kString;  // an empty map may have come without types
  for (std::size_t i = 0; i + 1 < elements.size(); i += 2) {
    if (elements[i].text != key) continue;
    elements[i + 1].text = value;
    return;
  }
  elements.push_back(Text(key));
  elements.push_back(Text(value));
}

void Value::RemoveKey(std::string_view key) {
  for (std::size_t i = 0; i + 1 < elements.size(); i += 2) {
    if (elements[i].text != key) continue;
    const auto at = elements.begin() + static_cast<std::ptrdiff_t>(i);
    elements.erase(at, at + 2);
    return;
  }
}

bool Value::operator==(const Value&) const = default;

}  // namespace firn::thrift
