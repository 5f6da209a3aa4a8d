// SPDX-License-Identifier: Apache-2.0
#include "decide/backlog.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "decide/backlog_fixture.h"

namespace firn::decide {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<QueueEntry> Order(const std::vector<Candidate>& candidates, TimestampMs now = kStart) {
  Ledger ledger;
  Breakers breakers;
  return Arrange({.candidates = candidates, .running = {}, .workers = 1, .starts_max = 0, .now = now}, ledger,
                 breakers);
}

/// The one candidate's entry when a worker is free.
QueueEntry Ask(BacklogWorld& world, const Candidate& candidate) {
  const std::vector<Candidate> candidates = {candidate};
  Ledger ledger = world.ledger;
  const BacklogInput input{
      .candidates = candidates, .running = world.running, .workers = 4, .starts_max = 4, .now = world.now};
  return Arrange(input, ledger, world.breakers).at(0);
}

TEST(Arrange, ValuePerSecondAndPriorityDecide) {
  std::vector<Candidate> candidates = {Work("small", "lake/a", 10, 5), Work("large", "lake/a", 10, 500),
                                       Work("dear", "lake/a", 1000, 500), Work("wanted", "lake/a", 10, 5)};
  candidates[3].priority = 100;
  EXPECT_EQ(Ids(Order(candidates), candidates), "large wanted dear small") << "a tie goes by name";
}

TEST(Arrange, ReadsAndDeletesCountAsFilesDo) {
  std::vector<Candidate> candidates = {Work("a", "lake/a", 10, 10), Work("b", "lake/a", 10, 10),
                                       Work("c", "lake/a", 10, 10)};
  candidates[1].predicted.reads_saved = 500;
  candidates[2].predicted.delete_files_removed = 40;
  EXPECT_EQ(Ids(Order(candidates), candidates), "b c a");
}

TEST(Arrange, WorthDoublesWithEachHourWaited) {
  std::vector<Candidate> candidates = {Work("old", "lake/a", 10, 10), Work("new", "lake/a", 10, 35)};
  candidates[1].created_at = After(kHourMs);
  EXPECT_EQ(Ids(Order(candidates, After(kHourMs)), candidates), "new old") << "3.5 times the worth, 1 hour";
  candidates[1].created_at = After(2 * kHourMs);
  EXPECT_EQ(Ids(Order(candidates, After(2 * kHourMs)), candidates), "old new");
  EXPECT_EQ(Ids(Order(candidates, After(200 * kHourMs)), candidates), "old new") << "the order of two never turns";
}

TEST(Arrange, DeadlinesThatWouldBeMissed_ThenRequests_ThenTheRest) {
  std::vector<Candidate> candidates = {Work("auto", "lake/a", 60, 900), Work("request", "lake/a", 60),
                                       Work("late", "lake/b", 100), Work("far", "lake/b", 100),
                                       Work("later", "lake/c", 100)};
  candidates[1].cause = Cause::kRequest;
  candidates[2].deadline = After(3 * kMinuteMs);
  candidates[3].deadline = After(50 * kHourMs);
  candidates[4].deadline = After(4 * kMinuteMs);
  const auto entries = Order(candidates);
  EXPECT_EQ(Ids(entries, candidates), "late later request auto far");
  EXPECT_EQ(entries[0].lane, Lane::kDeadline);
  EXPECT_EQ(EntryOf(entries, 3).lane, Lane::kAutomatic) << "there is time";
}

TEST(Arrange, LaterLanesGetAQuarterOfWhatGoesBefore) {
  BacklogWorld world(1);
  for (int i = 0; i < 100; ++i) {
    world.candidates.push_back(Work(fmt::format("request{}", i), "lake/a", 10));
    world.candidates.back().cause = Cause::kRequest;
    world.candidates.push_back(Work(fmt::format("auto{}", i), "lake/b", 10));
  }
  std::string order;
  for (int i = 0; i < 100; ++i) {
    for (const std::string& id : world.StartAll()) order += id[0];
    world.now = After(10 * kSecondMs, world.now);
    world.EndJobs(1);
  }
  EXPECT_EQ(order.substr(0, 10), "rrrrarrrra");
  EXPECT_EQ(std::ranges::count(order, 'a'), 20);
}

TEST(Arrange, AnEarlierDeadlineBecomesUrgentThroughALaterOne) {
  std::vector<Candidate> candidates = {Work("first", "lake/a", 60), Work("second", "lake/a", 1800)};
  candidates[0].deadline = After(2 * kHourMs);
  EXPECT_EQ(Order(candidates)[1].lane, Lane::kAutomatic);
  EXPECT_EQ(EntryOf(Order(candidates), 0).lane, Lane::kAutomatic);
  candidates[1].deadline = After(2 * kHourMs + kSecondMs);
  EXPECT_EQ(EntryOf(Order(candidates, After(kHourMs)), 0).lane, Lane::kDeadline)
      << "an hour is what the second alone is given";
}

TEST(Arrange, StartsAreThoseThatWorkersAreFreeFor) {
  BacklogWorld world(2);
  world.candidates = {Work("a", "lake/a", 100, 30), Work("b", "lake/a", 100, 20), Work("c", "lake/a", 100, 10)};
  EXPECT_THAT(world.StartAll(), ElementsAre("a", "b"));
  EXPECT_EQ(world.entries[2].verdict, Verdict::kQueued);
  EXPECT_EQ(world.entries[2].not_before, After(100 * kSecondMs)) << "two workers, 200 seconds before it";
  world.now = After(100 * kSecondMs);
  world.EndJobs(1);
  EXPECT_THAT(world.StartAll(), ElementsAre("c"));
}

TEST(Arrange, PausesHold_AlsoForRequests) {
  BacklogWorld world(1);
  Candidate request = Work("a", "lake/a", 1);
  request.cause = Cause::kRequest;
  for (const Scope scope : {Scope::kEverything, Scope::kDatabase, Scope::kTable}) {
    world.ledger = {};
    const std::string name = scope == Scope::kDatabase ? "lake/a" : "lake/a.a";
    world.ledger.Set(scope, name, {.paused = true}, kStart);
    const QueueEntry entry = Ask(world, request);
    EXPECT_EQ(entry.verdict, Verdict::kPaused);
    EXPECT_EQ(entry.scope, scope);
    EXPECT_EQ(Ask(world, Work("b", "lake/b", 1)).verdict == Verdict::kPaused, scope == Scope::kEverything);
  }
}

TEST(Arrange, NothingGained_NothingDone_ButForARequest) {
  BacklogWorld world(1);
  Candidate candidate = Work("a", "lake/a", 1, 0);
  EXPECT_EQ(Ask(world, candidate).verdict, Verdict::kNoBenefit);
  candidate.cause = Cause::kRequest;
  EXPECT_EQ(Ask(world, candidate).verdict, Verdict::kStarts);
}

TEST(Arrange, QuietHours_OfEachScope) {
  const auto hours = orient::ParseQuietHours("00:00-23:00").value();  // kStart is a Tuesday, 22:13:20
  Candidate candidate = Work("a", "lake/a", 1);
  for (const Scope scope : {Scope::kEverything, Scope::kDatabase, Scope::kTable}) {
    BacklogWorld world(1);
    world.ledger.Set(scope, scope == Scope::kDatabase ? "lake/a" : "lake/a.a", {.quiet_hours = hours}, kStart);
    candidate.cause = Cause::kCommit;
    const QueueEntry entry = Ask(world, candidate);
    EXPECT_EQ(entry.verdict, Verdict::kQuietHours);
    EXPECT_EQ(entry.scope, scope);
    EXPECT_EQ(entry.not_before, After(46 * kMinuteMs + 40 * kSecondMs));
    candidate.cause = Cause::kRequest;
    EXPECT_EQ(Ask(world, candidate).verdict, Verdict::kStarts);
  }
}

TEST(Arrange, RunningJobs_KeepTheirPartitions) {
  BacklogWorld world(4);
  Candidate candidate = Work("a", "lake/a", 60);
  candidate.partitions = {{"k1", "day=1"}, {"k2", "day=2"}};
  world.candidates = {candidate};
  world.StartAll();
  candidate.action = Action::kRewriteDeletes;
  candidate.partitions = {{"k2", "day=2"}, {"k3", "day=3"}};
  EXPECT_EQ(Ask(world, candidate).verdict, Verdict::kPartitionBusy);
  EXPECT_EQ(Ask(world, candidate).not_before, After(kMinuteMs));
  candidate.partitions = {{"k3", "day=3"}};
  EXPECT_EQ(Ask(world, candidate).verdict, Verdict::kStarts);
  candidate.partitions = {};
  EXPECT_EQ(Ask(world, candidate).verdict, Verdict::kPartitionBusy) << "the whole table";
}

TEST(Arrange, TwoStartsOfOneCall_DoNotOverlap) {
  BacklogWorld world(4);
  world.candidates = {Work("a", "lake/a", 1), Work("a", "lake/a", 1)};
  world.candidates[0].id = "first";
  world.candidates[1].action = Action::kFold;
  EXPECT_EQ(world.StartAll().size(), 1U);
  EXPECT_EQ(world.entries[1].verdict, Verdict::kPartitionBusy);
}

TEST(Arrange, BreakersHoldAutomaticWorkAndLetOneProbeThrough) {
  BacklogWorld world(4);
  Candidate one = Work("a", "lake/a", 60);
  one.partitions = {{"k1", "day=1"}};
  world.breakers[one.table].Record(OutcomeKind::kFailed, "the bucket is gone", kStart);
  const QueueEntry entry = Ask(world, one);
  EXPECT_EQ(entry.verdict, Verdict::kBackingOff);
  EXPECT_EQ(entry.not_before, After(kMinuteMs));
  EXPECT_THAT(Sentence(entry, one, world.breakers, kStart), HasSubstr("the bucket is gone"));
  one.cause = Cause::kRequest;
  EXPECT_EQ(Ask(world, one).verdict, Verdict::kStarts) << "a person asks for it";
  one.cause = Cause::kCommit;
  Candidate two = one;
  two.id = "b";
  two.partitions = {{"k2", "day=2"}};
  world.now = After(kMinuteMs);
  world.candidates = {one, two};
  EXPECT_THAT(world.StartAll(), ElementsAre("a"));
  EXPECT_EQ(world.entries[1].verdict, Verdict::kProbing);
}

TEST(Arrange, BudgetsOfEachScope) {
  for (const Scope scope : {Scope::kEverything, Scope::kDatabase, Scope::kTable}) {
    const std::string name = scope == Scope::kDatabase ? "lake/a" : "lake/a.a";
    BacklogWorld world(4);
    const Candidate work = Work("a", "lake/a", 100);
    orient::BudgetLimits budget{.worker_seconds_per_hour = 60};
    world.ledger.Set(scope, name, {.budget = budget}, kStart);
    world.candidates = {work};
    EXPECT_EQ(world.StartAll().size(), 1U) << "what costs more than an hour's budget starts as well, and is paid for";
    world.now = After(100 * kSecondMs);
    world.EndJobs(1);
    QueueEntry entry = Ask(world, work);
    EXPECT_EQ(entry.verdict, Verdict::kBudgetSeconds);
    EXPECT_EQ(entry.scope, scope);
    EXPECT_EQ(entry.not_before, After(40 * kMinuteMs + 1)) << "40 seconds of debt at 60 an hour";
    world.now = entry.not_before;
    EXPECT_EQ(Ask(world, work).verdict, Verdict::kStarts) << "what it says is true";

    budget = {.bytes_per_hour = 1000};
    world = BacklogWorld(4);
    world.ledger.Set(scope, name, {.budget = budget}, kStart);
    world.candidates = {work};
    world.StartAll();
    world.running.clear();
    entry = Ask(world, work);
    EXPECT_EQ(entry.verdict, Verdict::kBudgetBytes);
    EXPECT_EQ(entry.not_before, After(kLookAgainMs));

    world = BacklogWorld(4);
    world.ledger.Set(scope, name, {.budget = {.concurrent_jobs = 1}}, kStart);
    Candidate part = work;
    part.partitions = {{"k1", ""}};
    world.candidates = {part};
    world.StartAll();
    part.partitions = {{"k2", ""}};
    entry = Ask(world, part);
    EXPECT_EQ(entry.verdict, Verdict::kConcurrentJobs);
    EXPECT_EQ(entry.scope, scope);
    EXPECT_EQ(entry.not_before, After(100 * kSecondMs));
  }
}

TEST(Arrange, LargeWorkIsCutToAnHoursBudget_WhenItCanBe) {
  BacklogWorld world(1);
  world.ledger.Set(Scope::kDatabase, "lake/a", {.budget = {.bytes_per_hour = 3'000'000'000}}, kStart);
  Candidate work = Work("a", "lake/a", 100, 1000);  // 15 GB
  EXPECT_FALSE(Ask(world, work).piece.has_value());
  work.piece_seconds = 1;
  work.piece_bytes = 150'000'000;
  const QueueEntry entry = Ask(world, work);
  ASSERT_TRUE(entry.piece.has_value());
  EXPECT_EQ(entry.piece->bytes_max, 3'000'000'000);
  EXPECT_DOUBLE_EQ(entry.charged.seconds, 20);
  EXPECT_EQ(entry.charged.files_removed, 200);
  work.piece_seconds = 30;
  work.piece_bytes = 4'500'000'000;
  EXPECT_EQ(Ask(world, work).piece->bytes_max, 4'500'000'000) << "not less than can be done alone";
}

TEST(Arrange, PartitionsThatAreBeingWritten_AreDeferredSomeTimes) {
  BacklogWorld world(1);
  Candidate work = Work("a", "lake/a", 60);
  work.write_interval_ms = 5'000;
  work.last_write_at = kStart;
  world.candidates = {work};
  int deferrals = 0;
  while (world.StartAll().empty()) {
    const QueueEntry entry = world.entries[0];
    ASSERT_EQ(entry.verdict, Verdict::kBeingWritten);
    ASSERT_TRUE(entry.defers);
    EXPECT_EQ(entry.not_before, After((10 << deferrals) * kSecondMs, world.now));
    world.now = After(kSecondMs, world.now);
    ASSERT_TRUE(world.StartAll().empty());
    EXPECT_FALSE(world.entries[0].defers) << "asking again does not count";
    EXPECT_EQ(world.entries[0].not_before, entry.not_before);
    world.now = entry.not_before;
    world.candidates[0].last_write_at = world.now;
    ASSERT_LE(++deferrals, 5);
  }
  EXPECT_EQ(deferrals, 5);
}

TEST(Arrange, WhatFitsBetweenWrites_OrIsWantedNow_IsNotDeferred) {
  BacklogWorld world(1);
  Candidate work = Work("a", "lake/a", 60, 600);
  work.write_interval_ms = 10'000;
  work.last_write_at = kStart;
  ASSERT_EQ(Ask(world, work).verdict, Verdict::kBeingWritten);
  Candidate quick = work;
  quick.predicted.seconds = 5;
  EXPECT_EQ(Ask(world, quick).verdict, Verdict::kStarts);
  Candidate divided = work;
  divided.piece_seconds = 2;
  const QueueEntry entry = Ask(world, divided);
  ASSERT_EQ(entry.verdict, Verdict::kStarts);
  EXPECT_DOUBLE_EQ(entry.piece->seconds_max, 5);
  EXPECT_EQ(entry.charged.files_removed, 50);
  Candidate quiet = work;
  quiet.last_write_at = After(-31 * kSecondMs);
  EXPECT_EQ(Ask(world, quiet).verdict, Verdict::kStarts);
  Candidate request = work;
  request.cause = Cause::kRequest;
  EXPECT_EQ(Ask(world, request).verdict, Verdict::kStarts);
  Candidate rare = work;
  rare.write_interval_ms = kHourMs;
  EXPECT_EQ(Ask(world, rare).verdict, Verdict::kStarts);
}

TEST(Arrange, EveryVerdictHasASentenceAndARecord) {
  Candidate work = Work("a", "lake/a", 60);
  work.write_interval_ms = 5'000;
  work.deadline = After(kHourMs);
  work.partitions = {{"k", "day=1"}};
  for (int verdict = 0; verdict <= static_cast<int>(Verdict::kConcurrentJobs); ++verdict) {
    QueueEntry entry{.verdict = static_cast<Verdict>(verdict), .not_before = After(kMinuteMs)};
    const std::string sentence = Sentence(entry, work, {}, kStart);
    EXPECT_THAT(sentence, testing::EndsWith("."));
    EXPECT_THAT(sentence, testing::Not(HasSubstr(": ;"))) << "each has its own words";
    const Decision decision = MakeDecision(entry, work, {}, kStart);
    EXPECT_EQ(decision.code, VerdictName(entry.verdict));
    EXPECT_EQ(decision.reason, sentence);
    EXPECT_EQ(decision.partition, "day=1");
    EXPECT_EQ(decision.not_before.has_value(), decision.kind == DecisionKind::kNotNow);
    EXPECT_TRUE(decision.prediction.has_value());
  }
}

}  // namespace
}  // namespace firn::decide
