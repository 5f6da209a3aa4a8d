// SPDX-License-Identifier: Apache-2.0
//
// Writes an Avro object container file.
//
// In: the schema's JSON text, key-value metadata, objects as encoded bytes. Out: bytes into a sink.
// Guarantees: the schema text stands in the header as given, so attributes that table formats need are kept;
//   the same input gives the same bytes.
// Cost: memory one block of about 64,000 bytes, or one object if that is larger.
// Threads: one owner.
// Errors: the sink's.
// Source: Apache Avro 1.11 specification, "Object Container Files".
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/byte_io.h"
#include "format/avro/block_codec.h"
#include "format/avro/encoder.h"

namespace firn::avro {

using SyncMarker = std::array<std::uint8_t, 16>;

class ContainerWriter {
 public:
  /// Writes the header. `sync` should be random: readers that split files look for it. `sink` outlives the writer.
  static Result<std::unique_ptr<ContainerWriter>> Open(ByteSink& sink, std::string_view schema_json,
                                                       const std::vector<std::pair<std::string, std::string>>& metadata,
                                                       Codec codec, const SyncMarker& sync);

  /// Encode one object here, then call EndObject.
  Encoder& encoder() { return encoder_; }
  Status EndObject();
  /// Writes the last block. Once.
  Status Finish();

 private:
  ContainerWriter(ByteSink& sink, Codec codec, const SyncMarker& sync)
      : sink_(sink), compressor_(MakeCompressor(codec)), sync_(sync) {}
  Status Flush();

  ByteSink& sink_;
  std::unique_ptr<BlockCompressor> compressor_;
  SyncMarker sync_;
  Encoder encoder_;
  std::int64_t object_count_ = 0;
};

}  // namespace firn::avro
