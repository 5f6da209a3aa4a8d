// SPDX-License-Identifier: Apache-2.0
#include "base/random.h"

#include <fmt/format.h>

#include <random>

namespace firn {
namespace {

std::string FormatUuid(std::uint64_t high, std::uint64_t low) {
  return fmt::format("{:08x}-{:04x}-{:04x}-{:04x}-{:012x}", high >> 32, (high >> 16) & 0xffff, high & 0xffff, low >> 48,
                     low & 0xffffffffffffULL);
}

constexpr std::uint64_t kVariantMask = 0x3fffffffffffffffULL;
constexpr std::uint64_t kVariant = 0x8000000000000000ULL;

}  // namespace

std::uint64_t Random::Next() {
  state_ += 0x9e3779b97f4a7c15ULL;
  std::uint64_t z = state_;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
  return z ^ (z >> 31);
}

std::uint64_t Random::Below(std::uint64_t bound) {
  return static_cast<std::uint64_t>((static_cast<unsigned __int128>(Next()) * bound) >> 64);
}

double Random::NextUnit() { return static_cast<double>(Next() >> 11) * 0x1.0p-53; }

std::string Random::NewUuid() {
  const std::uint64_t high = (Next() & ~0xf000ULL) | 0x4000ULL;
  return FormatUuid(high, (Next() & kVariantMask) | kVariant);
}

std::string Random::NewUuidV7(TimestampMs now) {
  const std::uint64_t high = (static_cast<std::uint64_t>(now.value) << 16) | 0x7000ULL | (Next() & 0xfffULL);
  return FormatUuid(high, (Next() & kVariantMask) | kVariant);
}

std::uint64_t EntropySeed() {
  std::random_device device;
  return (static_cast<std::uint64_t>(device()) << 32) | device();
}

}  // namespace firn
