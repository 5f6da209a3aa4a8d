// SPDX-License-Identifier: Apache-2.0
//
// Random numbers and UUIDs from a seed that the caller gives, so that every run can be repeated.
//
// Guarantees: the same seed gives the same sequence on every machine.
// Threads: one owner; give each thread its own by Fork().
// Source: splitmix64 (Steele, Lea, Flood 2014); RFC 9562 for UUID versions 4 and 7.
#pragma once

#include <cstdint>
#include <string>

#include "base/time.h"

namespace firn {

class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  std::uint64_t Next();
  /// Uniform in [0, bound); bound > 0.
  std::uint64_t Below(std::uint64_t bound);
  /// Uniform in [0, 1).
  double NextUnit();
  /// An independent generator for another owner.
  Random Fork() { return Random(Next() ^ 0x6a09e667f3bcc909ULL); }
  /// Canonical lower-case text of a version 4 UUID.
  std::string NewUuid();
  /// Canonical text of a version 7 UUID, ordered by time.
  std::string NewUuidV7(TimestampMs now);

 private:
  std::uint64_t state_;
};

/// A seed from the operating system, for main() only.
std::uint64_t EntropySeed();

}  // namespace firn
