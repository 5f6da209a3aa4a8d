// SPDX-License-Identifier: Apache-2.0
//
// Reads the footer of a Puffin file: which blobs it holds, and where.
//
// In: bytes of a foreign file. Out: the footer as values.
// Guarantees: every blob lies between the magic bytes and the footer; blobs themselves are not read.
// Cost: two or three small reads; memory is the footer's size, at most kFooterMaxBytes.
// Threads: pure.
// Errors: kCorrupt with the file's name; kUnsupported for unknown flags; kLimit for a footer beyond the bound.
// Source: Puffin specification, version 1.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/byte_io.h"
#include "base/ids.h"

namespace firn::puffin {

inline constexpr std::uint64_t kFooterMaxBytes = 64 << 20;

using Properties = std::vector<std::pair<std::string, std::string>>;

struct BlobMetadata {
  std::string type;  // "apache-datasketches-theta-v1", "deletion-vector-v1"
  std::vector<FieldId> fields;
  std::int64_t snapshot_id = 0;      // -1: not known when it was written
  std::int64_t sequence_number = 0;  // the same
  std::uint64_t offset = 0;
  std::uint64_t length_bytes = 0;
  std::string compression_codec;  // "" when stored as it is
  Properties properties;

  const std::string* FindProperty(std::string_view key) const;
};

struct FileMetadata {
  std::vector<BlobMetadata> blobs;
  Properties properties;
  std::uint64_t footer_size_bytes = 0;  // from its first magic to the end of the file
};

Result<FileMetadata> ReadFooter(RandomAccessSource& source);

}  // namespace firn::puffin
