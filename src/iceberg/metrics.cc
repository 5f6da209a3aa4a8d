// SPDX-License-Identifier: Apache-2.0
#include "iceberg/metrics.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "iceberg/literal.h"
#include "iceberg/metric_column.h"
#include "iceberg/written_metrics.h"

namespace firn::iceberg {

namespace {

using parquet::SchemaElement;
using splice::ColumnSource;
using Count = std::optional<std::int64_t>;

template <class T>
const T* FindById(const ByField<T>& values, FieldId id) {
  const auto found = std::lower_bound(values.begin(), values.end(), id,
                                      [](const auto& entry, FieldId wanted) { return entry.first < wanted; });
  return found != values.end() && found->first == id ? &found->second : nullptr;
}

/// A sum that is lost as soon as one part is not known.
struct Sum {
  Count total = 0;
  void Add(Count part) {
    std::int64_t sum = 0;
    if (total && part && !__builtin_add_overflow(*total, *part, &sum)) {
      total = sum;
    } else {
      total.reset();
    }
  }
};

/// The least or greatest of the inputs' bounds, lost as soon as one is not known.
class Bound {
 public:
  Bound(const Type& type, bool lower) : type_(type), lower_(lower) {}

  void Add(const std::optional<Literal>& value) {
    if (!value || IsNan(*value)) {
      known_ = false;
    } else if (!value_ || (lower_ ? Compare(type_, *value, *value_) < 0 : Compare(type_, *value, *value_) > 0)) {
      value_ = *value;
    }
  }
  std::optional<Literal> value() const { return known_ ? value_ : std::nullopt; }

 private:
  const Type& type_;
  bool lower_;
  bool known_ = true;
  std::optional<Literal> value_;
};

struct Counts {
  Count values, nulls, nans;
};

/// What an entry says of a column. Counts that cannot all be true say nothing.
Counts CountsOf(const MetricColumn& column, const DataFile& file) {
  const auto find = [&](const ByField<std::int64_t>& counts) {
    const std::int64_t* found = FindById(counts, column.id);
    return found != nullptr && *found >= 0 ? Count(*found) : std::nullopt;
  };
  Counts counts{find(file.value_counts), find(file.null_value_counts),
                column.is_floating() ? find(file.nan_value_counts) : std::nullopt};
  if (!column.repeated && counts.values.value_or(file.record_count) != file.record_count) return {};
  const Count most = column.repeated ? counts.values : Count(file.record_count);
  const std::int64_t nulls = counts.nulls.value_or(0), nans = counts.nans.value_or(0);
  if (most && (nulls > *most || nans > *most - nulls)) return {};
  return counts;
}

class ColumnMerger {
 public:
  explicit ColumnMerger(const MetricColumn& column)
      : column_(column), lower_(*column.type, true), upper_(*column.type, false) {}

  void Add(const MetricsInput& input) {
    const std::int64_t rows = input.file->record_count - input.deleted_rows;
    if (rows <= 0) return;
    any_deleted_ |= input.deleted_rows > 0;
    const ColumnSource* source = input.columns != nullptr ? &(*input.columns)[column_.leaf] : nullptr;
    if (source != nullptr && source->kind == ColumnSource::Kind::kConstant) {
      AddMissing(*source, rows);
    } else {
      AddPresent(*input.file, rows);
    }
  }

  void Store(const MetricsMode& mode, const WrittenMetrics& written, DataFile& merged) const {
    if (!mode.counts()) return;
    const Counts counts = CountsWith(written);
    if (counts.values) merged.value_counts.emplace_back(column_.id, *counts.values);
    if (counts.nulls) merged.null_value_counts.emplace_back(column_.id, *counts.nulls);
    if (counts.nans) merged.nan_value_counts.emplace_back(column_.id, *counts.nans);
    if (!mode.bounds() || !column_.may_have_bounds()) return;
    if (counts.nulls && counts.nulls == counts.values) return;  // nothing to bound
    const bool is_cut = column_.is_text() && mode.kind == MetricsMode::Kind::kTruncate;
    const std::optional<Literal> lower = BoundWith(written, true, is_cut), upper = BoundWith(written, false, is_cut);
    if (lower && upper && Compare(*column_.type, *lower, *upper) > 0) return;
    StoreBound(mode, lower, true, merged.lower_bounds);
    StoreBound(mode, upper, false, merged.upper_bounds);
  }

 private:
  /// The written file knows its counts; what it does not say is taken from the inputs as far as it can be true.
  Counts CountsWith(const WrittenMetrics& written) const {
    Counts counts{written.values ? written.values : values_.total, written.nulls ? written.nulls : nulls_.total,
                  written.nans ? written.nans : nans_.total};
    if (!column_.is_floating()) counts.nans.reset();
    if (!counts.values) return counts;
    if (counts.nulls && *counts.nulls > *counts.values) counts.nulls.reset();
    // A column with bounds has a value that is not NaN.
    const std::int64_t others = counts.nulls.value_or(0) + (written.lower.value ? 1 : 0);
    if (counts.nans && *counts.nans > *counts.values - others) counts.nans.reset();
    return counts;
  }

