// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>

#include "format/roaring/position_set.h"

namespace firn::roaring {
namespace {

constexpr std::uint32_t kCookieWithoutRuns = 12346, kCookieWithRuns = 12347;
constexpr std::size_t kOffsetsFrom = 4;  // containers, if there are runs
constexpr std::uint32_t kBitmapKeyMax = 0x7fffffff;
constexpr std::size_t kHeaderBytes = 4;  // of a container: key, cardinality - 1

/// Bytes in order; the first fault sticks.
class WireReader {
 public:
  explicit WireReader(ByteView bytes) : bytes_(bytes) {}

  std::size_t left() const { return bytes_.size() - at_; }
  Error Bad(const std::string& text) const {
    return {Code::kCorrupt, "bitmap at offset " + std::to_string(at_) + ": " + text};
  }
  Result<ByteView> Take(std::size_t count) {
    if (count > left()) return Bad("it ends too early");
    const ByteView taken = bytes_.subspan(at_, count);
    at_ += count;
    return taken;
  }
  template <class T>
  Result<T> Load() {
    FIRN_ASSIGN(const ByteView taken, Take(sizeof(T)));
    return LoadLittle<T>(taken.data());
  }

 private:
  ByteView bytes_;
  std::size_t at_ = 0;
};

/// The header of a 32-bit bitmap.
struct BitmapHeader {
  std::uint32_t count = 0;
  ByteView run_flags;   // a bit a container, if there are runs
  ByteView containers;  // key and cardinality - 1 of each

  bool IsRuns(std::uint32_t index) const {
    return !run_flags.empty() && (run_flags[index / 8] >> (index % 8) & 1) != 0;
  }
  std::uint32_t Key(std::uint32_t index) const {
    return LoadLittle<std::uint16_t>(containers.data() + kHeaderBytes * index);
  }
  std::uint32_t Cardinality(std::uint32_t index) const {
    return std::uint32_t{LoadLittle<std::uint16_t>(containers.data() + kHeaderBytes * index + 2)} + 1;
  }
};

Result<BitmapHeader> ReadHeader(WireReader& reader) {
  BitmapHeader header;
  FIRN_ASSIGN(const auto cookie, reader.Load<std::uint32_t>());
  if (cookie == kCookieWithoutRuns) {
    FIRN_ASSIGN(header.count, reader.Load<std::uint32_t>());
    if (header.count > kContainerSize) return reader.Bad("too many containers");
  } else if ((cookie & 0xffff) == kCookieWithRuns) {
    header.count = (cookie >> 16) + 1;
    FIRN_ASSIGN(header.run_flags, reader.Take((header.count + 7) / 8));
  } else {
    return reader.Bad("unknown cookie " + std::to_string(cookie));
  }
  FIRN_ASSIGN(header.containers, reader.Take(kHeaderBytes * header.count));
  // The containers follow each other: their offsets are not needed.
  if (header.run_flags.empty() || header.count >= kOffsetsFrom) FIRN_TRY(reader.Take(4 * std::size_t{header.count}));
  return header;
}

Result<Container> ReadContainer(WireReader& reader, bool is_runs, std::uint32_t cardinality) {
  Layout layout = cardinality <= kArrayMax ? Layout::kArray : Layout::kBitmap;
  std::size_t word_count = layout == Layout::kArray ? cardinality : kBitmapWords;
  if (is_runs) {
    layout = Layout::kRuns;
    FIRN_ASSIGN(const auto runs, reader.Load<std::uint16_t>());
    word_count = 2 * std::size_t{runs};
  }
  FIRN_ASSIGN(const ByteView bytes, reader.Take(2 * word_count));
  std::vector<std::uint16_t> words(word_count);
  if (!bytes.empty()) std::memcpy(words.data(), bytes.data(), bytes.size());
  auto container = Container::FromWire(layout, std::move(words), cardinality);
  if (!container) return reader.Bad(container.error().message);
  return container;
}

void Append(Bytes& out, const void* from, std::size_t size) {
  const auto* const bytes = static_cast<const std::uint8_t*>(from);
  out.insert(out.end(), bytes, bytes + size);
}

template <class T>
void Append(Bytes& out, T value) {
  Append(out, &value, sizeof value);
}

struct PlacedContainer {
  std::uint16_t key;
  const Container* container;

