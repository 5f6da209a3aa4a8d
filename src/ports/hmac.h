// SPDX-License-Identifier: Apache-2.0
//
// HMAC with SHA-256, which signs requests to AWS and to Azure.
//
// In: a key and a text, both as raw bytes. Out: 32 raw bytes.
// Guarantees: keys and texts of any length, zero bytes as well.
// Cost: two SHA-256 over the text and a block. Threads: pure. Errors: kInternal (OpenSSL).
// Source: RFC 2104.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace firn::ports {

Result<std::string> HmacSha256(std::string_view key, std::string_view text);

}  // namespace firn::ports
