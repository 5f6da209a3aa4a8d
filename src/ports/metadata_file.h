// SPDX-License-Identifier: Apache-2.0
//
// Table metadata as files: names, reading, writing.
//
// In: metadata, properties write.metadata.path and write.metadata.compression-codec. Out: locations, bytes.
// Guarantees: names are those that Java's catalogs give: "00004-UUID.metadata.json", ".gz.metadata.json" for gzip.
//   Files are told gzip or plain by their bytes.
// Cost: metadata is held whole; kMetadataBytesMax bounds it.
// Errors: kNotFound, kCorrupt, kUnsupported (codec), with the location.
// Threads: pure, or as the FileIO.
// Source: Iceberg table spec, Appendix F "Path Construction"; Java BaseMetastoreTableOperations; gzip is told by its
// bytes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "iceberg/metadata.h"
#include "ports/file_io.h"

namespace firn::ports {

inline constexpr std::uint64_t kMetadataBytesMax = std::uint64_t{1} << 30;

/// Ends with ".metadata.json" or ".metadata.json.gz".
bool IsMetadataFileName(std::string_view location);
/// 4 of ".../00004-UUID.metadata.json"; nullopt for other names.
std::optional<std::int64_t> MetadataVersion(std::string_view location);

Result<iceberg::MetadataPtr> ReadMetadataFile(FileIO& io, const std::string& location);

enum class MetadataCodec { kNone, kGzip };
/// Of the table property; kUnsupported for names that Java does not know either.
Result<MetadataCodec> CodecOf(const iceberg::TableMetadata& metadata);
Result<Bytes> EncodeMetadata(const iceberg::TableMetadata& metadata, MetadataCodec codec);

/// A folder that a property of the table names, without slashes at its end: a relative one is below its location.
std::string TableFolder(const iceberg::TableMetadata& metadata, std::string_view configured);
/// Where a table's metadata files and manifests go: write.metadata.path, or metadata/ below the table's location.
std::string MetadataFolder(const iceberg::TableMetadata& metadata);
/// Where the next version goes.
Result<std::string> NextMetadataLocation(const iceberg::TableMetadata& updated, std::string_view base_location,
                                         const std::string& uuid);

}  // namespace firn::ports
