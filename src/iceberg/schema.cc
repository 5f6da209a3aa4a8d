// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "iceberg/types.h"

namespace firn::iceberg {
namespace {

/// Counts the fields whose dotted name is `rest`, and remembers the last. Names may hold dots themselves, so every
/// split of the text is tried.
void Match(const std::vector<Field>& fields, std::string_view rest, const Field*& found, int& count) {
  for (const Field& field : fields) {
    if (!rest.starts_with(field.name)) continue;
    const std::string_view after = rest.substr(field.name.size());
    if (after.empty()) {
      found = &field;
      ++count;
    } else if (after.front() == '.' && field.type.fields) {
      Match(*field.type.fields, after.substr(1), found, count);
    }
  }
}

}  // namespace

Result<Schema> Schema::Make(SchemaId id, std::vector<Field> fields, std::vector<FieldId> identifier_field_ids) {
  Schema schema;
  schema.id_ = id;
  schema.root_ = std::make_shared<const std::vector<Field>>(std::move(fields));
  schema.identifier_field_ids_ = std::move(identifier_field_ids);

  struct Level {
    const std::vector<Field>* fields;
    std::optional<FieldId> parent;
  };
  std::vector<Level> levels{{schema.root_.get(), std::nullopt}};
  while (!levels.empty()) {
    const Level level = levels.back();
    levels.pop_back();
    for (const Field& field : *level.fields) {
      if (!schema.by_id_.emplace(field.id, &field).second) {
        return Error{Code::kCorrupt, fmt::format("schema {}: field id {} is used twice", id.value, field.id)};
      }
      if (level.parent) schema.parent_.emplace(field.id, *level.parent);
      if (field.type.is_nested() && !field.type.fields) {
        return Error{Code::kCorrupt, fmt::format("schema {}: field {} has no children", id.value, field.id)};
      }
      if (field.type.fields) levels.push_back({field.type.fields.get(), field.id});
    }
  }
  for (const FieldId identifier : schema.identifier_field_ids_) {
    if (!schema.by_id_.contains(identifier)) {
      return Error{Code::kCorrupt, fmt::format("schema {}: identifier field {} does not exist", id.value, identifier)};
    }
  }
  return schema;
}

const Field* Schema::FindField(FieldId id) const {
  const auto found = by_id_.find(id);
  return found == by_id_.end() ? nullptr : found->second;
}

std::vector<FieldId> Schema::Ancestors(FieldId id) const {
  std::vector<FieldId> ancestors;
  for (auto parent = parent_.find(id); parent != parent_.end(); parent = parent_.find(parent->second)) {
    ancestors.push_back(parent->second);
  }
  std::reverse(ancestors.begin(), ancestors.end());
  return ancestors;
}

std::string Schema::FullName(FieldId id) const {
  const Field* field = FindField(id);
  if (field == nullptr) return {};
  std::string name;
  for (const FieldId ancestor : Ancestors(id)) name += FindField(ancestor)->name + ".";
  return name + field->name;
}

const Field* Schema::FindByName(std::string_view full_name) const {
  const Field* found = nullptr;
  int count = 0;
  Match(*root_, full_name, found, count);
  return count == 1 ? found : nullptr;
}

}  // namespace firn::iceberg
