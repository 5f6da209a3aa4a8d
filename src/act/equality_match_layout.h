// SPDX-License-Identifier: Apache-2.0
//
// The columns that an equality delete compares: their types, and where a file has them.
//
// In: metadata and equality ids; a footer. Out: key fields in ascending order of ids; their places in the file.
// Guarantees: fields are found by id in all schemas, dropped ones too, and have the widest type that any schema gives
//   them. A column that a data file lacks is its identity partition value, its initial default or null, in this
//   order; null wherever the struct above it is null. A delete file must have all its columns, each below the structs
//   that the schema has above it.
// Errors: kUnsupported with the field: unknown in all schemas, below a list or map, of a type without equality, or at
//   another depth in the file than in the schema.
// Threads: immutable. Cost: O(schemas + columns).
// Source: Iceberg table spec, "Equality Delete Files", "Identifier Field IDs", "Column Projection".
#pragma once

#include <optional>
#include <vector>

#include "format/parquet/metadata.h"
#include "iceberg/metadata.h"
#include "iceberg/name_mapping.h"
#include "splice/column_scan.h"

namespace firn::act {

struct KeyField {
  FieldId id = 0;
  std::vector<FieldId> parents;  // structs above it, outermost first
  bool required = false;
  iceberg::Type type;
  parquet::SchemaElement element;  // the form in which values are compared
  std::size_t width = 0;           // bytes of a value, 0 if they differ
  std::optional<Bytes> initial_default;
};

class KeyLayout {
 public:
  static Result<KeyLayout> Make(const iceberg::TableMetadata& metadata, std::vector<FieldId> ids);
  /// Ascending by id.
  const std::vector<KeyField>& fields() const { return fields_; }
  /// Bytes of a key; 0 if they differ.
  std::size_t key_bytes() const { return key_bytes_; }
  /// One column of at most 8 bytes: a hash may stand for the value.
  bool is_number() const { return fields_.size() == 1 && key_bytes_ > 0 && fields_[0].width <= 8; }

 private:
  std::vector<KeyField> fields_;
  std::size_t key_bytes_ = 0;
};

/// Where the values of one key field come from.
struct KeySource {
  std::optional<std::size_t> leaf =
      {};  // index into KeySources::leaves; of a constant: whether the struct above is there
  bool is_constant = false;
  bool is_same_integer = false;        // the file's integers are those of the key, so that statistics compare with keys
  std::optional<Bytes> constant = {};  // absent: null
};

struct KeySources {
  std::vector<splice::ScanLeaf> leaves;  // at least one
  std::vector<KeySource> columns;        // one a key field
};

/// For a data file, whose missing columns may be partition values.
Result<KeySources> ResolveDataKeys(const KeyLayout& layout, const parquet::FileMetaData& footer,
                                   const iceberg::NameMapping* mapping, const iceberg::PartitionSpec& spec,
                                   const iceberg::PartitionTuple& partition);
Result<KeySources> ResolveDeleteKeys(const KeyLayout& layout, const parquet::FileMetaData& footer,
                                     const iceberg::NameMapping* mapping);

}  // namespace firn::act
