// SPDX-License-Identifier: Apache-2.0
#include "splice/bounds.h"

#include "splice/dictionary_union.h"

namespace firn::splice {

namespace {

/// Of two equal bounds one exact is enough; of unequal ones the winner decides.
std::optional<bool> Exactness(int comparison, std::optional<bool> ours, std::optional<bool> theirs) {
  if (comparison < 0) return ours;
  if (comparison > 0) return theirs;
  return ours == true || theirs == true ? std::optional<bool>(true) : ours;
}

bool SumHistogram(std::vector<std::int64_t>& sum, const std::vector<std::int64_t>& part, bool first) {
  if (first) {
    sum = part;
    return true;
  }
  if (sum.size() != part.size()) return false;
  for (std::size_t i = 0; i < sum.size(); ++i) {
    if (__builtin_add_overflow(sum[i], part[i], &sum[i])) return false;
  }
  return true;
}

}  // namespace

BoundsView TrustedBounds(ByteView min, ByteView max, const StatisticsTrust& trust) {
  BoundsView view;
  const std::int32_t length =
      trust.element->type == parquet::PhysicalType::kFixedLenByteArray ? trust.element->type_length : 0;
  if (!IsOrdered(trust.value_order, min, length) || !IsOrdered(trust.value_order, max, length)) return view;
  if (CompareValues(trust.value_order, min, max) > 0) return view;
  view.known = true;
  view.min = min;
  view.max = max;
  return view;
}

BoundsView TrustedBounds(const parquet::Statistics& statistics, const StatisticsTrust& trust) {
  if (trust.value_order == ValueOrder::kNone) return {};
  if (statistics.min_value && statistics.max_value &&
      parquet::HasReliableBounds(*trust.quirks, *trust.element, trust.order, false)) {
    BoundsView view = TrustedBounds(*statistics.min_value, *statistics.max_value, trust);
    view.min_exact = statistics.is_min_value_exact;
    view.max_exact = statistics.is_max_value_exact;
    return view;
  }
  if (statistics.min && statistics.max &&
      parquet::HasReliableBounds(*trust.quirks, *trust.element, trust.order, true)) {
    return TrustedBounds(*statistics.min, *statistics.max, trust);
  }
  return {};
}

bool BoundsAreValues(const parquet::Statistics& statistics, const parquet::SchemaElement& element) {
  const std::size_t width =
      element.type == parquet::PhysicalType::kBoolean ? 1 : FixedWidth(*element.type, element.type_length);
  const auto fits = [width](const std::optional<Bytes>& bound) { return !bound || bound->size() == width; };
  const auto fits_or_none = [&](const std::optional<Bytes>& bound) { return fits(bound) || bound->empty(); };
  return width == 0 || (fits(statistics.min_value) && fits(statistics.max_value) && fits_or_none(statistics.min) &&
                        fits_or_none(statistics.max));
}

void Bounds::Reset() {
  any_ = false;
  known_ = true;
}

void Bounds::Merge(const BoundsView& part, ValueOrder order) {
  const bool first = !any_;
  any_ = true;
  known_ = known_ && part.known;
  if (!known_) return;
  const int low = first ? 1 : CompareValues(order, min_, part.min);
  min_exact_ = Exactness(low, min_exact_, part.min_exact);
  if (low > 0) {
    min_.assign(part.min.begin(), part.min.end());
    SetZeroSign(order, true, min_);
  }
  const int high = first ? 1 : CompareValues(order, part.max, max_);
  max_exact_ = Exactness(high, max_exact_, part.max_exact);
  if (high > 0) {
    max_.assign(part.max.begin(), part.max.end());
    SetZeroSign(order, false, max_);
  }
}

void Bounds::Merge(const Bounds& other, ValueOrder order) {
  if (!other.any_) return;
  Merge(BoundsView{other.known_, other.min_, other.max_, other.min_exact_, other.max_exact_}, order);
}

void ChunkTotals::Add(const parquet::ColumnMetaData& meta, std::int64_t non_null_values, ValueOrder order) {
  const bool floating = order == ValueOrder::kFloat || order == ValueOrder::kDouble || order == ValueOrder::kFloat16;
  if (!floating) {
    nan_count_.reset();
  } else if (non_null_values > 0 && nan_count_) {
    const bool given = meta.statistics && meta.statistics->nan_count && *meta.statistics->nan_count >= 0 &&
                       *meta.statistics->nan_count <= non_null_values;
    if (given) {
      *nan_count_ += *meta.statistics->nan_count;
    } else {
      nan_count_.reset();
    }
  }
  if (!meta.size_statistics) {
    size_known_ = false;
    return;
  }
  if (!size_known_) return;
  const parquet::SizeStatistics& part = *meta.size_statistics;
  const bool first = !size_any_;
  size_any_ = true;
  size_known_ = SumHistogram(size_.repetition_level_histogram, part.repetition_level_histogram, first) &&
                SumHistogram(size_.definition_level_histogram, part.definition_level_histogram, first);
  if (first) {
    size_.unencoded_byte_array_data_bytes = part.unencoded_byte_array_data_bytes;
  } else if (size_.unencoded_byte_array_data_bytes && part.unencoded_byte_array_data_bytes) {
    size_known_ = size_known_ &&
                  !__builtin_add_overflow(*size_.unencoded_byte_array_data_bytes, *part.unencoded_byte_array_data_bytes,
                                          &*size_.unencoded_byte_array_data_bytes);
  } else {
    size_.unencoded_byte_array_data_bytes.reset();
  }
}

void ChunkTotals::AddUnknown(bool has_values) {
  size_known_ = false;
  if (has_values) nan_count_.reset();
}

std::optional<parquet::SizeStatistics> ChunkTotals::size_statistics() const {
  if (!size_known_ || !size_any_) return std::nullopt;
  return size_;
}

}  // namespace firn::splice
