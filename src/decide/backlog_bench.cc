// SPDX-License-Identifier: Apache-2.0
#include <benchmark/benchmark.h>

#include <cmath>

#include "decide/backlog_fixture.h"

namespace firn::decide {
namespace {

/// `count` candidates of 10,000 tables in 1,000 databases; every tenth of them is asked for or has a deadline.
std::vector<Candidate> Candidates(std::size_t count) {
  Random random(42);
  std::vector<Candidate> candidates;
  for (std::size_t i = 0; i < count; ++i) {
    const auto table = random.Below(10'000);
    Candidate work = Work(fmt::format("c{:06}", i), fmt::format("lake/db{}", table % 1'000),
                          std::exp2(12 * random.NextUnit() - 4), 1 + static_cast<std::int64_t>(random.Below(1'000)));
    work.table = fmt::format("{}.t{}", work.database, table);
    work.partitions = {{fmt::format("k{}", i), ""}};
    work.created_at = After(-static_cast<std::int64_t>(random.Below(10 * kHourMs)));
    if (i % 20 == 0) work.cause = Cause::kRequest;
    if (i % 20 == 10) work.deadline = After(static_cast<std::int64_t>(random.Below(10 * kHourMs)));
    candidates.push_back(std::move(work));
  }
  return candidates;
}

void ArrangeAll(benchmark::State& state) {
  const auto candidates = Candidates(static_cast<std::size_t>(state.range(0)));
  Ledger ledger;
  Breakers breakers;
  for (int i = 0; i < 1'000; ++i) {
    ledger.Set(Scope::kDatabase, fmt::format("lake/db{}", i),
               {.budget = {.worker_seconds_per_hour = 1000}, .weight = 1.0 + i % 3}, kStart);
    breakers[fmt::format("lake/db{}.t{}", i, i)].Record(OutcomeKind::kFailed, "x", kStart);
  }
  for (auto _ : state) {
    const BacklogInput input{
        .candidates = candidates, .running = {}, .workers = 16, .starts_max = 16, .now = After(kSecondMs)};
    Ledger copy = ledger;
    benchmark::DoNotOptimize(Arrange(input, copy, breakers));
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
}

BENCHMARK(ArrangeAll)->Arg(100)->Arg(10'000)->Arg(100'000)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace firn::decide
