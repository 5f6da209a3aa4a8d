// SPDX-License-Identifier: Apache-2.0
#include "api/answer.h"

namespace firn::api {
namespace {

int StatusOf(Code code) {
  switch (code) {
    case Code::kInvalidArgument: return 400;
    case Code::kNotFound: return 404;
    case Code::kConflict: return 409;
    case Code::kLimit: return 429;
    case Code::kUnsupported: return 501;
    case Code::kUnavailable:
    case Code::kCancelled: return 503;
    case Code::kCorrupt:
    case Code::kOutcomeUnknown:
    case Code::kInternal: return 500;
  }
  return 500;
}

}  // namespace

Response JsonAnswer(const json::Value& value, int status) {
  return {.status = status, .headers = {{"Cache-Control", "no-store"}}, .body = json::Write(value)};
}

Response ErrorAnswer(int status, std::string_view code, std::string_view message) {
  json::Value error = json::Value::Object();
  error.Set("code", code);
  error.Set("message", message);
  json::Value body = json::Value::Object();
  body.Set("error", std::move(error));
  return JsonAnswer(body, status);
}

Response ErrorAnswer(const Error& error) {
  return ErrorAnswer(StatusOf(error.code), CodeName(error.code), error.message);
}

}  // namespace firn::api
