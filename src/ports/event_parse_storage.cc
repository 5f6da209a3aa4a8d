// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <optional>
#include <utility>

#include "ports/event_parse.h"
#include "ports/event_text.h"

namespace firn::ports {
namespace {

Error Invalid(std::string message) { return {Code::kInvalidArgument, std::move(message)}; }

std::optional<int> HexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return std::nullopt;
}

/// Keys in notifications are encoded like forms: "+" is a space.
Result<std::string> DecodedKey(std::string_view key) {
  std::string out;
  for (std::size_t i = 0; i < key.size(); ++i) {
    if (key[i] != '%') {
      out.push_back(key[i] == '+' ? ' ' : key[i]);
      continue;
    }
    const auto high = i + 2 < key.size() ? HexDigit(key[i + 1]) : std::nullopt;
    const auto low = i + 2 < key.size() ? HexDigit(key[i + 2]) : std::nullopt;
    if (!high || !low) return Invalid("`key` has a broken escape");
    out.push_back(static_cast<char>(*high * 16 + *low));
    i += 2;
  }
  return out;
}

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
    FIRN_ASSIGN(key, DecodedKey(key));
    FIRN_ASSIGN(key, CheckedEventText("key", key));
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
