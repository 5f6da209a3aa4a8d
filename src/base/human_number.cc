// SPDX-License-Identifier: Apache-2.0
#include "base/human_number.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/human_text.h"

namespace firn {

std::string HumanNumber(double number) {
  if (!std::isfinite(number)) return "-";
  const double size = std::fabs(number);
  constexpr double kNothing = 5e-7, kLargest = 1e18;
  if (size < kNothing) return "0";
  if (size >= 99.95) return HumanCount(std::llround(std::clamp(number, -kLargest, kLargest)));
  // Of a number that begins behind the point, one digit says enough.
  const int places = size >= 9.995 ? 1 : size >= 0.0095 ? 2 : static_cast<int>(std::ceil(-std::log10(size)));
  std::string text = fmt::format("{:.{}f}", number, places);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.ends_with('.')) text.pop_back();
  return text;
}

}  // namespace firn
