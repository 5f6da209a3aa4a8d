// SPDX-License-Identifier: Apache-2.0
#include "base/byte_io.h"

#include <algorithm>

namespace firn {

Status MemorySource::ReadAt(std::uint64_t offset, std::span<std::uint8_t> out) {
  if (offset > bytes_.size() || out.size() > bytes_.size() - offset) {
    return Error{Code::kCorrupt, name_ + ": read past the end at offset " + std::to_string(offset)};
  }
  std::copy_n(bytes_.begin() + static_cast<std::ptrdiff_t>(offset), out.size(), out.begin());
  return Ok();
}

Result<std::size_t> SourceStream::Read(std::span<std::uint8_t> out) {
  const std::uint64_t left = source_.size() - offset_;
  const std::size_t count = static_cast<std::size_t>(std::min<std::uint64_t>(left, out.size()));
  if (count == 0) return std::size_t{0};
  FIRN_TRY(source_.ReadAt(offset_, out.first(count)));
  offset_ += count;
  return count;
}

Result<Bytes> ReadAll(RandomAccessSource& source, std::uint64_t size_max_bytes) {
  if (source.size() > size_max_bytes) {
    return Error{Code::kLimit, source.name() + ": " + std::to_string(source.size()) +
                                   " bytes, more than the limit of " + std::to_string(size_max_bytes)};
  }
  Bytes bytes(static_cast<std::size_t>(source.size()));
  FIRN_TRY(source.ReadAt(0, bytes));
  return bytes;
}

}  // namespace firn
