// SPDX-License-Identifier: Apache-2.0
//
// Decodes manifest entries by a flat list of steps that is made once from a manifest's schema.
//
// In: the schema that a writer put in a manifest, which members are wanted. Out: entries as they were written,
//   without inheritance.
// Guarantees: fields are found by field id, by name only in schemas without any id; unknown fields are skipped; after
//   a run without fault every member of the entry was set from this entry or is empty.
// Cost: one step a field; unwanted metrics are passed over without looking at single values.
// Errors: kCorrupt for missing required fields, kUnsupported for types that a field cannot have; faults of the cursor.
// Threads: immutable; Run may be called from several threads with their own cursors and entries.
// Source: Iceberg table spec, "Manifest Entry Fields", "Data File Fields"; Java finds records by name.
#pragma once

#include <cstdint>
#include <vector>

#include "format/avro/schema.h"
#include "iceberg/manifest.h"
#include "iceberg/manifest_reader.h"
#include "iceberg/partition_decoder.h"

namespace firn::iceberg {

class ManifestProgram {
 public:
  /// `schema` must outlive the program. `partition_types` are those of `spec` (partition_types.h).
  static Result<ManifestProgram> Compile(const avro::Schema& schema, const PartitionSpec& spec,
                                         const std::vector<Type>& partition_types, Wanted wanted);

  /// Reads one entry; ask the cursor whether it was good.
  void Run(avro::Cursor& cursor, ManifestEntry& entry) const;

  bool has_sequence_numbers() const { return has_sequence_numbers_; }

  enum class Op : std::uint8_t {
    kSkip,
    kRecordOption,
    kStatus,
    kSnapshotId,
    kSequenceNumber,
    kFileSequenceNumber,
    kContent,
    kFilePath,
    kFormat,
    kRecordCount,
    kFileSize,
    kBlockSize,
    kColumnSizes,
    kValueCounts,
    kNullValueCounts,
    kNanValueCounts,
    kDistinctCounts,
    kLowerBounds,
    kUpperBounds,
    kLowerPathBound,
    kUpperPathBound,
    kKeyMetadata,
    kSplitOffsets,
    kEqualityIds,
    kSortOrderId,
    kFirstRowId,
    kReferencedDataFile,
    kContentOffset,
    kContentSize,
    kPartition,
  };

 private:
  struct Step {
    Op op = Op::kSkip;
    std::int8_t null_branch = -1;        // of the field's union; -1: no union
    std::int8_t value_null_branch = -1;  // of the values in a map or list
    bool is_required = false;
    std::uint32_t partition_position = 0;
    const avro::Schema* schema = nullptr;  // without the union
    PartitionDecoder partition;
  };
  struct Compiler;

  void RunStep(const Step& step, avro::Cursor& cursor, ManifestEntry& entry) const;
  static void RunFileStep(const Step& step, avro::Cursor& cursor, DataFile& file);

  std::vector<Step> steps_;
  std::vector<std::uint32_t> absent_partition_positions_;
  std::size_t partition_size_ = 0;
  bool has_sequence_numbers_ = false;
};

}  // namespace firn::iceberg
