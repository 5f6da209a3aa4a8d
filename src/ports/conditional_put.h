// SPDX-License-Identifier: Apache-2.0
//
// Makes an object of a store under the condition that its name is free.
//
// In: how the store wants the request, locations, bytes. Out: whether this call made the object.
// Guarantees: of several writers of one name exactly one gets Ok, where CheckHonoured is Ok. An answer that was lost,
//   or an error of the server, is settled by sending again. A name that is taken may be taken by an earlier try, or by
//   a copy that something in between has sent: the bytes tell, as they name their writer, as new metadata does. What
//   stays open is kUnavailable.
// Cost: one request, on a connection of its own; one that looks for the size when the name is taken, and one that reads
//   when the size is ours. CheckHonoured: two such and a deletion, once for a bucket and process.
// Threads: any.
// Errors: kConflict (taken), kUnsupported (the store refuses conditions, or ignores them), kInvalidArgument (refused),
//   kUnavailable, each with the location.
// Source: RFC 9110, 13.1.2; what the stores answer:
// https://docs.aws.amazon.com/AmazonS3/latest/userguide/conditional-writes.html,
//   https://learn.microsoft.com/rest/api/storageservices/put-blob,
//   https://cloud.google.com/storage/docs/request-preconditions
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "ports/clock.h"
#include "ports/file_io.h"
#include "ports/http.h"

namespace firn::ports {

struct ConditionalStore {
  std::string server;
  /// "PUT with If-None-Match: *", for messages.
  std::string condition;
  /// Makes an object at `location` if there is none; complete, with what authorizes it.
  std::function<Result<HttpRequest>(const std::string& location, ByteView bytes)> request;
};

class ConditionalPut {
 public:
  /// `plain` reads and deletes objects; it and `clock` must live longer.
  ConditionalPut(std::shared_ptr<Http> http, ConditionalStore store, FileIO& plain, Clock& clock)
      : http_(std::move(http)), store_(std::move(store)), plain_(plain), clock_(clock) {}

  Status Put(const std::string& location, ByteView bytes);
  /// Writes an object beside `location` twice, unless the bucket is known.
  Status CheckHonoured(const std::string& location);

 private:
  Result<HttpResponse> Send(const std::string& location, ByteView bytes);
  Status Settle(const std::string& location, ByteView bytes, Status failure);
  Status Probe(const std::string& location);

  std::shared_ptr<Http> http_;
  ConditionalStore store_;
  FileIO& plain_;
  Clock& clock_;
};

/// "BUCKET/KEY" of a location, as raw bytes: to be encoded, the bucket as well, as it may hold what ends a host or a
/// path. kInvalidArgument without a bucket or a key, kUnsupported with "//".
Result<std::string> ObjectPath(const std::string& location);
/// Text of the first element of that name, its entities as they stand; empty: there is none.
std::string_view XmlText(std::string_view document, std::string_view name);
/// "the store answers 404 NoSuchBucket The specified bucket does not exist", out of an error document.
std::string ReasonOf(const HttpResponse& response);

}  // namespace firn::ports
