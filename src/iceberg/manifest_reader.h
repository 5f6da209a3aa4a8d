// SPDX-License-Identifier: Apache-2.0
//
// Streams the entries of a manifest, or of a manifest list, out of Avro bytes written by anybody.
//
// In: a sequential source, the manifest's line in the manifest list (for inheritance), which members are wanted.
// Out: entries one by one, with inherited values filled in.
// Guarantees: memory is one Avro block and one entry; unknown fields are skipped; a manifest is read by its own
//   format-version (absent = 1); partition values are promoted to the spec's result types.
// Cost: at least one million entries a second on one core for Wanted::planning().
// Errors: kCorrupt with location and offset; kUnsupported for encrypted or newer manifests.
// Threads: one reader a thread.
// Source: Iceberg table spec, "Manifests", "Sequence Number Inheritance", "First Row ID Inheritance".
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/byte_io.h"
#include "iceberg/manifest.h"
#include "iceberg/metadata.h"

namespace firn::iceberg {

/// Members that cost decoding time and may be left out; all others are always read.
struct Wanted {
  bool metrics = true;  // sizes, counts, bounds
  bool file_path = true;
  bool split_offsets = true;
  bool position_path_bounds = false;  // with metrics off: bounds of reserved field 2147483546 only
  static Wanted everything() { return {}; }
  static Wanted planning() { return {.metrics = false, .file_path = true, .split_offsets = false}; }
};

/// Key-value metadata of a manifest's header.
struct ManifestHeader {
  std::int32_t format_version = 1;
  std::string schema_json;
  std::optional<SchemaId> schema_id;
  std::string partition_spec_json;  // the fields array
  std::optional<SpecId> spec_id;
  ManifestContent content = ManifestContent::kData;
};

/// The header alone, for a manifest without a line in a list (v1 snapshots that name manifests inline).
Result<ManifestHeader> ReadManifestHeader(SequentialSource& source);

class ManifestReader {
 public:
  /// Reads the header. `source` must outlive the reader.
  static Result<std::unique_ptr<ManifestReader>> Open(SequentialSource& source, const ManifestFile& manifest,
                                                      const TableMetadata& metadata, Wanted wanted);
  virtual ~ManifestReader() = default;
  virtual const ManifestHeader& header() const = 0;
  /// Fills `entry` (reusing its memory); false at the end. Entries of all statuses are returned.
  /// `ordinal()` is then the entry's place in the manifest, from 0.
  virtual Result<bool> Next(ManifestEntry& entry) = 0;
  virtual std::int64_t ordinal() const = 0;
};

/// All lines of a manifest list, v1 to v3. Missing v1 members are absent, not zero.
Result<std::vector<ManifestFile>> ReadManifestList(SequentialSource& source, const Snapshot& snapshot,
                                                   const TableMetadata& metadata);

}  // namespace firn::iceberg
