// SPDX-License-Identifier: Apache-2.0
#include "service/policy_file.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "base/random.h"
#include "service/fleet_policy.h"

namespace firn::service {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

FleetPolicy Parse(const std::string& text) {
  auto fleet = ParsePolicyFile("p.yaml", text);
  EXPECT_TRUE(fleet.has_value()) << fleet.error().message;
  return fleet ? std::move(*fleet) : FleetPolicy{};
}

TableSettings Resolve(const FleetPolicy& fleet, std::string_view id, const orient::Properties& properties = {},
                      const PolicyValues& catalog = {}) {
  auto settings = ResolveTable(fleet, id, properties, catalog);
  EXPECT_TRUE(settings.has_value()) << settings.error().message;
  return settings ? std::move(*settings) : TableSettings{};
}

constexpr const char* kTwoRules = R"(policies:
  - match: "prod.sales.*"
    priority: 5
    budget:
      concurrent-jobs: 2
  - match: "prod.**"
    priority: 2
    min-input-files: 9
    quiet-hours: "08:00-18:00"
    budget: {bytes-per-hour: 10GB, concurrent-jobs: 7}
)";

TEST(PolicyFile, TheFirstRuleThatHasAKeyDecidesIt) {
  const FleetPolicy fleet = Parse(kTwoRules);
  const TableSettings sales = Resolve(fleet, "prod/sales.orders");
  EXPECT_EQ(sales.service.priority, 5);
  EXPECT_EQ(sales.service.budget.concurrent_jobs, 2);
  EXPECT_EQ(sales.service.budget.bytes_per_hour, std::int64_t{10} << 30) << "of the second rule";
  EXPECT_EQ(sales.policy.min_input_files, 9);
  EXPECT_EQ(sales.origins.at("priority").place, "p.yaml:3");
  EXPECT_EQ(sales.origins.at("budget.bytes-per-hour").place, "p.yaml:10");
  const TableSettings other = Resolve(fleet, "prod/hr.people");
  EXPECT_EQ(other.service.priority, 2);
  EXPECT_EQ(other.service.budget.concurrent_jobs, 7);
  const TableSettings none = Resolve(fleet, "test/hr.people");
  EXPECT_EQ(none.service, orient::ServicePolicy{});
  EXPECT_TRUE(none.origins.empty());
  EXPECT_EQ(TableScope(sales).budget.concurrent_jobs, 2);
  EXPECT_EQ(TableScope(sales).weight, 1) << "a table's priority is in its candidates";
}

TEST(PolicyFile, ForceOverPropertyOverCatalogOverRule) {
  const FleetPolicy fleet = Parse(R"(policies:
  - match: "**"
    priority: 2
    min-input-files: 20
    force: {max-deferrals: 9}
)");
  const PolicyValues catalog = {{"priority", {"3", "Polaris policy `c`"}},
                                {"min-input-files", {"30", "Polaris policy `c`"}}};
  TableSettings settings = Resolve(fleet, "c/d.t");
  EXPECT_EQ(settings.service.priority, 2);
  settings = Resolve(fleet, "c/d.t", {}, catalog);
  EXPECT_EQ(settings.service.priority, 3);
  settings = Resolve(fleet, "c/d.t", {{"firn.priority", "4"}, {"firn.max-deferrals", "1"}, {"owner", "x"}}, catalog);
  EXPECT_EQ(settings.service.priority, 4);
  EXPECT_EQ(settings.origins.at("priority").place, "table property");
  EXPECT_EQ(settings.policy.min_input_files, 30);
  EXPECT_EQ(settings.service.max_deferrals, 9) << "forced";
}

