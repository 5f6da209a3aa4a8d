// SPDX-License-Identifier: Apache-2.0
//
// The fields of manifests and manifest lists as they are written, per format version and in order.
//
// Guarantees: names, ids, documentation and order are those of the Java implementation's V1, V2 and V3 metadata;
//   field names of partitions are valid Avro names.
// Cost: O(fields). Threads: pure.
// Source: Iceberg table spec, "Manifests", "Manifest Lists", Appendix A "Avro"; Java finds records by name.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "iceberg/partition_spec.h"

namespace firn::iceberg {

enum class FieldForm : std::uint8_t {
  kInt,
  kLong,
  kBoolean,
  kString,
  kBytes,
  kLongMap,
  kBytesMap,  // arrays of key-value records
  kLongList,
  kIntList,
  kPartition,
  kDataFile,
  kSummaries,
};

struct WrittenField {
  FieldId id;
  std::string_view name;
  FieldForm form;
  bool is_required;
  std::string_view doc;
  FieldId item_id = 0;   // element, or key of a map
  FieldId value_id = 0;  // of a map
  std::int32_t version_min = 1;
  std::int32_t version_max = 3;

  bool InVersion(std::int32_t version) const { return version >= version_min && version <= version_max; }
};

/// In the order of writing; ask InVersion.
std::span<const WrittenField> EntryFields();
std::span<const WrittenField> DataFileFields();
std::span<const WrittenField> SummaryFields();
/// Those of one version, whose order differs.
std::span<const WrittenField> ManifestFileFields(std::int32_t format_version);

/// JSON text for the header's avro.schema. `types` are those of the spec's values.
std::string ManifestSchemaText(std::int32_t format_version, const PartitionSpec& spec, const std::vector<Type>& types);
std::string ManifestListSchemaText(std::int32_t format_version);

/// An Avro name for any text: "a.b" is "a_x2Eb", "1st" is "_1st".
std::string AvroName(std::string_view name);

/// Bytes of the two's complement of every decimal of a precision.
std::size_t DecimalBytes(std::int32_t precision);

}  // namespace firn::iceberg
