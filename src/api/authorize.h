// SPDX-License-Identifier: Apache-2.0
//
// Decides whether a request may pass, from its head alone.
//
// In: the request's head, what its route needs, how the service is reached. Out: nothing, or the refusal.
// Guarantees: the token is compared in a time that does not depend on where it differs, and is never part of an
//   answer. Without a token everything is open on loopback, and only reading elsewhere. A page of another site can
//   neither read (the Host must be an address, "localhost" or a configured name: a name that was pointed at us is
//   refused) nor write (Origin and Sec-Fetch-Site must be our own, and the content type must be one that a form
//   cannot send).
// Cost: O(headers). Threads: pure.
// Errors: 401, 403, 415 and 421 as responses.
// Source: Fetch standard (CORS-safelisted requests, Sec-Fetch-Site); RFC 6750.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "api/http_message.h"

namespace firn::api {

struct Access {
  bool loopback = true;                 // listens on loopback only
  std::string token = {};               // empty: none is asked for
  std::vector<std::string> hosts = {};  // names in Host besides addresses and "localhost", in lower case
};

enum class Need { kNothing, kRead, kWrite };

std::optional<Response> Refuse(const Request& head, Need need, const Access& access);
/// A body of a type that no browser sends by itself; asked once it is known that the path takes one.
std::optional<Response> RefuseType(const Request& head, Need need);

/// Equal, in a time that depends on the lengths only.
bool EqualInConstantTime(std::string_view a, std::string_view b);

}  // namespace firn::api
