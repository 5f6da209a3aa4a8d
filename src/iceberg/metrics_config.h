// SPDX-License-Identifier: Apache-2.0
//
// Which metrics of a column a table wants in its manifests.
//
// In: table properties, schema, sort order. Out: a mode a column.
// Guarantees: modes are those that Java gives: write.metadata.metrics.column.NAME, else at least truncate(16) for
//   columns that the table is sorted by, else write.metadata.metrics.default, else truncate(16) for the first
//   write.metadata.metrics.max-inferred-column-defaults columns and none for the rest. Texts that are no mode count as
//   absent, as in Java.
// Cost: O(columns + properties). Threads: immutable. Errors: none.
// Source: Iceberg documentation, "Write properties"; spec, "Data File Fields".
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>

#include "base/ids.h"
#include "iceberg/metadata.h"
#include "iceberg/types.h"

namespace firn::iceberg {

struct MetricsMode {
  enum class Kind : std::uint8_t { kNone, kCounts, kTruncate, kFull };
  Kind kind = Kind::kTruncate;
  std::int32_t length = 16;  // kTruncate: code points or bytes
  bool counts() const { return kind != Kind::kNone; }
  bool bounds() const { return kind == Kind::kTruncate || kind == Kind::kFull; }
  friend bool operator==(const MetricsMode&, const MetricsMode&) = default;
};

std::optional<MetricsMode> ParseMetricsMode(std::string_view text);

class MetricsConfig {
 public:
  /// truncate(16) for every column.
  MetricsConfig() = default;
  static MetricsConfig Make(const std::map<std::string, std::string, std::less<>>& properties, const Schema& schema,
                            const SortOrder& order);

  MetricsMode ModeOf(FieldId id) const;

 private:
  MetricsMode default_mode_;
  std::unordered_map<FieldId, MetricsMode> modes_;
};

}  // namespace firn::iceberg
