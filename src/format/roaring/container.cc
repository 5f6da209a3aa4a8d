// SPDX-License-Identifier: Apache-2.0
#include "format/roaring/container.h"

#include <algorithm>
#include <bit>

namespace firn::roaring {
namespace {

constexpr std::size_t kBitmapLongs = 1024;
/// More runs take more than a bitmap.
constexpr std::size_t kRunsMax = 2047;
constexpr std::uint32_t kShortRun = 64;

Error Bad(const char* text) { return {Code::kCorrupt, text}; }

std::uint16_t Word(std::uint32_t value) { return static_cast<std::uint16_t>(value); }

Run RunAt(std::span<const std::uint16_t> words, std::size_t index) {
  const std::uint32_t first = words[2 * index];
  return {first, first + words[2 * index + 1]};
}

/// Index of the first run that ends at or after `value`.
std::size_t RunFrom(std::span<const std::uint16_t> words, std::size_t begin, std::uint32_t value) {
  std::size_t end = words.size() / 2;
  while (begin < end) {
    const std::size_t middle = begin + (end - begin) / 2;
    if (RunAt(words, middle).last < value) {
      begin = middle + 1;
    } else {
      end = middle;
    }
  }
  return begin;
}

void AppendRun(std::vector<std::uint16_t>& words, Run run) {
  words.push_back(Word(run.first));
  words.push_back(Word(run.last - run.first));
}

}  // namespace

Result<Container> Container::FromWire(Layout layout, std::vector<std::uint16_t> words, std::uint32_t cardinality) {
  Container container;
  container.layout_ = layout;
  container.words_ = std::move(words);
  std::uint64_t count = 0;
  switch (layout) {
    case Layout::kArray:
      if (std::ranges::adjacent_find(container.words_, std::ranges::greater_equal()) != container.words_.end()) {
        return Bad("values of an array container are not ascending");
      }
      count = container.words_.size();
      break;
    case Layout::kBitmap:
      for (std::size_t i = 0; i < kBitmapLongs; ++i) {
        count += static_cast<std::uint32_t>(std::popcount(container.BitsAt(i)));
      }
      break;
    case Layout::kRuns: {
      std::size_t kept = 0;
      std::uint32_t next = 0;  // the first value that is not in a run yet
      for (std::size_t i = 0; i < container.words_.size() / 2; ++i) {
        const Run run = RunAt(container.words_, i);
        if (run.first < next || run.last >= kContainerSize)
          return Bad("runs of a container overlap or are not ascending");
        count += run.last - run.first + 1;
        const bool touches = i > 0 && run.first == next;
        next = run.last + 1;
        if (touches) {
          container.words_[2 * kept - 1] = Word(run.last - container.words_[2 * kept - 2]);
          continue;
        }
        container.words_[2 * kept] = Word(run.first);
        container.words_[2 * kept + 1] = Word(run.last - run.first);
        ++kept;
      }
      container.words_.resize(2 * kept);
      break;
    }
  }
  if (count != cardinality) return Bad("a container does not hold as many values as its header says");
  container.cardinality_ = cardinality;
  return container;
}

std::uint64_t Container::BitsAt(std::size_t word) const {
  return LoadLittle<std::uint64_t>(reinterpret_cast<const std::uint8_t*>(words_.data()) + 8 * word);
}

void Container::OrBits(std::size_t word, std::uint64_t bits) {
  const std::uint64_t before = BitsAt(word), after = before | bits;
  cardinality_ += static_cast<std::uint32_t>(std::popcount(after) - std::popcount(before));
  StoreLittle(reinterpret_cast<std::uint8_t*>(words_.data()) + 8 * word, after);
}

void Container::SetBits(Run run) {
  const std::size_t first = run.first / 64, last = run.last / 64;
  const std::uint64_t head = ~std::uint64_t{0} << (run.first % 64), tail = ~std::uint64_t{0} >> (63 - run.last % 64);
  if (first == last) return OrBits(first, head & tail);
  OrBits(first, head);
  for (std::size_t word = first + 1; word < last; ++word) OrBits(word, ~std::uint64_t{0});
  OrBits(last, tail);
}

bool Container::Contains(std::uint16_t value) const {
  switch (layout_) {
    case Layout::kArray: return std::ranges::binary_search(words_, value);
    case Layout::kBitmap: return (words_[value / 16] >> (value % 16) & 1) != 0;
    case Layout::kRuns: break;
  }
  const std::size_t index = RunFrom(words_, 0, value);
  return index < words_.size() / 2 && RunAt(words_, index).first <= value;
}

bool Container::Add(std::uint16_t value) {
  if (layout_ == Layout::kRuns) {
    if (Contains(value)) return false;
    if (value > RunAt(words_, words_.size() / 2 - 1).last) {
      ExtendRuns({value, value});
      return true;
    }
    if (cardinality_ < kArrayMax) {
      ToArray();
    } else {
      ToBitmap();
    }
  }
  if (layout_ == Layout::kArray) {
    const bool ascending = words_.empty() || words_.back() < value;
    const auto place = ascending ? words_.end() : std::ranges::lower_bound(words_, value);
    if (place != words_.end() && *place == value) return false;
    if (cardinality_ < kArrayMax) {
      words_.insert(place, value);
      ++cardinality_;
      return true;
    }
    ToBitmap();
  }
  const auto bit = static_cast<std::uint16_t>(1U << (value % 16));
  if ((words_[value / 16] & bit) != 0) return false;
  words_[value / 16] = static_cast<std::uint16_t>(words_[value / 16] | bit);
  ++cardinality_;
  return true;
}

void Container::ExtendRuns(Run run) {
  const std::size_t count = words_.size() / 2;
  const Run end = RunAt(words_, count - 1);
  if (run.first <= end.last + 1) {
    if (run.last <= end.last) return;
    words_.back() = Word(run.last - end.first);
    cardinality_ += run.last - end.last;
    return;
  }
  if (count == kRunsMax) {
    ToBitmap();
    return SetBits(run);
  }
  AppendRun(words_, run);
  cardinality_ += run.last - run.first + 1;
}

void Container::AddRun(Run run) {
  const std::uint32_t count = run.last - run.first + 1;
  if (layout_ == Layout::kArray && count < kShortRun) {
    for (std::uint32_t value = run.first; value <= run.last; ++value) Add(Word(value));
    return;
  }
  if (cardinality_ == 0 || count == kContainerSize) {
    layout_ = Layout::kRuns;
    words_.clear();
    AppendRun(words_, run);
    cardinality_ = count;
    return;
  }
  if (layout_ == Layout::kRuns && run.first >= RunAt(words_, words_.size() / 2 - 1).first) return ExtendRuns(run);
  ToBitmap();
  SetBits(run);
}

void Container::ToBitmap() {
  if (layout_ == Layout::kBitmap) return;
  std::vector<std::uint16_t> bits(kBitmapWords);
  std::swap(words_, bits);
  const Layout before = layout_;
  layout_ = Layout::kBitmap;
  cardinality_ = 0;
  if (before == Layout::kRuns) {
    for (std::size_t i = 0; i < bits.size() / 2; ++i) SetBits(RunAt(bits, i));
    return;
  }
  for (const std::uint16_t value : bits) {
    words_[value / 16] = static_cast<std::uint16_t>(words_[value / 16] | 1U << (value % 16));
  }
  cardinality_ = static_cast<std::uint32_t>(bits.size());
}

void Container::ToArray() {
  if (layout_ == Layout::kArray) return;
  std::vector<std::uint16_t> values;
  values.reserve(cardinality_);
  Run run;
  std::size_t at = 0;
  for (std::uint32_t from = 0; NextRun(from, at, run); from = run.last + 1) {
    for (std::uint32_t value = run.first; value <= run.last; ++value) values.push_back(Word(value));
  }
  words_ = std::move(values);
  layout_ = Layout::kArray;
}

void Container::ToRuns() {
  if (layout_ == Layout::kRuns) return;
  std::vector<std::uint16_t> runs;
  Run run;
  std::size_t at = 0;
  for (std::uint32_t from = 0; NextRun(from, at, run); from = run.last + 1) AppendRun(runs, run);
  words_ = std::move(runs);
  layout_ = Layout::kRuns;
}

std::uint32_t Container::CountBefore(std::uint32_t value) const {
  if (value >= kContainerSize) return cardinality_;
  std::uint32_t count = 0;
  switch (layout_) {
    case Layout::kArray:
      return static_cast<std::uint32_t>(std::ranges::lower_bound(words_, Word(value)) - words_.begin());
    case Layout::kBitmap:
      for (std::size_t i = 0; i < value / 64; ++i) count += static_cast<std::uint32_t>(std::popcount(BitsAt(i)));
      if (value % 64 != 0) {
        count += static_cast<std::uint32_t>(std::popcount(BitsAt(value / 64) << (64 - value % 64)));
      }
      return count;
    case Layout::kRuns: break;
  }
  for (std::size_t i = 0; i < words_.size() / 2; ++i) {
    const Run run = RunAt(words_, i);
    if (run.first >= value) break;
    count += std::min(run.last + 1, value) - run.first;
  }
  return count;
}

bool Container::NextRun(std::uint32_t from, std::size_t& at, Run& run) const {
  if (from >= kContainerSize) return false;
  if (layout_ == Layout::kRuns) {
    at = RunFrom(words_, at, from);
    if (at == words_.size() / 2) return false;
    run = RunAt(words_, at);
    run.first = std::max(run.first, from);
    return true;
  }
  if (layout_ == Layout::kArray) {
    if (at < words_.size() && words_[at] < from) {
      at = static_cast<std::size_t>(
          std::lower_bound(words_.begin() + static_cast<std::ptrdiff_t>(at), words_.end(), Word(from)) -
          words_.begin());
    }
    if (at == words_.size()) return false;
    run.first = run.last = words_[at++];
    for (; at < words_.size() && words_[at] == run.last + 1; ++at) ++run.last;
    return true;
  }
  std::size_t word = from / 64;
  std::uint64_t bits = BitsAt(word) & ~std::uint64_t{0} << (from % 64);
  while (bits == 0) {
    if (++word == kBitmapLongs) return false;
    bits = BitsAt(word);
  }
  run.first = static_cast<std::uint32_t>(64 * word) + static_cast<std::uint32_t>(std::countr_zero(bits));
  // The members that follow have ones from here to the first zero.
  std::uint64_t gaps = ~bits & ~std::uint64_t{0} << (run.first % 64);
  while (gaps == 0) {
    if (++word == kBitmapLongs) break;
    gaps = ~BitsAt(word);
  }
  run.last = static_cast<std::uint32_t>(64 * word) - 1 +
             (word == kBitmapLongs ? 0 : static_cast<std::uint32_t>(std::countr_zero(gaps)));
  return true;
}

std::uint32_t Container::CountRuns() const {
  if (layout_ == Layout::kRuns) return static_cast<std::uint32_t>(words_.size() / 2);
  std::uint32_t runs = 0;
  if (layout_ == Layout::kArray) {
    for (std::size_t i = 0; i < words_.size(); ++i) runs += i == 0 || words_[i] != words_[i - 1] + 1;
    return runs;
  }
  std::uint64_t carry = 0;  // the last bit of the word before
  for (std::size_t i = 0; i < kBitmapLongs; ++i) {
    const std::uint64_t bits = BitsAt(i);
    runs += static_cast<std::uint32_t>(std::popcount(bits & ~(bits << 1 | carry)));
    carry = bits >> 63;
  }
  return runs;
}

void Container::Compact() {
  const std::size_t run_bytes = 2 + 4 * std::size_t{CountRuns()};
  const bool fits_array = cardinality_ <= kArrayMax;
  const std::size_t other_bytes = fits_array ? 2 * std::size_t{cardinality_} : 2 * kBitmapWords;
  if (run_bytes < other_bytes) {
    ToRuns();
  } else if (fits_array) {
    ToArray();
  } else {
    ToBitmap();
  }
  words_.shrink_to_fit();
}

void Container::Truncate(std::uint32_t end) {
  if (end >= kContainerSize) return;
  cardinality_ = CountBefore(end);
  if (layout_ == Layout::kArray) {
    words_.resize(cardinality_);
    return;
  }
  if (layout_ == Layout::kRuns) {
    std::size_t count = RunFrom(words_, 0, end);
    if (count < words_.size() / 2 && words_[2 * count] < end) {
      words_[2 * count + 1] = Word(end - 1 - words_[2 * count]);
      ++count;
    }
    words_.resize(2 * count);
    return;
  }
  const std::size_t word = end / 16;
  words_[word] = static_cast<std::uint16_t>(words_[word] & ((1U << (end % 16)) - 1));
  std::fill(words_.begin() + static_cast<std::ptrdiff_t>(word) + 1, words_.end(), std::uint16_t{0});
}

void Container::UnionArrays(const Container& other) {
  std::vector<std::uint16_t> both;
  both.reserve(words_.size() + other.words_.size());
  std::ranges::set_union(words_, other.words_, std::back_inserter(both));
  words_ = std::move(both);
  cardinality_ = static_cast<std::uint32_t>(words_.size());
}

void Container::UnionRuns(const Container& other) {
  const std::vector<std::uint16_t> mine = std::move(words_);
  words_ = {};
  cardinality_ = 0;
  const std::size_t my_count = mine.size() / 2, other_count = other.words_.size() / 2;
  std::size_t a = 0, b = 0;
  while (a < my_count || b < other_count) {
    const bool from_mine = b == other_count || (a < my_count && mine[2 * a] <= other.words_[2 * b]);
    const Run run = from_mine ? RunAt(mine, a++) : RunAt(other.words_, b++);
    if (layout_ == Layout::kBitmap) {
      SetBits(run);
    } else if (words_.empty()) {
      AppendRun(words_, run);
      cardinality_ = run.last - run.first + 1;
    } else {
      ExtendRuns(run);
    }
  }
}

void Container::Union(const Container& other) {
  if (other.cardinality_ == 0 || cardinality_ == kContainerSize) return;
  if (cardinality_ == 0 || other.cardinality_ == kContainerSize) {
    *this = other;
    return;
  }
  if (layout_ == Layout::kRuns && other.layout_ == Layout::kRuns) return UnionRuns(other);
  const bool arrays = layout_ == Layout::kArray && other.layout_ == Layout::kArray;
  if (arrays && cardinality_ + other.cardinality_ <= kArrayMax) return UnionArrays(other);
  ToBitmap();
  if (other.layout_ == Layout::kBitmap) {
    for (std::size_t i = 0; i < kBitmapLongs; ++i) OrBits(i, other.BitsAt(i));
    return;
  }
  Run run;
  std::size_t at = 0;
  for (std::uint32_t from = 0; other.NextRun(from, at, run); from = run.last + 1) SetBits(run);
}

}  // namespace firn::roaring
