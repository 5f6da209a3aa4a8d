// SPDX-License-Identifier: Apache-2.0
// Bytes in one piece or byte by byte must be read as the same requests, and never hold more than the limits.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>

#include "api/http_parse.h"
#include "base/bytes.h"
#include "base/check.h"

namespace {

constexpr firn::api::ParseLimits kLimits = {.head_max_bytes = 512, .headers_max = 8, .body_max_bytes = 256};

std::string ReadAll(std::string_view bytes, std::size_t piece) {
  firn::api::RequestParser parser(kLimits);
  std::string seen;
  while (!bytes.empty()) {
    const std::size_t take = std::min(piece, bytes.size());
    auto state = parser.Feed(bytes.substr(0, take));
    bytes.remove_prefix(take);
    while (state == firn::api::RequestParser::State::kComplete) {
      const firn::api::Request& request = parser.request();
      FIRN_CHECK(request.body.size() <= kLimits.body_max_bytes);
      FIRN_CHECK(request.path.starts_with('/'));
      seen += request.method + " " + request.path + "?" + request.query + "\n";
      for (const auto& [name, value] : request.headers) seen += name + ":" + value + "\n";
      seen += request.body + "\n";
      state = parser.Next();
    }
    if (state == firn::api::RequestParser::State::kBroken) return seen + std::to_string(parser.problem().status);
  }
  return seen;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes = firn::AsText({data, size});
  const std::string whole = ReadAll(bytes, size + 1);
  // Where the bytes break off may decide which of two faults is seen first, but not what came before.
  const std::string single = ReadAll(bytes, 1);
  const auto requests = [](const std::string& text) { return text.substr(0, text.rfind('\n') + 1); };
  FIRN_CHECK(requests(whole) == requests(single));
  return 0;
}
