// SPDX-License-Identifier: Apache-2.0
#include "iceberg/partition_types.h"

namespace firn::iceberg {
namespace {

const Field* FindInAnySchema(const TableMetadata& metadata, FieldId id) {
  if (const Field* field = metadata.current_schema().FindField(id)) return field;
  const Field* newest = nullptr;
  SchemaId newest_id{0};
  for (const Schema& schema : metadata.schemas()) {
    const Field* field = schema.FindField(id);
    if (field == nullptr || (newest != nullptr && schema.id() < newest_id)) continue;
    newest = field;
    newest_id = schema.id();
  }
  return newest;
}

}  // namespace

std::vector<Type> PartitionTypesIn(const TableMetadata& metadata, const PartitionSpec& spec) {
  std::vector<Type> types = PartitionTypes(spec, metadata.current_schema());
  types.resize(spec.fields.size());
  for (std::size_t i = 0; i < types.size(); ++i) {
    const Transform& transform = spec.fields[i].transform;
    if (transform.kind == TransformKind::kUnknown) {
      types[i] = Type{.kind = TypeKind::kUnknown};
    } else if (types[i].kind == TypeKind::kUnknown) {
      const Field* source = FindInAnySchema(metadata, spec.fields[i].source_id);
      if (source != nullptr) types[i] = ResultType(transform, source->type);
    }
  }
  return types;
}

}  // namespace firn::iceberg
