// SPDX-License-Identifier: Apache-2.0
//
// Encodes entries and lines in the order of manifest_fields.h.
//
// In: values that the writers have checked. Out: Avro bytes, appended to an encoder.
// Guarantees: empty maps and lists are written as null.
// Errors: kInternal for a partition value that does not fit its type; kUnsupported for a value of type `unknown`.
// Cost: O(size of the value). Threads: pure.
// Source: Iceberg table spec, Appendix A "Avro".
#pragma once

#include "format/avro/container_writer.h"
#include "iceberg/manifest.h"

namespace firn::iceberg {

/// With `snapshot_id` in place of the entry's own.
Status EncodeEntry(const ManifestEntry& entry, SnapshotId snapshot_id, std::int32_t format_version,
                   const std::vector<Type>& partition_types, avro::Encoder& out);
void EncodeManifestFile(const ManifestFile& manifest, std::int32_t format_version, avro::Encoder& out);

/// Names of the table property: "gzip", "zstd", "snappy", "uncompressed", and Avro's own. In any case of letters.
Result<avro::Codec> CodecFromProperty(std::string_view name);
/// A marker that differs from file to file, yet is the same when a file is made again.
avro::SyncMarker MakeSyncMarker(std::string_view file_name, SnapshotId snapshot_id);

}  // namespace firn::iceberg
