// SPDX-License-Identifier: Apache-2.0
#include "base/rate_bucket.h"

#include <algorithm>

namespace firn {

bool RateBucket::Has(std::int64_t now_ms) {
  if (now_ms > last_ms_) {
    const double seconds = static_cast<double>(now_ms - last_ms_) / 1'000;
    tokens_ = std::min(rate_.burst, tokens_ + rate_.per_second * seconds);
  }
  last_ms_ = now_ms;
  return tokens_ >= 1;
}

}  // namespace firn
