// SPDX-License-Identifier: Apache-2.0
#include "decide/decision.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "base/random.h"
#include "decide/candidate.h"
#include "decide/decision_json.h"

namespace firn::decide {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;

Effect SomeEffect(Random& random) {
  return {.files_removed = static_cast<std::int64_t>(random.Below(1000)),
          .files_replaced = static_cast<std::int64_t>(random.Below(1000)),
          .delete_files_removed = static_cast<std::int64_t>(random.Below(10)),
          .delete_reads_saved = static_cast<std::int64_t>(random.Below(1000)),
          .bytes = static_cast<std::int64_t>(random.Below(std::uint64_t{1} << 60)),
          .seconds = random.NextUnit() * 1e4,
          .reads_saved = random.NextUnit() / 3};
}

std::string SomeText(Random& random, std::size_t length_max) {
  static constexpr std::string_view kPieces[] = {"a",  "\"", "\\",   "\n",   "é",
                                                 "漢", "😀", "\xff", "\xc3", std::string_view("\0", 1)};
  std::string text;
  for (std::size_t n = random.Below(length_max); n > 0; --n) text += kPieces[random.Below(std::size(kPieces))];
  return text;
}

Decision SomeDecision(Random& random) {
  Decision decision{.id = static_cast<std::int64_t>(random.Next() >> 1),
                    .at = TimestampMs{static_cast<std::int64_t>(random.Next())},
                    .table = SomeText(random, 900),
                    .partition = SomeText(random, 20),
                    .kind = static_cast<DecisionKind>(random.Below(8)),
                    .action = SomeText(random, 5),
                    .code = SomeText(random, 5),
                    .reason = SomeText(random, 2000),
                    .inputs = {},
                    .alternatives = {},
                    .not_before = {},
                    .prediction = {},
                    .outcome = {},
                    .plan_id = SomeText(random, 5),
                    .job_id = SomeText(random, 5),
                    .shadow = random.Below(2) == 0};
  for (std::size_t n = random.Below(50); n > 0; --n) {
    const double odd =
        random.Below(9) == 0 ? std::numeric_limits<double>::infinity() : std::ldexp(random.NextUnit(), 60);
    decision.inputs.emplace_back(SomeText(random, 4), odd);
  }
  for (std::size_t n = random.Below(20); n > 0; --n) {
    decision.alternatives.push_back({SomeText(random, 600), random.NextUnit(), SomeText(random, 10)});
  }
  if (random.Below(2) == 0) decision.not_before = TimestampMs{static_cast<std::int64_t>(random.Next())};
  if (random.Below(2) == 0) decision.prediction = SomeEffect(random);
  if (random.Below(2) == 0) decision.outcome = SomeEffect(random);
  return decision;
}

TEST(Decision, RandomRecords_AreReadBackAsTheyWereWritten) {
  Random random(5);
  for (int i = 0; i < 300; ++i) {
    const Decision decision = Bounded(SomeDecision(random));
    EXPECT_EQ(Bounded(decision), decision) << "cutting twice cuts no more";
    const std::string text = json::Write(ToJson(decision));
    EXPECT_LE(text.size(), 300'000U);
    const auto parsed = json::Parse(text);
    ASSERT_TRUE(parsed.has_value()) << parsed.error().message;
    const auto back = ParseDecision(*parsed);
    ASSERT_TRUE(back.has_value()) << back.error().message;
    EXPECT_EQ(*back, decision);
  }
}

TEST(Decision, LongTexts_EndAtAWholeCharacter) {
  Decision decision;
  for (int i = 0; i < 1000; ++i) decision.table += "é";
  decision.reason = std::string(kDecisionReasonBytesMax, 'r');
  decision = Bounded(std::move(decision));
  EXPECT_LE(decision.table.size(), kDecisionNameBytesMax);
  EXPECT_GE(decision.table.size(), kDecisionNameBytesMax - 4);
  EXPECT_THAT(decision.table, EndsWith("é..."));
  EXPECT_EQ(decision.reason, std::string(kDecisionReasonBytesMax, 'r')) << "what just fits is left";
}

TEST(Decision, TooManyInputsAndAlternatives_AreCut) {
  Decision decision;
  for (int i = 0; i < 100; ++i) decision.inputs.emplace_back(fmt::format("n{}", i / 2), i);
  decision.alternatives.resize(100);
  decision = Bounded(std::move(decision));
  ASSERT_EQ(decision.inputs.size(), kDecisionInputsMax);
  EXPECT_EQ(decision.inputs[1], (std::pair<std::string, double>("n1", 2.0))) << "the first of a name stays";
  EXPECT_EQ(decision.alternatives.size(), kDecisionAlternativesMax);
}

TEST(ParseDecision, DamagedRecords_AreErrorsThatNameTheMember) {
  struct Case {
    std::string member;
    json::Value value;
    Code code;
  };
  json::Value many = json::Value::Object();
  for (std::size_t i = 0; i <= kDecisionInputsMax; ++i) many.Set(fmt::format("n{}", i), 1.0);
  json::Value no_number = json::Value::Object();
  no_number.Set("entropy", "high");
  const std::vector<Case> cases = {{"id", "x", Code::kCorrupt},
                                   {"at_ms", json::Value(), Code::kCorrupt},
                                   {"kind", "perhaps", Code::kCorrupt},
                                   {"table", std::string(kDecisionNameBytesMax + 1, 't'), Code::kLimit},
                                   {"inputs", many, Code::kLimit},
                                   {"inputs", json::Value::Array(), Code::kCorrupt},
                                   {"inputs", no_number, Code::kCorrupt},
                                   {"alternatives", json::Value::Object(), Code::kCorrupt},
                                   {"prediction", json::Value::Object(), Code::kCorrupt},
                                   {"shadow", 1, Code::kCorrupt}};
  for (const Case& c : cases) {
    json::Value record = ToJson(Decision{});
    record.Set(c.member, c.value);
    const auto parsed = ParseDecision(record);
    ASSERT_FALSE(parsed.has_value()) << c.member;
    EXPECT_EQ(parsed.error().code, c.code) << c.member << ": " << parsed.error().message;
    const std::string named = c.member == "kind"                                ? "perhaps"
                              : c.member == "inputs" && c.value.Find("entropy") ? "entropy"
                                                                                : c.member;
    EXPECT_THAT(parsed.error().message, HasSubstr(named));
  }
  EXPECT_FALSE(ParseDecision(json::Value()).has_value());
}

Candidate SomeCandidate() {
  return {.id = "c1",
          .table = "lake/db.events",
          .database = "lake/db",
          .table_uuid = "00000000-0000-4000-8000-000000000001",
          .action = Action::kFold,
          .cause = Cause::kSweep,
          .partitions = {{std::string("\0\x01\xff", 3), "day=1"}, {"b", "day=2"}},
          .predicted = {.files_removed = 9,
                        .files_replaced = 10,
                        .delete_files_removed = 1,
                        .bytes = 1000,
                        .seconds = 0.5,
                        .reads_saved = 3},
          .piece_seconds = 0.25,
          .piece_bytes = 500,
          .priority = 2,
          .created_at = TimestampMs{1000},
          .deadline = TimestampMs{9000},
          .write_interval_ms = 5000,
          .last_write_at = TimestampMs{900},
          .deferrals = 2,
          .deferred_until = TimestampMs{4000}};
}

TEST(CheckCandidate, NumbersOutOfRange_AreRefused) {
  EXPECT_TRUE(CheckCandidate(SomeCandidate()).has_value());
  const std::vector<void (*)(Candidate&)> faults = {
      [](Candidate& c) { c.id.clear(); },
      [](Candidate& c) { c.database.clear(); },
      [](Candidate& c) { c.predicted.bytes = -1; },
      [](Candidate& c) { c.predicted.seconds = std::nan(""); },
      [](Candidate& c) { c.predicted.reads_saved = -1; },
      [](Candidate& c) { c.piece_seconds = std::numeric_limits<double>::infinity(); },
      [](Candidate& c) { c.priority = 0; },
      [](Candidate& c) { c.write_interval_ms = -1; },
      [](Candidate& c) { c.deferrals = -1; },
      [](Candidate& c) { std::swap(c.partitions[0], c.partitions[1]); },
      [](Candidate& c) { c.partitions[1] = c.partitions[0]; },
  };
  for (std::size_t i = 0; i < faults.size(); ++i) {
    Candidate candidate = SomeCandidate();
    faults[i](candidate);
    EXPECT_FALSE(CheckCandidate(candidate).has_value()) << i;
  }
}

TEST(Coalesce, KeepsTheAgeAndTheStrongerWish) {
  Candidate older = SomeCandidate();
  older.cause = Cause::kRequest;
  older.priority = 5;
  Candidate newer = SomeCandidate();
  newer.id = "c2";
  newer.created_at = TimestampMs{2000};
  newer.deadline = TimestampMs{8000};
  newer.deferrals = 0;
  newer.predicted.bytes = 7;
  ASSERT_TRUE(SameWork(older, newer));
  const Candidate both = Coalesce(older, newer);
  EXPECT_EQ(both.id, "c2");
  EXPECT_EQ(both.predicted.bytes, 7) << "numbers are the newer ones";
  EXPECT_EQ(both.created_at.value, 1000);
  EXPECT_EQ(both.deadline->value, 8000);
  EXPECT_EQ(both.priority, 5);
  EXPECT_EQ(both.cause, Cause::kRequest);
  EXPECT_EQ(both.deferrals, 2);
  newer.partitions.pop_back();
  EXPECT_FALSE(SameWork(older, newer));
}

TEST(Overlaps, SharedPartition_OrAWholeTable) {
  const std::vector<CandidatePartition> ab = {{"a", ""}, {"b", ""}}, bc = {{"b", ""}, {"c", ""}}, c = {{"c", ""}};
  EXPECT_TRUE(Overlaps(ab, bc));
  EXPECT_FALSE(Overlaps(ab, c));
  EXPECT_TRUE(Overlaps({}, c));
  EXPECT_TRUE(Overlaps(ab, {}));
}

}  // namespace
}  // namespace firn::decide
