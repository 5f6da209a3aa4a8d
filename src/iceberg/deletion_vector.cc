// SPDX-License-Identifier: Apache-2.0
#include "iceberg/deletion_vector.h"

#include <libdeflate.h>

#include <array>
#include <limits>

namespace firn::iceberg {
namespace {

constexpr std::array<std::uint8_t, 4> kMagic{0xd1, 0xd3, 0x39, 0x64};
constexpr std::size_t kIntBytes = 4;

Error Bad(const std::string& text) { return {Code::kCorrupt, "deletion vector: " + text}; }

void StoreBig32(std::uint8_t* to, std::uint32_t value) { StoreLittle(to, __builtin_bswap32(value)); }

std::uint32_t Checksum(ByteView bytes) { return libdeflate_crc32(0, bytes.data(), bytes.size()); }

}  // namespace

Result<roaring::PositionSet> DecodeDeletionVector(ByteView blob) {
  if (blob.size() < kDeletionVectorFrameBytes) return Bad("a blob of " + std::to_string(blob.size()) + " bytes");
  const std::uint32_t length = LoadBig32(blob.data());
  if (length != blob.size() - 2 * kIntBytes) {
    return Bad("it says that it has " + std::to_string(length) + " bytes, the blob has place for " +
               std::to_string(blob.size() - 2 * kIntBytes));
  }
  const ByteView body = blob.subspan(kIntBytes, length);
  if (!std::equal(kMagic.begin(), kMagic.end(), body.begin())) return Bad("no magic bytes");
  if (Checksum(body) != LoadBig32(blob.data() + kIntBytes + length)) return Bad("wrong checksum");
  return roaring::PositionSet::Decode(body.subspan(kMagic.size())).In("deletion vector");
}

Result<Bytes> EncodeDeletionVector(const roaring::PositionSet& positions) {
  const Bytes encoded = positions.Encode();
  const std::size_t length = kMagic.size() + encoded.size();
  if (length > static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max()) - 2 * kIntBytes) {
    return Error{Code::kLimit, "deletion vector: its positions do not fit in 2 GiB"};
  }
  Bytes blob(kIntBytes);
  blob.reserve(length + 2 * kIntBytes);
  StoreBig32(blob.data(), static_cast<std::uint32_t>(length));
  blob.insert(blob.end(), kMagic.begin(), kMagic.end());
  blob.insert(blob.end(), encoded.begin(), encoded.end());
  const std::uint32_t checksum = Checksum(ByteView(blob).subspan(kIntBytes));
  blob.resize(blob.size() + kIntBytes);
  StoreBig32(blob.data() + kIntBytes + length, checksum);
  return blob;
}

puffin::BlobMetadata DeletionVectorMetadata(const std::string& data_file_path, std::int64_t cardinality) {
  puffin::BlobMetadata metadata;
  metadata.type = kDeletionVectorBlob;
  metadata.fields = {kRowPositionField};
  metadata.snapshot_id = metadata.sequence_number = -1;
  metadata.properties = {{kReferencedDataFile, data_file_path}, {kCardinality, std::to_string(cardinality)}};
  return metadata;
}

}  // namespace firn::iceberg
