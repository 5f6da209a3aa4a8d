// SPDX-License-Identifier: Apache-2.0
#include "ports/whole_read.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace firn::ports {
namespace {

constexpr int kReadsMax = 3;

/// What is in a buffer's last bytes before they are read.
using Mark = std::array<std::uint8_t, 16>;
constexpr Mark kMark = {0xd1, 0x5e, 0x2a, 0x97, 0x3b, 0xc4, 0x68, 0xf0, 0x0d, 0xa3, 0x7c, 0x19, 0xe6, 0x42, 0xb5, 0x8f};
constexpr Mark kOtherMark = [] {
  Mark mark = kMark;
  for (std::uint8_t& byte : mark) byte = static_cast<std::uint8_t>(~byte);
  return mark;
}();

enum class Seen { kWhole, kShort, kUnclear };  // unclear: the last byte may be the mark's, or the object's

Result<Seen> ReadMarked(const RangeRead& read, std::uint64_t offset, std::span<std::uint8_t> out, const Mark& mark) {
  const std::span<std::uint8_t> tail = out.last(std::min(out.size(), mark.size()));
  std::copy(mark.end() - static_cast<std::ptrdiff_t>(tail.size()), mark.end(), tail.begin());
  FIRN_ASSIGN(const std::size_t count, read(offset, out));
  if (count != out.size()) return Seen::kShort;
  return out.back() == mark.back() ? Seen::kUnclear : Seen::kWhole;
}

/// Whether the object ends the range as `out` does.
Result<bool> HasTail(const RangeRead& read, std::uint64_t offset, std::span<const std::uint8_t> out) {
  Mark again;
  const std::span<std::uint8_t> tail = std::span(again).first(std::min(out.size(), again.size()));
  FIRN_ASSIGN(const Seen seen, ReadMarked(read, offset + out.size() - tail.size(), tail, kOtherMark));
  return seen == Seen::kWhole && std::ranges::equal(tail, out.last(tail.size()));
}

}  // namespace

Status ReadWhole(const std::string& name, const RangeRead& read, const std::function<Status()>& check_size,
                 std::uint64_t offset, std::span<std::uint8_t> out) {
  if (out.empty()) return Ok();
  for (int reads = 0; reads < kReadsMax; ++reads) {
    FIRN_ASSIGN(const Seen seen, ReadMarked(read, offset, out, kMark));
    if (seen == Seen::kWhole) return Ok();
    if (seen == Seen::kUnclear) {
      FIRN_ASSIGN(const bool has_tail, HasTail(read, offset, out));
      if (has_tail) return Ok();
    }
    FIRN_TRY(check_size());
  }
  return Error{Code::kUnavailable,
               fmt::format("{}: the store answers with fewer than {} bytes at offset {}", name, out.size(), offset)};
}

}  // namespace firn::ports
