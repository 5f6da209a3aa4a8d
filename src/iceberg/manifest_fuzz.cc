// SPDX-License-Identifier: Apache-2.0
// Reads the input as a manifest or as a manifest list. The first byte chooses which, the format version, what is
// wanted, and whether the input is a whole file or the content of one block under the schema that firn writes.
#include <array>
#include <cstddef>
#include <cstdint>

#include "format/avro/container_writer.h"
#include "iceberg/manifest_fields.h"
#include "iceberg/manifest_fixture.h"
#include "iceberg/partition_types.h"

namespace firn::iceberg {
namespace {

const TableMetadata& Table(int version) {
  static const std::array<TableMetadata, 3> tables{fixture::PlainTable(1), fixture::PlainTable(2),
                                                   fixture::PlainTable(3)};
  return tables[static_cast<std::size_t>(version - 1)];
}

Bytes Framed(const std::string& schema, ByteView content) {
  MemorySink sink("input");
  const auto file = fixture::Must(avro::ContainerWriter::Open(sink, schema, {}, avro::Codec::kNull, {}));
  file->encoder().WriteFixed(content);
  for (std::size_t i = 0; i < content.size() / 40 + 1; ++i) (void)file->EndObject();
  (void)file->Finish();
  return std::move(sink.bytes());
}

void Run(std::uint8_t choice, ByteView input) {
  const bool is_list = (choice & 1) != 0, is_framed = (choice & 2) != 0;
  const int version = 1 + (choice >> 2) % 3;
  const TableMetadata& metadata = Table(version);
  Bytes bytes(input.begin(), input.end());
  if (is_framed) {
    const PartitionSpec& spec = metadata.default_spec();
    bytes = Framed(
        is_list ? ManifestListSchemaText(version) : ManifestSchemaText(version, spec, PartitionTypesIn(metadata, spec)),
        input);
  }
  if (is_list) {
    MemorySource source("input", std::move(bytes));
    SourceStream stream(source);
    (void)ReadManifestList(stream, Snapshot{}, metadata);
    return;
  }
  ManifestFile line;
  line.manifest_length = static_cast<std::int64_t>(input.size());
  if ((choice & 16) != 0) line.content = ManifestContent::kDeletes;
  if ((choice & 32) != 0) line.first_row_id = 1000;
  Wanted wanted = (choice & 64) != 0 ? Wanted::planning() : Wanted::everything();
  wanted.position_path_bounds = (choice & 128) != 0;
  (void)fixture::Read(metadata, std::move(bytes), line, wanted);
}

}  // namespace
}  // namespace firn::iceberg

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size > 0) firn::iceberg::Run(data[0], {data + 1, size - 1});
  return 0;
}
