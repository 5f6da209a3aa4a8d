// SPDX-License-Identifier: Apache-2.0
#include "simulate/synthetic_trace.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace firn::simulate {
namespace {

constexpr double kHourMs = 3.6e6;

double Exponential(Random& random, double mean) { return -mean * std::log(1 - random.NextUnit()); }

double Normal(Random& random) {
  const double radius = std::sqrt(-2 * std::log(1 - random.NextUnit()));
  return radius * std::cos(2 * std::numbers::pi * random.NextUnit());
}

double LogNormal(Random& random, double median, double spread) { return median * std::exp(spread * Normal(random)); }

/// A whole number of the mean, which is geometric: most are 0.
std::int64_t Geometric(Random& random, double mean) {
  return mean <= 0 ? 0 : static_cast<std::int64_t>(std::floor(Exponential(random, 1 / std::log1p(1 / mean))));
}

}  // namespace

SyntheticTrace::SyntheticTrace(const Workload& workload, std::uint64_t seed, TimestampMs start)
    : workload_(workload),
      start_ms_(start.value),
      end_ms_(start.value + static_cast<std::int64_t>(workload.hours * kHourMs)) {
  Random seeds(seed);
  for (std::int32_t i = 0; i < workload.tables; ++i) {
    Table table{seeds.Fork()};
    table.commit_ms =
        static_cast<float>(LogNormal(table.random, 1000 * workload.commit_seconds, workload.commit_spread));
    table.phase = static_cast<float>(table.random.NextUnit());
    table.has_history = workload.history_slots == 0 && workload.history_files == 0;
    const std::int64_t first = table.has_history ? NextCommitMs(table, start_ms_) : start_ms_;
    tables_.push_back(table);
    if (first < end_ms_) heap_.push_back({first, static_cast<std::uint32_t>(i)});
  }
  std::make_heap(heap_.begin(), heap_.end());
}

/// A Poisson process whose rate changes at the edges of bursts: an exponential amount of rate times time is used up.
std::int64_t SyntheticTrace::NextCommitMs(Table& table, std::int64_t after_ms) const {
  double left = Exponential(table.random, table.commit_ms);
  if (workload_.burst_every_hours <= 0) return after_ms + std::max<std::int64_t>(1, std::llround(left));
  const double cycle = workload_.burst_every_hours * kHourMs, burst = workload_.burst_hours * kHourMs;
  double at = static_cast<double>(after_ms - start_ms_);
  while (true) {
    const double in_cycle = std::fmod(at + table.phase * cycle, cycle);
    const bool bursts = in_cycle < burst;
    const double rate = bursts ? workload_.burst_factor : 1;
    const double until_edge = (bursts ? burst : cycle) - in_cycle;
    if (left <= rate * until_edge) {
      at += left / rate;
      break;
    }
    left -= rate * until_edge;
    at += until_edge + 1e-6;  // past the edge, whatever rounding does
  }
  return std::max<std::int64_t>(after_ms + 1, start_ms_ + std::llround(at));
}

std::int64_t SyntheticTrace::SlotOf(std::int64_t at_ms) const {
  return workload_.history_slots +
         static_cast<std::int64_t>(static_cast<double>(at_ms - start_ms_) / (workload_.slot_hours * kHourMs));
}

void SyntheticTrace::AddFiles(Random& random, double size_factor, PartitionCommit& partition) const {
  const std::int64_t files = 1 + Geometric(random, workload_.files_per_partition - 1);
  for (std::int64_t i = 0; i < files; ++i) {
    NewFile file;
    const double median = size_factor * static_cast<double>(workload_.file_bytes);
    file.size_bytes = std::max<std::int64_t>(
        1000, std::llround(LogNormal(random, median, workload_.file_spread)));  // a footer alone has as much
    file.rows = std::max<std::int64_t>(1, file.size_bytes / workload_.row_bytes);
    partition.added.push_back(file);
  }
}

