// SPDX-License-Identifier: Apache-2.0
#include "iceberg/partition_ranges.h"

#include <algorithm>
#include <cmath>

#include "iceberg/partition_types.h"

namespace firn::iceberg {
namespace {

bool IsNan(const Literal& value) {
  if (const auto* narrow = std::get_if<float>(&value)) return std::isnan(*narrow);
  if (const auto* wide = std::get_if<double>(&value)) return std::isnan(*wide);
  return false;
}

/// Writers differ in whether -0.0 is less than 0.0.
Literal WithZero(Literal value, double zero) {
  if (auto* narrow = std::get_if<float>(&value); narrow != nullptr && *narrow == 0) *narrow = static_cast<float>(zero);
  if (auto* wide = std::get_if<double>(&value); wide != nullptr && *wide == 0) *wide = zero;
  return value;
}

bool StartsWith(const Literal& value, const Literal& beginning) {
  if (const auto* text = std::get_if<std::string>(&value)) {
    const auto* start = std::get_if<std::string>(&beginning);
    return start != nullptr && text->starts_with(*start);
  }
  const auto* bytes = std::get_if<Bytes>(&value);
  const auto* start = std::get_if<Bytes>(&beginning);
  return bytes != nullptr && start != nullptr && start->size() <= bytes->size() &&
         std::equal(start->begin(), start->end(), bytes->begin());
}

ValueRange RangeOf(const FieldSummary& summary, Type type) {
  ValueRange range;
  range.type = std::move(type);
  const bool can_be_nan = range.type.kind == TypeKind::kFloat || range.type.kind == TypeKind::kDouble;
  range.may_be_null = summary.contains_null;
  range.may_be_nan = can_be_nan && summary.contains_nan.value_or(true);
  if (!summary.lower_bound && !summary.upper_bound) {
    // No bounds at all: nothing but nulls and NaN. Of a line that tells of neither, nothing is known.
    const bool told_nan = can_be_nan && summary.contains_nan.value_or(false);
    range.may_be_other = !summary.contains_null && !told_nan;
    return range;
  }
  if (!summary.lower_bound || !summary.upper_bound) return range;
  const auto lower = DecodeBound(range.type, *summary.lower_bound);
  const auto upper = DecodeBound(range.type, *summary.upper_bound);
  if (!lower || !upper || IsNan(*lower) || IsNan(*upper)) return range;
  Literal least = WithZero(*lower, -0.0), greatest = WithZero(*upper, 0.0);
  if (Compare(range.type, least, greatest) > 0) return range;
  range.lower = std::move(least);
  range.upper = std::move(greatest);
  return range;
}

}  // namespace

bool ValueRange::may_be_cut() const {
  return type.kind == TypeKind::kString || type.kind == TypeKind::kBinary || type.kind == TypeKind::kFixed;
}

bool ValueRange::is_one_value() const {
  return !is_open() && !may_be_cut() && Compare(type, lower, upper) == std::strong_ordering::equal;
}

bool ValueRange::MayHold(const Literal& value) const {
  if (IsNull(value)) return may_be_null;
  if (IsNan(value)) return may_be_nan;
  if (!may_be_other) return false;
  if (is_open() || value.index() != lower.index()) return true;
  if (Compare(type, value, lower) < 0) return false;
  return Compare(type, value, upper) <= 0 || (may_be_cut() && StartsWith(value, upper));
}

std::vector<ValueRange> PartitionRangesOf(const ManifestFile& manifest, const TableMetadata& metadata) {
  const PartitionSpec* spec = metadata.FindSpec(manifest.spec_id);
  if (spec == nullptr) return {};
  std::vector<Type> types = PartitionTypesIn(metadata, *spec);
  std::vector<ValueRange> ranges(types.size());
  const bool is_known = manifest.partitions && manifest.partitions->size() == types.size();
  for (std::size_t i = 0; i < types.size(); ++i) {
    const TransformKind kind = spec->fields[i].transform.kind;
    if (is_known && kind != TransformKind::kUnknown && kind != TransformKind::kVoid) {
      ranges[i] = RangeOf((*manifest.partitions)[i], std::move(types[i]));
    } else {
      ranges[i].type = std::move(types[i]);
    }
  }
  return ranges;
}

bool MayHold(const std::vector<ValueRange>& ranges, const PartitionTuple& tuple) {
  if (ranges.size() != tuple.values.size()) return true;
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    if (!ranges[i].MayHold(tuple.values[i])) return false;
  }
  return true;
}

}  // namespace firn::iceberg
