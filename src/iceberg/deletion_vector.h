// SPDX-License-Identifier: Apache-2.0
//
// The blob of a deletion vector: length, magic, positions, checksum.
//
// In: blob bytes as a Puffin file holds them; positions. Out: positions; blob bytes and what a footer says about them.
// Guarantees: a blob is accepted only if length, magic and checksum are right and nothing is left over. Encoding equal
//   sets gives equal bytes.
// Cost: O(blob).
// Errors: kCorrupt; kLimit for a vector whose length does not fit in 31 bits.
// Threads: pure.
// Source: Puffin specification, "deletion-vector-v1".
#pragma once

#include <string>

#include "base/bytes.h"
#include "base/result.h"
#include "format/puffin/puffin.h"
#include "format/roaring/position_set.h"

namespace firn::iceberg {

inline constexpr const char* kDeletionVectorBlob = "deletion-vector-v1";
/// The metadata column of row positions, which the blob's `fields` name.
inline constexpr FieldId kRowPositionField = 2147483645;
inline constexpr const char* kReferencedDataFile = "referenced-data-file";
inline constexpr const char* kCardinality = "cardinality";
/// Length, magic and checksum around the positions.
inline constexpr std::uint64_t kDeletionVectorFrameBytes = 12;

Result<roaring::PositionSet> DecodeDeletionVector(ByteView blob);
Result<Bytes> EncodeDeletionVector(const roaring::PositionSet& positions);

/// Metadata of the vector's blob in the Puffin footer, without its place.
puffin::BlobMetadata DeletionVectorMetadata(const std::string& data_file_path, std::int64_t cardinality);

}  // namespace firn::iceberg
