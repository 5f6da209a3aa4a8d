// SPDX-License-Identifier: Apache-2.0
//
// Whether the parts of table metadata agree with each other.
//
// Guarantees: in metadata that passes, ids are unique, the default sort order exists, every ref leads to a snapshot,
//   sequence numbers and row ids are below the table's; nothing is encrypted.
// Errors: kCorrupt for contradictions, kUnsupported for encryption.
// Threads: pure. Cost: O(ids).
// Source: Iceberg table spec, "Table Metadata Fields", "Encryption Keys"; Java TableMetadata's checks.
#pragma once

#include <optional>

#include "format/json/json.h"
#include "iceberg/metadata.h"

namespace firn::iceberg {

/// kUnsupported when the table is encrypted. Looks at the raw tree, before anything else is read.
Status CheckNotEncrypted(const json::Value& tree);
/// `current` is `current-snapshot-id`, which main has to agree with.
Status CheckMetadata(const TableMetadata& metadata, std::optional<SnapshotId> current);

}  // namespace firn::iceberg
