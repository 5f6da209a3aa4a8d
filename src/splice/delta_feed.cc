// SPDX-License-Identifier: Apache-2.0
#include "splice/delta_feed.h"

#include <algorithm>

namespace firn::splice {

namespace {

constexpr std::size_t kSlice = 512;

Error Corrupt(const char* what) { return {Code::kCorrupt, what}; }

}  // namespace

Status DeltaIntegerFeed::Open(ByteView values, std::size_t width) {
  width_ = width;
  return reader_.Open(values);
}

Status DeltaIntegerFeed::Take(std::size_t count, PageValues& out) {
  std::int64_t slice[kSlice];
  while (count > 0) {
    const std::size_t take = std::min(count, kSlice);
    FIRN_TRY(reader_.Read(slice, take));
    std::uint8_t* to = out.plain().Room(take * width_);
    if (width_ == 8) {
      std::memcpy(to, slice, take * sizeof *slice);
    } else {
      for (std::size_t i = 0; i < take; ++i) StoreLittle(to + i * 4, static_cast<std::uint32_t>(slice[i]));
    }
    out.plain().Advance(take * width_);
    count -= take;
  }
  return Ok();
}

Status DeltaLengthFeed::Open(ByteView values) {
  FIRN_ASSIGN(const std::size_t size, DeltaReader::SizeOf(values));
  FIRN_TRY(lengths_.Open(values));
  data_ = values.subspan(size);
  return Ok();
}

Status DeltaLengthFeed::Take(std::size_t count, PageValues& out) {
  std::int64_t slice[kSlice];
  while (count > 0) {
    const std::size_t take = std::min(count, kSlice);
    FIRN_TRY(lengths_.Read(slice, take));
    for (std::size_t i = 0; i < take; ++i) {
      if (slice[i] < 0 || static_cast<std::uint64_t>(slice[i]) > data_.size()) {
        return Corrupt("a byte array is longer than its page");
      }
      const auto length = static_cast<std::size_t>(slice[i]);
      std::uint8_t* to = out.plain().Room(4 + length);
      StoreLittle(to, static_cast<std::uint32_t>(length));
      if (length > 0) std::memcpy(to + 4, data_.data(), length);
      out.plain().Advance(4 + length);
      data_ = data_.subspan(length);
    }
    count -= take;
  }
  return Ok();
}

Status DeltaStringFeed::Open(ByteView values, std::size_t fixed_width, std::size_t value_bytes_max, bool goes_on) {
  fixed_width_ = fixed_width;
  value_bytes_max_ = value_bytes_max;
  if (!goes_on) last_.Clear();
  FIRN_ASSIGN(const std::size_t prefix_size, DeltaReader::SizeOf(values));
  FIRN_TRY(prefixes_.Open(values));
  const ByteView rest = values.subspan(prefix_size);
  FIRN_ASSIGN(const std::size_t suffix_size, DeltaReader::SizeOf(rest));
  FIRN_TRY(suffixes_.Open(rest));
  data_ = rest.subspan(suffix_size);
  return Ok();
}

Status DeltaStringFeed::TakeOne(std::int64_t prefix, std::int64_t suffix, RawBuffer& out) {
  if (prefix < 0 || static_cast<std::uint64_t>(prefix) > last_.size()) {
    return Corrupt("a prefix is longer than the value before");
  }
  if (suffix < 0 || static_cast<std::uint64_t>(suffix) > data_.size()) {
    return Corrupt("a byte array is longer than its page");
  }
  last_.Resize(static_cast<std::size_t>(prefix));
  last_.Append(data_.first(static_cast<std::size_t>(suffix)));
  data_ = data_.subspan(static_cast<std::size_t>(suffix));
  if (fixed_width_ > 0 && last_.size() != fixed_width_) return Corrupt("a value of a wrong length");
  if (last_.size() > value_bytes_max_ || out.size() > value_bytes_max_ - last_.size()) {
    return Error{Code::kLimit, "front-coded values grow beyond the memory limit"};
  }
  if (fixed_width_ == 0) {
    StoreLittle(out.Room(4), static_cast<std::uint32_t>(last_.size()));
    out.Advance(4);
  }
  out.Append(last_.view());
  return Ok();
}

Status DeltaStringFeed::Take(std::size_t count, PageValues& out) {
  std::int64_t prefixes[kSlice], suffixes[kSlice];
  while (count > 0) {
    const std::size_t take = std::min(count, kSlice);
    FIRN_TRY(prefixes_.Read(prefixes, take));
    FIRN_TRY(suffixes_.Read(suffixes, take));
    for (std::size_t i = 0; i < take; ++i) FIRN_TRY(TakeOne(prefixes[i], suffixes[i], out.plain()));
    count -= take;
  }
  return Ok();
}

Status StreamSplitFeed::Open(ByteView values, std::size_t width) {
  if (width == 0 || values.size() % width != 0) return Corrupt("split streams of unequal length");
  values_ = values;
  width_ = width;
  count_ = values.size() / width;
  at_ = 0;
  return Ok();
}

Status StreamSplitFeed::Take(std::size_t count, PageValues& out) {
  if (count > count_ - at_) return Corrupt("values end early");
  std::uint8_t* to = out.plain().Room(count * width_);
  for (std::size_t byte = 0; byte < width_; ++byte) {
    const std::uint8_t* stream = values_.data() + byte * count_ + at_;
    for (std::size_t i = 0; i < count; ++i) to[i * width_ + byte] = stream[i];
  }
  out.plain().Advance(count * width_);
  at_ += count;
  return Ok();
}

}  // namespace firn::splice
