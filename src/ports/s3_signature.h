// SPDX-License-Identifier: Apache-2.0
//
// AWS Signature Version 4 of one request to S3, in its headers.
//
// In: a request whose URL has an encoded path, keys, the time. Out: headers Host, X-Amz-Date,
//   X-Amz-Content-SHA256, X-Amz-Security-Token (with temporary keys) and Authorization on the request.
// Guarantees: all headers and the body are signed; the path is signed as it stands in the URL, as S3 alone wants it.
// Cost: one SHA-256 of the body. Threads: pure. Errors: kInternal (OpenSSL).
// Source: https://docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-header-based-auth.html
#pragma once

#include <string>

#include "base/time.h"
#include "ports/http.h"

namespace firn::ports {

struct S3Keys {
  std::string access_key_id;
  std::string secret_access_key;
  std::string session_token;  // empty: none
};

Status SignForS3(HttpRequest& request, const S3Keys& keys, const std::string& region, TimestampMs now);

}  // namespace firn::ports
