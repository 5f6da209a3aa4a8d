// SPDX-License-Identifier: Apache-2.0
//
// A page of a table's partitions: the noisiest first, then those with the most removable files.
//
// In: what is known of a table; the page. Out: rows, and where the next page begins.
// Guarantees: walking from page to page shows each partition once, as long as their numbers stay.
// Cost: O(partitions) time, O(page) memory. Threads: whoever holds the table.
// Errors: kInvalidArgument for a cursor that is none of ours.
// Source: docs/api.md.
#pragma once

#include "service/fleet_view.h"
#include "service/look.h"

namespace firn::service {

Result<Page<PartitionRow>> PartitionPage(const WatchedTable& table, const PageOf& page, TimestampMs now);

}  // namespace firn::service