TEST(PolicyFile, ATablesOwnSizeIsNearerThanARules) {
  const FleetPolicy fleet = Parse("policies: [{match: '**', target-file-size-bytes: 2000000}]");
  const std::string write = "write.target-file-size-bytes";
  EXPECT_EQ(Resolve(fleet, "c/d.t").policy.target_size_bytes, 2'000'000);
  EXPECT_EQ(Resolve(fleet, "c/d.t", {{write, "3000000"}}).policy.target_size_bytes, 3'000'000);
  EXPECT_EQ(Resolve(fleet, "c/d.t", {{write, "3000000"}, {"firn.target-file-size-bytes", "4000000"}})
                .policy.target_size_bytes,
            4'000'000);
  const FleetPolicy forced = Parse("policies: [{match: '**', force: {target-file-size-bytes: 2000000}}]");
  EXPECT_EQ(Resolve(forced, "c/d.t", {{write, "3000000"}}).policy.target_size_bytes, 2'000'000);
}

TEST(PolicyFile, ScopesOfManyTables) {
  const FleetPolicy fleet = Parse(R"(everything:
  budget: {worker-seconds-per-hour: 7200, concurrent-jobs: 4}
databases:
  - match: "prod.*"
    priority: 3
    budget: {bytes-per-hour: 1TB}
  - match: "**"
    quiet-hours: "Sat,Sun 00:00-24:00"
)");
  const decide::ScopeSettings all = ResolveEverything(fleet).value();
  EXPECT_EQ(all.budget.worker_seconds_per_hour, 7200);
  EXPECT_EQ(all.budget.concurrent_jobs, 4);
  const decide::ScopeSettings sales = ResolveDatabase(fleet, "prod/sales").value();
  EXPECT_EQ(sales.weight, 3);
  EXPECT_EQ(sales.budget.bytes_per_hour, std::int64_t{1} << 40);
  EXPECT_EQ(sales.quiet_hours.spans.size(), 1U);
  EXPECT_EQ(ResolveDatabase(fleet, "prod/a.b").value().weight, 1) << "two levels";
}

TEST(PolicyFile, Nothing_IsNoPolicy) {
  for (const char* text : {"", "# only a comment\n", "policies:\n", "everything:\ndatabases: []\n"}) {
    EXPECT_EQ(Resolve(Parse(text), "c/d.t").service, orient::ServicePolicy{}) << text;
  }
}

