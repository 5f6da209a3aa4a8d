// SPDX-License-Identifier: Apache-2.0
//
// The schema that an Avro file carries, with the attributes that table formats put in it.
//
// In: JSON text from a file's header. Out: a tree of immutable nodes.
// Guarantees: well formed: names resolved, unions checked, sizes not negative. Depth and the number of values in one
//   record (named types counted where they are used) are bounded, so walks over a schema end.
// Cost: a node is about 200 bytes. Threads: immutable, share freely.
// Errors: kCorrupt for bad schemas; kUnsupported for recursive types and for schemas beyond the bounds.
// Source: Apache Avro 1.11 specification, "Schema Declaration"; Iceberg table spec, Appendix A "Avro", "Field IDs".
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "format/avro/cursor.h"

namespace firn::avro {

inline constexpr int kSchemaDepthMax = 64;
inline constexpr std::uint64_t kSchemaNodesMax = 20'000;

enum class Kind : std::uint8_t {
  kNull,
  kBoolean,
  kInt,
  kLong,
  kFloat,
  kDouble,
  kBytes,
  kString,
  kRecord,
  kEnum,
  kArray,
  kMap,
  kUnion,
  kFixed,
};

/// How values can be skipped without looking into them.
enum class SkipShape : std::uint8_t {
  kFixedSize,       // always size_min bytes
  kVarints,         // skip_count varints and nothing else
  kVarintAndBytes,  // one varint, then one length-prefixed run of bytes: the pairs of maps keyed by int
  kOther,
};

struct Schema;
using SchemaPtr = std::shared_ptr<const Schema>;

struct Field {
  std::string name;
  SchemaPtr type;
  std::optional<std::int32_t> field_id;
};

struct Schema {
  Kind kind = Kind::kNull;
  std::string name;          // full name of record, enum, fixed
  std::string logical_type;  // "" if there is none
  std::int32_t precision = 0, scale = 0;
  std::uint64_t size = 0;            // fixed
  std::vector<Field> fields;         // record
  SchemaPtr items;                   // array items, map values
  std::vector<SchemaPtr> branches;   // union
  std::vector<std::string> symbols;  // enum
  std::optional<std::int32_t> element_id, key_id, value_id;

  /// Fewest bytes that a value takes. 0 means: values never have bytes.
  std::uint64_t size_min = 0;
  /// Nodes of the tree with named types expanded.
  std::uint64_t node_count = 1;
  SkipShape skip_shape = SkipShape::kOther;
  std::uint32_t skip_count = 0;
};

Result<SchemaPtr> ParseSchema(std::string_view json_text);

/// "long", "array", "record r2": for messages.
std::string Describe(const Schema& schema);

/// A union of null and one other type: its other branch and the index of null. `value` is the schema itself, and
/// null_branch -1, if it is no union; null if it is any other union.
struct Option {
  const Schema* value = nullptr;
  int null_branch = -1;
};
Option AsOption(const Schema& schema);

/// Moves the cursor behind one value.
void Skip(const Schema& schema, Cursor& cursor);

}  // namespace firn::avro
