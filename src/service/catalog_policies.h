// SPDX-License-Identifier: Apache-2.0
//
// Remembers which policies catalogs have for their tables, and asks them again now and then.
//
// In: for each catalog a way to open its policies; tables, as they are looked at. Out: settings that the policies stand
//   for.
// Guarantees: one request at a time to a catalog, and one answer a table in `fresh_ms`, however many events come. When
//   asking fails, the last answer stays in force and its place says so, and the table is not asked for before a wait
//   that grows up to kWaitMaxMs. The catalog as a whole waits so when it cannot be opened, or when two tables in a row
//   begin to fail; then tables that did not fail ask first. Without such an API it is not asked for kAskAgainMs. A
//   table whose policies were never learned, because asking fails, has none of its settings: an error, so that nothing
//   is done against them. What Forget says while an answer is on its way holds: that answer is given, and not kept.
// Cost: what policies of a table mean, a few hundred bytes; a request in Of(), when an answer is old.
// Threads: any.
// Errors: Of: kInvalidArgument for policies that make no sense, naming them; kUnavailable and others when they could
// not
//   be learned, with the property that leaves them out.
// Source: docs/deciding.md ("Polaris").
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "ports/catalog.h"
#include "ports/clock.h"
#include "service/fleet_policy.h"
#include "service/fleet_rows.h"
#include "service/polaris_policies.h"

namespace firn::service {

struct PolicySourceOf {
  std::string catalog;
  /// Null: the catalog never has policies. kUnsupported: not now.
  std::function<Result<std::shared_ptr<PolicySource>>()> open;
};

class CatalogPolicies {
 public:
  static constexpr std::int64_t kWaitMinMs = 5'000, kWaitMaxMs = 300'000;
  static constexpr std::int64_t kAskAgainMs = 3'600'000;

  /// `clock` must live longer.
  CatalogPolicies(std::vector<PolicySourceOf> sources, std::int64_t fresh_ms, ports::Clock& clock);
  ~CatalogPolicies();

  Result<PolicyValues> Of(std::string_view catalog, const ports::TableIdentifier& table);
  void Forget(std::string_view catalog, const ports::TableIdentifier& table);
  /// What is in force, by catalog: each policy once, with the number of tables.
  std::vector<PolicyRow> Rows() const;

 private:
  struct Source;
  std::map<std::string, std::unique_ptr<Source>, std::less<>> sources_;
  const std::int64_t fresh_ms_;
  ports::Clock& clock_;
};

}  // namespace firn::service
