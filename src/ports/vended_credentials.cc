// SPDX-License-Identifier: Apache-2.0
#include "ports/vended_credentials.h"

#include <algorithm>
#include <limits>

namespace firn::ports {
namespace {

bool IsEnd(std::string_view key) {
  return key == "s3.session-token-expires-at-ms" || key == "gcs.oauth2.token-expires-at" ||
         key.starts_with("adls.sas-token-expires-at-ms");
}

bool IsToken(std::string_view key) {
  return key == "s3.session-token" || key == "gcs.oauth2.token" || key == "adls.sas-token" ||
         key.starts_with("adls.sas-token.");
}

}  // namespace

Result<TimestampMs> VendedCredentialsEnd(const Properties& config) {
  std::int64_t first_ms = 0;
  for (const auto& [key, value] : config) {
    if (!IsEnd(key)) continue;
    FIRN_ASSIGN(const std::int64_t end_ms, IntProperty(config, key, 0, 0, std::numeric_limits<std::int64_t>::max()));
    if (end_ms > 0 && (first_ms == 0 || end_ms < first_ms)) first_ms = end_ms;
  }
  return TimestampMs{first_ms};
}

bool HasVendedToken(const Properties& config) {
  return std::ranges::any_of(config, [](const auto& property) { return IsToken(property.first); });
}

void EraseVendedTokens(Properties& config) {
  std::erase_if(config, [](const auto& property) { return IsEnd(property.first) || IsToken(property.first); });
}

}  // namespace firn::ports
