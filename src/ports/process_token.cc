// SPDX-License-Identifier: Apache-2.0
#include "ports/process_token.h"

#include <fmt/format.h>

#include <cstdint>
#include <random>

namespace firn::ports {

const std::string& ProcessToken() {
  static const std::string token = [] {
    std::random_device device;  // not from a seed: it has to differ where a run is repeated
    const std::uint64_t high = device(), low = device();
    return fmt::format("{:016x}", high << 32 | low);
  }();
  return token;
}

}  // namespace firn::ports
