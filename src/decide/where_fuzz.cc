// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "decide/where.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto where = firn::decide::ParseWhere({reinterpret_cast<const char*>(data), size});
  return where.has_value() || !where.error().message.empty() ? 0 : -1;
}
