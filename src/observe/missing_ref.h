// SPDX-License-Identifier: Apache-2.0
//
// Says that a branch or tag does not exist, and which ones do.
//
// Guarantees: kNotFound; names a few refs of each kind and counts the rest.
// Threads: pure.
#pragma once

#include <string>

#include "base/result.h"
#include "iceberg/metadata.h"

namespace firn::observe {

Error MissingRef(const iceberg::TableMetadata& metadata, const std::string& ref);

}  // namespace firn::observe
