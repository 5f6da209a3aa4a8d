// SPDX-License-Identifier: Apache-2.0
//
// The columns that metrics of a data file are about.
//
// In: the table's schema; the schema of a written file. Out: its columns with a place for metrics.
// Guarantees: columns of the current schema only, each once.
// Cost: O(elements). Errors: none: a schema that does not nest has no columns.
// Threads: pure.
// Source: Iceberg table spec, "Data File Fields".
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "base/bytes.h"
#include "format/parquet/metadata.h"
#include "iceberg/literal.h"
#include "iceberg/types.h"

namespace firn::iceberg {

/// A primitive, or a whole variant.
struct MetricColumn {
  FieldId id = 0;
  const Type* type = nullptr;
  const parquet::SchemaElement* element = nullptr;
  std::size_t leaf = 0;     // its own; of a variant that of its metadata, else the first one
  bool counts_leaf = true;  // nulls of the leaf are nulls of the column
  bool in_struct = false;
  bool repeated = false;  // below a list or map

  bool is_variant() const { return type->kind == TypeKind::kVariant; }
  bool is_floating() const { return type->kind == TypeKind::kFloat || type->kind == TypeKind::kDouble; }
  /// Texts and bytes, whose bounds may be cut.
  bool is_text() const { return type->kind == TypeKind::kString || type->kind == TypeKind::kBinary; }
  bool may_have_bounds() const;
};

/// By id. They point into both arguments.
std::vector<MetricColumn> MetricColumnsOf(const Schema& schema, const std::vector<parquet::SchemaElement>& output);

bool IsNan(const Literal& value);

/// A value of the column in PLAIN encoding (BYTE_ARRAY without its length); nullopt if it is none.
std::optional<Literal> PlainLiteral(const MetricColumn& column, const Bytes& plain);

}  // namespace firn::iceberg
