// SPDX-License-Identifier: Apache-2.0
#include "iceberg/metrics_config.h"

#include <charconv>
#include <optional>
#include <string_view>
#include <vector>

#include "base/ascii.h"

namespace firn::iceberg {

namespace {

using Properties = std::map<std::string, std::string, std::less<>>;

constexpr std::string_view kDefaultKey = "write.metadata.metrics.default";
constexpr std::string_view kColumnPrefix = "write.metadata.metrics.column.";
constexpr std::string_view kInferredMaxKey = "write.metadata.metrics.max-inferred-column-defaults";
constexpr std::int32_t kInferredMaxDefault = 100;

constexpr MetricsMode kModeNone{MetricsMode::Kind::kNone, 0};
constexpr MetricsMode kModeTruncate16{};

std::optional<std::int32_t> ParseCount(std::string_view text) {
  std::int32_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || value < 0) return std::nullopt;
  return value;
}

std::int32_t InferredMax(const Properties& properties) {
  const auto found = properties.find(kInferredMaxKey);
  if (found == properties.end()) return kInferredMaxDefault;
  return ParseCount(found->second).value_or(kInferredMaxDefault);
}

bool HasMetrics(const Type& type) { return type.is_primitive(); }

/// Columns that count against the limit: all but lists and maps.
std::int32_t CountColumns(const std::vector<Field>& fields) {
  std::int32_t count = 0;
  for (const Field& field : fields) {
    if (field.type.kind != TypeKind::kList && field.type.kind != TypeKind::kMap) ++count;
    if (field.type.fields) count += CountColumns(*field.type.fields);
  }
  return count;
}

/// The first columns with metrics: those of a struct before those of the structs in it.
void FirstColumns(const std::vector<Field>& fields, std::size_t limit, std::vector<FieldId>& ids) {
  for (const Field& field : fields) {
    if (ids.size() < limit && HasMetrics(field.type)) ids.push_back(field.id);
  }
  for (const Field& field : fields) {
    if (ids.size() < limit && field.type.fields) FirstColumns(*field.type.fields, limit, ids);
  }
}

bool KeepsOrder(const Transform& transform) {
  switch (transform.kind) {
    case TransformKind::kIdentity:
    case TransformKind::kTruncate:
    case TransformKind::kYear:
    case TransformKind::kMonth:
    case TransformKind::kDay:
    case TransformKind::kHour: return true;
    default: return false;
  }
}

}  // namespace

std::optional<MetricsMode> ParseMetricsMode(std::string_view text) {
  const std::string lower = AsciiLower(text);
  if (lower == "none") return kModeNone;
  if (lower == "counts") return MetricsMode{MetricsMode::Kind::kCounts, 0};
  if (lower == "full") return MetricsMode{MetricsMode::Kind::kFull, 0};
  constexpr std::string_view kTruncate = "truncate(";
  if (!lower.starts_with(kTruncate) || !lower.ends_with(')')) return std::nullopt;
  const std::string_view digits = std::string_view(lower).substr(kTruncate.size(), lower.size() - kTruncate.size() - 1);
  const std::optional<std::int32_t> length = ParseCount(digits);
  if (!length || *length == 0) return std::nullopt;
  return MetricsMode{MetricsMode::Kind::kTruncate, *length};
}

MetricsConfig MetricsConfig::Make(const Properties& properties, const Schema& schema, const SortOrder& order) {
  MetricsConfig config;
  if (const auto found = properties.find(kDefaultKey); found != properties.end()) {
    config.default_mode_ = ParseMetricsMode(found->second).value_or(kModeTruncate16);
  } else if (const std::int32_t limit = InferredMax(properties); CountColumns(schema.fields()) > limit) {
    std::vector<FieldId> ids;
    FirstColumns(schema.fields(), static_cast<std::size_t>(limit), ids);
    for (const FieldId id : ids) config.modes_[id] = kModeTruncate16;
    config.default_mode_ = kModeNone;
  }
  const MetricsMode sorted = config.default_mode_.bounds() ? config.default_mode_ : kModeTruncate16;
  for (const SortField& field : order.fields) {
    if (KeepsOrder(field.transform)) config.modes_[field.source_id] = sorted;
  }
  for (auto at = properties.lower_bound(kColumnPrefix); at != properties.end(); ++at) {
    if (!at->first.starts_with(kColumnPrefix)) break;
    const Field* field = schema.FindByName(std::string_view(at->first).substr(kColumnPrefix.size()));
    if (field == nullptr) continue;
    config.modes_[field->id] = ParseMetricsMode(at->second).value_or(config.default_mode_);
  }
  return config;
}

MetricsMode MetricsConfig::ModeOf(FieldId id) const {
  const auto found = modes_.find(id);
  return found == modes_.end() ? default_mode_ : found->second;
}

}  // namespace firn::iceberg
