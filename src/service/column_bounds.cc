// SPDX-License-Identifier: Apache-2.0
#include "service/column_bounds.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>

#include "iceberg/literal.h"
#include "observe/resolve.h"

namespace firn::service {
namespace {

using decide::SortCandidate;
using iceberg::Literal;
using iceberg::TypeKind;

struct Column {
  FieldId id = 0;
  iceberg::Type type;
  std::string name;
};

struct Bounds {
  std::optional<Literal> low, high;
};

/// Files of the partitions that are looked at, in the order of Facts::files.
struct Sample {
  std::vector<std::uint32_t> files;
  std::vector<std::pair<std::size_t, std::size_t>> partitions;  // ranges of `files`
  std::vector<std::vector<Bounds>> bounds;                      // by file, then by column
};

void AddColumns(const std::vector<iceberg::Field>& fields, const std::string& prefix, std::vector<Column>& columns) {
  for (const iceberg::Field& field : fields) {
    const std::string name = prefix + field.name;
    if (field.type.kind == TypeKind::kStruct && field.type.fields) {
      AddColumns(*field.type.fields, name + ".", columns);
      continue;
    }
    const bool has_order = field.type.is_primitive() && field.type.kind != TypeKind::kUnknown &&
                           field.type.kind != TypeKind::kVariant && field.type.kind != TypeKind::kGeometry &&
                           field.type.kind != TypeKind::kGeography;
    if (has_order) columns.push_back({field.id, field.type, name});
  }
}

/// Whole partitions by chance; the first one also where it alone has more files than are looked at.
Sample Choose(const observe::Facts& facts, Random random) {
  std::vector<std::pair<std::size_t, std::size_t>> ranges;
  for (std::size_t begin = 0, end = 0; begin < facts.files.size(); begin = end) {
    while (end < facts.files.size() && facts.files[end].partition == facts.files[begin].partition) ++end;
    ranges.emplace_back(begin, end);
  }
  for (std::size_t i = ranges.size(); i > 1; --i) std::swap(ranges[i - 1], ranges[random.Below(i)]);
  Sample sample;
  for (const auto& [begin, end] : ranges) {
    const std::size_t count = std::min(end - begin, static_cast<std::size_t>(kSortFilesMax));
    if (!sample.files.empty() && sample.files.size() + count > static_cast<std::size_t>(kSortFilesMax)) continue;
    sample.partitions.emplace_back(sample.files.size(), sample.files.size() + count);
    for (std::size_t i = 0; i < count; ++i) sample.files.push_back(static_cast<std::uint32_t>(begin + i));
  }
  return sample;
}

std::optional<Literal> Decode(const iceberg::Type& type, const iceberg::ByField<Bytes>& bounds, FieldId id) {
  for (const auto& [field, bytes] : bounds) {
    if (field != id) continue;
    auto value = iceberg::DecodeBound(type, bytes);
    if (!value || iceberg::IsNull(*value)) return std::nullopt;
    return std::move(*value);
  }
  return std::nullopt;
}

Status ReadBounds(const observe::Facts& facts, const iceberg::TableMetadata& metadata, ports::FileIO& io,
                  const std::vector<Column>& columns, int threads, Sample& sample) {
  sample.bounds.resize(sample.files.size());
  const iceberg::Wanted members{.metrics = true, .file_path = false, .split_offsets = false};
  const auto visit = [&](std::size_t place, const iceberg::ManifestEntry& entry) -> Status {
    for (const Column& column : columns) {
      sample.bounds[place].push_back({Decode(column.type, entry.file.lower_bounds, column.id),
                                      Decode(column.type, entry.file.upper_bounds, column.id)});
    }
    return Ok();
  };
  return observe::ForEachFile(facts, sample.files, io, metadata, members, visit, threads);
}

/// How many whole numbers there are between two bounds; nullopt where the type is no whole number or there are very
/// many.
std::optional<std::int64_t> NumbersBetween(const Literal& low, const Literal& high) {
  if (iceberg::SameValue(low, high)) return 1;
  if (std::holds_alternative<bool>(low)) return 2;
  const auto* low_int = std::get_if<std::int32_t>(&low);
  const auto* high_int = std::get_if<std::int32_t>(&high);
  if (low_int != nullptr && high_int != nullptr) return std::int64_t{*high_int} - *low_int + 1;
  const auto* low_long = std::get_if<std::int64_t>(&low);
  const auto* high_long = std::get_if<std::int64_t>(&high);
  std::int64_t values = 0;
  if (low_long == nullptr || high_long == nullptr || __builtin_sub_overflow(*high_long, *low_long, &values) ||
      values >= (std::int64_t{1} << 62)) {
    return std::nullopt;
  }
  return values + 1;
}

/// The different values that a column surely has room for. In a narrow range of whole numbers each may occur. Elsewhere
/// only the bounds are known to occur: columns with many values have different ones in nearly every file, and columns
/// of few values the same few in all.
std::optional<std::int64_t> ValuesMax(const std::vector<const Literal*>& bounds) {
  constexpr std::int64_t kNarrow = 1024;
  if (bounds.empty()) return std::nullopt;
  const auto numbers = NumbersBetween(*bounds.front(), *bounds.back());
  return numbers && *numbers <= kNarrow ? *numbers : static_cast<std::int64_t>(bounds.size());
}

/// Of text: the bytes after those that all have in common, as one number.
double TextPlace(std::string_view text, std::size_t common) {
  double place = 0, digit = 1;
  for (std::size_t i = common; i < common + 7; ++i) {
    digit /= 256;
    if (i < text.size()) place += digit * static_cast<double>(static_cast<unsigned char>(text[i]));
  }
  return place;
}

std::string_view TextOf(const Literal& value) {
  if (const auto* text = std::get_if<std::string>(&value)) return *text;
  const auto* bytes = std::get_if<Bytes>(&value);
  return bytes == nullptr ? std::string_view() : AsText(*bytes);
}

double NumberOf(const Literal& value) {
  return std::visit(
      []<class T>(const T& v) {
        if constexpr (std::is_arithmetic_v<T>) return static_cast<double>(v);
        if constexpr (std::is_same_v<T, iceberg::Decimal>) return static_cast<double>(v.unscaled);
        return 0.0;
      },
      value);
}

/// Sorted bounds as numbers that are about as far apart as the values are.
std::vector<double> PlacesOf(const std::vector<const Literal*>& bounds) {
  std::vector<double> places;
  if (bounds.empty()) return places;
  const std::string_view first = TextOf(*bounds.front()), last = TextOf(*bounds.back());
  const auto common = static_cast<std::size_t>(
      std::mismatch(first.begin(), first.end(), last.begin(), last.end()).first - first.begin());
  for (const Literal* bound : bounds) {
    const std::string_view text = TextOf(*bound);
    places.push_back(text.empty() ? NumberOf(*bound) : TextPlace(text, common));
  }
  return places;
}

/// From one value of the type to the next.
double ValueWidth(const Literal& value) {
  const bool is_dense = std::holds_alternative<float>(value) || std::holds_alternative<double>(value) ||
                        std::holds_alternative<std::string>(value) || std::holds_alternative<Bytes>(value);
  return is_dense ? 0 : 1;
}

struct Shares {
  double now = 1, sorted = 1, bytes = 0;
  std::int64_t known = 0;
};

Shares OfPartition(const observe::Facts& facts, const Sample& sample, std::pair<std::size_t, std::size_t> range,
                   const iceberg::Type& type, std::size_t column, std::int64_t target_size_bytes) {
  std::vector<const Literal*> places;
  const auto known = [&](std::size_t i) { return sample.bounds[i][column].low && sample.bounds[i][column].high; };
  for (std::size_t i = range.first; i < range.second; ++i) {
    if (!known(i)) continue;
    places.push_back(&*sample.bounds[i][column].low);
    places.push_back(&*sample.bounds[i][column].high);
  }
  const auto less = [&](const Literal* a, const Literal* b) { return iceberg::Compare(type, *a, *b) < 0; };
  std::sort(places.begin(), places.end(), less);
  const auto same = [&](const Literal* a, const Literal* b) { return !less(a, b); };
  places.erase(std::unique(places.begin(), places.end(), same), places.end());
  const auto place = [&](const Literal& value) {
    return static_cast<std::uint32_t>(std::lower_bound(places.begin(), places.end(), &value, less) - places.begin());
  };
  Shares shares;
  std::vector<decide::FileSpan> files;
  std::int64_t bytes = 0;
  for (std::size_t i = range.first; i < range.second; ++i) {
    const auto& file = facts.files[sample.files[i]];
    decide::FileSpan span{file.size_bytes, file.record_count, std::nullopt, std::nullopt};
    if (known(i)) {
      span.low = place(*sample.bounds[i][column].low);
      span.high = place(*sample.bounds[i][column].high);
      ++shares.known;
    }
    bytes += file.size_bytes;
    files.push_back(span);
  }
  shares.now = decide::PointShare(files, PlacesOf(places), places.empty() ? 0 : ValueWidth(*places.front()));
  const auto values = ValuesMax(places);
  shares.sorted = std::min(shares.now, decide::SortedPointShare(bytes, target_size_bytes, values));
  shares.bytes = static_cast<double>(bytes);
  return shares;
}

FieldId FirstSortColumn(const iceberg::TableMetadata& metadata) {
  const iceberg::SortOrder* order = metadata.FindSortOrder(metadata.default_sort_order_id());
  return order == nullptr || order->fields.empty() ? 0 : order->fields.front().source_id;
}

}  // namespace

Result<std::vector<SortCandidate>> FindSortCandidates(const observe::Facts& facts,
                                                      const iceberg::TableMetadata& metadata, ports::FileIO& io,
                                                      std::int64_t target_size_bytes, Random random, int threads) {
  std::vector<Column> columns;
  AddColumns(metadata.current_schema().fields(), "", columns);
  if (columns.size() > kSortColumnsMax) columns.resize(kSortColumnsMax);
  Sample sample = Choose(facts, random);
  FIRN_TRY(ReadBounds(facts, metadata, io, columns, threads, sample));
  std::vector<SortCandidate> candidates;
  for (std::size_t c = 0; c < columns.size(); ++c) {
    SortCandidate candidate;
    candidate.field_id = columns[c].id;
    candidate.column = columns[c].name;
    candidate.type = iceberg::ToString(columns[c].type);
    double now = 0, sorted = 0, bytes = 0;
    std::int64_t known = 0;
    for (const auto& range : sample.partitions) {
      const Shares shares = OfPartition(facts, sample, range, columns[c].type, c, target_size_bytes);
      now += shares.now * shares.bytes;
      sorted += shares.sorted * shares.bytes;
      bytes += shares.bytes;
      known += shares.known;
    }
    if (known == 0 || bytes <= 0) continue;
    candidate.files = static_cast<std::int64_t>(sample.files.size());
    candidate.partitions = static_cast<std::int64_t>(sample.partitions.size());
    candidate.bounds_share = static_cast<double>(known) / static_cast<double>(candidate.files);
    candidate.point_share_now = now / bytes;
    candidate.point_share_sorted = sorted / bytes;
    candidate.is_sort_column = candidate.field_id == FirstSortColumn(metadata);
    decide::JudgeSort(candidate);
    candidates.push_back(std::move(candidate));
  }
  std::ranges::stable_sort(candidates, [](const SortCandidate& a, const SortCandidate& b) {
    if (a.pays != b.pays) return a.pays;
    return a.point_share_now - a.point_share_sorted > b.point_share_now - b.point_share_sorted;
  });
  return candidates;
}

}  // namespace firn::service
