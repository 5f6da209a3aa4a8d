// SPDX-License-Identifier: Apache-2.0
//
// What partition fields and sort fields have in common in JSON: a transform and its source column.
//
// Guarantees: a transform of several source columns reads as an unknown transform of the first column.
// Errors: kCorrupt when either is missing.
// Threads: pure. Source: Iceberg table spec, Appendix C, "Partition Specs", "Sort Orders".
#pragma once

#include "format/json/json.h"
#include "iceberg/partition_spec.h"

namespace firn::iceberg {

struct TransformSource {
  FieldId source_id = 0;
  Transform transform;
};

Result<TransformSource> TransformSourceFromJson(const json::Value& value);

}  // namespace firn::iceberg
