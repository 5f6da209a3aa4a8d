// SPDX-License-Identifier: Apache-2.0
//
// Requests to Azure's Blob service that Arrow's client does not make well: it deletes a blob under a lease, leaves a
// marker for its directory and, four requests later, releases a lease that is gone.
//
// In: an account with a key or a shared access signature, "container/key" as raw bytes.
// Guarantees: one request, sent again up to three times while the store does not answer or is busy. Signatures are in
//   no message.
// Threads: any.
// Errors: kInvalidArgument (refused), kUnavailable.
// Source: https://learn.microsoft.com/rest/api/storageservices/delete-blob and authorize-with-shared-key.
#pragma once

#include <memory>
#include <string>

#include "ports/azure_account.h"
#include "ports/clock.h"
#include "ports/http.h"

namespace firn::ports {

/// Headers x-ms-date, x-ms-version and, with a key, Authorization; the URL gets the shared access signature. The
/// request has no query before.
Status AuthorizeForAzure(HttpRequest& request, const AzureAccount& account, TimestampMs now);

class AzureBlobs {
 public:
  /// `clock` must live longer.
  AzureBlobs(std::shared_ptr<Http> http, AzureAccount account, Clock& clock)
      : http_(std::move(http)), account_(std::move(account)), clock_(clock) {}

  /// Ok when there is no such blob.
  Status Delete(const std::string& path);
  std::string UrlOf(const std::string& path) const;

 private:
  std::shared_ptr<Http> http_;
  AzureAccount account_;
  Clock& clock_;
};

}  // namespace firn::ports
