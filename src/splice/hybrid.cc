// SPDX-License-Identifier: Apache-2.0
#include "splice/hybrid.h"

#include <algorithm>
#include <limits>

#include "splice/bit_pack.h"
#include "splice/index_kernels.h"

namespace firn::splice {

bool HybridReader::LoadRun() {
  if (ReadRun()) return true;
  at_ = end_;  // what follows a broken run has no meaning
  left_ = 0;
  return false;
}

bool HybridReader::ReadRun() {
  std::uint64_t header = 0;
  for (unsigned shift = 0;; shift += 7) {
    if (at_ == end_ || shift > 28) return false;
    const std::uint8_t byte = *at_++;
    header |= std::uint64_t{byte & 0x7fu} << shift;
    if (byte < 0x80) break;
  }
  const std::size_t available = static_cast<std::size_t>(end_ - at_);
  if (header & 1) {
    // Some writers cut the padding of the last group off, but no whole group.
    const std::size_t wanted = static_cast<std::size_t>(header >> 1);
    const std::size_t bytes = std::min(wanted * width_, available);
    if (bytes + width_ <= wanted * width_ && width_ > 0) return false;
    left_ = bytes == wanted * width_ ? wanted * 8 : bytes * 8 / width_;
    packed_ = at_;
    position_ = 0;
    at_ += bytes;
  } else {
    const std::size_t bytes = (width_ + 7) / 8;
    if (bytes > available) return false;
    value_ = 0;
    std::memcpy(&value_, at_, bytes);
    at_ += bytes;
    packed_ = nullptr;
    left_ = static_cast<std::size_t>(header >> 1);
  }
  // Nobody writes runs of nothing, and readers end there.
  return left_ > 0;
}

std::size_t HybridReader::Read(std::uint32_t* out, std::size_t count) {
  std::size_t done = 0;
  while (done < count) {
    if (left_ == 0 && !LoadRun()) break;
    const std::size_t take = std::min(left_, count - done);
    if (packed_ == nullptr) {
      std::fill_n(out + done, take, value_);
    } else {
      UnpackBits(packed_, width_, position_, take, out + done);
      position_ += take;
    }
    left_ -= take;
    done += take;
  }
  return done;
}

std::size_t HybridReader::Skip(std::size_t count) {
  std::size_t done = 0;
  while (done < count) {
    if (left_ == 0 && !LoadRun()) break;
    const std::size_t take = std::min(left_, count - done);
    if (packed_ != nullptr) position_ += take;
    left_ -= take;
    done += take;
  }
  return done;
}

void HybridWriter::Reset(unsigned width) {
  out_.Clear();
  width_ = width;
  run_groups_min_ = width >= 8 ? 1 : width >= 3 ? 2 : 4;
  run_count_ = count_ = equal_groups_ = 0;
}

void HybridWriter::PutVarint(std::uint64_t value) {
  std::uint8_t* to = out_.Room(10);
  std::size_t size = 0;
  for (; value >= 0x80; value >>= 7) to[size++] = static_cast<std::uint8_t>(value | 0x80);
  to[size++] = static_cast<std::uint8_t>(value);
  out_.Advance(size);
}

/// Writes the first `count` pending values (a multiple of 8) as a packed run; the others are dropped.
void HybridWriter::FlushPacked(std::size_t count) {
  if (count > 0) {
    PutVarint(count / 8 << 1 | 1);
    PackBits(pending_.data(), count / 8, width_, out_.Room(count / 8 * width_));
    out_.Advance(count / 8 * width_);
  }
  count_ = equal_groups_ = 0;
}

void HybridWriter::OpenRun(std::uint32_t value, std::size_t count) {
  FlushPacked(count_ - equal_groups_ * 8);
  run_value_ = value;
  run_count_ = count;
}

void HybridWriter::CloseRun() {
  constexpr std::size_t kRunMax = std::numeric_limits<std::int32_t>::max();
  while (run_count_ > 0) {
    const std::size_t count = std::min(run_count_, kRunMax);
    PutVarint(std::uint64_t{count} << 1);
    const std::size_t bytes = (width_ + 7) / 8;
    std::memcpy(out_.Room(bytes), &run_value_, bytes);
    out_.Advance(bytes);
    run_count_ -= count;
  }
}

/// Eight more values have become pending.
void HybridWriter::EndGroup() {
  const std::uint32_t* group = pending_.data() + count_ - 8;
  if (!AllEqual(group)) {
    equal_groups_ = 0;
  } else if (equal_groups_ > 0 && equal_value_ == group[0]) {
    ++equal_groups_;
  } else {
    equal_groups_ = 1;
    equal_value_ = group[0];
  }
  if (equal_groups_ >= run_groups_min_) {
    OpenRun(equal_value_, equal_groups_ * 8);
  } else if (count_ == kPendingMax) {
    FlushPacked(count_);
  }
}

/// Takes groups of eight that differ among themselves, as most of them do, and stops before any other.
std::size_t HybridWriter::AppendMixedGroups(const std::uint32_t* values, std::size_t count) {
  std::size_t at = 0;
  std::uint32_t* to = pending_.data() + count_;
  const std::uint32_t* const end = pending_.data() + kPendingMax - 8;
  for (; count - at >= 8 && to < end && !AllEqual(values + at); at += 8, to += 8) {
    std::memcpy(to, values + at, 8 * sizeof *values);
  }
  count_ += at;
  if (at > 0) equal_groups_ = 0;
  return at;
}

void HybridWriter::Append(const std::uint32_t* values, std::size_t count) {
  std::size_t at = 0;
  while (at < count) {
    if (run_count_ > 0) {
      const std::size_t start = at;
      while (at < count && values[at] == run_value_) ++at;
      run_count_ += at - start;
      if (at == count) return;
      CloseRun();
    }
    if (count_ % 8 == 0) at += AppendMixedGroups(values + at, count - at);
    if (at == count) return;
    const std::size_t take = std::min(count - at, 8 - count_ % 8);
    if (take == 8) {
      std::memcpy(pending_.data() + count_, values + at, 8 * sizeof *values);
    } else {
      std::copy_n(values + at, take, pending_.data() + count_);
    }
    count_ += take;
    at += take;
    if (count_ % 8 == 0) EndGroup();
  }
}

void HybridWriter::AppendRun(std::uint32_t value, std::size_t count) {
  const std::uint32_t copies[8] = {value, value, value, value, value, value, value, value};
  while (count > 0) {
    if (run_count_ > 0 && run_value_ == value) {
      run_count_ += count;
      return;
    }
    if (run_count_ > 0) CloseRun();
    if (count_ % 8 == 0 && count >= run_groups_min_ * 8) {
      const std::size_t before = equal_groups_ > 0 && equal_value_ == value ? equal_groups_ * 8 : 0;
      if (before == 0) equal_groups_ = 0;
      OpenRun(value, before + count);
      return;
    }
    const std::size_t take = std::min(count, 8 - count_ % 8);
    Append(copies, take);
    count -= take;
  }
}

ByteView HybridWriter::Finish() {
  CloseRun();
  if (count_ > 0) {
    while (count_ % 8 != 0) pending_[count_++] = 0;
    FlushPacked(count_);
  }
  return out_.view();
}

}  // namespace firn::splice
