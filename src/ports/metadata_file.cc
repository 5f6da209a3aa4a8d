// SPDX-License-Identifier: Apache-2.0
#include "ports/metadata_file.h"

#include <fmt/format.h>
#include <zlib.h>

#include <charconv>

#include "base/ascii.h"
#include "ports/location.h"

namespace firn::ports {
namespace {

Result<Bytes> Gzip(ByteView plain) {
  z_stream stream{};
  constexpr int kGzipWindow = 15 + 16;
  if (deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, kGzipWindow, 8, Z_DEFAULT_STRATEGY) != Z_OK) {
    return Error{Code::kInternal, "gzip could not be started"};
  }
  Bytes packed(deflateBound(&stream, static_cast<uLong>(plain.size())) + 64);
  // Metadata is far below 4 GB (kMetadataBytesMax), so one call takes all of it.
  stream.next_in = const_cast<Bytef*>(plain.data());
  stream.avail_in = static_cast<uInt>(plain.size());
  stream.next_out = packed.data();
  stream.avail_out = static_cast<uInt>(packed.size());
  const int state = deflate(&stream, Z_FINISH);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  if (state != Z_STREAM_END) return Error{Code::kInternal, "gzip failed"};
  return packed;
}

}  // namespace

bool IsMetadataFileName(std::string_view location) {
  return location.ends_with(".metadata.json") || location.ends_with(".metadata.json.gz");
}

std::optional<std::int64_t> MetadataVersion(std::string_view location) {
  const std::string_view name = FileNameOf(location);
  const std::size_t dash = name.find('-');
  if (dash == std::string_view::npos || dash == 0) return std::nullopt;
  std::int64_t version = 0;
  const auto [end, fault] = std::from_chars(name.data(), name.data() + dash, version);
  if (fault != std::errc{} || end != name.data() + dash || version < 0) return std::nullopt;
  return version;
}

Result<iceberg::MetadataPtr> ReadMetadataFile(FileIO& io, const std::string& location) {
  FIRN_ASSIGN(const Bytes bytes, ReadFile(io, location, kMetadataBytesMax));
  auto metadata = iceberg::TableMetadata::Parse(bytes);
  if (!metadata) return std::move(metadata.error()).In(location);
  return std::make_shared<const iceberg::TableMetadata>(std::move(*metadata));
}

Result<MetadataCodec> CodecOf(const iceberg::TableMetadata& metadata) {
  const std::string name = AsciiLower(metadata.Property("write.metadata.compression-codec", "none"));
  if (name == "none") return MetadataCodec::kNone;
  if (name == "gzip") return MetadataCodec::kGzip;
  return Error{Code::kUnsupported,
               fmt::format("table property write.metadata.compression-codec is `{}`: only none and gzip", name)};
}

Result<Bytes> EncodeMetadata(const iceberg::TableMetadata& metadata, MetadataCodec codec) {
  const std::string text = metadata.ToJsonText();
  if (text.size() > kMetadataBytesMax) {
    return Error{Code::kLimit, fmt::format("table metadata of {} bytes is too large: expire snapshots", text.size())};
  }
  const ByteView plain = AsBytes(text);
  return codec == MetadataCodec::kGzip ? Gzip(plain) : Result<Bytes>(Bytes(plain.begin(), plain.end()));
}

std::string TableFolder(const iceberg::TableMetadata& metadata, std::string_view configured) {
  const std::string_view folder = WithoutSlash(configured);
  const bool is_absolute = folder.starts_with('/') || folder.find(':') < folder.find('/');
  return is_absolute ? std::string(folder) : Join(WithoutSlash(metadata.location()), folder);
}

std::string MetadataFolder(const iceberg::TableMetadata& metadata) {
  const std::string configured = metadata.Property("write.metadata.path", "");
  return TableFolder(metadata, configured.empty() ? "metadata" : configured);
}

Result<std::string> NextMetadataLocation(const iceberg::TableMetadata& updated, std::string_view base_location,
                                         const std::string& uuid) {
  FIRN_ASSIGN(const MetadataCodec codec, CodecOf(updated));
  const std::int64_t version = MetadataVersion(base_location).value_or(-1) + 1;
  return Join(MetadataFolder(updated),
              fmt::format("{:05d}-{}{}.metadata.json", version, uuid, codec == MetadataCodec::kGzip ? ".gz" : ""));
}

}  // namespace firn::ports
