// SPDX-License-Identifier: Apache-2.0
// From the value of a commit to verdicts; ten million partitions in memory; a state saved and loaded.
#include <benchmark/benchmark.h>
#include <malloc.h>
#include <unistd.h>

#include <cstdio>

#include "orient/table_state.h"
#include "orient/triage.h"

namespace firn::orient {
namespace {

constexpr TimestampMs kNow{1'700'000'000'000};

iceberg::PartitionTuple TupleOf(std::int64_t number) {
  return {{iceberg::Literal(static_cast<std::int32_t>(number / 64)),
           iceberg::Literal(static_cast<std::int32_t>(number % 64))}};
}

observe::PartitionDelta DeltaOf(std::int64_t number, int files) {
  observe::PartitionDelta delta;
  delta.tuple = TupleOf(number);
  for (int i = 0; i < files; ++i) delta.added.push_back({(std::int64_t{300} << 20) + number + i, 1000, 0});
  return delta;
}

observe::Change ChangeAfter(const TableState& state) {
  observe::Change change;
  change.parent_id = state.snapshot_id();
  change.snapshot_id = SnapshotId(state.snapshot_id().value_or(SnapshotId(0)).value + 1);
  change.timestamp = kNow;
  return change;
}

TableState Filled(std::int64_t partitions) {
  TableState state;
  observe::Facts empty;
  empty.observed_at = kNow;
  state.AbsorbScan(empty, Policy());
  for (std::int64_t first = 0; first < partitions; first += 10'000) {
    observe::Change change = ChangeAfter(state);
    for (std::int64_t i = first; i < std::min(partitions, first + 10'000); ++i) {
      change.partitions.push_back(DeltaOf(i, 1));
    }
    (void)state.Apply(change, Policy(), kNow);
  }
  return state;
}

double ResidentMegabytes() {
  malloc_trim(0);
  long pages = 0, resident = 0;
  if (std::FILE* file = std::fopen("/proc/self/statm", "r")) {
    if (std::fscanf(file, "%ld %ld", &pages, &resident) != 2) resident = 0;
    std::fclose(file);
  }
  return static_cast<double>(resident) * static_cast<double>(sysconf(_SC_PAGESIZE)) / 1e6;
}

/// 100 files in `partitions` partitions of a table of a million, applied and looked at.
void CommitToVerdicts(benchmark::State& bench) {
  TableState state = Filled(1'000'000);
  const auto partitions = bench.range(0);
  std::int64_t scans = 0, verdicts = 0, next = 0;
  for (auto _ : bench) {
    bench.PauseTiming();
    observe::Change change = ChangeAfter(state);
    for (std::int64_t i = 0; i < partitions; ++i) {
      change.partitions.push_back(DeltaOf((next += 7919) % 1'000'000, static_cast<int>(100 / partitions)));
    }
    bench.ResumeTiming();
    const TableState::Applied applied = state.Apply(change, Policy(), kNow);
    for (const std::uint32_t index : applied.touched) {
      const Verdict verdict = Triage(state.partition(index), Policy(), kNow);
      scans += verdict.kind == VerdictKind::kScan ? 1 : 0;
      ++verdicts;
    }
  }
  bench.counters["verdicts"] = static_cast<double>(verdicts) / static_cast<double>(bench.iterations());
  bench.counters["scans"] = static_cast<double>(scans) / static_cast<double>(bench.iterations());
}
BENCHMARK(CommitToVerdicts)->ArgName("partitions")->Arg(1)->Arg(10)->Arg(100)->Unit(benchmark::kMicrosecond);

void Memory(benchmark::State& bench) {
  for (auto _ : bench) {
    const double before = ResidentMegabytes();
    const TableState state = Filled(bench.range(0));
    const double megabytes = ResidentMegabytes() - before;
    if (state.size() != static_cast<std::size_t>(bench.range(0)) || state.forgotten_total() != 0) {
      bench.SkipWithError("partitions are missing");
    }
    bench.counters["MB"] = megabytes;
    bench.counters["bytes a partition"] = megabytes * 1e6 / static_cast<double>(bench.range(0));
  }
}
BENCHMARK(Memory)->Arg(10'000'000)->Iterations(1)->Unit(benchmark::kMillisecond);

void TriageAll(benchmark::State& bench) {
  const TableState state = Filled(1'000'000);
  for (auto _ : bench) {
    std::int64_t scans = 0;
    for (std::uint32_t i = 0; i < state.size(); ++i) {
      scans += Triage(state.partition(i), Policy(), kNow).kind == VerdictKind::kScan ? 1 : 0;
    }
    benchmark::DoNotOptimize(scans);
  }
}
BENCHMARK(TriageAll)->Unit(benchmark::kMillisecond);

void SaveAndLoad(benchmark::State& bench) {
  const TableState state = Filled(1'000'000);
  for (auto _ : bench) {
    const auto loaded = TableState::Parse(state.Serialize());
    if (!loaded || loaded->size() != state.size()) bench.SkipWithError("not the same state");
  }
}
BENCHMARK(SaveAndLoad)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace firn::orient
