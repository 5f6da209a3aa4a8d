// SPDX-License-Identifier: Apache-2.0
#include "format/puffin/puffin_writer.h"

#include <array>

#include "base/check.h"
#include "format/json/json.h"

namespace firn::puffin {
namespace {

constexpr std::string_view kMagic = "PFA1";

json::Value ToJson(const Properties& properties) {
  json::Value object = json::Value::Object();
  for (const auto& [key, value] : properties) object.Set(key, json::Value(value));
  return object;
}

json::Value ToJson(const BlobMetadata& blob) {
  json::Value object = json::Value::Object();
  object.Set("type", json::Value(blob.type));
  json::Value fields = json::Value::Array();
  for (const FieldId field : blob.fields) fields.Append(json::Value(field));
  object.Set("fields", std::move(fields));
  object.Set("snapshot-id", json::Value(blob.snapshot_id));
  object.Set("sequence-number", json::Value(blob.sequence_number));
  object.Set("offset", json::Value(static_cast<std::int64_t>(blob.offset)));
  object.Set("length", json::Value(static_cast<std::int64_t>(blob.length_bytes)));
  if (!blob.compression_codec.empty()) object.Set("compression-codec", json::Value(blob.compression_codec));
  if (!blob.properties.empty()) object.Set("properties", ToJson(blob.properties));
  return object;
}

}  // namespace

Result<Writer> Writer::Begin(ByteSink& sink) {
  FIRN_CHECK(sink.position() == 0);
  FIRN_TRY(sink.Write(AsBytes(kMagic)));
  return Writer(sink);
}

Result<BlobMetadata> Writer::Add(BlobMetadata metadata, ByteView stored) {
  metadata.offset = sink_->position();
  metadata.length_bytes = stored.size();
  FIRN_TRY(sink_->Write(stored));
  blobs_.push_back(metadata);
  return metadata;
}

Result<FileMetadata> Writer::Finish(Properties properties) {
  json::Value footer = json::Value::Object();
  json::Value blobs = json::Value::Array();
  for (const BlobMetadata& blob : blobs_) blobs.Append(ToJson(blob));
  footer.Set("blobs", std::move(blobs));
  if (!properties.empty()) footer.Set("properties", ToJson(properties));
  const std::string payload = json::Write(footer);
  if (payload.size() > kFooterMaxBytes) return Error{Code::kLimit, sink_->name() + ": too many blobs for a footer"};
  std::array<std::uint8_t, 8> size_and_flags{};
  StoreLittle(size_and_flags.data(), static_cast<std::int32_t>(payload.size()));
  FIRN_TRY(sink_->Write(AsBytes(kMagic)));
  FIRN_TRY(sink_->Write(AsBytes(payload)));
  FIRN_TRY(sink_->Write(size_and_flags));
  FIRN_TRY(sink_->Write(AsBytes(kMagic)));
  FileMetadata metadata;
  metadata.blobs = std::move(blobs_);
  metadata.properties = std::move(properties);
  metadata.footer_size_bytes = payload.size() + size_and_flags.size() + 2 * kMagic.size();
  return metadata;
}

}  // namespace firn::puffin
