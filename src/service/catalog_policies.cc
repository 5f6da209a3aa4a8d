// SPDX-License-Identifier: Apache-2.0
#include "service/catalog_policies.h"

#include <fmt/format.h>

#include <algorithm>
#include <mutex>
#include <optional>
#include <utility>

#include "base/human_text.h"
#include "base/log.h"

namespace firn::service {
namespace {

/// What is known of one table.
struct Known {
  PolicyValues values;
  std::optional<Error> wrong;  // the policies make no sense
  std::optional<std::int64_t> answered_ms;
};

}  // namespace

struct CatalogPolicies::Source {
  Source(std::string name, std::function<Result<std::shared_ptr<PolicySource>>()> how)
      : catalog(std::move(name)), open(std::move(how)) {}

  Result<PolicyValues> Of(const ports::TableIdentifier& table, std::int64_t fresh_ms, ports::Clock& clock);
  bool IsFresh(const std::string& table, std::int64_t fresh_ms, std::int64_t now_ms);
  Result<std::vector<PolarisPolicy>> Ask(const ports::TableIdentifier& table);
  void Keep(const std::string& table, const std::vector<PolarisPolicy>& policies, std::int64_t now_ms);
  void Fail(Error error, std::int64_t now_ms);
  Result<PolicyValues> Answer(const std::string& table);

  const std::string catalog;
  const std::function<Result<std::shared_ptr<PolicySource>>()> open;
  std::mutex asking;  // taken first: one request at a time
  std::shared_ptr<PolicySource> client;

