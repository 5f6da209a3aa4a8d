// SPDX-License-Identifier: Apache-2.0
#include "splice/chunk_statistics.h"

#include <algorithm>

#include "splice/column_merge.h"

namespace firn::splice {

void ChunkStatistics::AddChunk(const ColumnInput& input, SourceFacts& facts, std::optional<std::int64_t> non_nulls,
                               bool with_bounds) {
  const parquet::ColumnMetaData& meta = *facts.meta();
  if (nulls_ && non_nulls) {
    *nulls_ += meta.num_values - *non_nulls;
  } else {
    nulls_.reset();
  }
  const bool has_values = !non_nulls || *non_nulls > 0;
  if (has_values && with_bounds) bounds_.Merge(facts.chunk_bounds(), column_.order);
  if (input.levels->identity()) {
    totals_.Add(meta, non_nulls.value_or(meta.num_values), column_.order);
  } else {
    totals_.AddUnknown(has_values);
  }
}

void ChunkStatistics::AddValues(std::int64_t values, std::optional<std::int64_t> non_nulls) {
  if (nulls_ && non_nulls) {
    *nulls_ += values - *non_nulls;
  } else {
    nulls_.reset();
  }
  totals_.AddUnknown(!non_nulls || *non_nulls > 0);
}

void ChunkStatistics::AddNulls(std::int64_t rows) {
  if (nulls_) *nulls_ += rows;
  totals_.AddUnknown(false);
}

BoundsView ChunkStatistics::AddConstant(std::int64_t rows, ByteView value) {
  BoundsView view;
  const std::int32_t length =
      column_.type == parquet::PhysicalType::kFixedLenByteArray ? column_.element.type_length : 0;
  if (IsOrdered(column_.order, value, length)) view = {true, value, value, true, true};
  if (rows > 0) bounds_.Merge(view, column_.order);
  totals_.AddUnknown(rows > 0);
  return view;
}

void ChunkStatistics::Finish(parquet::ColumnMetaData& meta) const {
  parquet::Statistics statistics;
  statistics.null_count = nulls_;
  if (column_.order != ValueOrder::kNone && bounds_.any() && bounds_.known()) {
    statistics.min_value = bounds_.min();
    statistics.max_value = bounds_.max();
    statistics.is_min_value_exact = bounds_.min_exact();
    statistics.is_max_value_exact = bounds_.max_exact();
  }
  const bool floating = column_.order == ValueOrder::kFloat || column_.order == ValueOrder::kDouble ||
                        column_.order == ValueOrder::kFloat16;
  if (floating) statistics.nan_count = totals_.nan_count();
  if (statistics.null_count || statistics.min_value || statistics.nan_count) meta.statistics = std::move(statistics);
  if (std::optional<parquet::SizeStatistics> sizes = totals_.size_statistics()) {
    const auto fits = [](const std::vector<std::int64_t>& histogram, std::uint32_t max_level) {
      return histogram.empty() || histogram.size() == std::size_t{max_level} + 1;
    };
    if (fits(sizes->repetition_level_histogram, column_.max_repetition) &&
        fits(sizes->definition_level_histogram, column_.max_definition)) {
      meta.size_statistics = std::move(sizes);
    }
  }
}

ConstantFeed::ConstantFeed(const OutputColumn& column, ByteView value, bool coded, std::uint32_t index)
    : mode_(coded                                            ? ValueMode::kIndices
            : column.type == parquet::PhysicalType::kBoolean ? ValueMode::kBits
                                                             : ValueMode::kPlain),
      index_(index) {
  if (column.type == parquet::PhysicalType::kByteArray) {
    StoreLittle(plain_.Room(4), static_cast<std::uint32_t>(value.size()));
    plain_.Advance(4);
  }
  plain_.Append(value);
}

std::size_t ConstantFeed::StepMax() const {
  if (mode_ != ValueMode::kPlain) return std::size_t{1} << 20;
  return std::clamp<std::size_t>((std::size_t{256} << 10) / std::max<std::size_t>(plain_.size(), 1), 1, 1 << 14);
}

Status ConstantFeed::Take(std::size_t count, PageValues& out) {
  switch (mode_) {
    case ValueMode::kIndices: out.indices().AppendRun(index_, count); break;
    case ValueMode::kBits: out.AppendBitRun(!plain_.empty() && plain_.data()[0] != 0, count); break;
    default:
      for (std::size_t i = 0; i < count; ++i) out.plain().Append(plain_.view());
  }
  return Ok();
}

}  // namespace firn::splice
