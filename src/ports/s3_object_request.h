// SPDX-License-Identifier: Apache-2.0
//
// Requests that make objects of S3 if there are none: PUT with "If-None-Match: *", signed.
//
// In: an endpoint, keys. Out: what ConditionalPut needs.
// Guarantees: keys are asked for anew for every request. Threads: any. Errors: those of s3_signature.h.
// Source: https://docs.aws.amazon.com/AmazonS3/latest/userguide/conditional-writes.html
#pragma once

#include <functional>
#include <string>

#include "ports/conditional_put.h"
#include "ports/s3_signature.h"

namespace firn::ports {

struct S3Endpoint {
  std::string scheme = "https";
  std::string host;      // with port
  bool by_host = false;  // the bucket is part of the host name
  std::string region;
  /// Asked for every request; empty: requests are not signed.
  std::function<S3Keys()> keys;
};

/// Of an object; the bucket chooses no other host than that of the endpoint. Errors: those of ObjectPath.
Result<std::string> S3UrlOf(const S3Endpoint& endpoint, const std::string& location);
/// `clock` must live longer.
ConditionalStore S3Objects(S3Endpoint endpoint, Clock& clock);

}  // namespace firn::ports
