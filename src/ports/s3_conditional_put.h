// SPDX-License-Identifier: Apache-2.0
//
// Makes an object of S3 under the condition that its name is free: PUT with "If-None-Match: *", signed.
//
// In: locations "s3://bucket/key", bytes. Out: whether this call made the object.
// Guarantees: of several writers of one name exactly one gets Ok, where CheckHonoured is Ok. An answer that was lost,
//   or an error of the server, is settled by sending again and, when the name is then taken, by comparing the bytes:
//   they name their writer, as new metadata does. What stays open is kUnavailable.
// Cost: one request, on a connection of its own. CheckHonoured: two PUTs and a DELETE, once for a bucket and process.
// Threads: any.
// Errors: kConflict (taken), kUnsupported (the store refuses conditions, or ignores them), kInvalidArgument (refused),
//   kUnavailable, each with the location.
// Source: https://docs.aws.amazon.com/AmazonS3/latest/userguide/conditional-writes.html; RFC 9110, 13.1.2.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "ports/clock.h"
#include "ports/file_io.h"
#include "ports/http.h"
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

class S3ConditionalPut {
 public:
  /// `plain` reads and deletes objects; it and `clock` must live longer.
  S3ConditionalPut(std::shared_ptr<Http> http, S3Endpoint endpoint, FileIO& plain, Clock& clock)
      : http_(std::move(http)), endpoint_(std::move(endpoint)), plain_(plain), clock_(clock) {}

  Status Put(const std::string& location, ByteView bytes);
  /// Writes an object beside `location` twice, unless the bucket is known.
  Status CheckHonoured(const std::string& location);

 private:
  Result<std::string> UrlOf(const std::string& location) const;
  Result<HttpResponse> Send(const std::string& url, ByteView bytes);
  Status Settle(const std::string& location, ByteView bytes, Status failure);
  Status Probe(const std::string& location);

  std::shared_ptr<Http> http_;
  S3Endpoint endpoint_;
  FileIO& plain_;
  Clock& clock_;
};

}  // namespace firn::ports