TEST(PolicyFile, Mistakes_AreErrorsWithFileLineAndKey) {
  struct Case {
    std::string text, place, key;
  };
  const std::vector<Case> cases = {
      {"polices: []", "p.yaml:1", "polices"},
      {"- 1", "p.yaml:1", ""},
      {"policies: 1", "p.yaml:1", "policies"},
      {"policies: [1]", "p.yaml:1", ""},
      {"policies:\n- priority: 1", "p.yaml:2", "match"},
      {"policies:\n- match: ''", "p.yaml:2", "match"},
      {"policies:\n- match: a..b", "p.yaml:2", "match"},
      {"policies:\n- match: sales.orders\n  priority: 2", "p.yaml:2", "match: \"sales.orders\" fits nothing"},
      {"policies:\n- match: '*'\n  priority: 2", "p.yaml:2", "write \"*.*\", or \"*.**\""},
      {"databases:\n- match: sales\n  priority: 2", "p.yaml:2", "names are catalog.namespace;"},
      {"policies:\n- match: 'a.b.c'\n  priorty: 1", "p.yaml:3", "priorty"},
      {"policies:\n- match: 'a.b.c'\n  enabled: true\n  priority: 0", "p.yaml:4", "priority"},
      {"policies:\n- match: 'a.b.c'\n  budget:\n    concurrent-jobs: 0", "p.yaml:4", "budget.concurrent-jobs"},
      {"policies:\n- match: 'a.b.c'\n  budget:\n    jobs: 1", "p.yaml:4", "budget.jobs"},
      {"policies:\n- match: 'a.b.c'\n  budget: 5", "p.yaml:3", "budget"},
      {"policies:\n- match: 'a.b.c'\n  priority: [1]", "p.yaml:3", "priority"},
      {"policies:\n- match: 'a.b.c'\n  quiet-hours: always", "p.yaml:3", "quiet-hours"},
      {"policies:\n- match: 'a.b.c'\n  effort: turbo", "p.yaml:3", "effort"},
      {"policies:\n- match: 'a.b.c'\n  priority: 1\n  priority: 2", "p.yaml:4", "priority"},
      {"policies:\n- match: 'a.b.c'\n  budget.concurrent-jobs: 1\n  budget: {concurrent-jobs: 2}", "p.yaml:4",
       "budget.concurrent-jobs"},
      {"policies:\n- match: 'a.b.c'\n  priority: 1\n  force: {priority: 2}", "p.yaml:4", "priority"},
      {"policies:\n- match: 'a.b.c'\n  healthy-fraction: 0.9\n  max-fraction: 1.2", "p.yaml:3", "healthy-fraction"},
      {"policies:\n- match: 'a.b.c'\n  priority: 1\n- match: 'a.b.c'\n  priority: 2", "p.yaml:5", "priority"},
      {"policies:\n- match: '**'\n  priority: 1\n- match: 'a.b.c'\n  priority: 2", "p.yaml:5", "priority"},
      {"everything:\n  priority: 2", "p.yaml:2", "priority"},
      {"everything:\n  effort: fast", "p.yaml:2", "effort"},
      {"databases:\n- match: a.b\n  min-input-files: 3", "p.yaml:3", "min-input-files"},
      {"databases:\n- match: a.b\n  force: {priority: 1}", "p.yaml:3", "force.priority"},
      {"policies: [{match: a\n", "p.yaml:", "no YAML"},
      {"policies: [{match: a.b.c, ? [b] : c}]", "p.yaml:1", ""}};
  for (const auto& [text, place, key] : cases) {
    const auto fleet = ParsePolicyFile("p.yaml", text);
    ASSERT_FALSE(fleet.has_value()) << text;
    EXPECT_EQ(fleet.error().code, Code::kInvalidArgument) << text;
    EXPECT_THAT(fleet.error().message, StartsWith(place)) << text;
    EXPECT_THAT(fleet.error().message, HasSubstr(key)) << text;
  }
}

TEST(PolicyFile, AMistake_IsPutToItsKeyWhateverItsValueSays) {
  const auto named =
      ParsePolicyFile("p.yaml", "policies:\n- match: 'a.b.c'\n  effort: fast\n  noise-threshold: '`firn.effort`'\n");
  ASSERT_FALSE(named.has_value());
  EXPECT_EQ(named.error().message,
            "p.yaml:4: noise-threshold: `firn.noise-threshold`: \"`firn.effort`\" is not a number "
            "(`noise-threshold`: p.yaml:4)");
  const auto size = ParsePolicyFile("p.yaml", "policies:\n- match: 'a.b.c'\n  target-file-size-bytes: 5\n");
  ASSERT_FALSE(size.has_value());
  EXPECT_THAT(size.error().message, StartsWith("p.yaml:3: target-file-size-bytes: a target file size of 5 "));
}

TEST(PolicyFile, ASecondDocument_IsAnError) {
  const auto two = ParsePolicyFile("p.yaml", "policies:\n- match: '**'\n  priority: 2\n---\npolicies: []\n");
  ASSERT_FALSE(two.has_value());
  EXPECT_THAT(two.error().message, StartsWith("p.yaml:5: a second document"));
  EXPECT_EQ(Parse("---\npolicies:\n- match: '**'\n  priority: 2\n---\n").tables.size(), 1U);
  EXPECT_TRUE(Parse("").tables.empty());
}

TEST(PolicyFile, ShortPatternsFitWithAnyLevels) {
  const FleetPolicy fleet =
      Parse("policies:\n- match: 'a.**'\n  priority: 2\ndatabases:\n- match: '**'\n  priority: 3\n");
  EXPECT_EQ(Resolve(fleet, "a/db.t").service.priority, 2);
  EXPECT_EQ(ResolveDatabase(fleet, "a/db").value().weight, 3);
}

