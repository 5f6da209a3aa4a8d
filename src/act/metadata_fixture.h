// SPDX-License-Identifier: Apache-2.0
//
// Metadata of a small table for unit tests.
//
// In: a location, properties as the members of a JSON object. Out: metadata of an empty v2 table.
// Guarantees: valid; a test that gives broken properties fails.
// Threads: pure.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "iceberg/metadata.h"

namespace firn::act {

inline iceberg::TableMetadata TableWith(const std::string& location, const std::string& properties) {
  const std::string text = fmt::format(
      R"({{"format-version":2,"table-uuid":"9c12d441-03fe-4693-9a96-a0705ddf69c1","location":"{}",)"
      R"("last-sequence-number":0,"last-updated-ms":1700000000000,"last-column-id":1,"current-schema-id":0,)"
      R"("schemas":[{{"type":"struct","schema-id":0,)"
      R"("fields":[{{"id":1,"name":"id","required":true,"type":"long"}}]}}],)"
      R"("default-spec-id":0,"partition-specs":[{{"spec-id":0,"fields":[]}}],"last-partition-id":999,)"
      R"("default-sort-order-id":0,"sort-orders":[{{"order-id":0,"fields":[]}}],"properties":{{{}}},"snapshots":[]}})",
      location, properties);
  Result<iceberg::TableMetadata> metadata = iceberg::TableMetadata::Parse(AsBytes(text));
  EXPECT_TRUE(metadata.has_value());
  return std::move(*metadata);
}

}  // namespace firn::act
