// SPDX-License-Identifier: Apache-2.0
//
// What an Iceberg table is in a Hive Metastore: parameters of its entry.
//
// In: the entry (Hive's struct Table) as it came. Out: the location of the metadata; the entry after a commit.
// Guarantees: everything else in the entry stays, also what no version of Hive that is known here has. Parameters that
//   repeat the metadata (properties, counts, the current snapshot) are brought up to date where they are there, so
//   that Hive's planner and catalogs' pages do not show what was before.
// Cost: one pass. Threads: pure.
// Errors: kUnsupported (no Iceberg table, or encrypted), kCorrupt (no location).
// Source: Java HiveTableOperations and HMSTablePropertyHelper; PyIceberg catalog/hive.py.
#pragma once

#include <string>

#include "format/thrift/thrift_value.h"
#include "ports/pointer_catalog.h"

namespace firn::ports {

bool IsIcebergEntry(const thrift::Value& entry);
/// Name of the table in the entry.
std::string NameOfEntry(const thrift::Value& entry);
Result<std::string> LocationOfEntry(const TableIdentifier& id, const thrift::Value& entry);
/// Why firn must not change the table, if so.
Status CheckEntryWritable(const thrift::Value& entry);
void PointEntry(thrift::Value& entry, const PointerSwap& swap);

}  // namespace firn::ports
