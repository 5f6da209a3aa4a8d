// SPDX-License-Identifier: Apache-2.0
#include "iceberg/metrics.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "format/parquet/nesting.h"
#include "iceberg/decimal_bytes.h"
#include "iceberg/literal.h"

namespace firn::iceberg {

namespace {

using parquet::NestKind;
using parquet::NestNode;
using parquet::SchemaElement;
using splice::ColumnSource;

/// A column that metrics are about: a primitive, or a whole variant.
struct MetricColumn {
  FieldId id = 0;
  const Type* type = nullptr;
  const SchemaElement* element = nullptr;
  std::size_t leaf = 0;  // its own; of a variant the first one
  bool in_struct = false;
  bool repeated = false;  // below a list or map
};

bool IsVariant(const Type& type) { return type.kind == TypeKind::kVariant; }
bool IsFloating(const Type& type) { return type.kind == TypeKind::kFloat || type.kind == TypeKind::kDouble; }
bool MayHaveBounds(const Type& type) {
  return type.is_primitive() && !IsVariant(type) && type.kind != TypeKind::kGeometry &&
         type.kind != TypeKind::kGeography && type.kind != TypeKind::kUnknown;
}

std::size_t FirstLeaf(const NestNode& node) {
  const NestNode* at = &node;
  while (at->kind != NestKind::kPrimitive && !at->children.empty()) at = &at->children.front();
  return static_cast<std::size_t>(std::max(at->leaf, 0));
}

void CollectColumns(const Schema& schema, const std::vector<SchemaElement>& output, const std::vector<NestNode>& nodes,
                    bool in_struct, std::vector<MetricColumn>& columns) {
  for (const NestNode& node : nodes) {
    const SchemaElement& element = output[static_cast<std::size_t>(node.schema_index)];
    const Field* field = element.field_id ? schema.FindField(*element.field_id) : nullptr;
    if (field != nullptr && field->type.is_primitive()) {
      columns.push_back({field->id, &field->type, &element, FirstLeaf(node), in_struct, node.repetition_level > 0});
    } else {
      CollectColumns(schema, output, node.children, true, columns);
    }
  }
}

template <class T>
const T* FindById(const ByField<T>& values, FieldId id) {
  const auto found = std::lower_bound(values.begin(), values.end(), id,
                                      [](const auto& entry, FieldId wanted) { return entry.first < wanted; });
  return found != values.end() && found->first == id ? &found->second : nullptr;
}

bool IsNan(const Literal& value) {
  if (const auto* number = std::get_if<float>(&value)) return std::isnan(*number);
  if (const auto* number = std::get_if<double>(&value)) return std::isnan(*number);
  return false;
}

/// A constant from ResolveColumns: PLAIN is the single-value serialization except for decimals.
std::optional<Literal> ConstantValue(const MetricColumn& column, const Bytes& plain) {
  if (column.type->kind == TypeKind::kDecimal && column.element->type != parquet::PhysicalType::kFixedLenByteArray) {
    if (plain.size() == 4) return Literal(Decimal{LoadLittle<std::int32_t>(plain.data())});
    if (plain.size() == 8) return Literal(Decimal{LoadLittle<std::int64_t>(plain.data())});
    return std::nullopt;
  }
  Result<Literal> value = DecodeBound(*column.type, plain);
  if (!value) return std::nullopt;
  return std::move(*value);
}

/// A sum that is lost as soon as one part is not known.
struct Sum {
  std::optional<std::int64_t> total = 0;
  void Add(std::optional<std::int64_t> part) {
    std::int64_t sum = 0;
    if (total && part && !__builtin_add_overflow(*total, *part, &sum)) {
      total = sum;
    } else {
      total.reset();
    }
  }
};

/// The least or greatest of the inputs' bounds, lost as soon as one is not known.
class Bound {
 public:
  Bound(const Type& type, bool lower) : type_(type), lower_(lower) {}

  void Add(const std::optional<Literal>& value) {
    if (!value || IsNan(*value)) {
      known_ = false;
    } else if (!value_ || (lower_ ? Compare(type_, *value, *value_) < 0 : Compare(type_, *value, *value_) > 0)) {
      value_ = *value;
    }
  }

  std::optional<Bytes> Encoded(const MetricsMode& mode) const {
    if (!known_ || !value_ || !mode.bounds()) return std::nullopt;
    std::optional<Literal> value = value_;
    if (mode.kind == MetricsMode::Kind::kTruncate) {
      value = lower_ ? TruncateLower(type_, *value_, mode.length) : TruncateUpper(type_, *value_, mode.length);
    }
    if (!value) return std::nullopt;
    return EncodeBound(type_, *value);
  }

