// SPDX-License-Identifier: Apache-2.0
//
// Servers that properties name ("s3.endpoint", "gcs.service.host", "glue.endpoint").
//
// In: properties. Out: scheme and host.
// Guarantees: what is written without a scheme is reached by https, so that nothing signed goes out in the clear.
// Threads: pure. Errors: kInvalidArgument for another scheme than http and https.
// Source: how PyIceberg and Java are configured; PyArrow takes hosts without a scheme.
#pragma once

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "ports/properties.h"

namespace firn::ports {

struct ServerAddress {
  std::string scheme;
  std::string host;  // with port and path, without a slash at its end
};

/// The server of the first of `keys` that is there and not empty; nullopt if there is none.
Result<std::optional<ServerAddress>> ServerProperty(const Properties& properties,
                                                    std::initializer_list<std::string_view> keys);

}  // namespace firn::ports