  mutable std::mutex mutex;  // of all below
  std::map<std::string, Known> tables;
  bool has_none = false;           // for good
  std::optional<Error> failure;    // of the last request; of kUnsupported: there is no such API
  std::int64_t not_before_ms = 0;  // after a failure
  int failures = 0;                // in a row
};

bool CatalogPolicies::Source::IsFresh(const std::string& table, std::int64_t fresh_ms, std::int64_t now_ms) {
  const std::lock_guard lock(mutex);
  // A clock that went back must not keep an answer for ever.
  if (failure && now_ms < not_before_ms && not_before_ms - now_ms <= kAskAgainMs) return true;
  const auto known = tables.find(table);
  if (has_none || known == tables.end() || !known->second.answered_ms) return has_none;
  const std::int64_t age = now_ms - *known->second.answered_ms;
  return age >= 0 && age < fresh_ms;
}

Result<std::vector<PolarisPolicy>> CatalogPolicies::Source::Ask(const ports::TableIdentifier& table) {
  if (client == nullptr) {
    FIRN_ASSIGN(client, open());
    if (client == nullptr) {
      const std::lock_guard lock(mutex);
      has_none = true;
      return std::vector<PolarisPolicy>();
    }
  }
  auto policies = client->Applicable(table.name_space, table.name);
  // Its configuration may be another one, once it answers again.
  if (!policies && policies.error().code != Code::kNotFound) client = nullptr;
  return policies;
}

void CatalogPolicies::Source::Keep(const std::string& table, const std::vector<PolarisPolicy>& policies,
                                   std::int64_t now_ms) {
  auto values = PolarisValues(policies);
  const std::lock_guard lock(mutex);
  if (failure && failure->code != Code::kUnsupported) {
    Log(LogLevel::kInfo, fmt::format("catalog {}: its policies can be read again", catalog));
  }
  failure.reset();
  failures = 0;
  if (has_none) return;
  Known& known = tables[table];
  known.answered_ms = now_ms;
  known.wrong.reset();
  if (values) {
    known.values = std::move(*values);
  } else {
    known.wrong = std::move(values.error());
  }
}

void CatalogPolicies::Source::Fail(Error error, std::int64_t now_ms) {
  const std::lock_guard lock(mutex);
  const bool is_there = error.code != Code::kUnsupported;
  if (!failure || failure->code != error.code) {
    Log(is_there ? LogLevel::kWarn : LogLevel::kInfo,
        fmt::format("catalog {}: {}: {}", catalog, is_there ? "its policies cannot be read" : "it has no policies",
                    error.message));
  }
  not_before_ms =
      now_ms + (is_there ? std::min(kWaitMaxMs, kWaitMinMs << std::min(failures, 10)) : std::int64_t{kAskAgainMs});
  ++failures;
  failure = std::move(error);
}

Result<PolicyValues> CatalogPolicies::Source::Answer(const std::string& table) {
  const std::lock_guard lock(mutex);
  if (has_none) return PolicyValues();
  const auto found = tables.find(table);
  const bool is_known = found != tables.end() && found->second.answered_ms;
  if (!is_known) {
    if (!failure || failure->code == Code::kUnsupported) return PolicyValues();
    return Error{
        failure->code,
        fmt::format("what policies of catalog {} say of it is not known, so nothing is done: {} (the catalog's "
                    "property `{}: false` leaves them out)",
                    catalog, failure->message, kPolarisPoliciesProperty)};
  }
  if (found->second.wrong) return *found->second.wrong;
  PolicyValues values = found->second.values;
  if (failure) {
    for (auto& [key, value] : values) value.place += ", an earlier answer: " + failure->message;
  }
  return values;
}

Result<PolicyValues> CatalogPolicies::Source::Of(const ports::TableIdentifier& table, std::int64_t fresh_ms,
                                                 ports::Clock& clock) {
  const std::string name = ports::ToString(table);
  if (IsFresh(name, fresh_ms, clock.Now().value)) return Answer(name);
  const std::lock_guard turn(asking);
  const std::int64_t now_ms = clock.Now().value;
  if (IsFresh(name, fresh_ms, now_ms)) return Answer(name);  // somebody else has asked meanwhile
  auto policies = Ask(table);
  if (policies) {
    Keep(name, *policies, now_ms);
  } else if (policies.error().code == Code::kNotFound) {
    // Of this table alone.
    return Error{Code::kUnavailable, std::move(policies.error().message)};
  } else {
    Fail(std::move(policies.error()), clock.Now().value);
  }
  return Answer(name);
}

CatalogPolicies::CatalogPolicies(std::vector<PolicySourceOf> sources, std::int64_t fresh_ms, ports::Clock& clock)
    : fresh_ms_(fresh_ms), clock_(clock) {
  for (PolicySourceOf& source : sources) {
    sources_.try_emplace(source.catalog, std::make_unique<Source>(source.catalog, std::move(source.open)));
  }
}

CatalogPolicies::~CatalogPolicies() = default;

Result<PolicyValues> CatalogPolicies::Of(std::string_view catalog, const ports::TableIdentifier& table) {
  const auto source = sources_.find(catalog);
  if (source == sources_.end()) return PolicyValues();
  return source->second->Of(table, fresh_ms_, clock_);
}

void CatalogPolicies::Forget(std::string_view catalog, const ports::TableIdentifier& table) {
  const auto source = sources_.find(catalog);
  if (source == sources_.end()) return;
  const std::lock_guard lock(source->second->mutex);
  source->second->tables.erase(ports::ToString(table));
}

std::vector<PolicyRow> CatalogPolicies::Rows() const {
  std::vector<PolicyRow> rows;
  for (const auto& [catalog, source] : sources_) {
    const std::lock_guard lock(source->mutex);
    if (source->has_none || (source->tables.empty() && !source->failure)) continue;
    PolicyRow& row = rows.emplace_back(PolicyRow{fmt::format("catalog {}", catalog), "polaris", {}});
    std::map<std::pair<std::string, std::string>, std::pair<std::string, std::int64_t>> counts;  // by place and key
    for (const auto& [table, known] : source->tables) {
      for (const auto& [key, value] : known.values) {
        auto& [text, count] = counts[{value.place, key}];
        text = value.text;
        ++count;
      }
    }
    for (const auto& [at, value] : counts) {
      row.settings.push_back({at.second, value.first, at.first, "of " + HumanCount(value.second, "table")});
    }
    if (source->failure) row.settings.push_back({"not asked now", source->failure->message, "", ""});
  }
  return rows;
}

}  // namespace firn::service
