// SPDX-License-Identifier: Apache-2.0
#include "act/equality_match_layout.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "format/parquet/nesting.h"
#include "format/parquet/promotion.h"
#include "iceberg/literal.h"
#include "iceberg/parquet_schema.h"
#include "iceberg/plain_value.h"

namespace firn::act {
namespace {

using iceberg::Field;
using iceberg::TypeKind;
using parquet::NestKind;
using parquet::NestNode;
using parquet::PhysicalType;
using parquet::Promotion;

Error BadField(FieldId id, std::string_view text) {
  return {Code::kUnsupported, fmt::format("equality column {} {}", id, text)};
}

/// Schemas from the oldest to the current one.
std::vector<const iceberg::Schema*> OrderedSchemas(const iceberg::TableMetadata& metadata) {
  std::vector<const iceberg::Schema*> schemas;
  for (const iceberg::Schema& schema : metadata.schemas()) {
    if (&schema != &metadata.current_schema()) schemas.push_back(&schema);
  }
  schemas.push_back(&metadata.current_schema());
  return schemas;
}

/// Whether every value of `from` is one of `to`.
bool CanBecome(const iceberg::Type& from, const iceberg::Type& to) {
  switch (from.kind) {
    case TypeKind::kInt: return to.kind == TypeKind::kLong;
    case TypeKind::kFloat: return to.kind == TypeKind::kDouble;
    case TypeKind::kDate: return to.kind == TypeKind::kTimestamp || to.kind == TypeKind::kTimestampNs;
    case TypeKind::kDecimal:
      return to.kind == TypeKind::kDecimal && to.scale == from.scale && to.precision > from.precision;
    case TypeKind::kUnknown: return true;
    default: return false;
  }
}

bool HasEquality(const iceberg::Type& type) {
  return type.is_primitive() && type.kind != TypeKind::kUnknown && type.kind != TypeKind::kVariant &&
         type.kind != TypeKind::kGeometry && type.kind != TypeKind::kGeography;
}

/// The element that firn would write for such a field.
Result<parquet::SchemaElement> ElementOf(const Field& field) {
  Field alone{.id = field.id, .name = "key", .type = field.type};
  FIRN_ASSIGN(const iceberg::Schema schema, iceberg::Schema::Make(SchemaId(0), {std::move(alone)}, {}));
  FIRN_ASSIGN(const std::vector<parquet::SchemaElement> elements, iceberg::ToParquetSchema(schema));
  return elements.at(1);
}

std::size_t WidthOf(const parquet::SchemaElement& element) {
  constexpr std::size_t kWidths[] = {1, 4, 8, 12, 4, 8, 0};
  if (*element.type == PhysicalType::kFixedLenByteArray) return static_cast<std::size_t>(element.type_length);
  return kWidths[static_cast<std::size_t>(*element.type)];
}

Result<KeyField> MakeField(const std::vector<const iceberg::Schema*>& schemas, FieldId id) {
  KeyField key;
  key.id = id;
  const Field* newest = nullptr;
  const iceberg::Schema* schema = nullptr;
  for (const iceberg::Schema* const candidate : schemas) {
    const Field* const found = candidate->FindField(id);
    if (found == nullptr) continue;
    const bool is_wider = newest == nullptr || CanBecome(key.type, found->type);
    if (!is_wider && !(key.type == found->type) && !CanBecome(found->type, key.type)) {
      return BadField(id,
                      fmt::format("is {} in one schema and {} in another", ToString(key.type), ToString(found->type)));
    }
    if (is_wider) key.type = found->type;
    newest = found;
    schema = candidate;
  }
  if (newest == nullptr) return BadField(id, "is in no schema of the table");
  if (!HasEquality(key.type)) return BadField(id, fmt::format("of type {} cannot be compared", ToString(key.type)));
  for (const FieldId parent : schema->Ancestors(id)) {
    if (schema->FindField(parent)->type.kind != TypeKind::kStruct) return BadField(id, "is below a list or a map");
    key.parents.push_back(parent);
  }
  key.required = newest->required;
  Field widest = *newest;
  widest.type = key.type;
  FIRN_ASSIGN(key.element, ElementOf(widest));
  key.width = WidthOf(key.element);
  if (newest->initial_default && !newest->initial_default->is_null()) {
    FIRN_ASSIGN(const iceberg::Literal value, iceberg::LiteralFromJson(newest->type, *newest->initial_default));
    FIRN_ASSIGN(key.initial_default, iceberg::PlainValue(key.element, value));
  }
  return key;
}

bool HasIds(const std::vector<parquet::SchemaElement>& schema) {
  return std::any_of(schema.begin() + 1, schema.end(),
                     [](const parquet::SchemaElement& element) { return element.field_id.has_value(); });
}

/// The fields of a file that are not below lists or maps, by id.
class FileFields {
 public:
  FileFields(const std::vector<parquet::SchemaElement>& schema, std::vector<NestNode> fields,
             const iceberg::NameMapping* mapping)
      : schema_(schema), fields_(std::move(fields)), mapping_(mapping), by_name_(!HasIds(schema)) {}

