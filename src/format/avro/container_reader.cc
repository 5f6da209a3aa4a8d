// SPDX-License-Identifier: Apache-2.0
#include "format/avro/container_reader.h"

#include <algorithm>
#include <cstring>

namespace firn::avro {
namespace {

constexpr std::array<std::uint8_t, 4> kMagic{'O', 'b', 'j', 1};
constexpr std::size_t kSyncBytes = 16;
constexpr std::size_t kVarintMaxBytes = 10;

/// Thousands of files of one writer carry the same text: each thread keeps the last schema that it has parsed.
Result<SchemaPtr> SchemaOf(const std::string& text) {
  constexpr std::size_t kTextMaxBytes = 64 << 10;
  thread_local std::string kept_text;
  thread_local SchemaPtr kept;
  if (kept != nullptr && kept_text == text) return kept;
  FIRN_ASSIGN(SchemaPtr schema, ParseSchema(text));
  if (text.size() <= kTextMaxBytes) {
    kept_text = text;
    kept = schema;
  }
  return schema;
}

}  // namespace

Result<std::unique_ptr<ContainerReader>> ContainerReader::Open(SequentialSource& source, ReaderOptions options) {
  std::unique_ptr<ContainerReader> reader(new ContainerReader(source, options));
  FIRN_TRY(reader->ReadHeader());
  return reader;
}

Error ContainerReader::Fault(Code code, std::string_view text) const {
  return {code, source_.name() + ": " + std::string(text) + " (at byte " + std::to_string(offset()) + ")"};
}

Error ContainerReader::ErrorIn(Code code, std::string_view text, const Block& block,
                               std::uint64_t offset_in_block) const {
  return {code, source_.name() + ": " + std::string(text) + " (block at byte " + std::to_string(block.file_offset) +
                    ", byte " + std::to_string(offset_in_block) + " of its content)"};
}

const std::string* ContainerReader::FindMetadata(std::string_view key) const {
  for (const auto& [name, value] : metadata_) {
    if (name == key) return &value;
  }
  return nullptr;
}

Status ContainerReader::FillMore(std::uint64_t size_wanted) {
  // Unused bytes move to the front; the buffer grows in steps of what has arrived, not of what was promised.
  if (at_ > 0) {
    std::memmove(buffer_.get(), buffer_.get() + at_, buffered());
    filled_ -= at_;
    at_ = 0;
  }
  if (filled_ == capacity_) {
    const std::uint64_t wanted = std::max<std::uint64_t>(size_wanted, options_.read_step_bytes);
    const std::uint64_t growth = std::max<std::uint64_t>(capacity_ * 2, options_.read_step_bytes);
    const std::size_t larger = static_cast<std::size_t>(std::min(wanted, growth));
    auto bytes = std::make_unique_for_overwrite<std::uint8_t[]>(larger);
    if (filled_ > 0) std::memcpy(bytes.get(), buffer_.get(), filled_);
    buffer_ = std::move(bytes);
    capacity_ = larger;
  }
  FIRN_ASSIGN(const std::size_t count, source_.Read({buffer_.get() + filled_, capacity_ - filled_}));
  source_ended_ = count == 0;
  filled_ += count;
  return Ok();
}

Status ContainerReader::Require(std::uint64_t size) {
  while (buffered() < size) {
    if (source_ended_) return Fault(Code::kCorrupt, "file ends too early");
    FIRN_TRY(FillMore(size));
  }
  return Ok();
}

Result<bool> ContainerReader::AtEnd() {
  while (buffered() == 0 && !source_ended_) FIRN_TRY(FillMore(1));
  return buffered() == 0;
}

ByteView ContainerReader::Take(std::size_t size) {
  const ByteView view{buffer_.get() + at_, size};
  at_ += size;
  consumed_ += size;
  return view;
}

Result<std::int64_t> ContainerReader::TakeLong() {
  while (buffered() < kVarintMaxBytes && !source_ended_) FIRN_TRY(FillMore(kVarintMaxBytes));
  Cursor cursor({buffer_.get() + at_, buffered()});
  const std::int64_t value = cursor.ReadLong();
  if (!cursor.ok()) return Fault(Code::kCorrupt, cursor.fault());
  (void)Take(cursor.offset());
  return value;
}

Result<std::string> ContainerReader::ReadHeaderText() {
  FIRN_ASSIGN(const std::int64_t size, TakeLong());
  const std::uint64_t room = options_.header_max_bytes - std::min(options_.header_max_bytes, offset());
  if (size < 0 || static_cast<std::uint64_t>(size) > room) {
    return Fault(Code::kCorrupt, "header is too long");
  }
  FIRN_TRY(Require(static_cast<std::uint64_t>(size)));
  return std::string(AsText(Take(static_cast<std::size_t>(size))));
}

Status ContainerReader::ReadHeader() {
  FIRN_TRY(Require(kMagic.size()));
  if (std::memcmp(buffer_.get() + at_, "AGS1", 4) == 0) {
    return Fault(Code::kUnsupported, "file is encrypted");
  }
  if (!std::ranges::equal(Take(kMagic.size()), kMagic)) return Fault(Code::kCorrupt, "not an Avro file");
  while (true) {
    FIRN_ASSIGN(std::int64_t count, TakeLong());
    if (count == 0) break;
    if (count < 0) {
      FIRN_ASSIGN([[maybe_unused]] const std::int64_t size, TakeLong());
    }
    for (std::uint64_t left = count < 0 ? ~static_cast<std::uint64_t>(count) + 1 : static_cast<std::uint64_t>(count);
         left > 0; --left) {
      FIRN_ASSIGN(std::string key, ReadHeaderText());
      FIRN_ASSIGN(std::string value, ReadHeaderText());
      if (FindMetadata(key) != nullptr) return Fault(Code::kCorrupt, "header has a key twice: " + key);
      if (metadata_.size() == 10'000) return Fault(Code::kCorrupt, "header has too many keys");
      metadata_.emplace_back(std::move(key), std::move(value));
    }
  }
  FIRN_TRY(Require(kSyncBytes));
  std::ranges::copy(Take(kSyncBytes), sync_.begin());

  const std::string* schema = FindMetadata("avro.schema");
  if (schema == nullptr) return Fault(Code::kCorrupt, "header without avro.schema");
  FIRN_ASSIGN(schema_, SchemaOf(*schema).In(source_.name()));
  const std::string* codec_name = FindMetadata("avro.codec");
  FIRN_ASSIGN(const Codec codec, ParseCodec(codec_name ? *codec_name : "").In(source_.name()));
  expander_ = MakeExpander(codec);
  return Ok();
}

Result<bool> ContainerReader::Next(Block& block) {
  while (true) {
    FIRN_ASSIGN(const bool at_end, AtEnd());
    if (at_end) return false;
    block.file_offset = offset();
    FIRN_ASSIGN(const std::int64_t count, TakeLong());
    FIRN_ASSIGN(const std::int64_t size, TakeLong());
    if (count < 0 || size < 0) return Fault(Code::kCorrupt, "block with a negative count or size");
    if (static_cast<std::uint64_t>(size) > options_.block_max_bytes) {
      return Fault(Code::kLimit, "block of " + std::to_string(size) + " bytes, more than the limit of " +
                                     std::to_string(options_.block_max_bytes));
    }
    FIRN_TRY(Require(static_cast<std::uint64_t>(size) + kSyncBytes));
    const ByteView stored = Take(static_cast<std::size_t>(size));
    if (!std::ranges::equal(Take(kSyncBytes), sync_)) {
      return Fault(Code::kCorrupt, "sync marker after a block differs");
    }
    if (count == 0) continue;
    auto expanded = expander_->Expand(stored, options_.block_max_bytes);
    if (!expanded) return ErrorIn(expanded.error().code, expanded.error().message, block, 0);
    block.bytes = *expanded;
    block.object_count = static_cast<std::uint64_t>(count);
    if (schema_->size_min == 0) return Fault(Code::kUnsupported, "objects without bytes");
    if (block.object_count > block.bytes.size() / schema_->size_min) {
      return ErrorIn(Code::kCorrupt, "block has more objects than bytes", block, 0);
    }
    return true;
  }
}

}  // namespace firn::avro