  /// A bound that is not the least or greatest value is only given where texts are cut anyway.
  std::optional<Literal> BoundWith(const WrittenMetrics& written, bool lower, bool is_cut) const {
    const WrittenBound& own = lower ? written.lower : written.upper;
    if (own.value && (own.exact == true || is_cut)) return own.value;
    if (any_deleted_ && !is_cut) return std::nullopt;
    std::optional<Literal> given = (lower ? lower_ : upper_).value();
    if (!given || !written.lower.value || !written.upper.value) return given;
    const bool outside = Compare(*column_.type, *given, *written.lower.value) < 0 ||
                         Compare(*column_.type, *given, *written.upper.value) > 0;
    if (!outside) return given;
    return own.exact == false ? std::nullopt : own.value;
  }

  void StoreBound(const MetricsMode& mode, std::optional<Literal> value, bool lower, ByField<Bytes>& out) const {
    if (value && mode.kind == MetricsMode::Kind::kTruncate) {
      value =
          lower ? TruncateLower(*column_.type, *value, mode.length) : TruncateUpper(*column_.type, *value, mode.length);
    }
    if (value) out.emplace_back(column_.id, EncodeBound(*column_.type, *value));
  }

  std::optional<Literal> Decoded(const ByField<Bytes>& bounds) const {
    const Bytes* found = FindById(bounds, column_.id);
    if (found == nullptr) return std::nullopt;
    Result<Literal> value = DecodeBound(*column_.type, *found);
    if (!value) return std::nullopt;
    return std::move(*value);
  }

  /// A count of a file after rows of it were deleted: known if it is about no value, or about every row.
  static Count Left(Count count, const DataFile& file, std::int64_t rows) {
    if (rows == file.record_count || count == 0) return count;
    return count == file.record_count ? Count(rows) : std::nullopt;
  }

  void AddPresent(const DataFile& file, std::int64_t rows) {
    const Counts counts = CountsOf(column_, file);
    // How many entries of lists go with a row is not known, even if there are as many as rows.
    const bool is_known = !column_.repeated || rows == file.record_count;
    values_.Add(is_known ? Left(counts.values, file, rows) : std::nullopt);
    nulls_.Add(is_known ? Left(counts.nulls, file, rows) : std::nullopt);
    nans_.Add(is_known ? Left(counts.nans, file, rows) : std::nullopt);
    const bool all_known = counts.values && counts.nulls;
    if (all_known && *counts.values == *counts.nulls + counts.nans.value_or(0)) return;  // nothing to bound
    if (!column_.may_have_bounds()) return;
    std::optional<Literal> lower = Decoded(file.lower_bounds), upper = Decoded(file.upper_bounds);
    if (lower && upper && Compare(*column_.type, *lower, *upper) > 0) lower.reset(), upper.reset();
    lower_.Add(lower);
    upper_.Add(upper);
  }

  void AddMissing(const ColumnSource& source, std::int64_t rows) {
    // How many entries the lists above it have, or how often the struct above it is null, is not known here.
    const auto entries = column_.repeated ? std::nullopt : Count(rows);
    values_.Add(entries);
    if (!source.constant) {
      nulls_.Add(entries);
      nans_.Add(0);
      return;
    }
    const auto flat = [&](std::int64_t count) {
      return column_.in_struct || column_.repeated ? std::nullopt : Count(count);
    };
    const std::optional<Literal> value = PlainLiteral(column_, *source.constant);
    const bool nan = value && IsNan(*value);
    nulls_.Add(flat(0));
    nans_.Add(nan ? flat(rows) : Count(0));
    if (nan) return;
    lower_.Add(value);
    upper_.Add(value);
  }

  const MetricColumn& column_;
  Sum values_, nulls_, nans_;
  bool any_deleted_ = false;
  Bound lower_, upper_;
};

}  // namespace

struct MetricsMerger::State {
  const MetricsConfig& config;
  std::vector<MetricColumn> columns;  // by id
  std::vector<ColumnMerger> mergers;  // of each
};

MetricsMerger::MetricsMerger(const Schema& schema, const std::vector<SchemaElement>& output,
                             const MetricsConfig& config)
    : state_(new State{config, MetricColumnsOf(schema, output), {}}) {
  for (const MetricColumn& column : state_->columns) state_->mergers.emplace_back(column);
}

MetricsMerger::~MetricsMerger() = default;

void MetricsMerger::Add(const MetricsInput& input) {
  for (std::size_t i = 0; i < state_->columns.size(); ++i) {
    if (state_->config.ModeOf(state_->columns[i].id).counts()) state_->mergers[i].Add(input);
  }
}

void MetricsMerger::Store(std::span<const std::int64_t> leaf_bytes, DataFile& merged,
                          const parquet::FileMetaData* written) const {
  merged.column_sizes.clear();
  merged.value_counts.clear();
  merged.null_value_counts.clear();
  merged.nan_value_counts.clear();
  merged.distinct_counts.clear();
  merged.lower_bounds.clear();
  merged.upper_bounds.clear();
  for (std::size_t i = 0; i < state_->columns.size(); ++i) {
    const MetricColumn& column = state_->columns[i];
    if (!column.is_variant() && column.leaf < leaf_bytes.size()) {
      merged.column_sizes.emplace_back(column.id, leaf_bytes[column.leaf]);
    }
    const WrittenMetrics found = written != nullptr ? WrittenMetricsOf(column, *written) : WrittenMetrics();
    state_->mergers[i].Store(state_->config.ModeOf(column.id), found, merged);
  }
}

}  // namespace firn::iceberg
