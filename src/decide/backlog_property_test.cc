// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "decide/backlog.h"
#include "decide/backlog_fixture.h"

namespace firn::decide {
namespace {

Candidate RandomWork(Random& random, int number, TimestampMs now) {
  const int database = static_cast<int>(random.Below(4));
  Candidate work = Work(fmt::format("w{:05}", number), fmt::format("lake/d{}", database),
                        std::exp2(9 * random.NextUnit()), 1 + static_cast<std::int64_t>(random.Below(1000)));
  work.table = fmt::format("lake/d{}.t{}", database, random.Below(6));
  for (std::uint64_t key = random.Below(4); key > 0; --key) {
    work.partitions.insert(work.partitions.begin(), {fmt::format("k{}", key), ""});
  }
  work.created_at = now;
  work.priority = random.Below(3) == 0 ? 0.01 + 10 * random.NextUnit() : 1;
  if (random.Below(5) == 0) work.cause = Cause::kRequest;
  if (random.Below(5) == 0) work.deadline = After(static_cast<std::int64_t>(random.Below(5 * kHourMs)), now);
  if (random.Below(3) == 0) {
    work.write_interval_ms = 500 + static_cast<std::int64_t>(random.Below(100'000));
    work.last_write_at = now;
  }
  if (random.Below(2) == 0) work.piece_seconds = work.predicted.seconds / 10;
  return work;
}

/// What must hold after each StartAll, whatever has been asked for.
void CheckEntries(const BacklogWorld& world, const std::vector<Candidate>& before, std::int32_t free_workers) {
  ASSERT_EQ(world.entries.size(), before.size());
  std::int32_t starts = 0;
  bool some_wait = false;
  for (const QueueEntry& entry : world.entries) {
    EXPECT_LE(entry.not_before.value - world.now.value, kLookAgainMs);
    EXPECT_GE(entry.not_before, world.now);
    starts += entry.verdict == Verdict::kStarts ? 1 : 0;
    some_wait |= entry.verdict == Verdict::kQueued;
  }
  EXPECT_LE(starts, free_workers);
  if (some_wait) {
    EXPECT_EQ(starts, free_workers) << "no worker is idle while work waits for one";
  }
  for (std::size_t i = 0; i < world.running.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      const RunningJob &a = world.running[i], &b = world.running[j];
      EXPECT_FALSE(a.table == b.table && Overlaps(a.partitions, b.partitions)) << a.id << " and " << b.id;
    }
  }
}

BacklogWorld WorldWithBudgets(Random& random, std::int32_t workers) {
  BacklogWorld world(workers);
  world.ledger.Set(Scope::kEverything, "", {.budget = {.worker_seconds_per_hour = 3000}}, world.now);
  world.ledger.Set(Scope::kDatabase, "lake/d1", {.budget = {.worker_seconds_per_hour = 600}, .weight = 3}, world.now);
  world.ledger.Set(Scope::kDatabase, "lake/d2", {.weight = 0.2}, world.now);
  world.ledger.Set(Scope::kTable, "lake/d0.t1", {.budget = {.bytes_per_hour = 20'000'000'000, .concurrent_jobs = 1}},
                   world.now);
  world.ledger.Set(Scope::kTable, "lake/d3.t2",
                   {.quiet_hours = orient::ParseQuietHours("08:00-20:00").value(),
                    .max_deferrals = static_cast<std::int32_t>(random.Below(8))},
                   world.now);
  return world;
}

/// Everything that was offered starts within a bound while new work comes for ever; the bound is what the rank
/// lets go first, the night, and the time that all which can be in front takes.
TEST(BacklogProperty, NobodyStarves) {
  for (std::uint64_t seed = 1; seed <= 6; ++seed) {
    Random random(seed);
    BacklogWorld world = WorldWithBudgets(random, 2);
    int number = 0;
    std::int64_t longest_ms = 0;
    for (int step = 0; step < 6'000; ++step) {
      world.now = After(3 * kMinuteMs, world.now);
      world.EndJobs(0.5 + random.NextUnit());
      // More comes than can be done; as in the service, there is one piece of work for a table and its partitions.
      for (int i = 0; i < 4; ++i) {
        Candidate work = RandomWork(random, number++, world.now);
        const bool known = std::ranges::any_of(world.candidates, [&](const Candidate& c) { return SameWork(c, work); });
        if (!known) world.candidates.push_back(std::move(work));
      }
      const auto before = world.candidates;
      const auto free = 2 - static_cast<std::int32_t>(world.running.size());
      world.StartAll();
      ASSERT_NO_FATAL_FAILURE(CheckEntries(world, before, free));
    }
    for (const auto& [id, waited] : world.waited_ms) longest_ms = std::max(longest_ms, waited);
    for (const Candidate& work : world.candidates) {
      longest_ms = std::max(longest_ms, world.now.value - work.created_at.value);
    }
    EXPECT_GT(world.waited_ms.size(), 1'000U);
    EXPECT_LE(longest_ms, 48 * kHourMs) << "seed " << seed << ": 24 of rank, 12 of night, and 12 to get through";
    EXPECT_GE(longest_ms, 15 * kHourMs) << "there was too little to do for this to show anything";
  }
}

/// Between databases that have work all the time, seconds by weight differ by the costliest work at most.
TEST(BacklogProperty, DatabasesGetTheirShares) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    Random random(seed);
    const double largest = 100;
    const std::vector<double> weights = {1, 2, 0.5, 5};
    BacklogWorld world(1);
    for (std::size_t d = 0; d < weights.size(); ++d) {
      world.ledger.Set(Scope::kDatabase, fmt::format("lake/d{}", d), {.weight = weights[d]}, world.now);
    }
    std::map<std::string, double> seconds;
    int number = 0;
    for (int step = 0; step < 2'000; ++step) {
      while (world.candidates.size() < 12) {
        const auto d = static_cast<std::size_t>(number) % weights.size();
        const bool is_small = d == 1;  // one of them has nothing but small work
        world.candidates.push_back(Work(fmt::format("w{:05}", number++), fmt::format("lake/d{}", d),
                                        (is_small ? 1 : largest) * (0.01 + 0.99 * random.NextUnit())));
        world.candidates.back().created_at = world.now;
      }
      std::set<std::string> with_work;
      for (const Candidate& work : world.candidates) with_work.insert(work.database);
      ASSERT_EQ(with_work.size(), weights.size());
      world.StartAll();
      ASSERT_EQ(world.running.size(), 1U);
      const RunningJob& job = world.running[0];
      seconds[job.database] += job.charged.seconds;
      // What was started is replaced by work of the same database.
      const auto d = static_cast<std::size_t>(job.database.back() - '0');
      number +=
          static_cast<int>((d + weights.size() - static_cast<std::size_t>(number) % weights.size()) % weights.size());
      world.now = After(200 * kSecondMs, world.now);
      world.EndJobs(1);
      for (std::size_t a = 0; a < weights.size(); ++a) {
        for (std::size_t b = 0; b < a; ++b) {
          const double share_a = seconds[fmt::format("lake/d{}", a)] / weights[a];
          const double share_b = seconds[fmt::format("lake/d{}", b)] / weights[b];
          ASSERT_LE(std::abs(share_a - share_b), largest / weights[a] + largest / weights[b] + 1e-6)
              << "seed " << seed << ", step " << step << ": " << a << " and " << b;
        }
      }
    }
  }
}

TEST(BacklogProperty, TheOrderOfTheCandidates_ChangesNothing) {
  Random random(21);
  for (int round = 0; round < 50; ++round) {
    BacklogWorld world = WorldWithBudgets(random, 3);
    for (int i = 0; i < 60; ++i) world.candidates.push_back(RandomWork(random, i, world.now));
    for (Candidate& work : world.candidates) {
      if (round % 2 == 0) work.predicted.seconds = 10;  // ties
    }
    std::vector<Candidate> shuffled = world.candidates;
    for (std::size_t i = shuffled.size(); i > 1; --i) std::swap(shuffled[i - 1], shuffled[random.Below(i)]);
    Ledger ledger = world.ledger;
    BacklogInput input{
        .candidates = world.candidates, .running = {}, .workers = 3, .starts_max = 3, .now = After(kHourMs)};
    const std::string order = Ids(Arrange(input, ledger, world.breakers), world.candidates);
    ledger = world.ledger;
    input.candidates = shuffled;
    EXPECT_EQ(Ids(Arrange(input, ledger, world.breakers), shuffled), order);
  }
}

/// The clock jumps by years, back and forth: what may start starts soon after, and no budget is given twice.
TEST(BacklogProperty, ClockJumps_NeitherFreezeNorFlood) {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    Random random(seed);
    BacklogWorld world(2);
    world.ledger.Set(Scope::kEverything, "", {.budget = {.worker_seconds_per_hour = 600}}, world.now);
    std::int64_t minutes = 0;
    int number = 0, jumps = 0;
    double charged = 0;
    std::int64_t idle_minutes = 0;
    for (int step = 0; step < 3'000; ++step) {
      if (random.Below(200) == 0) {
        const auto far = static_cast<std::int64_t>(random.Below(std::uint64_t{20} * 365 * 24 * kHourMs));
        world.now = TimestampMs{kStart.value / 2 + far};
        ++jumps;
      }
      world.now = After(kMinuteMs, world.now);
      ++minutes;
      std::erase_if(world.running, [&](const RunningJob& job) {
        world.ledger.Settle(job, job.charged, world.now);
        return true;
      });
      while (world.candidates.size() < 10) {
        Candidate work = Work(fmt::format("w{:05}", number++), fmt::format("lake/d{}", random.Below(3)), 60);
        work.created_at = world.now;
        work.write_interval_ms = 20'000;
        work.last_write_at = world.now;
        world.candidates.push_back(std::move(work));
      }
      if (random.Below(20) == 0) world.breakers["lake/d0.w00000"].Record(OutcomeKind::kFailed, "x", world.now);
      const auto before = world.candidates;
      world.StartAll();
      ASSERT_NO_FATAL_FAILURE(CheckEntries(world, before, 2));
      idle_minutes = world.running.empty() ? idle_minutes + 1 : 0;
      ASSERT_LE(idle_minutes, 120) << "seed " << seed << ", step " << step;
      for (const RunningJob& job : world.running) charged += job.charged.seconds;
    }
    ASSERT_GT(jumps, 5);
    EXPECT_LE(charged, 600 * (static_cast<double>(minutes) / 60 + 1 + jumps) + 120) << "an hour for each jump at most";
    EXPECT_GE(charged, 600 * static_cast<double>(minutes) / 60 * 0.5);
  }
}

}  // namespace
}  // namespace firn::decide
