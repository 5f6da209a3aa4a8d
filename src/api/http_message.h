// SPDX-License-Identifier: Apache-2.0
//
// One request that came over HTTP and the answer to it, as plain values.
//
// Guarantees: header names are in lower case; a path and its query are as they were sent, not decoded; a header
//   that must be unique is there once or the request never got here.
// Threads: value types. Source: RFC 9110.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace firn::api {

using Headers = std::vector<std::pair<std::string, std::string>>;

struct Request {
  std::string method = {};
  std::string path = {};   // "/api/v1/tables", as it was sent
  std::string query = {};  // without "?"
  Headers headers = {};
  std::string body = {};
  std::string client = {};  // address of the peer, without the port
};

struct Response {
  int status = 200;
  std::string content_type = "application/json";
  Headers headers = {};
  std::string body = {};
  /// The connection stays open after `body`, and gets everything that is broadcast.
  bool stream = false;
};

/// Value of the header; null if there is none.
const std::string* FindHeader(const Headers& headers, std::string_view lower_case_name);
/// "Not Found" for 404.
std::string_view ReasonPhrase(int status);
/// "application/json" of "application/json; charset=utf-8", in lower case.
std::string MediaType(std::string_view content_type);

}  // namespace firn::api
