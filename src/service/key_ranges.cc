// SPDX-License-Identifier: Apache-2.0
#include "service/key_ranges.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "observe/resolve.h"

namespace firn::service {
namespace {

using iceberg::Literal;
using iceberg::TransformKind;

/// The first column of the table's sort order.
struct SortKey {
  FieldId field_id = 0;
  bool required = false;
  iceberg::Type source, result;
  iceberg::Transform transform;
  bool ascending = true, nulls_first = true, only = true;
};

/// What a file's metrics say about its keys.
struct FileKeys {
  bool known = false;
  bool has_nulls = false, has_nan = false;
  std::optional<Literal> low, high;  // of values that are neither; absent: there are none
};

/// Ranks besides those of values: nulls and NaN stand outside of them.
struct Ends {
  std::int64_t nulls = 0, nan = 0;
};

std::optional<SortKey> FirstKey(const iceberg::TableMetadata& metadata) {
  const iceberg::SortOrder* order = metadata.FindSortOrder(metadata.default_sort_order_id());
  if (order == nullptr || order->id.value <= 0 || order->fields.empty()) return std::nullopt;
  const iceberg::SortField& first = order->fields[0];
  const iceberg::Field* field = metadata.current_schema().FindField(first.source_id);
  if (field == nullptr || !field->type.is_primitive()) return std::nullopt;
  switch (first.transform.kind) {
    case TransformKind::kBucket:
    case TransformKind::kVoid:
    case TransformKind::kUnknown: return std::nullopt;
    default: break;
  }
  return SortKey{field->id,       field->required, field->type,       iceberg::ResultType(first.transform, field->type),
                 first.transform, first.ascending, first.nulls_first, order->fields.size() == 1};
}

template <class T>
const T* Find(const iceberg::ByField<T>& values, FieldId id) {
  for (const auto& [field, value] : values) {
    if (field == id) return &value;
  }
  return nullptr;
}

Result<Literal> KeyOf(const SortKey& key, const Bytes& bound) {
  FIRN_ASSIGN(const Literal value, iceberg::DecodeBound(key.source, bound));
  return iceberg::Apply(key.transform, key.source, value);
}

Result<FileKeys> ReadKeys(const SortKey& key, const iceberg::DataFile& file) {
  const bool floating = key.source.kind == iceberg::TypeKind::kFloat || key.source.kind == iceberg::TypeKind::kDouble;
  const auto* nulls = Find(file.null_value_counts, key.field_id);
  const auto* nans = Find(file.nan_value_counts, key.field_id);
  const auto* low = Find(file.lower_bounds, key.field_id);
  const auto* high = Find(file.upper_bounds, key.field_id);
  FileKeys keys;
  if ((nulls == nullptr && !key.required) || (floating && nans == nullptr)) return keys;
  keys.has_nulls = nulls != nullptr && *nulls > 0;
  keys.has_nan = floating && *nans > 0;
  if (low != nullptr && high != nullptr) {
    FIRN_ASSIGN(keys.low, KeyOf(key, *low));
    FIRN_ASSIGN(keys.high, KeyOf(key, *high));
    keys.known = !iceberg::IsNull(*keys.low) && !iceberg::IsNull(*keys.high);
    return keys;
  }
  const std::int64_t without_value = (nulls != nullptr ? *nulls : 0) + (floating ? *nans : 0);
  keys.known = without_value >= file.record_count;
  return keys;
}

/// Dense ranks of all keys in the direction of the sort order, even numbers.
std::vector<std::optional<decide::KeyRange>> Rank(const SortKey& key, const std::vector<FileKeys>& files) {
  std::vector<const Literal*> values;
  for (const auto& keys : files) {
    if (!keys.known || !keys.low) continue;
    values.push_back(&*keys.low);
    values.push_back(&*keys.high);
  }
  const auto less = [&](const Literal* a, const Literal* b) {
    const auto order = iceberg::Compare(key.result, *a, *b);
    return key.ascending ? order < 0 : order > 0;
  };
  std::sort(values.begin(), values.end(), less);
  values.erase(std::unique(values.begin(), values.end(), [&](auto* a, auto* b) { return !less(a, b); }), values.end());
  const auto count = static_cast<std::int64_t>(values.size());
  const auto rank = [&](const Literal& value) {
    const auto at = std::lower_bound(values.begin(), values.end(), &value, less) - values.begin();
    return static_cast<std::int64_t>(at) + 2;
  };
  // NaN is above every number, so it comes first in a descending order.
  const Ends ends{key.nulls_first ? 0 : count + 3, key.ascending ? count + 2 : 1};

  std::vector<std::optional<decide::KeyRange>> ranges;
  for (const auto& keys : files) {
    if (!keys.known) {
      ranges.emplace_back();
      continue;
    }
    std::int64_t low = count + 4, high = -1;
    const auto widen = [&](std::int64_t place) {
      low = std::min(low, place);
      high = std::max(high, place);
    };
    if (keys.low) {
      widen(rank(*keys.low));
      widen(rank(*keys.high));
    }
    if (keys.has_nulls) widen(ends.nulls);
    if (keys.has_nan) widen(ends.nan);
    if (high < 0) low = high = 0;  // a file without rows
    // An odd upper end makes files with a common end overlap.
    ranges.push_back(decide::KeyRange{2 * low, 2 * high + (key.only ? 0 : 1)});
  }
  return ranges;
}

}  // namespace

decide::KeyRangeLookup MakeKeyRangeLookup(const observe::Facts& facts, const iceberg::TableMetadata& metadata,
                                          ports::FileIO& io, int threads) {
  const auto key = FirstKey(metadata);
  if (!key) return {};
  return [&facts, &metadata, &io, threads,
          key = *key](const std::vector<std::uint32_t>& files) -> Result<std::vector<std::optional<decide::KeyRange>>> {
    std::vector<FileKeys> keys(files.size());
    const iceberg::Wanted members{.metrics = true, .file_path = true, .split_offsets = false};
    const auto visit = [&](std::size_t place, const iceberg::ManifestEntry& entry) -> Status {
      auto read = ReadKeys(key, entry.file);
      if (!read) return std::move(read.error()).In(fmt::format("sort column of {}", entry.file.file_path));
      keys[place] = std::move(*read);
      return Ok();
    };
    FIRN_TRY(observe::ForEachFile(facts, files, io, metadata, members, visit, threads));
    return Rank(key, keys);
  };
}

}  // namespace firn::service
