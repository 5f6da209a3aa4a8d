// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <utility>

#include "base/byte_text.h"
#include "ports/event_parse.h"
#include "ports/event_text.h"

namespace firn::ports {
namespace {

Error Invalid(std::string message) { return {Code::kInvalidArgument, std::move(message)}; }

Result<std::string> TextAt(const json::Value& value, std::string_view first, std::string_view second) {
  const json::Value* object = value.Find(first);
  if (object == nullptr || !object->is_object()) return Invalid(fmt::format("`{}` is missing", first));
  FIRN_ASSIGN(std::string text, EventText(*object, second));
  if (text.empty()) return Invalid(fmt::format("`{}.{}` is missing", first, second));
  return text;
}

/// `body` has the bucket and the object, as both kinds of messages call them.
Status AddObject(const json::Value& body, bool encoded, ParsedEvents& parsed) {
  FIRN_ASSIGN(const std::string bucket, TextAt(body, "bucket", "name"));
  FIRN_ASSIGN(std::string key, TextAt(body, "object", "key"));
  if (encoded) {
    const auto decoded = PercentDecoded(key, /*plus_is_space=*/true);  // like forms
    if (!decoded) return Invalid("`key` has a broken escape");
    FIRN_ASSIGN(key, CheckedEventText("key", *decoded));
  }
  std::string location = TableLocationOf(fmt::format("s3://{}/{}", bucket, key));
  if (location.empty()) {
    ++parsed.ignored;
    return Ok();
  }
  parsed.events.push_back(
      {.kind = TableEvent::Kind::kCommit, .source = TableEvent::Source::kStorage, .location = std::move(location)});
  return Ok();
}

Status AddRecord(const json::Value& record, ParsedEvents& parsed) {
  if (!record.is_object()) return Invalid("a record is not a JSON object");
  FIRN_ASSIGN(const std::string name, EventText(record, "eventName"));
  if (name.empty()) return Invalid("`eventName` is missing");
  // "ObjectCreated:Put" from S3, "s3:ObjectCreated:Put" from MinIO.
  if (name.find("ObjectCreated:") == std::string::npos) {
    ++parsed.ignored;
    return Ok();
  }
  const json::Value* body = record.Find("s3");
  if (body == nullptr || !body->is_object()) return Invalid("`s3` is missing");
  return AddObject(*body, true, parsed);
}

Status AddMessage(const json::Value& message, bool wrapped, ParsedEvents& parsed) {
  if (!message.is_object()) return Invalid("the message is not a JSON object");
  if (const json::Value* records = message.Find("Records")) {
    if (!records->is_array()) return Invalid("`Records` is not an array");
    if (records->elements().size() > kEventsMax) {
      return Error{Code::kLimit, fmt::format("more than {} events in one message", kEventsMax)};
    }
    for (const json::Value& record : records->elements()) FIRN_TRY(AddRecord(record, parsed));
    return Ok();
  }
  if (const json::Value* detail = message.Find("detail"); detail != nullptr && detail->is_object()) {
    FIRN_ASSIGN(const std::string type, EventText(message, "detail-type"));
    if (type == "Object Created") return AddObject(*detail, false, parsed);
    ++parsed.ignored;
    return Ok();
  }
  const json::Value* inner = message.Find("Message");
  if (inner != nullptr && inner->is_string() && !wrapped) {
    FIRN_ASSIGN(const json::Value unwrapped, ParseEventJson(*inner->AsString()));
    return AddMessage(unwrapped, true, parsed);
  }
  // The message by which a storage tries out whether the address is there.
  FIRN_ASSIGN(const std::string test, EventText(message, "Event"));
  if (test != "s3:TestEvent") return Invalid("neither `Records`, `detail` nor `Message` is there");
  ++parsed.ignored;
  return Ok();
}

}  // namespace

Result<ParsedEvents> ParseStorageEvents(std::string_view body) {
  FIRN_ASSIGN(const json::Value message, ParseEventJson(body));
  ParsedEvents parsed;
  FIRN_TRY(AddMessage(message, false, parsed));
  return parsed;
}

}  // namespace firn::ports
