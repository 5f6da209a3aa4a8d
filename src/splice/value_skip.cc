// SPDX-License-Identifier: Apache-2.0
// How each feed passes values that do not go into the output.
#include <algorithm>

#include "splice/delta_feed.h"
#include "splice/page_values.h"

namespace firn::splice {

namespace {

constexpr std::size_t kSlice = 512;

Error Corrupt(const char* what) { return {Code::kCorrupt, what}; }

}  // namespace

Status IndexFeed::Skip(std::size_t count) {
  taken_ = taken_ || count > 0;
  if (reader_.Skip(count) != count) return Corrupt("dictionary indices end early");
  return Ok();
}

Status PlainFeed::Skip(std::size_t count) {
  if (count == 0) return Ok();
  switch (kind_) {
    case Kind::kFixed:
      if (count > (values_.size() - at_) / width_) return Corrupt("values end early");
      at_ += count * width_;
      return Ok();
    case Kind::kByteArrays:
      for (; count > 0; --count) {
        if (values_.size() - at_ < 4) return Corrupt("byte arrays end early");
        const std::size_t length = LoadLittle<std::uint32_t>(values_.data() + at_);
        at_ += 4;
        if (length > values_.size() - at_) return Corrupt("a byte array is longer than its page");
        at_ += length;
      }
      return Ok();
    case Kind::kBits:
      if (count > values_.size() * 8 - at_) return Corrupt("booleans end early");
      at_ += count;
      return Ok();
    case Kind::kRleBits:
      if (reader_.Skip(count) != count) return Corrupt("RLE booleans end early");
      return Ok();
  }
  return Ok();
}

Status DeltaIntegerFeed::Skip(std::size_t count) {
  std::int64_t slice[kSlice];
  while (count > 0) {
    const std::size_t take = std::min(count, kSlice);
    FIRN_TRY(reader_.Read(slice, take));
    count -= take;
  }
  return Ok();
}

Status DeltaLengthFeed::Skip(std::size_t count) {
  std::int64_t slice[kSlice];
  while (count > 0) {
    const std::size_t take = std::min(count, kSlice);
    FIRN_TRY(lengths_.Read(slice, take));
    for (std::size_t i = 0; i < take; ++i) {
      if (slice[i] < 0 || static_cast<std::uint64_t>(slice[i]) > data_.size()) {
        return Corrupt("a byte array is longer than its page");
      }
      data_ = data_.subspan(static_cast<std::size_t>(slice[i]));
    }
    count -= take;
  }
  return Ok();
}

/// A value that goes may be what the next one begins with.
Status DeltaStringFeed::Skip(std::size_t count) {
  std::int64_t prefixes[kSlice], suffixes[kSlice];
  RawBuffer unwanted;
  while (count > 0) {
    const std::size_t take = std::min(count, kSlice);
    FIRN_TRY(prefixes_.Read(prefixes, take));
    FIRN_TRY(suffixes_.Read(suffixes, take));
    for (std::size_t i = 0; i < take; ++i) {
      unwanted.Clear();
      FIRN_TRY(TakeOne(prefixes[i], suffixes[i], unwanted));
    }
    count -= take;
  }
  return Ok();
}

Status StreamSplitFeed::Skip(std::size_t count) {
  if (count > count_ - at_) return Corrupt("values end early");
  at_ += count;
  return Ok();
}

}  // namespace firn::splice
