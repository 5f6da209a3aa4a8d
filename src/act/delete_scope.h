// SPDX-License-Identifier: Apache-2.0
//
// Rules of scope that several checks of a commit share.
//
// Guarantees: the same scope as DeleteIndex: spec and tuple, or the whole table for an unpartitioned spec.
// Threads: pure.
// Source: Iceberg table spec, "Scan Planning".
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "iceberg/delete_index.h"
#include "iceberg/delete_reach.h"
#include "iceberg/metadata.h"

namespace firn::act {

/// Equality deletes reach strictly older files of their own partition, or of all if their spec has none.
bool Reaches(const iceberg::TableMetadata& metadata, const iceberg::DeleteEntry& equality, SpecId spec_id,
             const iceberg::PartitionTuple& partition, SequenceNumber sequence_number);

/// kConflict: "position delete PATH `what` data file PATH".
Error DeleteConflict(std::string_view what, const iceberg::DeleteEntry& found, const std::string& data_file);

}  // namespace firn::act
