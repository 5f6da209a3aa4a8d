// SPDX-License-Identifier: Apache-2.0
#include "ports/s3_object_request.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/ascii.h"

namespace firn::ports {
namespace {

/// What may stand before the host. Certificates do not cover names with dots, and other characters would make another
/// host of it.
bool IsLabel(std::string_view bucket) {
  return std::ranges::all_of(bucket, [](char c) { return IsAsciiAlphanumeric(c) || c == '-' || c == '_'; });
}

}  // namespace

Result<std::string> S3UrlOf(const S3Endpoint& endpoint, const std::string& location) {
  FIRN_ASSIGN(const std::string object, ObjectPath(location));
  const std::string path = '/' + UrlEncodePath(object);
  const std::size_t slash = path.find('/', 1);
  const std::string bucket = path.substr(1, slash - 1);
  if (endpoint.by_host && IsLabel(bucket)) {
    return fmt::format("{}://{}.{}{}", endpoint.scheme, bucket, endpoint.host, path.substr(slash));
  }
  return fmt::format("{}://{}{}", endpoint.scheme, endpoint.host, path);
}

ConditionalStore S3Objects(S3Endpoint endpoint, Clock& clock) {
  ConditionalStore store{.server = endpoint.host, .condition = "PUT with If-None-Match: *", .request = {}};
  store.request = [endpoint = std::move(endpoint), &clock](const std::string& location,
                                                           ByteView bytes) -> Result<HttpRequest> {
    FIRN_ASSIGN(std::string url, S3UrlOf(endpoint, location));
    HttpRequest request{.method = "PUT", .url = std::move(url), .body = std::string(AsText(bytes))};
    request.headers = {{"Content-Type", "application/octet-stream"}, {"If-None-Match", "*"}};
    if (endpoint.keys) FIRN_TRY(SignForS3(request, endpoint.keys(), endpoint.region, clock.Now()));
    return request;
  };
  return store;
}

}  // namespace firn::ports
