// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <array>
#include <map>
#include <utility>

#include "api/answer.h"
#include "api/route.h"
#include "api/web_files.h"
#include "base/ascii.h"
#include "format/gzip/gzip.h"

namespace firn::api {
namespace {

constexpr std::string_view kPolicy =
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "manifest-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

constexpr std::array<std::pair<std::string_view, std::string_view>, 5> kTypes = {{
    {".html", "text/html; charset=utf-8"},
    {".css", "text/css; charset=utf-8"},
    {".js", "text/javascript; charset=utf-8"},
    {".svg", "image/svg+xml"},
    {".json", "application/json"},
}};

std::string_view TypeOf(std::string_view path) {
  for (const auto& [ending, type] : kTypes) {
    if (path.ends_with(ending)) return type;
  }
  return "application/octet-stream";
}

bool TakesGzip(const Request& request) {
  const std::string* accepted = FindHeader(request.headers, "accept-encoding");
  return accepted != nullptr && AsciiLower(*accepted).find("gzip") != std::string::npos &&
         AsciiLower(*accepted).find("gzip;q=0") == std::string::npos;
}

/// Each file is compressed once.
const std::string& Compressed(const WebFile& file) {
  static const auto* const all = [] {
    auto* made = new std::map<std::string_view, std::string>();
    for (const WebFile& one : WebFiles()) {
      const auto bytes = gzip::Shrink(AsBytes(one.bytes));
      made->emplace(one.path, AsText(bytes));
    }
    return made;
  }();
  return all->at(file.path);
}

Response ShowFile(const Call& call, const WebFile& file) {
  const bool gzip = TakesGzip(call.request);
  const std::string tag = fmt::format("\"{}{}\"", file.sha256.substr(0, 16), gzip ? "-gz" : "");
  Response response{.content_type = std::string(TypeOf(file.path)),
                    .headers = {{"ETag", tag},
                                {"Cache-Control", "no-cache"},
                                {"Vary", "Accept-Encoding"},
                                {"Content-Security-Policy", std::string(kPolicy)}}};
  const std::string* known = FindHeader(call.request.headers, "if-none-match");
  if (known != nullptr && known->find(tag) != std::string::npos) {
    response.status = 304;
    return response;
  }
  if (gzip) {
    response.headers.emplace_back("Content-Encoding", "gzip");
    response.body = Compressed(file);
  } else {
    response.body = file.bytes;
  }
  return response;
}

}  // namespace

const WebFile* FindWebFile(std::string_view path) {
  for (const WebFile& file : WebFiles()) {
    if (file.path == path) return &file;
  }
  return nullptr;
}

std::vector<Route> DocumentRoutes() {
  return {{.method = "GET", .pattern = "/api/v1/openapi.json", .answer = [](const Call& call) {
             const WebFile* file = FindWebFile("openapi.json");
             return file != nullptr ? ShowFile(call, *file) : ErrorAnswer(404, "not found", "no document");
           }}};
}

/// The dashboard's own files are no secret: what they show is asked for with the token.
std::vector<Route> DashboardRoutes() {
  std::vector<Route> routes;
  for (const WebFile& file : WebFiles()) {
    if (file.path == "openapi.json") continue;
    const std::string path = file.path == "index.html" ? "/" : fmt::format("/{}", file.path);
    routes.push_back({.method = "GET", .pattern = path, .need = Need::kNothing, .answer = [&file](const Call& call) {
                        return ShowFile(call, file);
                      }});
  }
  return routes;
}

}  // namespace firn::api