  /// Null if there is none. It must be below the structs that the schema has above it: readers that go by paths and
  /// readers that go by ids find other values elsewhere.
  Result<const NestNode*> Find(FieldId id, std::span<const FieldId> parents) const {
    Place place;
    FIRN_TRY(FindBelow(fields_, by_name_ && mapping_ != nullptr ? &mapping_->fields : nullptr, id, place));
    if (place.node == nullptr) return place.node;
    const bool fits = std::ranges::equal(place.parents, parents, [](std::optional<FieldId> in_file, FieldId wanted) {
      return !in_file || *in_file == wanted;
    });
    if (fits) return place.node;
    const auto text = [](std::size_t depth) {
      return depth == 0 ? std::string("a column by itself") : fmt::format("below {} struct(s)", depth);
    };
    return BadField(id, fmt::format("is {} in the file and {} in the schema", text(place.parents.size()),
                                    parents.size() == place.parents.size() ? "below others" : text(parents.size())));
  }
  const parquet::SchemaElement& ElementOf(const NestNode& node) const {
    return schema_[static_cast<std::size_t>(node.schema_index)];
  }

 private:
  using Mapped = std::vector<iceberg::MappedField>;
  struct Place {
    const NestNode* node = nullptr;
    std::vector<std::optional<FieldId>> parents;  // of `node`, outermost first
    std::vector<std::optional<FieldId>> open;     // of what is looked at
  };

  Status FindBelow(const std::vector<NestNode>& nodes, const Mapped* mapped, FieldId id, Place& place) const {
    for (const NestNode& node : nodes) {
      const parquet::SchemaElement& element = ElementOf(node);
      const iceberg::MappedField* named = mapped != nullptr ? iceberg::FindMapped(*mapped, element.name) : nullptr;
      const std::optional<FieldId> own = !by_name_ ? element.field_id : named != nullptr ? named->id : std::nullopt;
      if (own == id) {
        if (place.node != nullptr) return BadField(id, "is twice in the file");
        place.node = &node;
        place.parents = place.open;
      }
      if (node.kind != NestKind::kStruct) continue;
      place.open.push_back(own);
      FIRN_TRY(FindBelow(node.children, named != nullptr ? &named->fields : nullptr, id, place));
      place.open.pop_back();
    }
    return Ok();
  }

  const std::vector<parquet::SchemaElement>& schema_;
  std::vector<NestNode> fields_;
  const iceberg::NameMapping* mapping_;
  bool by_name_;
};

/// Any leaf below a struct that has one value a row.
const NestNode* FirstLeaf(const NestNode& node) {
  if (node.kind == NestKind::kPrimitive) return &node;
  if (node.kind != NestKind::kStruct) return nullptr;
  for (const NestNode& child : node.children) {
    if (const NestNode* const leaf = FirstLeaf(child)) return leaf;
  }
  return nullptr;
}

bool IsSameInteger(const parquet::SchemaElement& from, const parquet::SchemaElement& to) {
  if (from.type != PhysicalType::kInt32 && from.type != PhysicalType::kInt64) return false;
  const Result<Promotion> promotion = parquet::PromotionOf(from, to);
  return promotion &&
         (*promotion == Promotion::kNone || *promotion == Promotion::kIntToLong || *promotion == Promotion::kDecimal);
}

class KeyResolver {
 public:
  KeyResolver(const FileFields& file, const iceberg::PartitionSpec* spec, const iceberg::PartitionTuple* partition)
      : file_(file), spec_(spec), partition_(partition) {}

  Status Add(const KeyField& field) {
    FIRN_ASSIGN(const NestNode* const node, file_.Find(field.id, field.parents));
    if (node == nullptr) return AddMissing(field);
    if (node->kind != NestKind::kPrimitive) return BadField(field.id, "is no single value in the file");
    KeySource& source = sources_.columns.emplace_back();
    source.leaf = sources_.leaves.size();
    source.is_same_integer = IsSameInteger(file_.ElementOf(*node), field.element);
    sources_.leaves.push_back({node->leaf, field.element, std::nullopt});
    return Ok();
  }
  KeySources& sources() { return sources_; }

 private:
  Status AddMissing(const KeyField& field) {
    if (spec_ == nullptr) return BadField(field.id, "is missing in the delete file");
    KeySource source{.is_constant = true};
    FIRN_TRY(Fill(field, source));
    if (!field.parents.empty() && source.constant) {
      FIRN_ASSIGN(const NestNode* const parent,
                  file_.Find(field.parents.back(), std::span(field.parents).first(field.parents.size() - 1)));
      if (parent == nullptr) {
        source.constant.reset();  // the struct itself is missing: null
      } else if (parent->present_level > 0) {
        const NestNode* const leaf = FirstLeaf(*parent);
        if (leaf == nullptr) return BadField(field.id, "is missing in the file, next to lists and maps only");
        source.leaf = sources_.leaves.size();
        sources_.leaves.push_back({leaf->leaf, {}, parent->present_level});
      }
    }
    sources_.columns.push_back(std::move(source));
    return Ok();
  }

