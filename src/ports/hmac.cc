// SPDX-License-Identifier: Apache-2.0
#include "ports/hmac.h"

#include <openssl/evp.h>
#include <openssl/hmac.h>

#include <array>

namespace firn::ports {

Result<std::string> HmacSha256(std::string_view key, std::string_view text) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest;
  unsigned size = 0;
  const auto* data = reinterpret_cast<const unsigned char*>(text.data());
  if (!HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()), data, text.size(), digest.data(), &size)) {
    return Error{Code::kInternal, "OpenSSL has no HMAC"};
  }
  return std::string(reinterpret_cast<const char*>(digest.data()), size);
}

}  // namespace firn::ports