TEST(PolicyFile, SourcesThatContradictEachOther_AreNamed) {
  const FleetPolicy fleet = Parse("policies:\n- match: '**'\n  max-fraction: 1.5\n");
  const auto settings = ResolveTable(fleet, "c/d.t", {{"firn.healthy-fraction", "0.9"}}, {});
  ASSERT_FALSE(settings.has_value());
  EXPECT_THAT(settings.error().message, HasSubstr("c/d.t"));
  EXPECT_THAT(settings.error().message, HasSubstr("`max-fraction`: p.yaml:3"));
  EXPECT_THAT(settings.error().message, HasSubstr("`healthy-fraction`: table property"));
}

TEST(PolicyFile, UnknownTableProperties_AreErrors) {
  const auto settings = ResolveTable({}, "c/d.t", {{"firn.priorty", "2"}}, {});
  ASSERT_FALSE(settings.has_value());
  EXPECT_THAT(settings.error().message, HasSubstr("firn.priorty"));
}

TEST(PolicyFile, LargeAndNestedFiles_AreBounded) {
  EXPECT_EQ(ParsePolicyFile("p", std::string(kPolicyFileBytesMax + 1, '#')).error().code, Code::kLimit);
  std::string deep = "policies: [{match: a, b: ";
  for (int i = 0; i < 50'000; ++i) deep += "{a: ";
  EXPECT_FALSE(ParsePolicyFile("p", deep).has_value());
  std::string wide = "policies: [{match: a";
  for (int i = 0; i < 50'000; ++i) wide += fmt::format(", k{}: 1", i);
  EXPECT_FALSE(ParsePolicyFile("p", wide + "}]").has_value());
  const std::string laughs =
      "policies: [{match: a, b: &a {x: 1, y: 2}, c: &b {p: *a, q: *a, r: *a}, d: {p: *b, q: *b, r: *b}}]";
  EXPECT_FALSE(ParsePolicyFile("p", laughs).has_value());
}

/// Bytes of a good file changed at random: an answer, never a crash.
TEST(PolicyFile, RandomDamage_GivesAnAnswer) {
  Random random(23);
  int errors = 0;
  for (int i = 0; i < 2'000; ++i) {
    std::string text = kTwoRules;
    for (std::uint64_t n = 1 + random.Below(4); n > 0; --n) {
      text[random.Below(text.size())] = static_cast<char>(random.Below(128));
    }
    const auto fleet = ParsePolicyFile("p.yaml", text);
    errors += fleet.has_value() ? 0 : 1;
    if (!fleet) {
      EXPECT_THAT(fleet.error().message, StartsWith("p.yaml:"));
    }
  }
  EXPECT_GT(errors, 500);
}

std::string Document() {
  std::ifstream file(std::string(FIRN_SOURCE_DIR) + "/docs/deciding.md");
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

TEST(PolicyFile, TheExampleOfTheDocument_IsOne) {
  const std::string document = Document();
  const std::size_t begin = document.find("```yaml\n"), end = document.find("```\n", begin + 8);
  ASSERT_NE(begin, std::string::npos);
  ASSERT_NE(end, std::string::npos);
  const FleetPolicy fleet = Parse(document.substr(begin + 8, end - begin - 8));
  EXPECT_EQ(fleet.tables.size(), 3U);
  EXPECT_EQ(Resolve(fleet, "prod/sales.orders").service.priority, 5);
  EXPECT_FALSE(Resolve(fleet, "prod/raw.tmp_1", {{"firn.enabled", "true"}}).policy.enabled);
  EXPECT_EQ(ResolveDatabase(fleet, "prod/sales").value().weight, 4);
  EXPECT_TRUE(ResolveEverything(fleet).value().budget.bytes_per_hour.has_value());
}

TEST(PolicyFile, TheDocumentHasEveryKey) {
  const std::string document = Document();
  for (const std::string_view key : orient::ServicePolicyKeys()) {
    EXPECT_THAT(document, HasSubstr(fmt::format("| `{}`", key)));
  }
}

}  // namespace
}  // namespace firn::service
