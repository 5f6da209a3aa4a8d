// SPDX-License-Identifier: Apache-2.0
#include <benchmark/benchmark.h>

#include <vector>

#include "base/random.h"
#include "decide/packing_free.h"
#include "decide/packing_ordered.h"

namespace firn::decide {
namespace {

constexpr std::int64_t kTarget = std::int64_t{512} << 20;

PackingLimits Limits() {
  PackingLimits limits;
  limits.target_size_bytes = kTarget;
  limits.healthy_size_bytes = kTarget * 3 / 4;
  limits.size_max_bytes = kTarget * 3 / 2;
  limits.size_exponent = 1.04;
  return limits;
}

/// Sizes around `mean`, from half to one and a half of it.
std::vector<std::int64_t> Sizes(std::size_t count, std::int64_t mean) {
  Random random(42);
  std::vector<std::int64_t> sizes(count);
  for (auto& size : sizes) size = mean / 2 + static_cast<std::int64_t>(random.Below(static_cast<std::uint64_t>(mean)));
  return sizes;
}

void Free(benchmark::State& state) {
  const auto sizes = Sizes(static_cast<std::size_t>(state.range(0)), state.range(1));
  for (auto _ : state) benchmark::DoNotOptimize(PackFree(sizes, PackingModel(Limits())));
}

void Ordered(benchmark::State& state) {
  const auto sizes = Sizes(static_cast<std::size_t>(state.range(0)), state.range(1));
  for (auto _ : state) benchmark::DoNotOptimize(PackOrdered(sizes, {}, PackingModel(Limits())));
}

const std::vector<std::vector<std::int64_t>> kArgs = {{100'000, 1'000'000}, {4 << 10, 110 << 10, 2 << 20, 32 << 20}};
BENCHMARK(Free)->ArgsProduct(kArgs)->Unit(benchmark::kMillisecond);
BENCHMARK(Ordered)->ArgsProduct(kArgs)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace firn::decide
