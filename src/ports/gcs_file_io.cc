// SPDX-License-Identifier: Apache-2.0
#include "ports/gcs_file_io.h"

#include <arrow/filesystem/gcsfs.h>
#include <fmt/format.h>

#include <chrono>
#include <limits>

#include "ports/arrow_file_io.h"
#include "ports/clock.h"
#include "ports/conditional_file_io.h"
#include "ports/gcs_object_request.h"
#include "ports/location.h"
#include "ports/server_property.h"

namespace firn::ports {
namespace {

namespace fs = arrow::fs;

Result<fs::GcsOptions> Credentials(const Properties& properties) {
  FIRN_ASSIGN(const bool anonymous, BoolProperty(properties, "gcs.no-auth", false));
  const std::string* token = FindFirstProperty(properties, {"gcs.oauth2.token"});
  if (!token) return anonymous ? fs::GcsOptions::Anonymous() : fs::GcsOptions::Defaults();
  constexpr std::int64_t kYear2200Ms = 7'258'118'400'000;
  FIRN_ASSIGN(const std::int64_t expires_ms, IntProperty(properties, "gcs.oauth2.token-expires-at", kYear2200Ms, 0,
                                                         std::numeric_limits<std::int64_t>::max() / 1'000'000));
  const fs::TimePoint expires{std::chrono::milliseconds(expires_ms)};
  return fs::GcsOptions::FromAccessToken(*token, expires);
}

Result<fs::GcsOptions> OptionsOf(const Properties& properties) {
  for (const std::string_view key : {"gcs.encryption-key", "gcs.decryption-key", "gcs.user-project"}) {
    if (!PropertyOr(properties, key, "").empty()) {
      return Error{Code::kUnsupported, fmt::format("property `{}` is not supported", key)};
    }
  }
  FIRN_ASSIGN(fs::GcsOptions options, Credentials(properties));
  FIRN_ASSIGN(const auto server, ServerProperty(properties, {"gcs.service.host", "gcs.endpoint"}));
  if (server) {
    options.scheme = server->scheme;
    options.endpoint_override = server->host;
  }
  if (const std::string* project = FindFirstProperty(properties, {"gcs.project-id"})) options.project_id = *project;
  options.retry_limit_seconds = 20;  // otherwise 15 minutes
  return options;
}

/// "https://storage.googleapis.com"
std::string ServerOf(const fs::GcsOptions& options) {
  return fmt::format("{}://{}", options.scheme.empty() ? "https" : options.scheme,
                     options.endpoint_override.empty() ? "storage.googleapis.com" : options.endpoint_override);
}

Result<std::string> ArrowPath(const std::string& location) {
  const std::string_view scheme = SchemeOf(location);
  if (!IsGcsScheme(scheme)) {
    return Error{Code::kUnsupported, fmt::format("`{}` is no location of Google Cloud Storage", location)};
  }
  return BucketPath(location);
}

}  // namespace

Result<std::unique_ptr<FileIO>> OpenGcsFileIO(const Properties& properties) {
  FIRN_ASSIGN(const fs::GcsOptions options, OptionsOf(properties));
  auto files = fs::GcsFileSystem::Make(options);
  if (!files.ok()) return Error{Code::kUnavailable, "Google Cloud Storage: " + files.status().message()};
  // Its streams become objects also when they are given up.
  ArrowStore store{.path_of = ArrowPath, .held_bytes = kSmallUploadBytes};
  const std::string token = PropertyOr(properties, "gcs.oauth2.token", "");
  FIRN_ASSIGN(const bool anonymous, BoolProperty(properties, "gcs.no-auth", false));
  if (token.empty() && !anonymous) {  // the client keeps the tokens that it fetches to itself
    store.exclusive_with = "gcs.oauth2.token";
    return MakeArrowFileIO(std::move(*files), std::move(store));
  }
  static SystemClock clock;
  FIRN_ASSIGN(auto http, MakeCurlHttp({}));
  return MakeConditionalFileIO(MakeArrowFileIO(std::move(*files), std::move(store)), std::move(http),
                               GcsObjects(ServerOf(options), token), clock);
}

}  // namespace firn::ports
