// SPDX-License-Identifier: Apache-2.0
//
// Reads a message that has no address: its kind, and the table that it is about, are told by itself.
//
// In: body and headers of a message of a topic. Out: hints, and the number of messages that are not about a table.
// Guarantees: those of event_parse.h; every event has the source kKafka. A report names its table by the headers
//   `namespace` (levels separated by U+001F or dots) and `table`, otherwise by its member `table-name`. Its first level
//   may be the name that its writer gives the catalog: where it is none of `catalogs`, both readings are hints.
// Cost: at most three parses of the JSON, O(bytes).
// Errors: kInvalidArgument naming the member; kLimit for too many events.
// Threads: pure.
// Source: event_parse.h; Kafka protocol binding of CloudEvents 1.0 (headers "ce_*", "content-type").
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "ports/event_parse.h"

namespace firn::ports {

enum class MessageFormat { kAuto, kMetricsReport, kCloudEvents, kStorage, kWebhook };
/// "auto", "metrics-report", "cloudevents", "s3", "webhook"; kInvalidArgument with all words for others.
Result<MessageFormat> ParseMessageFormat(std::string_view word);

struct MessageReading {
  MessageFormat format = MessageFormat::kAuto;
  /// For events that name no catalog and have no header `catalog`.
  std::string catalog = {};
  /// Names of all that are served.
  std::vector<std::string> catalogs = {};
};

Result<ParsedEvents> ParseEventMessage(const MessageReading& reading, const HttpHeaders& headers,
                                       std::string_view body);

}  // namespace firn::ports
