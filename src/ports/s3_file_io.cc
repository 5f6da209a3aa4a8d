// SPDX-License-Identifier: Apache-2.0
#include "ports/s3_file_io.h"

#include <arrow/filesystem/s3fs.h>
#include <fmt/format.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>

#include "ports/arrow_file_io.h"
#include "ports/clock.h"
#include "ports/conditional_file_io.h"
#include "ports/location.h"
#include "ports/s3_object_request.h"
#include "ports/s3_ranges.h"
#include "ports/server_property.h"

namespace firn::ports {
namespace {

namespace fs = arrow::fs;

/// "bucket/key" as Arrow names objects.
Result<std::string> ArrowPath(const std::string& location) {
  const std::string_view scheme = SchemeOf(location);
  if (!IsS3Scheme(scheme)) return Error{Code::kUnsupported, fmt::format("`{}` is no S3 location", location)};
  return BucketPath(location);
}

Status StartClient() {
  static const arrow::Status started = [] {
    fs::S3GlobalOptions options = fs::S3GlobalOptions::Defaults();
    options.log_level = fs::S3LogLevel::Off;
    return fs::InitializeS3(options);
  }();
  if (!started.ok()) return Error{Code::kInternal, "S3 client does not start: " + started.message()};
  return Ok();
}

/// A process whose work is done ends, with what it says, when the client does not.
constexpr unsigned kEndSeconds = 5;
volatile std::sig_atomic_t exit_status = 0;

/// The client must be ended before its own static objects are, which the first file system makes. It waits for ever for
/// threads that it could not start.
void EndClientAtExit() {
  const auto end = [](int status, void*) {
    exit_status = status;
    std::fflush(nullptr);
    std::signal(SIGALRM, [](int) { ::_exit(exit_status); });
    ::alarm(kEndSeconds);
    (void)fs::EnsureS3Finalized();
    ::alarm(0);
  };
  [[maybe_unused]] static const int once = ::on_exit(end, nullptr);
}

Status CheckSupported(const Properties& properties) {
  for (const std::string_view key : {"s3.remote-signing-enabled", "s3.sse.type", "s3.server-side-encryption",
                                     "s3.signer", "s3.role-arn", "s3.proxy-uri"}) {
    const std::string value = PropertyOr(properties, key, "");
    if (value.empty() || value == "false" || value == "none") continue;
    return Error{Code::kUnsupported, fmt::format("property `{}` is not supported", key)};
  }
  return Ok();
}

Result<fs::S3Options> Credentials(const Properties& properties) {
  FIRN_ASSIGN(const bool anonymous, BoolProperty(properties, "s3.anonymous", false));
  if (anonymous) return fs::S3Options::Anonymous();
  const std::string* key = FindFirstProperty(properties, {"s3.access-key-id", "client.access-key-id"});
  const std::string* secret = FindFirstProperty(properties, {"s3.secret-access-key", "client.secret-access-key"});
  const std::string* token = FindFirstProperty(properties, {"s3.session-token", "client.session-token"});
  if (!key != !secret) {
    return Error{Code::kInvalidArgument, "s3.access-key-id and s3.secret-access-key belong together"};
  }
  return key ? fs::S3Options::FromAccessKey(*key, *secret, token ? *token : "") : fs::S3Options::Defaults();
}

Result<fs::S3Options> OptionsOf(const Properties& properties) {
  FIRN_TRY(CheckSupported(properties));
  FIRN_ASSIGN(fs::S3Options options, Credentials(properties));
  // Small files (metadata, manifests) then take one request instead of three.
  options.allow_delayed_open = true;
  FIRN_ASSIGN(const auto server, ServerProperty(properties, {"s3.endpoint"}));
  if (server) {
    options.scheme = server->scheme;
    options.endpoint_override = server->host;
    options.region = "us-east-1";  // what stores without regions expect
  }
  if (const std::string* region = FindFirstProperty(properties, {"s3.region", "client.region"})) {
    options.region = *region;
  }
  FIRN_ASSIGN(const bool path_style, BoolProperty(properties, "s3.path-style-access", true));
  FIRN_ASSIGN(const bool by_host, BoolProperty(properties, "s3.force-virtual-addressing", !path_style));
  options.force_virtual_addressing = by_host;
  FIRN_ASSIGN(const std::int64_t connect_s, IntProperty(properties, "s3.connect-timeout", 10, 1, 3600));
  options.connect_timeout = static_cast<double>(connect_s);
  return options;
}

/// Where Arrow's client sends its requests, and with which keys.
S3Endpoint EndpointOf(const fs::S3Options& options, const std::string& region) {
  S3Endpoint endpoint;
  endpoint.region = region;
  endpoint.scheme = options.scheme.empty() ? "https" : options.scheme;
  endpoint.host = options.endpoint_override;
  endpoint.by_host = options.force_virtual_addressing || endpoint.host.empty();
  if (endpoint.host.empty()) {
    endpoint.host = fmt::format("s3.{}.amazonaws.com{}", region, region.starts_with("cn-") ? ".cn" : "");
  }
  if (options.credentials_kind == fs::S3CredentialsKind::Anonymous) return endpoint;
  // Temporary keys change while the process runs: the three must be of one time.
  endpoint.keys = [options] {
    S3Keys keys{options.GetAccessKey(), options.GetSecretKey(), options.GetSessionToken()};
    for (std::string again = options.GetAccessKey(); again != keys.access_key_id; again = options.GetAccessKey()) {
      keys = {again, options.GetSecretKey(), options.GetSessionToken()};
    }
    return keys;
  };
  return endpoint;
}

}  // namespace

bool IsS3Scheme(std::string_view scheme) { return scheme == "s3" || scheme == "s3a" || scheme == "s3n"; }

Result<std::unique_ptr<FileIO>> OpenS3FileIO(const Properties& properties) {
  FIRN_TRY(StartClient());
  FIRN_ASSIGN(const fs::S3Options options, OptionsOf(properties));
  auto files = fs::S3FileSystem::Make(options);
  if (!files.ok()) return Error{Code::kUnavailable, "S3 client: " + files.status().message()};
  EndClientAtExit();
  HttpOptions http_options;
  http_options.connect_timeout_ms = static_cast<std::int64_t>(options.connect_timeout * 1000);
  FIRN_ASSIGN(auto http, MakeCurlHttp(std::move(http_options)));
  S3Endpoint endpoint = EndpointOf(options, (*files)->region());
  static SystemClock clock;
  const auto requests = std::make_shared<S3Requests>(http, endpoint, clock);
  ArrowStore store{.path_of = ArrowPath};
  // Arrow's client makes an empty object with the folder's name after each deletion.
  store.remove = [requests](const std::string& location) { return requests->Delete(location); };
  auto plain = MakeS3RangesFileIO(MakeArrowFileIO(std::move(*files), std::move(store)), requests);
  return MakeConditionalFileIO(std::move(plain), std::move(http), S3Objects(std::move(endpoint), clock), clock);
}

}  // namespace firn::ports