  Status Fill(const KeyField& field, KeySource& source) const {
    for (std::size_t i = 0; i < spec_->fields.size() && i < partition_->values.size(); ++i) {
      const iceberg::PartitionField& part = spec_->fields[i];
      if (part.source_id != field.id || part.transform.kind != iceberg::TransformKind::kIdentity) continue;
      if (iceberg::IsNull(partition_->values[i])) return Ok();
      FIRN_ASSIGN(source.constant, iceberg::PlainValue(field.element, partition_->values[i]));
      return Ok();
    }
    source.constant = field.initial_default;
    if (source.constant || !field.required || !field.parents.empty()) return Ok();
    return BadField(field.id, "is required, and the file has no value");
  }

  const FileFields& file_;
  const iceberg::PartitionSpec* spec_;
  const iceberg::PartitionTuple* partition_;
  KeySources sources_;
};

/// The leaf with the fewest bytes that has one value a row.
Result<std::int32_t> SmallestLeaf(const parquet::FileMetaData& footer) {
  const std::vector<parquet::Leaf> leaves = parquet::LeavesOf(footer.schema);
  std::optional<std::pair<std::int64_t, std::int32_t>> smallest;
  for (std::size_t i = 0; i < leaves.size(); ++i) {
    if (leaves[i].max_repetition_level > 0) continue;
    std::int64_t bytes = 0;
    for (const parquet::RowGroup& group : footer.row_groups) {
      if (group.columns[i].meta) bytes += group.columns[i].meta->total_compressed_size / 2;
    }
    const std::pair found(bytes, static_cast<std::int32_t>(i));
    if (!smallest || found < *smallest) smallest = found;
  }
  if (smallest) return smallest->second;
  return Error{Code::kUnsupported, "the file has no equality column, and others are lists and maps"};
}

Result<KeySources> Resolve(const KeyLayout& layout, const parquet::FileMetaData& footer,
                           const iceberg::NameMapping* mapping, const iceberg::PartitionSpec* spec,
                           const iceberg::PartitionTuple* partition) {
  FIRN_ASSIGN(std::vector<NestNode> nodes, parquet::NestingOf(footer.schema));
  if (mapping == nullptr && !HasIds(footer.schema)) {
    return Error{Code::kUnsupported,
                 "the file has no field ids, and the table no name mapping (schema.name-mapping.default)"};
  }
  const FileFields file(footer.schema, std::move(nodes), mapping);
  KeyResolver resolver(file, spec, partition);
  for (const KeyField& field : layout.fields()) FIRN_TRY(resolver.Add(field));
  KeySources sources = std::move(resolver.sources());
  if (sources.leaves.empty()) {  // all are constants: some pages must show that the rows are there
    FIRN_ASSIGN(const std::int32_t leaf, SmallestLeaf(footer));
    sources.leaves.push_back({leaf, {}, std::int16_t{0}});
  }
  return sources;
}

}  // namespace

Result<KeyLayout> KeyLayout::Make(const iceberg::TableMetadata& metadata, std::vector<FieldId> ids) {
  std::ranges::sort(ids);
  const auto twice = std::ranges::unique(ids);
  ids.erase(twice.begin(), twice.end());
  if (ids.empty()) return Error{Code::kCorrupt, "an equality delete file without equality ids"};
  const std::vector<const iceberg::Schema*> schemas = OrderedSchemas(metadata);
  KeyLayout layout;
  bool is_fixed = true;
  for (const FieldId id : ids) {
    FIRN_ASSIGN(KeyField field, MakeField(schemas, id));
    is_fixed = is_fixed && field.width > 0;
    layout.key_bytes_ += 1 + field.width;
    layout.fields_.push_back(std::move(field));
  }
  if (!is_fixed) layout.key_bytes_ = 0;
  return layout;
}

Result<KeySources> ResolveDataKeys(const KeyLayout& layout, const parquet::FileMetaData& footer,
                                   const iceberg::NameMapping* mapping, const iceberg::PartitionSpec& spec,
                                   const iceberg::PartitionTuple& partition) {
  return Resolve(layout, footer, mapping, &spec, &partition);
}

Result<KeySources> ResolveDeleteKeys(const KeyLayout& layout, const parquet::FileMetaData& footer,
                                     const iceberg::NameMapping* mapping) {
  return Resolve(layout, footer, mapping, nullptr, nullptr);
}

}  // namespace firn::act
