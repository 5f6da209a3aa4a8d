// SPDX-License-Identifier: Apache-2.0
//
// Reads the messages by which catalogs, engines and storages tell that a table changed.
//
// In: the body of a message (HTTP or Kafka), and its headers where they matter. Out: hints; the number of messages
//   that are well-formed and say nothing about a table.
// Guarantees: hostile bytes give an error or a few bounded values: at most kEventsMax events a message, names of at
//   most kEventTextMax bytes without control characters. A message is taken as a whole or not at all.
// Cost: one parse of the JSON, O(bytes).
// Errors: kInvalidArgument naming the member; kLimit for too many events.
// Threads: pure.
// Source: Iceberg REST OpenAPI (ReportMetricsRequest); CloudEvents 1.0 and its JSON format; Lakekeeper's publisher
//   (types "updateTable", extensions "tabular-id", "namespace", "name"); Polaris's mapper (types
//   "org.apache.polaris.after_update_table", data "table_identifier"); S3 event message structure 2.x, EventBridge.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "ports/event_source.h"
#include "ports/http.h"

namespace firn::ports {

inline constexpr std::size_t kEventsMax = 1'000;
inline constexpr std::size_t kEventTextMax = 1'024;

struct ParsedEvents {
  std::vector<TableEvent> events;
  std::int64_t ignored = 0;
};

/// A commit or scan report for the table that the path named; its namespace's levels are separated by U+001F.
Result<ParsedEvents> ParseMetricsReport(std::string_view catalog, std::string_view name_space, std::string_view table,
                                        std::string_view body);
/// Structured, batched or binary mode, as content type and headers (names in lower case) say. `catalog` is given to
/// events that do not name theirs.
Result<ParsedEvents> ParseCloudEvents(std::string_view content_type, const HttpHeaders& headers,
                                      std::string_view catalog, std::string_view body);
/// New `*.metadata.json` objects in notifications of S3, MinIO and Ceph, also through SNS or EventBridge.
Result<ParsedEvents> ParseStorageEvents(std::string_view body);
/// {"catalog", "table": "ns.name" | "namespace": [...], "table" | "location", "snapshot-id"?}, or an array of them.
Result<ParsedEvents> ParseWebhook(std::string_view body);

/// The table's directory for ".../metadata/00001-x.metadata.json", also gzipped ones; empty for other paths.
std::string TableLocationOf(std::string_view metadata_location);

}  // namespace firn::ports
