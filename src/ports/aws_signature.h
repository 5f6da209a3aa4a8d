// SPDX-License-Identifier: Apache-2.0
//
// AWS Signature Version 4 over one HTTP request, in its headers.
//
// In: a request whose URL is encoded, keys, region and service, the time. Out: headers Host, X-Amz-Date,
//   X-Amz-Content-SHA256, X-Amz-Security-Token and Authorization on the request.
// Guarantees: every header that is there is signed; the path is encoded once more, as every service but S3 expects, or
//   taken as it stands, as S3 alone wants it.
//   An Authorization that was there goes as Original-Authorization, as Iceberg's clients send it. Secrets are in
//   no message.
// Cost: one SHA-256 of the body. Threads: pure.
// Errors: kInvalidArgument (keys or region missing), kInternal (OpenSSL).
// Source: https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html; Java
//   RESTSigV4AuthSession; PyIceberg catalog/rest (SigV4Adapter).
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/time.h"
#include "ports/http.h"
#include "ports/properties.h"

namespace firn::ports {

struct AwsSigner {
  std::string access_key_id;
  std::string secret_access_key;
  std::string session_token;  // empty: the keys are no temporary ones
  std::string region;
  std::string service;
  bool takes_path_as_it_stands = false;

  Status Sign(HttpRequest& request, TimestampMs now) const;
};

/// rest.sigv4-enabled, rest.signing-region, rest.signing-name, rest.access-key-id, rest.secret-access-key,
/// rest.session-token, then client.* and what AWS_* variables say; nullopt if the first is not true.
Result<std::optional<AwsSigner>> RestSigner(const Properties& properties);

/// Keys and region of the first of `prefixes` ("rest.") that has keys, then of client.* and of AWS_* variables.
/// `region` goes before all regions.
Result<AwsSigner> AwsSignerOf(const Properties& properties, std::string_view prefix, std::string_view region,
                              std::string_view service);

/// The header Authorization for exactly the headers that `request` has; `date` is "20150830T123600Z".
Result<std::string> AwsAuthorization(const HttpRequest& request, const AwsSigner& signer, std::string_view date);

}  // namespace firn::ports
