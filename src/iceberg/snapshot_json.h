// SPDX-License-Identifier: Apache-2.0
//
// Snapshots, refs and statistics files as members of table metadata.
//
// Guarantees: what Java reads is read: missing sequence numbers are 0, a summary without an operation counts as an
//   overwrite (SnapshotToJson is in table_update.h).
// Errors: kCorrupt with the member's name.
// Threads: pure.
// Source: Iceberg table spec, "Snapshots", "Snapshot References", "Table Statistics", Appendix C.
#pragma once

#include "format/json/json.h"
#include "iceberg/metadata.h"

namespace firn::iceberg {

Result<Snapshot> SnapshotFromJson(const json::Value& value);
Result<SnapshotRef> SnapshotRefFromJson(std::string name, const json::Value& value);
/// Members of a ref, without its name.
json::Value SnapshotRefToJson(const SnapshotRef& ref);
Result<StatisticsFile> StatisticsFileFromJson(const json::Value& value, bool is_partition_statistics);

/// A JSON object of strings, in its order.
Result<std::vector<std::pair<std::string, std::string>>> StringMapFromJson(const json::Value& value);

}  // namespace firn::iceberg
