// SPDX-License-Identifier: Apache-2.0
//
// Makes answers: JSON, lists with their next page, errors.
//
// In: JSON trees, rows, errors. Out: responses.
// Guarantees: every error has the shape {"error": {"code", "message"}}; a cursor is opaque and URL-safe.
// Threads: pure. Source: docs/errors.md, docs/api.md.
#pragma once

#include <string>
#include <string_view>

#include "api/http_message.h"
#include "base/result.h"
#include "format/json/json.h"
#include "service/fleet_view.h"

namespace firn::api {

Response JsonAnswer(const json::Value& value, int status = 200);
Response ErrorAnswer(int status, std::string_view code, std::string_view message);
/// The status that the code has in docs/errors.md.
Response ErrorAnswer(const Error& error);

template <class Row, class ToJson>
Response PageAnswer(const Result<service::Page<Row>>& page, const ToJson& to_json) {
  if (!page) return ErrorAnswer(page.error());
  json::Value items = json::Value::Array();
  for (const Row& row : page->items) items.Append(to_json(row));
  json::Value body = json::Value::Object();
  body.Set("items", std::move(items));
  body.Set("next", page->next.empty() ? json::Value() : json::Value(page->next));
  return JsonAnswer(body);
}

template <class Row, class ToJson>
Response ListAnswer(const Result<std::vector<Row>>& rows, const ToJson& to_json) {
  if (!rows) return ErrorAnswer(rows.error());
  return PageAnswer(Result<service::Page<Row>>(service::Page<Row>{*rows, ""}), to_json);
}

}  // namespace firn::api
