// SPDX-License-Identifier: Apache-2.0
#include "format/roaring/position_set.h"

#include <algorithm>

#include "base/check.h"

namespace firn::roaring {
namespace {

constexpr unsigned kKeyShift = 16;
constexpr std::int64_t kLowMask = 0xffff;

std::uint64_t KeyOf(std::int64_t position) { return static_cast<std::uint64_t>(position) >> kKeyShift; }
std::uint32_t LowOf(std::int64_t position) { return static_cast<std::uint32_t>(position & kLowMask); }
std::int64_t PositionOf(std::uint64_t key, std::uint32_t low) {
  return static_cast<std::int64_t>(key << kKeyShift) + low;
}

}  // namespace

std::size_t PositionSet::Find(std::uint64_t key) const {
  return static_cast<std::size_t>(std::ranges::lower_bound(chunks_, key, {}, &Chunk::key) - chunks_.begin());
}

Container& PositionSet::ContainerOf(std::uint64_t key) {
  if (chunks_.empty() || chunks_.back().key < key) return chunks_.emplace_back(Chunk{key, {}}).container;
  if (chunks_.back().key == key) return chunks_.back().container;
  const std::size_t index = Find(key);
  if (chunks_[index].key != key) {
    chunks_.insert(chunks_.begin() + static_cast<std::ptrdiff_t>(index), Chunk{key, {}});
  }
  return chunks_[index].container;
}

void PositionSet::Add(std::int64_t position) {
  FIRN_CHECK(position >= 0);
  if (ContainerOf(KeyOf(position)).Add(static_cast<std::uint16_t>(LowOf(position)))) ++cardinality_;
}

void PositionSet::AddRange(PositionRange range) {
  FIRN_CHECK(range.begin >= 0);
  while (range.begin < range.end) {
    const std::uint64_t key = KeyOf(range.begin);
    const std::uint32_t first = LowOf(range.begin);
    const std::int64_t left = range.end - 1 - range.begin;
    const std::uint32_t last = static_cast<std::uint32_t>(std::min<std::int64_t>(first + left, kLowMask));
    Container& container = ContainerOf(key);
    const std::uint32_t before = container.cardinality();
    container.AddRun({first, last});
    cardinality_ += std::int64_t{container.cardinality()} - before;
    if (last - first == left) return;  // before the highest position overflows
    range.begin += last - first + 1;
  }
}

void PositionSet::Union(const PositionSet& other) {
  if (other.chunks_.empty()) return;
  std::vector<Chunk> merged;
  merged.reserve(chunks_.size() + other.chunks_.size());
  cardinality_ = 0;
  auto mine = chunks_.begin();
  for (const Chunk& chunk : other.chunks_) {
    for (; mine != chunks_.end() && mine->key < chunk.key; ++mine) merged.push_back(std::move(*mine));
    if (mine == chunks_.end() || mine->key != chunk.key) {
      merged.push_back(chunk);
      continue;
    }
    mine->container.Union(chunk.container);
    merged.push_back(std::move(*mine++));
  }
  std::move(mine, chunks_.end(), std::back_inserter(merged));
  for (const Chunk& chunk : merged) cardinality_ += chunk.container.cardinality();
  chunks_ = std::move(merged);
}

void PositionSet::Truncate(std::int64_t end) {
  end = std::max<std::int64_t>(end, 0);
  std::size_t count = Find(KeyOf(end));
  if (count < chunks_.size() && chunks_[count].key == KeyOf(end)) {
    cardinality_ -= chunks_[count].container.cardinality();
    chunks_[count].container.Truncate(LowOf(end));
    cardinality_ += chunks_[count].container.cardinality();
    if (chunks_[count].container.cardinality() > 0) ++count;
  } else if (count == chunks_.size()) {
    return;
  }
  for (std::size_t i = count; i < chunks_.size(); ++i) cardinality_ -= chunks_[i].container.cardinality();
  chunks_.resize(count);
}

bool PositionSet::Contains(std::int64_t position) const {
  if (position < 0) return false;
  const std::size_t index = Find(KeyOf(position));
  return index < chunks_.size() && chunks_[index].key == KeyOf(position) &&
         chunks_[index].container.Contains(static_cast<std::uint16_t>(LowOf(position)));
}

std::int64_t PositionSet::CountBefore(std::int64_t position) const {
  if (position <= 0) return 0;
  const std::size_t index = Find(KeyOf(position));
  std::int64_t count = 0;
  for (std::size_t i = 0; i < index; ++i) count += chunks_[i].container.cardinality();
  if (index < chunks_.size() && chunks_[index].key == KeyOf(position)) {
    count += chunks_[index].container.CountBefore(LowOf(position));
  }
  return count;
}

std::int64_t PositionSet::first() const {
  FIRN_CHECK(!empty());
  Run run;
  std::size_t at = 0;
  FIRN_CHECK(chunks_.front().container.NextRun(0, at, run));
  return PositionOf(chunks_.front().key, run.first);
}

std::int64_t PositionSet::last() const {
  FIRN_CHECK(!empty());
  Run run;
  std::size_t at = 0;
  for (std::uint32_t from = 0; chunks_.back().container.NextRun(from, at, run); from = run.last + 1) {
  }
  return PositionOf(chunks_.back().key, run.last);
}

std::vector<std::int64_t> PositionSet::ToVector() const {
  std::vector<std::int64_t> positions;
  positions.reserve(static_cast<std::size_t>(cardinality_));
  for (const Chunk& chunk : chunks_) {
    Run run;
    std::size_t at = 0;
    for (std::uint32_t from = 0; chunk.container.NextRun(from, at, run); from = run.last + 1) {
      for (std::uint32_t low = run.first; low <= run.last; ++low) positions.push_back(PositionOf(chunk.key, low));
    }
  }
  return positions;
}

void PositionSet::Compact() {
  for (Chunk& chunk : chunks_) chunk.container.Compact();
  chunks_.shrink_to_fit();
}

std::size_t PositionSet::memory_bytes() const {
  std::size_t bytes = sizeof *this + chunks_.capacity() * sizeof(Chunk);
  for (const Chunk& chunk : chunks_) bytes += chunk.container.memory_bytes();
  return bytes;
}

bool operator==(const PositionSet& a, const PositionSet& b) {
  if (a.cardinality_ != b.cardinality_ || a.chunks_.size() != b.chunks_.size()) return false;
  for (std::size_t i = 0; i < a.chunks_.size(); ++i) {
    const PositionSet::Chunk &mine = a.chunks_[i], &theirs = b.chunks_[i];
    if (mine.key != theirs.key || mine.container.cardinality() != theirs.container.cardinality()) return false;
    Run left, right;
    std::size_t left_at = 0, right_at = 0;
    for (std::uint32_t from = 0; mine.container.NextRun(from, left_at, left); from = left.last + 1) {
      if (!theirs.container.NextRun(from, right_at, right)) return false;
      if (left.first != right.first || left.last != right.last) return false;
    }
  }
  return true;
}

RangeCursor::RangeCursor(const PositionSet& set, PositionRange within)
    : set_(&set), next_(std::max<std::int64_t>(within.begin, 0)), end_(within.end), chunk_(set.Find(KeyOf(next_))) {}

/// The next range that lies in one container.
bool RangeCursor::NextRun(PositionRange& range) {
  while (next_ < end_ && chunk_ < set_->chunks_.size()) {
    const PositionSet::Chunk& chunk = set_->chunks_[chunk_];
    next_ = std::max(next_, PositionOf(chunk.key, 0));
    if (next_ >= end_) return false;
    Run run;
    if (KeyOf(next_) == chunk.key && chunk.container.NextRun(LowOf(next_), at_, run)) {
      range.begin = PositionOf(chunk.key, run.first);
      if (range.begin >= end_) return false;
      // One position less than 2^63 has no end that fits: it is cut off below `end_` anyway.
      range.end = std::min(end_ - 1, PositionOf(chunk.key, run.last)) + 1;
      return true;
    }
    ++chunk_;
    at_ = 0;
  }
  return false;
}

bool RangeCursor::Next(PositionRange& range) {
  if (!NextRun(range)) return false;
  next_ = range.end;
  while ((next_ & kLowMask) == 0 && next_ < end_) {  // the run may go on in the next container
    ++chunk_;
    at_ = 0;
    const bool goes_on = chunk_ < set_->chunks_.size() && set_->chunks_[chunk_].key == KeyOf(next_) &&
                         set_->chunks_[chunk_].container.Contains(0);
    PositionRange more;
    if (!goes_on || !NextRun(more)) break;
    range.end = next_ = more.end;
  }
  return true;
}

PositionRanks::PositionRanks(const PositionSet& set) : set_(&set) {
  before_.reserve(set.chunks_.size() + 1);
  before_.push_back(0);
  for (const PositionSet::Chunk& chunk : set.chunks_) {
    before_.push_back(before_.back() + chunk.container.cardinality());
  }
}

std::int64_t PositionRanks::CountBefore(std::int64_t position) const {
  if (position <= 0) return 0;
  const std::size_t index = set_->Find(KeyOf(position));
  std::int64_t count = before_[index];
  if (index < set_->chunks_.size() && set_->chunks_[index].key == KeyOf(position)) {
    count += set_->chunks_[index].container.CountBefore(LowOf(position));
  }
  return count;
}

PositionSet Difference(const PositionSet& from, const PositionSet& without) {
  PositionSet left;
  if (from.empty()) return left;
  RangeCursor cursor(from, {from.first(), from.last() + 1});
  for (PositionRange range; cursor.Next(range);) {
    RangeCursor holes(without, range);
    for (PositionRange hole; holes.Next(hole);) {
      if (hole.begin > range.begin) left.AddRange({range.begin, hole.begin});
      range.begin = hole.end;
    }
    if (range.begin < range.end) left.AddRange(range);
  }
  return left;
}

}  // namespace firn::roaring
