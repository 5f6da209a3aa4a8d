// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "format/parquet/nesting.h"
#include "format/parquet/promotion.h"
#include "iceberg/geo_parameters.h"
#include "iceberg/literal.h"
#include "iceberg/parquet_schema.h"
#include "iceberg/plain_value.h"

namespace firn::iceberg {

namespace {

using parquet::LogicalKind;
using parquet::NestKind;
using parquet::NestNode;
using parquet::Repetition;
using parquet::SchemaElement;
using splice::ColumnSource;
using Elements = std::vector<SchemaElement>;

Error Unsupported(std::string message) { return {Code::kUnsupported, std::move(message)}; }

bool HasIds(const Elements& elements) {
  return std::any_of(elements.begin() + 1, elements.end(),
                     [](const SchemaElement& element) { return element.field_id.has_value(); });
}

/// Fields of the input, and the names that give them ids if the file has none.
struct InputFields {
  const std::vector<NestNode>* nodes = nullptr;
  const std::vector<MappedField>* mapped = nullptr;
};

struct InputField {
  const NestNode* node = nullptr;
  const std::vector<MappedField>* mapped = nullptr;  // of its children
};

class ColumnResolver {
 public:
  ColumnResolver(const Schema& schema, const Elements& output, const Elements& input, const PartitionSpec& spec,
                 const PartitionTuple& partition, bool by_name)
      : schema_(schema), output_(output), input_(input), spec_(spec), partition_(partition), by_name_(by_name) {}

  /// Resolves the fields of one struct (or of the root) that both have. `found` counts leaves that the file has.
  Status Fields(const std::vector<NestNode>& output, const InputFields& input, std::size_t& found) {
    for (const NestNode& node : output) {
      const SchemaElement& element = ElementOf(node);
      FIRN_ASSIGN(const InputField field, Find(input, element.field_id));
      Status resolved = field.node != nullptr ? Node(node, field, found) : Missing(node);
      if (!resolved) return std::move(resolved.error()).In("column " + element.name);
    }
    return Ok();
  }

  std::vector<ColumnSource>& sources() { return sources_; }

 private:
  const SchemaElement& ElementOf(const NestNode& node) const {
    return output_[static_cast<std::size_t>(node.schema_index)];
  }
  const SchemaElement& InputElementOf(const NestNode& node) const {
    return input_[static_cast<std::size_t>(node.schema_index)];
  }

  Result<InputField> Find(const InputFields& fields, std::optional<FieldId> id) const {
    InputField found;
    for (const NestNode& node : *fields.nodes) {
      const SchemaElement& element = InputElementOf(node);
      const MappedField* mapped =
          by_name_ && fields.mapped != nullptr ? FindMapped(*fields.mapped, element.name) : nullptr;
      const std::optional<FieldId> node_id = by_name_ ? (mapped ? mapped->id : std::nullopt) : element.field_id;
      if (!node_id || node_id != id) continue;
      if (found.node != nullptr) return Unsupported("two columns of the file have its id");
      found.node = &node;
      found.mapped = mapped ? &mapped->fields : nullptr;
    }
    return found;
  }

  /// Elements, keys and values have their place, not their id, as Java's readers take them.
  InputField Child(const InputField& field, std::size_t index, std::string_view name) const {
    InputField child;
    child.node = &field.node->children[index];
    const MappedField* mapped = field.mapped ? FindMapped(*field.mapped, name) : nullptr;
    child.mapped = mapped ? &mapped->fields : nullptr;
    return child;
  }

  Status Node(const NestNode& node, const InputField& field, std::size_t& found) {
    const bool is_variant = ElementOf(node).logical.kind == LogicalKind::kVariant;
    if (is_variant != (InputElementOf(*field.node).logical.kind == LogicalKind::kVariant)) {
      return Unsupported("it is a variant on one side only");
    }
    if (is_variant) return Variant(node, *field.node, found);
    if (node.kind != field.node->kind) return Unsupported("the file nests it in another way");
    switch (node.kind) {
      case NestKind::kPrimitive: return Primitive(node, *field.node, found);
      case NestKind::kList: return Node(node.children[0], Child(field, 0, "element"), found);
      case NestKind::kMap:
        FIRN_TRY(Node(node.children[0], Child(field, 0, "key"), found));
        return Node(node.children[1], Child(field, 1, "value"), found);
      case NestKind::kStruct: break;
    }
    std::size_t inside = 0;
    FIRN_TRY(Fields(node.children, {&field.node->children, field.mapped}, inside));
    if (inside == 0) return Unsupported("all its fields in the file were dropped from the table");
    found += inside;
    return Ok();
  }

  void Add(ColumnSource::Kind kind, std::int32_t leaf, std::optional<Bytes> constant = std::nullopt) {
    ColumnSource& source = sources_.emplace_back();
    source.kind = kind;
    source.leaf = leaf;
    source.constant = std::move(constant);
  }

  Status Primitive(const NestNode& node, const NestNode& from, std::size_t& found) {
    const SchemaElement& to = ElementOf(node);
    const SchemaElement& element = InputElementOf(from);
    ++found;
    const LogicalKind kind = to.logical.kind;
    if ((kind == LogicalKind::kGeometry || kind == LogicalKind::kGeography) && element.logical.kind == kind) {
      if (GeoParametersOf(to.logical) != GeoParametersOf(element.logical)) {
        return Unsupported("its coordinate system or edge algorithm differs from the table's");
      }
      Add(ColumnSource::Kind::kCopy, from.leaf);
      return Ok();
    }
    FIRN_ASSIGN(const parquet::Promotion promotion, parquet::PromotionOf(element, to));
    const bool same = promotion == parquet::Promotion::kNone;
    Add(same ? ColumnSource::Kind::kCopy : ColumnSource::Kind::kConvert, from.leaf);
    return Ok();
  }

