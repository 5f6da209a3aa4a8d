// SPDX-License-Identifier: Apache-2.0
//
// Requests to Azure's Blob service that Arrow's client does not make, or not well: it knows no conditions, and deletes
// a blob under a lease, leaves a marker for its directory and, four requests later, releases a lease that is gone.
//
// In: an account with a key or a shared access signature, "container/key" as raw bytes.
// Guarantees: one request, sent again as tries.h says while the store does not answer or is busy. Signatures are in no
//   message.
// Threads: any.
// Errors: kInvalidArgument (refused), kUnavailable.
// Source: https://learn.microsoft.com/rest/api/storageservices/delete-blob, put-blob and
//   authorize-with-shared-key.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "ports/azure_account.h"
#include "ports/clock.h"
#include "ports/conditional_put.h"
#include "ports/http.h"

namespace firn::ports {

/// Headers x-ms-date, x-ms-version and, with a key, Authorization; the URL gets the shared access signature. The
/// request has no query before.
Status AuthorizeForAzure(HttpRequest& request, const AzureAccount& account, TimestampMs now);

/// "https://account.blob.core.windows.net/container/key"; `path` is "container/key" as raw bytes.
std::string AzureBlobUrl(const AzureAccount& account, const std::string& path);

/// PUT of a block blob with "If-None-Match: *". `path_of` is the path of a location; `clock` must live longer.
ConditionalStore AzureObjects(AzureAccount account, std::function<Result<std::string>(const std::string&)> path_of,
                              Clock& clock);

class AzureBlobs {
 public:
  /// `clock` must live longer.
  AzureBlobs(std::shared_ptr<Http> http, AzureAccount account, Clock& clock)
      : http_(std::move(http)), account_(std::move(account)), clock_(clock) {}

  /// Ok when there is no such blob.
  Status Delete(const std::string& path);

 private:
  std::shared_ptr<Http> http_;
  AzureAccount account_;
  Clock& clock_;
};

}  // namespace firn::ports
