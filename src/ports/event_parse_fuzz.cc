// SPDX-License-Identifier: Apache-2.0
// The first byte chooses the kind of message. Whatever parses must keep the promises of event_parse.h.
#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "base/bytes.h"
#include "base/check.h"
#include "ports/event_message.h"

namespace {

using firn::ports::ParsedEvents;

void CheckText(const std::string& text, std::size_t size_max) {
  FIRN_CHECK(text.size() <= size_max);
  FIRN_CHECK(std::none_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 0x20; }));
}

void Check(const firn::Result<ParsedEvents>& parsed) {
  if (!parsed) {
    FIRN_CHECK(!parsed.error().message.empty());
    return;
  }
  FIRN_CHECK(parsed->events.size() <= firn::ports::kEventsMax);
  for (const firn::ports::TableEvent& event : parsed->events) {
    FIRN_CHECK(!event.table.empty() || !event.location.empty());
    // "s3://bucket/" stands before a key.
    CheckText(event.location, 2 * firn::ports::kEventTextMax + 6);
    CheckText(event.table, firn::ports::kEventTextMax);
    CheckText(event.catalog, firn::ports::kEventTextMax);
    CheckText(event.uuid, firn::ports::kEventTextMax);
    for (const std::string& level : event.name_space) CheckText(level, firn::ports::kEventTextMax);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view body = firn::AsText({data + 1, size - 1});
  switch (data[0]) {
    case 'm': Check(firn::ports::ParseMetricsReport("c", "n", "t", body)); break;
    case 'c': Check(firn::ports::ParseCloudEvents("application/cloudevents+json", {}, "c", body)); break;
    case 'b': Check(firn::ports::ParseCloudEvents("application/cloudevents-batch+json", {}, "c", body)); break;
    case 'h':
      Check(firn::ports::ParseCloudEvents("application/json",
                                          {{"ce-type", "updateTable"}, {"ce-name", std::string(body)}}, "c", body));
      break;
    case 's': Check(firn::ports::ParseStorageEvents(body)); break;
    case 'k': Check(firn::ports::ParseEventMessage({.catalogs = {"c"}}, {}, body)); break;
    case 'K':
      Check(firn::ports::ParseEventMessage({}, {{"ce_type", "updateTable"}, {"ce_name", std::string(body)}}, body));
      break;
    case 't':
      Check(firn::ports::ParseEventMessage(
          {.format = firn::ports::MessageFormat::kMetricsReport},
          {{"namespace", std::string(body)}, {"table", "t"}, {"catalog", std::string(body)}}, body));
      break;
    default: Check(firn::ports::ParseWebhook(body)); break;
  }
  return 0;
}
