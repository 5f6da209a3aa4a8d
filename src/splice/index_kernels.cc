// SPDX-License-Identifier: Apache-2.0
#include "splice/index_kernels.h"

#include <algorithm>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace firn::splice {

std::uint32_t MaxOfPortable(const std::uint32_t* values, std::size_t count) {
  std::uint32_t max = 0;
  for (std::size_t i = 0; i < count; ++i) max = std::max(max, values[i]);
  return max;
}

#if defined(__x86_64__)
namespace {

__attribute__((target("avx2"))) std::uint32_t MaxOfAvx2(const std::uint32_t* values, std::size_t count) {
  __m256i a = _mm256_setzero_si256(), b = a;
  std::size_t i = 0;
  for (; i + 16 <= count; i += 16) {
    a = _mm256_max_epu32(a, _mm256_loadu_si256(reinterpret_cast<const __m256i*>(values + i)));
    b = _mm256_max_epu32(b, _mm256_loadu_si256(reinterpret_cast<const __m256i*>(values + i + 8)));
  }
  std::uint32_t lanes[8];
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(lanes), _mm256_max_epu32(a, b));
  return std::max(MaxOfPortable(lanes, 8), MaxOfPortable(values + i, count - i));
}

}  // namespace

std::uint32_t MaxOf(const std::uint32_t* values, std::size_t count) {
  static const auto chosen = __builtin_cpu_supports("avx2") ? MaxOfAvx2 : MaxOfPortable;
  return chosen(values, count);
}
#else
std::uint32_t MaxOf(const std::uint32_t* values, std::size_t count) { return MaxOfPortable(values, count); }
#endif

}  // namespace firn::splice
