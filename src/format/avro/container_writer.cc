// SPDX-License-Identifier: Apache-2.0
#include "format/avro/container_writer.h"

namespace firn::avro {
namespace {

constexpr std::size_t kBlockBytes = 64'000;

}  // namespace

Result<std::unique_ptr<ContainerWriter>> ContainerWriter::Open(
    ByteSink& sink, std::string_view schema_json, const std::vector<std::pair<std::string, std::string>>& metadata,
    Codec codec, const SyncMarker& sync) {
  std::unique_ptr<ContainerWriter> writer(new ContainerWriter(sink, codec, sync));
  Encoder header;
  header.WriteFixed(AsBytes("Obj\1"));
  header.WriteLong(static_cast<std::int64_t>(metadata.size()) + 2);
  header.WriteString("avro.schema");
  header.WriteString(schema_json);
  header.WriteString("avro.codec");
  header.WriteString(CodecName(codec));
  for (const auto& [key, value] : metadata) {
    header.WriteString(key);
    header.WriteString(value);
  }
  header.WriteLong(0);
  header.WriteFixed(sync);
  FIRN_TRY(sink.Write(header.bytes()));
  return writer;
}

Status ContainerWriter::EndObject() {
  ++object_count_;
  return encoder_.size() >= kBlockBytes ? Flush() : Ok();
}

Status ContainerWriter::Finish() { return object_count_ > 0 ? Flush() : Ok(); }

Status ContainerWriter::Flush() {
  FIRN_ASSIGN(const ByteView stored, compressor_->Compress(encoder_.bytes()));
  Encoder block;
  block.WriteLong(object_count_);
  block.WriteLong(static_cast<std::int64_t>(stored.size()));
  FIRN_TRY(sink_.Write(block.bytes()));
  FIRN_TRY(sink_.Write(stored));
  FIRN_TRY(sink_.Write(sync_));
  encoder_.Clear();
  object_count_ = 0;
  return Ok();
}

}  // namespace firn::avro