 private:
  const Type& type_;
  bool lower_;
  bool known_ = true;
  std::optional<Literal> value_;
};

bool IsText(const Type& type) { return type.kind == TypeKind::kString || type.kind == TypeKind::kBinary; }

/// What a written file states of a column over all of its row groups.
class WrittenColumn {
 public:
  /// Nothing.
  explicit WrittenColumn(const MetricColumn& column) : lower_(*column.type, true), upper_(*column.type, false) {
    nulls_.Add(std::nullopt);
    lower_.Add(std::nullopt);
    upper_.Add(std::nullopt);
  }
  WrittenColumn(const MetricColumn& column, const parquet::FileMetaData& file)
      : lower_(*column.type, true), upper_(*column.type, false) {
    for (const parquet::RowGroup& group : file.row_groups) {
      const bool has_any = column.leaf < group.columns.size() && group.columns[column.leaf].meta &&
                           group.columns[column.leaf].meta->statistics;
      const parquet::Statistics statistics =
          has_any ? *group.columns[column.leaf].meta->statistics : parquet::Statistics();
      nulls_.Add(statistics.null_count);
      if (statistics.null_count == group.num_rows) continue;
      lower_.Add(Value(column, statistics.min_value, statistics.is_min_value_exact));
      upper_.Add(Value(column, statistics.max_value, statistics.is_max_value_exact));
    }
  }
  std::optional<std::int64_t> nulls() const { return nulls_.total; }
  const Bound& lower() const { return lower_; }
  const Bound& upper() const { return upper_; }

 private:
  /// Where nothing is said bounds of texts may have been cut, others not.
  static std::optional<Literal> Value(const MetricColumn& column, const std::optional<Bytes>& plain,
                                      std::optional<bool> is_exact) {
    if (!plain || !is_exact.value_or(!IsText(*column.type))) return std::nullopt;
    return ConstantValue(column, *plain);
  }

  Sum nulls_;
  Bound lower_, upper_;
};

class ColumnMerger {
 public:
  explicit ColumnMerger(const MetricColumn& column)
      : column_(column), lower_(*column.type, true), upper_(*column.type, false) {}

  void Add(const MetricsInput& input) {
    const std::int64_t rows = input.file->record_count - input.deleted_rows;
    if (rows <= 0) return;
    any_deleted_ |= input.deleted_rows > 0;
    const ColumnSource* source = input.columns != nullptr ? &(*input.columns)[column_.leaf] : nullptr;
    if (source != nullptr && source->kind == ColumnSource::Kind::kConstant) {
      AddMissing(*source, rows);
    } else {
      AddPresent(*input.file, rows);
    }
  }

  void Store(const MetricsMode& mode, const parquet::FileMetaData* written, DataFile& merged) const {
    if (!mode.counts()) return;
    const bool looks = any_deleted_ && !column_.repeated && !IsVariant(*column_.type);
    const WrittenColumn found = looks && written != nullptr ? WrittenColumn(column_, *written) : WrittenColumn(column_);
    const auto nulls = nulls_.total ? nulls_.total : found.nulls();
    if (values_.total) merged.value_counts.emplace_back(column_.id, *values_.total);
    if (nulls) merged.null_value_counts.emplace_back(column_.id, *nulls);
    if (IsFloating(*column_.type) && nans_.total) merged.nan_value_counts.emplace_back(column_.id, *nans_.total);
    if (column_.repeated || !MayHaveBounds(*column_.type)) return;
    if (any_deleted_ && nulls && nulls == values_.total) return;
    const bool is_cut = IsText(*column_.type) && mode.kind == MetricsMode::Kind::kTruncate;
    const auto store = [&](const Bound& of_inputs, const Bound& of_values, ByField<Bytes>& out) {
      std::optional<Bytes> bytes = any_deleted_ ? of_values.Encoded(mode) : of_inputs.Encoded(mode);
      if (!bytes && is_cut) bytes = of_inputs.Encoded(mode);
      if (bytes) out.emplace_back(column_.id, std::move(*bytes));
    };
    store(lower_, found.lower(), merged.lower_bounds);
    store(upper_, found.upper(), merged.upper_bounds);
  }

 private:
  static std::optional<std::int64_t> Count(const ByField<std::int64_t>& counts, FieldId id) {
    const std::int64_t* found = FindById(counts, id);
    return found != nullptr && *found >= 0 ? std::optional(*found) : std::nullopt;
  }