  /// A variant's inner columns have names instead of ids, and mean something only together.
  Status Variant(const NestNode& node, const NestNode& from, std::size_t& found) {
    if (node.kind != from.kind || node.children.size() != from.children.size()) return VariantDiffers();
    for (std::size_t i = 0; i < node.children.size(); ++i) {
      FIRN_TRY(VariantPart(node.children[i], from.children[i], found));
    }
    return Ok();
  }

  Status VariantPart(const NestNode& node, const NestNode& from, std::size_t& found) {
    const SchemaElement& to = ElementOf(node);
    const SchemaElement& element = InputElementOf(from);
    const bool wider = element.repetition == Repetition::kRequired && to.repetition == Repetition::kOptional;
    if (to.name != element.name || (to.repetition != element.repetition && !wider)) return VariantDiffers();
    if (node.kind != NestKind::kPrimitive) return Variant(node, from, found);
    const Result<parquet::Promotion> promotion = parquet::PromotionOf(element, to);
    const bool same = promotion && *promotion == parquet::Promotion::kNone &&
                      parquet::EffectiveLogicalType(element) == parquet::EffectiveLogicalType(to);
    if (from.kind != node.kind || !same) return VariantDiffers();
    ++found;
    Add(ColumnSource::Kind::kCopy, from.leaf);
    return Ok();
  }

  static Error VariantDiffers() { return Unsupported("the variant is shredded in another way than in the output"); }

  Status Missing(const NestNode& node) {
    const SchemaElement& element = ElementOf(node);
    const Field* field = element.field_id ? schema_.FindField(*element.field_id) : nullptr;
    if (field == nullptr) return Unsupported("it is not in the file and not a column of the table");
    const bool has_default = field->initial_default && !field->initial_default->is_null();
    if (node.kind != NestKind::kPrimitive || field->type.kind == TypeKind::kVariant) {
      if (has_default) return Unsupported("it is not in the file and has a nested default");
      return Null(node, element);
    }
    if (const Literal* value = PartitionValue(field->id)) {
      return IsNull(*value) ? Null(node, element) : Constant(element, *value);
    }
    if (!has_default) return Null(node, element);
    FIRN_ASSIGN(const Literal value, LiteralFromJson(field->type, *field->initial_default));
    return Constant(element, value);
  }

  const Literal* PartitionValue(FieldId source) const {
    const std::size_t count = std::min(spec_.fields.size(), partition_.values.size());
    for (std::size_t i = 0; i < count; ++i) {
      const PartitionField& field = spec_.fields[i];
      if (field.source_id == source && field.transform.kind == TransformKind::kIdentity) return &partition_.values[i];
    }
    return nullptr;
  }

  Status Constant(const SchemaElement& element, const Literal& value) {
    FIRN_ASSIGN(Bytes plain, PlainValue(element, value));
    Add(ColumnSource::Kind::kConstant, -1, std::move(plain));
    return Ok();
  }

  Status Null(const NestNode& node, const SchemaElement& element) {
    if (element.repetition != Repetition::kOptional) return Unsupported("it is required, and the file has no value");
    AddNulls(node);
    return Ok();
  }

  void AddNulls(const NestNode& node) {
    if (node.kind == NestKind::kPrimitive) Add(ColumnSource::Kind::kConstant, -1);
    for (const NestNode& child : node.children) AddNulls(child);
  }

  const Schema& schema_;
  const Elements& output_;
  const Elements& input_;
  const PartitionSpec& spec_;
  const PartitionTuple& partition_;
  bool by_name_;
  std::vector<ColumnSource> sources_;  // leaves come in column order
};

Status CheckReadable(const parquet::FileMetaData& input) {
  bool encrypted = input.encrypted;
  for (const parquet::RowGroup& group : input.row_groups) {
    for (const parquet::ColumnChunk& chunk : group.columns) encrypted |= chunk.encrypted || !chunk.meta;
  }
  if (encrypted) return Unsupported("the file is encrypted");
  return Ok();
}

/// Stored row ids would be lost if the output has no place for them.
Status CheckLineage(const Elements& output, const Elements& input) {
  const auto has = [](const Elements& elements, FieldId id) {
    return std::ranges::any_of(elements, [&](const SchemaElement& element) { return element.field_id == id; });
  };
  for (const FieldId id : {kRowIdField, kLastUpdatedSequenceNumberField}) {
    if (has(input, id) && !has(output, id)) return Unsupported("the file stores row ids, the output does not");
  }
  return Ok();
}

}  // namespace

Result<std::vector<ColumnSource>> ResolveColumns(const Schema& table_schema, const Elements& output,
                                                 const parquet::FileMetaData& input, const NameMapping* mapping,
                                                 const PartitionSpec& spec, const PartitionTuple& partition) {
  FIRN_TRY(CheckReadable(input));
  FIRN_TRY(CheckLineage(output, input.schema));
  FIRN_ASSIGN(const std::vector<NestNode> output_fields, parquet::NestingOf(output));
  FIRN_ASSIGN(const std::vector<NestNode> input_fields, parquet::NestingOf(input.schema));
  const bool by_name = !HasIds(input.schema);
  if (by_name && mapping == nullptr) {
    return Unsupported("the file has no field ids, and the table no name mapping (schema.name-mapping.default)");
  }
  ColumnResolver resolver(table_schema, output, input.schema, spec, partition, by_name);
  std::size_t found = 0;
  FIRN_TRY(resolver.Fields(output_fields, {&input_fields, by_name ? &mapping->fields : nullptr}, found));
  return std::move(resolver.sources());
}

}  // namespace firn::iceberg
