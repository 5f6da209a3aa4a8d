// SPDX-License-Identifier: Apache-2.0
//
// Partition specs, their transforms, and the partition tuple of a file.
//
// Guarantees: transforms match Appendix B of the spec bit by bit; an unknown transform is kept, compared,
//   and never evaluated.
// Threads: immutable values.
// Errors: kUnsupported when an unknown transform has to be evaluated.
// Source: Iceberg table spec, "Partitioning", "Partition Transforms", Appendix B "32-bit Hash Requirements".
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "iceberg/literal.h"
#include "iceberg/types.h"

namespace firn::iceberg {

enum class TransformKind : std::uint8_t {
  kIdentity,
  kBucket,
  kTruncate,
  kYear,
  kMonth,
  kDay,
  kHour,
  kVoid,
  kUnknown,
};

struct Transform {
  TransformKind kind = TransformKind::kUnknown;
  std::int32_t parameter = 0;  // buckets or width
  std::string text;            // as in metadata: "bucket[16]"
  friend bool operator==(const Transform& a, const Transform& b) { return a.text == b.text; }
};

Transform ParseTransform(std::string_view text);
/// Type of the result for a source type. Unknown transforms give string.
Type ResultType(const Transform& transform, const Type& source);
Result<Literal> Apply(const Transform& transform, const Type& source, const Literal& value);
/// "2024-03", "2024-03-01-07", "null": as Java's Transform.toHumanString.
std::string ToHumanText(const Transform& transform, const Type& source, const Literal& value);

struct PartitionField {
  FieldId source_id = 0;
  FieldId field_id = 0;
  std::string name;
  Transform transform;
};

struct PartitionSpec {
  SpecId id{0};
  std::vector<PartitionField> fields;
  bool is_unpartitioned() const;  // no field, or void transforms only
};

/// Values in the order of the spec's fields.
struct PartitionTuple {
  std::vector<Literal> values;
};

bool SameTuple(const PartitionTuple& a, const PartitionTuple& b);
/// Canonical bytes of a tuple: equal exactly when SameTuple holds. For hash maps.
std::string TupleKey(const PartitionTuple& tuple);
/// The tuple of such bytes; kCorrupt for others.
Result<PartitionTuple> TupleFromKey(std::string_view key);

/// Result types of a spec's fields under a schema (a dropped source gives the type that the transform fixes, or
/// `unknown`).
std::vector<Type> PartitionTypes(const PartitionSpec& spec, const Schema& schema);
/// "a=1/b_day=2024-01-01": percent-encoded as Java's PartitionSpec.partitionToPath; empty if unpartitioned.
std::string PartitionPath(const PartitionSpec& spec, const Schema& schema, const PartitionTuple& tuple);
/// The same without encoding, for people.
std::string PartitionText(const PartitionSpec& spec, const Schema& schema, const PartitionTuple& tuple);

}  // namespace firn::iceberg
