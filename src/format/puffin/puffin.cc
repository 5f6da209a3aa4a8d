// SPDX-License-Identifier: Apache-2.0
#include "format/puffin/puffin.h"

#include <lz4frame.h>

#include <algorithm>
#include <array>

#include "format/json/json.h"

namespace firn::puffin {
namespace {

constexpr std::array<std::uint8_t, 4> kMagic{'P', 'F', 'A', '1'};
constexpr std::uint64_t kMagicBytes = 4;
constexpr std::uint64_t kTailBytes = 12;  // payload size, flags, magic
constexpr std::uint8_t kFooterCompressed = 1;

Error Bad(std::string text) { return {Code::kCorrupt, "Puffin footer: " + std::move(text)}; }

/// One LZ4 frame that states the size of its content.
Result<Bytes> ExpandLz4(ByteView frame) {
  LZ4F_dctx* context = nullptr;
  if (LZ4F_isError(LZ4F_createDecompressionContext(&context, LZ4F_VERSION))) {
    return Error{Code::kLimit, "out of memory"};
  }
  const std::unique_ptr<LZ4F_dctx, decltype(&LZ4F_freeDecompressionContext)> owner(context,
                                                                                   &LZ4F_freeDecompressionContext);
  LZ4F_frameInfo_t info{};
  std::size_t used = frame.size();
  const std::size_t header = LZ4F_getFrameInfo(context, &info, frame.data(), &used);
  if (LZ4F_isError(header)) return Bad("bad LZ4 frame");
  // LZ4 makes at most 255 bytes out of one.
  if (info.contentSize == 0 || info.contentSize > kFooterMaxBytes || info.contentSize / 255 > frame.size()) {
    return Bad("LZ4 frame without a possible content size");
  }
  Bytes out(info.contentSize);
  std::size_t filled = 0, hint = 1;
  while (hint != 0) {
    std::size_t room = out.size() - filled, taken = frame.size() - used;
    hint = LZ4F_decompress(context, out.data() + filled, &room, frame.data() + used, &taken, nullptr);
    if (LZ4F_isError(hint)) return Bad("bad LZ4 frame");
    if (hint != 0 && room == 0 && taken == 0) return Bad("LZ4 frame ends too early");
    filled += room;
    used += taken;
  }
  if (filled != out.size() || used != frame.size()) return Bad("LZ4 frame of another size than it says");
  return out;
}

Result<Properties> ReadProperties(const json::Value& object) {
  Properties properties;
  const json::Value* members = object.Find("properties");
  if (members == nullptr || members->is_null()) return properties;
  if (!members->is_object()) return Bad("`properties` is no object");
  for (const auto& [key, value] : members->members()) {
    if (value.AsString() == nullptr) return Bad("property `" + key + "` is no text");
    properties.emplace_back(key, *value.AsString());
  }
  return properties;
}

Result<BlobMetadata> ReadBlob(const json::Value& value, std::uint64_t footer_offset) {
  BlobMetadata blob;
  FIRN_ASSIGN(blob.type, json::GetString(value, "type"));
  const json::Value* fields = value.Find("fields");
  if (fields == nullptr || !fields->is_array()) return Bad("`fields` of a blob is no list");
  for (const json::Value& field : fields->elements()) {
    const auto id = field.AsInt64();
    if (!id || *id < INT32_MIN || *id > INT32_MAX) return Bad("a field id of a blob is no 32-bit integer");
    blob.fields.push_back(static_cast<FieldId>(*id));
  }
  FIRN_ASSIGN(blob.snapshot_id, json::GetInt64(value, "snapshot-id"));
  FIRN_ASSIGN(blob.sequence_number, json::GetInt64(value, "sequence-number"));
  FIRN_ASSIGN(const std::int64_t offset, json::GetInt64(value, "offset"));
  FIRN_ASSIGN(const std::int64_t length, json::GetInt64(value, "length"));
  if (offset < static_cast<std::int64_t>(kMagicBytes) || length < 0 ||
      static_cast<std::uint64_t>(offset) > footer_offset ||
      static_cast<std::uint64_t>(length) > footer_offset - static_cast<std::uint64_t>(offset)) {
    return Bad("blob of " + std::to_string(length) + " bytes at " + std::to_string(offset) + " is not inside the file");
  }
  blob.offset = static_cast<std::uint64_t>(offset);
  blob.length_bytes = static_cast<std::uint64_t>(length);
  FIRN_ASSIGN(const auto codec, json::FindString(value, "compression-codec"));
  blob.compression_codec = codec.value_or("");
  FIRN_ASSIGN(blob.properties, ReadProperties(value));
  return blob;
}

Result<FileMetadata> ParsePayload(std::string_view text, std::uint64_t footer_offset) {
  FIRN_ASSIGN(const json::Value value, json::Parse(text).In("Puffin footer"));
  const json::Value* blobs = value.Find("blobs");
  if (blobs == nullptr || !blobs->is_array()) return Bad("`blobs` is no list");
  FileMetadata metadata;
  for (const json::Value& item : blobs->elements()) {
    FIRN_ASSIGN(BlobMetadata blob, ReadBlob(item, footer_offset));
    metadata.blobs.push_back(std::move(blob));
  }
  FIRN_ASSIGN(metadata.properties, ReadProperties(value));
  return metadata;
}

Result<FileMetadata> Read(RandomAccessSource& source) {
  const std::uint64_t size = source.size();
  if (size < 2 * kMagicBytes + kTailBytes) return Bad("file is too short");
  std::array<std::uint8_t, kMagicBytes> magic{};
  FIRN_TRY(source.ReadAt(0, magic));
  if (magic != kMagic) return Bad("no magic bytes at the start of the file");
  std::array<std::uint8_t, kTailBytes> tail{};
  FIRN_TRY(source.ReadAt(size - kTailBytes, tail));
  if (!std::equal(kMagic.begin(), kMagic.end(), tail.begin() + 8)) {
    return Bad("no magic bytes at the end of the file");
  }
  if ((tail[4] & ~kFooterCompressed) != 0 || tail[5] != 0 || tail[6] != 0 || tail[7] != 0) {
    return Error{Code::kUnsupported, "Puffin footer: unknown flags"};
  }
  const auto payload_size = LoadLittle<std::int32_t>(tail.data());
  // The file's first magic comes before the footer's own.
  const std::uint64_t room = size - 2 * kMagicBytes - kTailBytes;
  if (payload_size < 0 || static_cast<std::uint64_t>(payload_size) > room) {
    return Bad("payload of " + std::to_string(payload_size) + " bytes does not fit the file");
  }
  const auto payload_bytes = static_cast<std::uint64_t>(payload_size);
  if (payload_bytes > kFooterMaxBytes) return Error{Code::kLimit, "Puffin footer: payload is too large"};
  const std::uint64_t footer_offset = size - kTailBytes - payload_bytes - kMagicBytes;
  Bytes footer(kMagicBytes + payload_bytes);
  FIRN_TRY(source.ReadAt(footer_offset, footer));
  if (!std::equal(kMagic.begin(), kMagic.end(), footer.begin())) {
    return Bad("no magic bytes before the payload");
  }
  const ByteView payload = ByteView(footer).subspan(kMagicBytes);
  Bytes expanded;
  if ((tail[4] & kFooterCompressed) != 0) {
    FIRN_ASSIGN(expanded, ExpandLz4(payload));
  }
  FIRN_ASSIGN(FileMetadata metadata,
              ParsePayload(AsText(expanded.empty() ? payload : ByteView(expanded)), footer_offset));
  metadata.footer_size_bytes = size - footer_offset;
  return metadata;
}

}  // namespace

const std::string* BlobMetadata::FindProperty(std::string_view key) const {
  const auto found = std::ranges::find(properties, key, &Properties::value_type::first);
  return found == properties.end() ? nullptr : &found->second;
}

Result<FileMetadata> ReadFooter(RandomAccessSource& source) { return Read(source).In(source.name()); }

}  // namespace firn::puffin
