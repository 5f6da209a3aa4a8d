// SPDX-License-Identifier: Apache-2.0
#include "splice/bloom_build.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "splice/column_merge.h"

namespace firn::splice {

namespace {

using parquet::BloomFilter;

/// A fuller filter costs readers more than it saves.
constexpr double kShareMax = 0.5;

bool HasFilter(const ColumnInput& input) {
  return input.kind == ColumnInput::Kind::kChunk && !input.decoded && input.scan.meta->bloom_filter_offset;
}

/// Rows that may hold a value.
bool HoldsValues(const ColumnInput& input) {
  if (input.kind == ColumnInput::Kind::kNull) return false;
  return input.kind != ColumnInput::Kind::kChunk || !input.scan.pages.empty();
}

}  // namespace

void ShareFilterMemory(const std::vector<std::vector<ColumnInput>>& inputs, std::size_t memory_bytes,
                       std::size_t asked_bytes_max, std::vector<ColumnSettings>& columns) {
  std::size_t sharers = 0;
  for (std::size_t c = 0; c < columns.size(); ++c) {
    sharers += columns[c].bloom.wanted.value_or(std::ranges::any_of(inputs[c], HasFilter)) ? 1 : 0;
  }
  const std::size_t share = std::max(memory_bytes / std::max<std::size_t>(sharers, 1), BloomFilter::kBytesMin);
  for (ColumnSettings& column : columns) {
    column.bloom.read_bytes_max = share;
    column.bloom.bytes_max = std::bit_floor(std::max(std::min(asked_bytes_max, share), BloomFilter::kBytesMin));
  }
}

void BloomBuild::Choose(const std::vector<ColumnInput>& inputs, bool coded) {
  if (settings_.wanted == false) return;
  const bool wanted = settings_.wanted.value_or(false);
  const bool any = std::ranges::any_of(inputs, [](const ColumnInput& in) { return HasFilter(in) || in.had_filter; });
  if (!wanted && !any) return;
  if (column_.type == parquet::PhysicalType::kBoolean) {
    lost_ = "booleans have none";
    return;
  }
  // Values that are filled in are in no input's filter.
  const bool all = std::ranges::all_of(inputs, [](const ColumnInput& input) {
    if (!HoldsValues(input)) return true;
    return !input.lineage && (HasFilter(input) || input.kind == ColumnInput::Kind::kValue);
  });
  if (all && inputs.size() == 1 && Unite(inputs)) {
    kind_ = Kind::kKept;
  } else if (coded) {
    kind_ = Kind::kDictionary;
  } else if (inputs.size() > 1 && all && Unite(inputs)) {
    kind_ = Kind::kUnited;
  } else if (wanted) {
    kind_ = Kind::kValues;
    std::int64_t values = 0;
    for (const ColumnInput& input : inputs) {
      values += input.kind == ColumnInput::Kind::kChunk ? input.scan.meta->num_values : 1;
    }
    values = std::min(values, settings_.distinct.value_or(values));
    filter_.emplace(std::min(BloomFilter::BytesFor(values, settings_.fpp), settings_.bytes_max));
  } else if (lost_.empty()) {
    lost_ = all ? "united they would be too full" : "not all of the files merged have one";
  }
}

Result<BloomFilter> BloomBuild::ReadFilter(const ChunkScan& scan) const {
  const InputFile& file = scan.source->file();
  constexpr std::uint64_t kMagicBytes = 4;
  const auto offset = static_cast<std::uint64_t>(*scan.meta->bloom_filter_offset);
  if (*scan.meta->bloom_filter_offset < 0 || offset < kMagicBytes || offset >= file.data_end()) {
    return Error{Code::kCorrupt, "it lies outside the file"};
  }
  RawBuffer scratch;
  const std::uint64_t room = file.data_end() - offset;
  std::uint64_t size = 0;
  if (scan.meta->bloom_filter_length) {
    if (*scan.meta->bloom_filter_length <= 0) return Error{Code::kCorrupt, "its length is impossible"};
    size = static_cast<std::uint64_t>(*scan.meta->bloom_filter_length);
  } else {
    const std::uint64_t first = std::min<std::uint64_t>(room, BloomFilter::kHeaderBytesMax);
    FIRN_ASSIGN(const ByteView start, scan.source->View(offset, first, scratch));
    FIRN_ASSIGN(const parquet::BloomFilterHeader header, parquet::ParseBloomFilterHeader(start));
    size = header.header_bytes + header.bitset_bytes;
  }
  if (size > room) return Error{Code::kCorrupt, "it reaches beyond the file's data"};
  if (size > settings_.read_bytes_max + BloomFilter::kHeaderBytesMax) return Error{Code::kLimit, "it is too large"};
  FIRN_ASSIGN(const ByteView bytes, scan.source->View(offset, size, scratch));
  return BloomFilter::Parse(bytes);
}

/// The filters of all inputs. False, if one cannot be used, or all together would not be worth it.
bool BloomBuild::Unite(const std::vector<ColumnInput>& inputs) {
  std::optional<BloomFilter> united;
  for (const ColumnInput& input : inputs) {
    if (!HasFilter(input) || !HoldsValues(input)) continue;
    Result<BloomFilter> filter = ReadFilter(input.scan);
    if (!filter) {
      lost_ = "that of " + input.scan.source->file().name() + " cannot be used: " + filter.error().message;
      return false;
    }
    if (!united) {
      united = std::move(*filter);
    } else if (!united->Absorb(*filter)) {
      lost_ = "their sizes do not fit together";
      return false;
    }
    if (united->FalsePositiveShare() > settings_.fpp && inputs.size() > 1) return false;
  }
  if (!united) return false;
  if (inputs.size() > 1) {
    for (const ColumnInput& input : inputs) {
      if (input.kind == ColumnInput::Kind::kValue) united->Insert(parquet::BloomHash(input.value));
    }
    united->Fold(settings_.fpp);
    const bool built_is_bounded = settings_.wanted.value_or(false);
    if (built_is_bounded && united->size_bytes() > settings_.bytes_max) return false;
  }
  filter_ = std::move(united);
  return true;
}

void BloomBuild::Insert(ByteView plain, std::size_t count) {
  std::size_t at = 0;
  for (std::size_t i = 0; i < count; ++i) {
    std::size_t size = column_.width;
    if (size == 0) {
      size = LoadLittle<std::uint32_t>(plain.data() + at);
      at += sizeof(std::uint32_t);
    }
    filter_->Insert(parquet::BloomHash(plain.subspan(at, size)));
    at += size;
  }
}

void BloomBuild::AddDictionary(ByteView plain, std::size_t entries) {
  if (kind_ != Kind::kDictionary && kind_ != Kind::kValues) return;
  if (!filter_) {
    const auto count = static_cast<std::int64_t>(entries);
    filter_.emplace(std::min(BloomFilter::BytesFor(count, settings_.fpp), settings_.bytes_max));
  }
  Insert(plain, entries);
}

void BloomBuild::AddValues(ByteView plain, std::size_t count) {
  if (kind_ == Kind::kValues) Insert(plain, count);
}

BuiltBloom BloomBuild::Finish() {
  BuiltBloom built;
  built.of_values = kind_ == Kind::kDictionary || kind_ == Kind::kValues;
  if (built.of_values && filter_) {
    filter_->Fold(settings_.fpp);
    if (filter_->FalsePositiveShare() > kShareMax) {
      filter_.reset();
      lost_ = "the largest allowed would be too full";
    }
  }
  if (filter_) {
    filter_->Write(built.filter);
  } else {
    built.lost = std::move(lost_);
  }
  return built;
}

}  // namespace firn::splice
