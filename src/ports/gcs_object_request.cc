// SPDX-License-Identifier: Apache-2.0
#include "ports/gcs_object_request.h"

#include <fmt/format.h>

namespace firn::ports {
namespace {

std::string BoundaryFor(std::string_view bytes) {
  for (int i = 0;; ++i) {
    std::string boundary = fmt::format("firn-part-{}", i);
    if (bytes.find(boundary) == std::string_view::npos) return boundary;
  }
}

}  // namespace

ConditionalStore GcsObjects(std::string server, std::string token) {
  ConditionalStore store{.server = server, .condition = "an upload with ifGenerationMatch=0", .request = {}};
  store.request = [server = std::move(server), token = std::move(token)](const std::string& location,
                                                                         ByteView bytes) -> Result<HttpRequest> {
    FIRN_ASSIGN(const std::string path, ObjectPath(location));
    const std::size_t slash = path.find('/');
    const std::string boundary = BoundaryFor(AsText(bytes));
    HttpRequest request{.method = "POST"};
    request.url = fmt::format("{}/upload/storage/v1/b/{}/o?uploadType=multipart&ifGenerationMatch=0&name={}", server,
                              UrlEncode(std::string_view(path).substr(0, slash)), UrlEncode(path.substr(slash + 1)));
    request.headers = {{"Content-Type", "multipart/related; boundary=" + boundary}};
    if (!token.empty()) request.headers.emplace_back("Authorization", "Bearer " + token);
    request.body = fmt::format(
        "--{0}\r\nContent-Type: application/json\r\n\r\n{{}}\r\n--{0}\r\n"
        "Content-Type: application/octet-stream\r\n\r\n{1}\r\n--{0}--\r\n",
        boundary, AsText(bytes));
    return request;
  };
  return store;
}

}  // namespace firn::ports
