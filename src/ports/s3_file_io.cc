// SPDX-License-Identifier: Apache-2.0
#include "ports/s3_file_io.h"

#include <arrow/filesystem/s3fs.h>
#include <fmt/format.h>

#include <cstdlib>

#include "base/check.h"
#include "ports/arrow_file_io.h"
#include "ports/clock.h"
#include "ports/location.h"
#include "ports/metadata_file.h"
#include "ports/s3_conditional_put.h"

namespace firn::ports {
namespace {

namespace fs = arrow::fs;

/// "bucket/key" as Arrow names objects.
Result<std::string> ArrowPath(const std::string& location) {
  const std::string_view scheme = SchemeOf(location);
  if (!IsS3Scheme(scheme)) return Error{Code::kUnsupported, fmt::format("`{}` is no S3 location", location)};
  return BucketPath(location);
}

/// A metadata file: held, and sent at once under the condition that the name is free.
class HeldOutput final : public OutputFile {
 public:
  HeldOutput(std::string name, S3ConditionalPut& put, FileIO& plain)
      : name_(std::move(name)), put_(put), plain_(plain) {}

  const std::string& name() const override { return name_; }
  std::uint64_t position() const override { return bytes_.size(); }

  Status Write(ByteView bytes) override {
    FIRN_CHECK(!done_);
    if (bytes.size() > kMetadataBytesMax - bytes_.size()) {
      return Error{Code::kLimit, fmt::format("{}: more than {} bytes", name_, kMetadataBytesMax)};
    }
    bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
    return Ok();
  }

  Status Close() override {
    FIRN_CHECK(!done_);
    done_ = true;
    Status put = put_.Put(name_, bytes_);
    // A store that says it knows no conditions; the name was looked for when the file was begun.
    if (!put && put.error().code == Code::kUnsupported) return WriteFile(plain_, name_, bytes_);
    return put;
  }

  void Abort() override {
    done_ = true;
    bytes_.clear();
  }

 private:
  std::string name_;
  S3ConditionalPut& put_;
  FileIO& plain_;
  Bytes bytes_;
  bool done_ = false;
};

class S3FileIO final : public FileIO {
 public:
  S3FileIO(std::unique_ptr<FileIO> plain, std::shared_ptr<Http> http, S3Endpoint endpoint)
      : plain_(std::move(plain)), put_(std::move(http), std::move(endpoint), *plain_, clock_) {}

  Result<std::unique_ptr<RandomAccessSource>> Open(const std::string& location,
                                                   std::optional<std::uint64_t> known_size_bytes) override {
    return plain_->Open(location, known_size_bytes);
  }

  Result<std::unique_ptr<OutputFile>> Create(const std::string& location) override {
    if (!IsMetadataFileName(location)) return plain_->Create(location);
    FIRN_ASSIGN(const bool taken, plain_->Exists(location));
    if (taken) return Error{Code::kConflict, location + ": file exists already"};
    return std::unique_ptr<OutputFile>(new HeldOutput(location, put_, *plain_));
  }

  Status CheckCreate(const std::string& location) override { return plain_->CheckCreate(location); }
  Status CheckExclusive(const std::string& location) override { return put_.CheckHonoured(location); }
  Status Replace(const std::string& location, ByteView bytes) override { return plain_->Replace(location, bytes); }
  Status Delete(const std::string& location) override { return plain_->Delete(location); }
  Result<bool> Exists(const std::string& location) override { return plain_->Exists(location); }
  Result<ListPage> List(const std::string& prefix, const std::string& page) override {
    return plain_->List(prefix, page);
  }

 private:
  SystemClock clock_;
  std::unique_ptr<FileIO> plain_;
  S3ConditionalPut put_;
};

Status StartClient() {
  static const arrow::Status started = [] {
    fs::S3GlobalOptions options = fs::S3GlobalOptions::Defaults();
    options.log_level = fs::S3LogLevel::Off;
    return fs::InitializeS3(options);
  }();
  if (!started.ok()) return Error{Code::kInternal, "S3 client does not start: " + started.message()};
  return Ok();
}

/// The client must be ended before its own static objects are, which the first file system makes.
void EndClientAtExit() {
  [[maybe_unused]] static const int once = std::atexit([] { (void)fs::EnsureS3Finalized(); });
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
  if (const std::string* endpoint = FindFirstProperty(properties, {"s3.endpoint"})) {
    const std::string_view scheme = SchemeOf(*endpoint);
    if (!scheme.empty() && scheme != "http" && scheme != "https") {
      return Error{Code::kInvalidArgument, "property `s3.endpoint` must begin with http:// or https://"};
    }
    options.scheme = scheme.empty() ? "https" : std::string(scheme);
    const std::string_view host = std::string_view(*endpoint).substr(scheme.empty() ? 0 : scheme.size() + 3);
    options.endpoint_override = WithoutSlash(host);
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
  auto plain = MakeArrowFileIO(std::move(*files), {.path_of = ArrowPath});
  return std::unique_ptr<FileIO>(new S3FileIO(std::move(plain), std::move(http), std::move(endpoint)));
}

}  // namespace firn::ports