  std::optional<Literal> Decoded(const ByField<Bytes>& bounds) const {
    const Bytes* found = FindById(bounds, column_.id);
    if (found == nullptr) return std::nullopt;
    Result<Literal> value = DecodeBound(*column_.type, *found);
    if (!value) return std::nullopt;
    return std::move(*value);
  }

  /// A count of a file after rows of it were deleted: known if it is about no value, or about every row.
  static std::optional<std::int64_t> Left(std::optional<std::int64_t> count, const DataFile& file, std::int64_t rows) {
    if (rows == file.record_count || count == 0) return count;
    return count == file.record_count ? std::optional(rows) : std::nullopt;
  }

  void AddPresent(const DataFile& file, std::int64_t rows) {
    const auto values = Count(file.value_counts, column_.id);
    const auto nulls = Count(file.null_value_counts, column_.id);
    const auto nans = Count(file.nan_value_counts, column_.id);
    // How many entries of lists go with a row is not known, even if there are as many as rows.
    const bool is_known = !column_.repeated || rows == file.record_count;
    values_.Add(is_known ? Left(values, file, rows) : std::nullopt);
    nulls_.Add(is_known ? Left(nulls, file, rows) : std::nullopt);
    nans_.Add(is_known ? Left(nans, file, rows) : std::nullopt);
    if (values && nulls && *values == *nulls + nans.value_or(0)) return;  // nothing to bound
    if (!MayHaveBounds(*column_.type)) return;
    lower_.Add(Decoded(file.lower_bounds));
    upper_.Add(Decoded(file.upper_bounds));
  }

  void AddMissing(const ColumnSource& source, std::int64_t rows) {
    // How many entries the lists above it have, or how often the struct above it is null, is not known here.
    const auto entries = column_.repeated ? std::nullopt : std::optional(rows);
    values_.Add(entries);
    if (!source.constant) {
      nulls_.Add(entries);
      nans_.Add(0);
      return;
    }
    const auto flat = [&](std::int64_t count) {
      return column_.in_struct || column_.repeated ? std::nullopt : std::optional(count);
    };
    const std::optional<Literal> value = ConstantValue(column_, *source.constant);
    const bool nan = value && IsNan(*value);
    nulls_.Add(flat(0));
    nans_.Add(nan ? flat(rows) : std::optional<std::int64_t>(0));
    if (nan) return;
    lower_.Add(value);
    upper_.Add(value);
  }

  const MetricColumn& column_;
  Sum values_, nulls_, nans_;
  bool any_deleted_ = false;
  Bound lower_, upper_;
};

}  // namespace

struct MetricsMerger::State {
  const MetricsConfig& config;
  std::vector<MetricColumn> columns;  // by id
  std::vector<ColumnMerger> mergers;  // of each
};

MetricsMerger::MetricsMerger(const Schema& schema, const std::vector<SchemaElement>& output,
                             const MetricsConfig& config)
    : state_(new State{config, {}, {}}) {
  const Result<std::vector<NestNode>> nodes = parquet::NestingOf(output);
  if (!nodes) return;
  CollectColumns(schema, output, *nodes, false, state_->columns);
  std::ranges::sort(state_->columns, {}, &MetricColumn::id);
  for (const MetricColumn& column : state_->columns) state_->mergers.emplace_back(column);
}

MetricsMerger::~MetricsMerger() = default;

void MetricsMerger::Add(const MetricsInput& input) {
  for (std::size_t i = 0; i < state_->columns.size(); ++i) {
    if (state_->config.ModeOf(state_->columns[i].id).counts()) state_->mergers[i].Add(input);
  }
}

void MetricsMerger::Store(std::span<const std::int64_t> leaf_bytes, DataFile& merged,
                          const parquet::FileMetaData* written) const {
  merged.column_sizes.clear();
  merged.value_counts.clear();
  merged.null_value_counts.clear();
  merged.nan_value_counts.clear();
  merged.distinct_counts.clear();
  merged.lower_bounds.clear();
  merged.upper_bounds.clear();
  for (std::size_t i = 0; i < state_->columns.size(); ++i) {
    const MetricColumn& column = state_->columns[i];
    if (!IsVariant(*column.type) && column.leaf < leaf_bytes.size()) {
      merged.column_sizes.emplace_back(column.id, leaf_bytes[column.leaf]);
    }
    state_->mergers[i].Store(state_->config.ModeOf(column.id), written, merged);
  }
}

}  // namespace firn::iceberg
