// SPDX-License-Identifier: Apache-2.0
// Whatever parses must write text that parses to an equal tree, and from then on the text must not change.
#include <cstddef>
#include <cstdint>

#include "base/bytes.h"
#include "base/check.h"
#include "format/json/json.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto value = firn::json::Parse(firn::AsText({data, size}));
  if (!value) return 0;
  const std::string text = firn::json::Write(*value);
  const auto again = firn::json::Parse(text);
  FIRN_CHECK(again.has_value());
  FIRN_CHECK(*again == *value);
  FIRN_CHECK(firn::json::Write(*again) == text);
  const auto pretty = firn::json::Parse(firn::json::WritePretty(*value));
  FIRN_CHECK(pretty.has_value() && *pretty == *value);
  return 0;
}
