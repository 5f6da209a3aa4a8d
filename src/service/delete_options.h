// SPDX-License-Identifier: Apache-2.0
//
// What a table's properties say about the rewriting of its delete files.
//
// In: metadata, a policy made of it. Out: options of a plan; everything is wanted.
// Guarantees: `write.delete.target-file-size-bytes` and `write.delete.granularity` mean what they mean to Java.
// Threads: pure. Errors: kInvalidArgument naming the property.
// Source: Java TableProperties.
#pragma once

#include "decide/delete_rewrite.h"
#include "iceberg/metadata.h"
#include "orient/policy.h"

namespace firn::service {

Result<decide::DeleteRewriteOptions> DeleteRewriteOptionsOf(const iceberg::TableMetadata& metadata,
                                                            const orient::Policy& policy);

}  // namespace firn::service
