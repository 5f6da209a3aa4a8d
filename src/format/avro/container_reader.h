// SPDX-License-Identifier: Apache-2.0
//
// Streams the blocks of an Avro object container file.
//
// In: a sequential source. Out: the header (schema, codec, key-value metadata), then expanded blocks one by one.
// Guarantees: the memory is one block, stored and expanded, each at most `block_max_bytes`, and grows only with
//   bytes that really arrive; every sync marker is checked; a block's object count is possible for its size.
// Cost: reads of `read_step_bytes`; nothing is copied for the null codec beyond the reading.
// Threads: one owner.
// Errors: kCorrupt, kUnsupported (codec, recursive schema, encrypted file), kLimit; with the source's name and offset.
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
#include "format/avro/schema.h"

namespace firn::avro {

struct ReaderOptions {
  std::uint64_t read_step_bytes = 256 << 10;
  std::uint64_t header_max_bytes = 64 << 20;
  std::uint64_t block_max_bytes = 256 << 20;
};

struct Block {
  ByteView bytes;  // until the next call of Next
  std::uint64_t object_count = 0;
  std::uint64_t file_offset = 0;  // of the block's header
};

class ContainerReader {
 public:
  /// Reads the header. `source` must outlive the reader.
  static Result<std::unique_ptr<ContainerReader>> Open(SequentialSource& source, ReaderOptions options = {});

  const std::string& name() const { return source_.name(); }
  const Schema& schema() const { return *schema_; }
  const std::vector<std::pair<std::string, std::string>>& metadata() const { return metadata_; }
  /// Null if the header has no such key.
  const std::string* FindMetadata(std::string_view key) const;

  /// False at the end of the file. Empty blocks are passed over.
  Result<bool> Next(Block& block);

  /// "location: text (block at byte 1234, byte 5 in it)".
  Error ErrorIn(Code code, std::string_view text, const Block& block, std::uint64_t offset_in_block) const;

 private:
  ContainerReader(SequentialSource& source, ReaderOptions options) : source_(source), options_(options) {}

  Status ReadHeader();
  Result<std::string> ReadHeaderText();
  Error Fault(Code code, std::string_view text) const;

  // A window on the source: bytes [at_, filled_) of buffer_ are read and not yet used.
  std::size_t buffered() const { return filled_ - at_; }
  std::uint64_t offset() const { return consumed_; }
  /// Makes `size` bytes available; kCorrupt when the source ends before.
  Status Require(std::uint64_t size);
  Result<bool> AtEnd();
  Status FillMore(std::uint64_t size_wanted);
  ByteView Take(std::size_t size);
  Result<std::int64_t> TakeLong();

  SequentialSource& source_;
  ReaderOptions options_;
  std::unique_ptr<std::uint8_t[]> buffer_;
  std::size_t capacity_ = 0, at_ = 0, filled_ = 0;
  std::uint64_t consumed_ = 0;
  bool source_ended_ = false;

  SchemaPtr schema_;
  std::vector<std::pair<std::string, std::string>> metadata_;
  std::array<std::uint8_t, 16> sync_{};
  std::unique_ptr<BlockExpander> expander_;
};

}  // namespace firn::avro
