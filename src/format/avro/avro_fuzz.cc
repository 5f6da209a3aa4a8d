// SPDX-License-Identifier: Apache-2.0
// Opens the input as an Avro container and skips every object in it.
#include <cstddef>
#include <cstdint>

#include "format/avro/container_reader.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace firn;
  MemorySource bytes("input", Bytes(data, data + size));
  SourceStream stream(bytes);
  auto reader = avro::ContainerReader::Open(
      stream, {.read_step_bytes = 64, .header_max_bytes = 1 << 20, .block_max_bytes = 1 << 20});
  if (!reader) return 0;
  avro::Block block;
  while (true) {
    const auto more = (*reader)->Next(block);
    if (!more || !*more) return 0;
    avro::Cursor cursor(block.bytes);
    for (std::uint64_t i = 0; i < block.object_count && cursor.ok(); ++i) {
      avro::Skip((*reader)->schema(), cursor);
    }
  }
}