void SyntheticTrace::AddDeletes(Random& random, PartitionCommit& partition) const {
  std::int64_t rows = 0;
  for (const NewFile& file : partition.added) rows += file.rows;
  partition.deletes = workload_.deletes;
  partition.deleted_rows = std::llround(workload_.upsert_rows * static_cast<double>(rows));
  const std::int64_t places = 1 + Geometric(random, 2);
  for (std::int64_t i = 0; i < places; ++i) {
    const double age = random.NextUnit();
    partition.places.push_back(static_cast<float>(1 - age * age));  // recent rows change more often
  }
}

void SyntheticTrace::AddHistory(Random& random, Commit& commit) const {
  const std::int64_t slots = std::max(workload_.history_slots, 1);
  for (std::int64_t p = 0; p < slots * workload_.buckets; ++p) {
    PartitionCommit partition;
    partition.partition = static_cast<std::uint32_t>(p);
    for (std::int32_t i = 0; i < workload_.history_files; ++i) {
      const double part = 0.76 + 0.3 * random.NextUnit();  // what an optimizer leaves alone
      NewFile file;
      file.size_bytes = std::llround(part * static_cast<double>(workload_.target_size_bytes));
      file.rows = std::max<std::int64_t>(1, file.size_bytes / workload_.row_bytes);
      partition.added.push_back(file);
    }
    if (!partition.added.empty()) commit.partitions.push_back(std::move(partition));
  }
}

void SyntheticTrace::AddNewRows(Table& table, std::int64_t slot, Commit& commit) const {
  const bool upsert = workload_.deletes != DeleteKind::kNone && table.random.NextUnit() < workload_.upsert_share;
  // A run of buckets from a random one on: distinct, and without a list of them.
  const auto first = static_cast<std::int64_t>(table.random.Below(static_cast<std::uint64_t>(workload_.buckets)));
  const std::int64_t count = std::min(workload_.buckets_per_commit, workload_.buckets);
  for (std::int64_t i = 0; i < count; ++i) {
    PartitionCommit& partition = commit.partitions.emplace_back();
    partition.partition = static_cast<std::uint32_t>(slot * workload_.buckets + (first + i) % workload_.buckets);
    AddFiles(table.random, 1, partition);
    if (upsert) AddDeletes(table.random, partition);
  }
}

void SyntheticTrace::AddLateRows(Random& random, std::int64_t slot, Commit& commit) const {
  const std::int64_t count = Geometric(random, workload_.late_partitions);
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t age = 1 + Geometric(random, workload_.late_slots - 1);
    const auto bucket = static_cast<std::int64_t>(random.Below(static_cast<std::uint64_t>(workload_.buckets)));
    if (age > slot) continue;  // older than the table
    PartitionCommit partition;
    partition.partition = static_cast<std::uint32_t>((slot - age) * workload_.buckets + bucket);
    AddFiles(random, workload_.late_size_factor, partition);
    const auto same = [&](const PartitionCommit& other) { return other.partition == partition.partition; };
    if (std::ranges::none_of(commit.partitions, same)) commit.partitions.push_back(std::move(partition));
  }
}

bool SyntheticTrace::Next(Commit& commit) {
  while (!heap_.empty()) {
    std::pop_heap(heap_.begin(), heap_.end());
    const Due due = heap_.back();
    heap_.pop_back();
    Table& table = tables_[due.table];
    commit.at = TimestampMs{due.at_ms};
    commit.table = due.table;
    commit.partitions.clear();
    if (table.has_history) {
      const std::int64_t slot = SlotOf(due.at_ms);
      AddNewRows(table, slot, commit);
      AddLateRows(table.random, slot, commit);
    } else {
      table.has_history = true;
      AddHistory(table.random, commit);
    }
    const std::int64_t next = NextCommitMs(table, due.at_ms);
    if (next < end_ms_) {
      heap_.push_back({next, due.table});
      std::push_heap(heap_.begin(), heap_.end());
    }
    if (!commit.partitions.empty()) return true;
  }
  return false;
}

}  // namespace firn::simulate
