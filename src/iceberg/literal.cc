// SPDX-License-Identifier: Apache-2.0
#include "iceberg/literal.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace firn::iceberg {
namespace {

template <class T>
bool SameFloat(T a, T b) {
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
  return a == b && std::signbit(a) == std::signbit(b);
}

template <class T>
std::strong_ordering CompareFloats(T a, T b) {
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) <=> std::isnan(b);
  if (a < b) return std::strong_ordering::less;
  if (a > b) return std::strong_ordering::greater;
  return std::signbit(b) <=> std::signbit(a);  // -0.0 < 0.0
}

struct Comparer {
  std::strong_ordering operator()(std::monostate, std::monostate) const { return std::strong_ordering::equal; }
  std::strong_ordering operator()(float a, float b) const { return CompareFloats(a, b); }
  std::strong_ordering operator()(double a, double b) const { return CompareFloats(a, b); }
  std::strong_ordering operator()(const Decimal& a, const Decimal& b) const {
    if (a.unscaled == b.unscaled) return std::strong_ordering::equal;
    return a.unscaled < b.unscaled ? std::strong_ordering::less : std::strong_ordering::greater;
  }
  template <class T>
  std::strong_ordering operator()(const T& a, const T& b) const {
    return a <=> b;  // std::string and Bytes compare unsigned bytes
  }
};

}  // namespace

bool SameValue(const Literal& a, const Literal& b) {
  if (a.index() != b.index()) return false;
  if (const float* left = std::get_if<float>(&a)) return SameFloat(*left, std::get<float>(b));
  if (const double* left = std::get_if<double>(&a)) return SameFloat(*left, std::get<double>(b));
  return a == b;
}

std::strong_ordering Compare(const Type&, const Literal& a, const Literal& b) {
  if (a.index() != b.index()) return a.index() <=> b.index();
  return std::visit([&b](const auto& left) { return Comparer()(left, std::get<std::decay_t<decltype(left)>>(b)); }, a);
}

}  // namespace firn::iceberg