  bool is_runs() const { return container->layout() == Layout::kRuns; }
  std::size_t wire_bytes() const { return 2 * container->words().size() + (is_runs() ? 2 : 0); }
};

/// The cookie, the number of containers, and which of them are runs.
void AppendCookie(Bytes& out, std::span<const PlacedContainer> containers, bool has_runs) {
  const std::size_t count = containers.size();
  if (!has_runs) {
    Append(out, kCookieWithoutRuns);
    Append(out, static_cast<std::uint32_t>(count));
    return;
  }
  Append(out, kCookieWithRuns | static_cast<std::uint32_t>(count - 1) << 16);
  Bytes flags((count + 7) / 8);
  for (std::size_t i = 0; i < count; ++i) {
    if (containers[i].is_runs()) flags[i / 8] = static_cast<std::uint8_t>(flags[i / 8] | 1U << (i % 8));
  }
  Append(out, flags.data(), flags.size());
}

void AppendBitmap(Bytes& out, std::span<const PlacedContainer> containers) {
  const std::size_t start = out.size();
  const bool has_runs = std::ranges::any_of(containers, &PlacedContainer::is_runs);
  AppendCookie(out, containers, has_runs);
  for (const PlacedContainer& placed : containers) {
    Append(out, placed.key);
    Append(out, static_cast<std::uint16_t>(placed.container->cardinality() - 1));
  }
  if (!has_runs || containers.size() >= kOffsetsFrom) {
    std::size_t offset = out.size() - start + 4 * containers.size();
    for (const PlacedContainer& placed : containers) {
      Append(out, static_cast<std::uint32_t>(offset));
      offset += placed.wire_bytes();
    }
  }
  for (const PlacedContainer& placed : containers) {
    const std::span<const std::uint16_t> words = placed.container->words();
    if (placed.is_runs()) Append(out, static_cast<std::uint16_t>(words.size() / 2));
    Append(out, words.data(), words.size_bytes());
  }
}

}  // namespace

Result<PositionSet> PositionSet::Decode(ByteView bytes) {
  PositionSet set;
  WireReader reader(bytes);
  FIRN_ASSIGN(const auto bitmaps, reader.Load<std::uint64_t>());
  std::int64_t last_bitmap = -1;
  for (std::uint64_t i = 0; i < bitmaps; ++i) {
    FIRN_ASSIGN(const auto bitmap, reader.Load<std::uint32_t>());
    if (bitmap <= last_bitmap) return reader.Bad("keys of bitmaps are not ascending");
    if (bitmap > kBitmapKeyMax) return reader.Bad("positions with their highest bit set");
    last_bitmap = bitmap;
    FIRN_ASSIGN(const BitmapHeader header, ReadHeader(reader));
    for (std::uint32_t c = 0; c < header.count; ++c) {
      if (c > 0 && header.Key(c) <= header.Key(c - 1)) return reader.Bad("keys of containers are not ascending");
      FIRN_ASSIGN(Container container, ReadContainer(reader, header.IsRuns(c), header.Cardinality(c)));
      set.cardinality_ += container.cardinality();
      set.chunks_.push_back({std::uint64_t{bitmap} << 16 | header.Key(c), std::move(container)});
    }
  }
  if (reader.left() != 0) return reader.Bad(std::to_string(reader.left()) + " bytes follow");
  set.chunks_.shrink_to_fit();
  return set;
}

Bytes PositionSet::Encode() const {
  PositionSet compact = *this;
  compact.Compact();
  Bytes out(sizeof(std::uint64_t));
  std::uint64_t bitmaps = 0;
  std::vector<PlacedContainer> containers;
  for (auto chunk = compact.chunks_.begin(); chunk != compact.chunks_.end(); ++bitmaps) {
    const std::uint64_t bitmap = chunk->key >> 16;
    containers.clear();
    for (; chunk != compact.chunks_.end() && chunk->key >> 16 == bitmap; ++chunk) {
      containers.push_back({static_cast<std::uint16_t>(chunk->key & 0xffff), &chunk->container});
    }
    Append(out, static_cast<std::uint32_t>(bitmap));
    AppendBitmap(out, containers);
  }
  StoreLittle(out.data(), bitmaps);
  return out;
}

}  // namespace firn::roaring
