// SPDX-License-Identifier: Apache-2.0
//
// Requests to S3 that Arrow's client does not make or makes with more than is asked for: multipart uploads with parts
// that the store copies from another object, tags of objects, deletions.
//
// In: an endpoint, the location of an object. Out: tags of parts, the finished object.
// Guarantees: keys are asked for anew for every request. A part is sent again when its answer was lost or the server
//   failed: the same part takes the place of the first. An answer of 200 with an error in its body is that error. A
//   copy is made of the object with the tag that is given, and of no other, where the store honours conditions:
//   compare the tag again afterwards.
// Cost: one request a call, on kept connections but for Begin and Complete.
// Threads: any.
// Errors: kUnavailable, also for a Complete whose outcome is not known; kCorrupt: the source of a copy is another
//   object now; kUnsupported: the store does not do this; kNotFound; kInvalidArgument: it is refused; each with the
//   location.
// Source: https://docs.aws.amazon.com/AmazonS3/latest/API/API_UploadPartCopy.html, API_CompleteMultipartUpload.html,
//   https://docs.aws.amazon.com/AmazonS3/latest/API/API_DeleteObject.html,
//   https://docs.aws.amazon.com/AmazonS3/latest/userguide/qfacts.html
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/range_copies.h"
#include "ports/clock.h"
#include "ports/http.h"
#include "ports/s3_object_request.h"

namespace firn::ports {

/// Every part but the last.
inline constexpr std::uint64_t kS3PartBytesMin = std::uint64_t{5} << 20;
inline constexpr std::size_t kS3PartsMax = 10'000;

struct S3Object {
  std::string tag;  // as the header If-Match takes it
  std::uint64_t size_bytes = 0;
};

class S3Requests {
 public:
  /// `clock` must live longer.
  S3Requests(std::shared_ptr<Http> http, S3Endpoint endpoint, Clock& clock)
      : http_(std::move(http)), endpoint_(std::move(endpoint)), clock_(clock) {}

  /// The upload's id.
  Result<std::string> Begin(const std::string& location);
  /// Tags of parts; numbers count from 1.
  Result<std::string> PutPart(const std::string& location, const std::string& upload, std::size_t number,
                              std::string bytes);
  Result<std::string> CopyPart(const std::string& location, const std::string& upload, std::size_t number,
                               const FileMark& source, std::uint64_t offset, std::uint64_t size);
  Status Complete(const std::string& location, const std::string& upload, const std::vector<std::string>& tags);
  Status Abort(const std::string& location, const std::string& upload);
  /// Ok if there is no such object. Nothing else changes: no empty object stands for the folder afterwards.
  Status Delete(const std::string& location);
  /// nullopt: there is no such object, or it has no tag that a condition can name.
  Result<std::optional<S3Object>> Head(const std::string& location);

 private:
  Result<HttpRequest> Request(const std::string& method, const std::string& location, const std::string& query) const;
  Result<HttpResponse> Send(const std::string& location, HttpRequest request, bool& may_be_done);
  Result<HttpResponse> Send(const std::string& location, HttpRequest request);

  std::shared_ptr<Http> http_;
  S3Endpoint endpoint_;
  Clock& clock_;
};

}  // namespace firn::ports
