// SPDX-License-Identifier: Apache-2.0
//
// Requests that make objects of Google Cloud Storage if there are none: an upload with ifGenerationMatch=0.
//
// In: "https://storage.googleapis.com", a token (empty: none is wanted). Out: what ConditionalPut needs.
// Guarantees: the boundary of the upload's parts is not among its bytes. Threads: any.
// Errors: kInvalidArgument for a location without a key.
// Source: https://cloud.google.com/storage/docs/json_api/v1/objects/insert; multipart is the kind of upload that the
//   makers' clients use for small objects.
#pragma once

#include <string>

#include "ports/conditional_put.h"

namespace firn::ports {

ConditionalStore GcsObjects(std::string server, std::string token);

}  // namespace firn::ports
