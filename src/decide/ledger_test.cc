// SPDX-License-Identifier: Apache-2.0
#include "decide/ledger.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "decide/backlog_fixture.h"
#include "decide/ledger_json.h"

namespace firn::decide {
namespace {

void SetLimits(Ledger& ledger, TimestampMs now) {
  ledger.Set(Scope::kEverything, "", {.budget = {.worker_seconds_per_hour = 3600}}, now);
  ledger.Set(Scope::kDatabase, "lake/a", {.budget = {.bytes_per_hour = 1000}, .weight = 2}, now);
  ledger.Set(Scope::kTable, "lake/a.t", {.budget = {.worker_seconds_per_hour = 60}}, now);
}

Ledger Spent() {
  Ledger ledger;
  SetLimits(ledger, kStart);
  ledger.everything.budget.Charge({.seconds = 100});
  ledger.databases.at("lake/a").budget.Charge({.bytes = 5000});
  ledger.tables.at("lake/a.t").budget.Charge({.seconds = 100});
  ledger.credits = {{"lake/a", -12.5}, {"lake/b", 3}};
  ledger.lane_credits = {0, 1.5, -2};
  return ledger;
}

TEST(Ledger, ABudgetSurvivesARestart) {
  const json::Value saved = json::Parse(json::Write(ToJson(Spent()))).value();
  Ledger ledger;
  SetLimits(ledger, After(kMinuteMs));
  const Status restored = RestoreLedger(saved, ledger);
  ASSERT_TRUE(restored.has_value()) << restored.error().message;
  EXPECT_DOUBLE_EQ(ledger.everything.budget.seconds()->level(), 3500);
  EXPECT_DOUBLE_EQ(ledger.databases.at("lake/a").budget.bytes()->level(), -4000);
  EXPECT_EQ(ledger.tables.at("lake/a.t").budget.OpensAt(), After(40 * kMinuteMs + 1));
  EXPECT_EQ(ledger.credits, Spent().credits);
  EXPECT_EQ(ledger.lane_credits, Spent().lane_credits);
}

TEST(Ledger, WhatHasNoLimitAnyMore_IsLeftOut) {
  Ledger ledger;
  ASSERT_TRUE(RestoreLedger(ToJson(Spent()), ledger).has_value());
  EXPECT_FALSE(ledger.everything.budget.seconds().has_value());
  EXPECT_TRUE(ledger.tables.empty());
}

TEST(Ledger, ADamagedText_ChangesNothing) {
  const std::vector<const char*> members = {"everything", "databases", "tables", "credits", "lanes"};
  for (const char* member : members) {
    json::Value saved = ToJson(Spent());
    saved.Set(member, 5);
    Ledger ledger;
    SetLimits(ledger, kStart);
    const Status restored = RestoreLedger(saved, ledger);
    ASSERT_FALSE(restored.has_value()) << member;
    EXPECT_EQ(restored.error().code, Code::kCorrupt);
    EXPECT_DOUBLE_EQ(ledger.everything.budget.seconds()->level(), 3600) << member;
    EXPECT_TRUE(ledger.credits.empty()) << member;
  }
  json::Value saved = ToJson(Spent());
  saved.Find("credits")->Set("lake/a", "much");
  Ledger ledger;
  EXPECT_FALSE(RestoreLedger(saved, ledger).has_value());
}

TEST(Ledger, SettlingGivesBackWhatWasNotUsed) {
  Ledger ledger;
  SetLimits(ledger, kStart);
  RunningJob job{.id = "1",
                 .table = "lake/a.t",
                 .database = "lake/a",
                 .partitions = {},
                 .charged = {.bytes = 600, .seconds = 50},
                 .started_at = kStart};
  ledger.Settle(job, {.bytes = 100, .seconds = 20}, kStart);
  EXPECT_DOUBLE_EQ(ledger.credits.at("lake/a"), 30);
  ledger.Settle(job, {.bytes = 600, .seconds = 1e9}, kStart);
  EXPECT_DOUBLE_EQ(ledger.credits.at("lake/a"), -kCreditMaxSeconds) << "debt has an end";
  EXPECT_DOUBLE_EQ(ledger.tables.at("lake/a.t").budget.seconds()->level(), -60 * kDebtHours);
}

TEST(Ledger, SettingsThatLimitNothing_AreNotKept) {
  Ledger ledger;
  SetLimits(ledger, kStart);
  ledger.Set(Scope::kTable, "lake/a.t", {}, kStart);
  EXPECT_EQ(ledger.Find(Scope::kTable, "lake/a.t"), nullptr);
  EXPECT_EQ(ledger.Find(Scope::kDatabase, "lake/a")->settings.weight, 2);
  EXPECT_EQ(ledger.Find(Scope::kEverything, ""), &ledger.everything);
}

TEST(LedgerJson, BreakersAndCorrectionsComeBack) {
  CircuitBreaker breaker;
  breaker.Record(OutcomeKind::kFailed, "no space left", kStart);
  EXPECT_EQ(ParseCircuitBreaker(ToJson(breaker)).value(), breaker);
  json::Value odd = ToJson(breaker);
  odd.Set("wait_ms", INT64_MAX);
  EXPECT_EQ(ParseCircuitBreaker(odd).value().wait_ms, kLookAgainMs);
  EXPECT_EQ(ParseCircuitBreaker(json::Value::Object()).error().code, Code::kCorrupt);
  CostCorrection correction;
  correction.Learn(Action::kFold, 1, 3);
  EXPECT_EQ(ParseCostCorrection(ToJson(correction)).value(), correction);
  EXPECT_EQ(ParseCostCorrection(json::Value()).error().code, Code::kCorrupt);
}

}  // namespace
}  // namespace firn::decide
