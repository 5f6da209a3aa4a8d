// SPDX-License-Identifier: Apache-2.0
#include "iceberg/written_metrics.h"

#include <utility>

namespace firn::iceberg {

namespace {

void Add(std::optional<std::int64_t>& sum, std::optional<std::int64_t> part, std::int64_t part_max) {
  if (!sum || !part || *part < 0 || *part > part_max || __builtin_add_overflow(*sum, *part, &*sum)) sum.reset();
}

struct Pair {
  std::optional<Literal> lower, upper;
};

Pair PairOf(const MetricColumn& column, const parquet::Statistics& statistics) {
  if (!statistics.min_value || !statistics.max_value) return {};
  Pair pair{PlainLiteral(column, *statistics.min_value), PlainLiteral(column, *statistics.max_value)};
  const bool known = pair.lower && pair.upper && !IsNan(*pair.lower) && !IsNan(*pair.upper) &&
                     Compare(*column.type, *pair.lower, *pair.upper) <= 0;
  return known ? std::move(pair) : Pair{};
}

/// Of two equal bounds one exact is enough; of unequal ones that which reaches further decides.
void Widen(const Type& type, bool lower, const Literal& part, std::optional<bool> exact, WrittenBound& bound) {
  if (bound.value) {
    const auto order = Compare(type, part, *bound.value);
    if (order == 0 && bound.exact != true) bound.exact = exact;
    if (lower ? order >= 0 : order <= 0) return;
  }
  bound = {part, exact};
}

}  // namespace

WrittenMetrics WrittenMetricsOf(const MetricColumn& column, const parquet::FileMetaData& file) {
  WrittenMetrics found;
  found.values = found.nulls = found.nans = 0;
  bool bounded = column.may_have_bounds();
  for (const parquet::RowGroup& group : file.row_groups) {
    if (column.leaf >= group.columns.size() || !group.columns[column.leaf].meta) return {};
    const parquet::ColumnMetaData& meta = *group.columns[column.leaf].meta;
    const parquet::Statistics statistics = meta.statistics.value_or(parquet::Statistics());
    Add(found.values, meta.num_values, meta.num_values);
    Add(found.nulls, statistics.null_count, meta.num_values);
    if (statistics.null_count == meta.num_values) continue;
    Add(found.nans, statistics.nan_count, meta.num_values - statistics.null_count.value_or(0));
    if (!bounded) continue;
    const Pair pair = PairOf(column, statistics);
    bounded = pair.lower.has_value();
    if (!bounded) continue;
    Widen(*column.type, true, *pair.lower, statistics.is_min_value_exact, found.lower);
    Widen(*column.type, false, *pair.upper, statistics.is_max_value_exact, found.upper);
  }
  if (!bounded) found.lower = found.upper = {};
  if (!column.counts_leaf) found.nulls.reset();
  for (WrittenBound* bound : {&found.lower, &found.upper}) {
    if (bound->value && !bound->exact && !column.is_text()) bound->exact = true;
  }
  return found;
}

}  // namespace firn::iceberg
