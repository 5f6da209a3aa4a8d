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

/// A failure, and how long nothing is asked because of it.
struct Trouble {
  std::optional<Error> error;
  std::int64_t wait_ms = 0, not_before_ms = 0;
  int count = 0;  // in a row

  /// A clock that went back must not keep anybody waiting for ever.
  bool Waits(std::int64_t now_ms, std::int64_t longer_ms = 0) const {
    const std::int64_t left_ms = not_before_ms + longer_ms - now_ms;
    return error && left_ms > 0 && left_ms <= CatalogPolicies::kAskAgainMs + longer_ms;
  }
  /// Whether it is another one than before.
  bool Add(Error failure, std::int64_t now_ms) {
    const bool is_new = !error || error->code != failure.code;
    wait_ms = failure.code == Code::kUnsupported
                  ? CatalogPolicies::kAskAgainMs
                  : std::min(CatalogPolicies::kWaitMaxMs, CatalogPolicies::kWaitMinMs << std::min(count, 10));
    not_before_ms = now_ms + wait_ms;
    ++count;
    error = std::move(failure);
    return is_new;
  }
};

/// What is known of one table.
struct Known {
  PolicyValues values;
  std::optional<Error> wrong;  // the policies make no sense
  std::optional<std::int64_t> answered_ms;
  Trouble trouble;
};

/// What is asked for at one time.
struct Question {
  std::string table;
  std::uint64_t forgotten = 0;  // calls of Forget until then
};

}  // namespace

struct CatalogPolicies::Source {
  Source(std::string name, std::function<Result<std::shared_ptr<PolicySource>>()> how)
      : catalog(std::move(name)), open(std::move(how)) {}

  Result<PolicyValues> Of(const ports::TableIdentifier& table, std::int64_t fresh_ms, ports::Clock& clock);
  /// The answer that needs no request.
  std::optional<Result<PolicyValues>> Remembered(const std::string& table, std::int64_t fresh_ms, std::int64_t now_ms);
  Result<std::vector<PolarisPolicy>> Ask(const ports::TableIdentifier& table, bool& is_opened);
  Result<PolicyValues> Keep(const Question& question, const std::vector<PolarisPolicy>& policies, std::int64_t now_ms);
  Result<PolicyValues> Fail(const Question& question, Error error, bool is_opened, std::int64_t now_ms);
  /// With the lock. `known` may be null.
  Result<PolicyValues> Answer(const Known* known) const;

  const std::string catalog;
  const std::function<Result<std::shared_ptr<PolicySource>>()> open;
  std::mutex asking;  // taken first: one request at a time
  std::shared_ptr<PolicySource> client;

  mutable std::mutex mutex;  // of all below
  std::map<std::string, Known> tables;
  std::uint64_t forgotten = 0;
  bool has_none = false;     // for good
  Trouble trouble;           // of the catalog; kUnsupported: there is no such API
  std::string failed_table;  // has begun to fail since the last answer
};

std::optional<Result<PolicyValues>> CatalogPolicies::Source::Remembered(const std::string& table, std::int64_t fresh_ms,
                                                                        std::int64_t now_ms) {
  const std::lock_guard lock(mutex);
  if (has_none) return PolicyValues();
  const auto found = tables.find(table);
  const Known* known = found == tables.end() ? nullptr : &found->second;
  if (trouble.Waits(now_ms) || (known && known->trouble.Waits(now_ms))) return Answer(known);
  // Others find out first whether the catalog answers: all of them are looked at in this time.
  const bool has_failed = known && known->trouble.error;
  if (has_failed && trouble.Waits(now_ms, std::max(trouble.wait_ms, 2 * fresh_ms))) return Answer(known);
  if (!known || !known->answered_ms) return std::nullopt;
  const std::int64_t age_ms = now_ms - *known->answered_ms;
  if (age_ms < 0 || age_ms >= fresh_ms) return std::nullopt;
  return Answer(known);
}

Result<std::vector<PolarisPolicy>> CatalogPolicies::Source::Ask(const ports::TableIdentifier& table, bool& is_opened) {
  if (client == nullptr) {
    FIRN_ASSIGN(client, open());
    if (client == nullptr) {
      const std::lock_guard lock(mutex);
      has_none = true;
      return std::vector<PolarisPolicy>();
    }
  }
  is_opened = true;
  auto policies = client->Applicable(table.name_space, table.name);
  // Its configuration may be another one, once it answers again.
  if (!policies && policies.error().code != Code::kNotFound) client = nullptr;
  return policies;
}

Result<PolicyValues> CatalogPolicies::Source::Keep(const Question& question, const std::vector<PolarisPolicy>& policies,
                                                   std::int64_t now_ms) {
  auto values = PolarisValues(policies);
  const std::lock_guard lock(mutex);
  if (trouble.error && trouble.error->code != Code::kUnsupported) {
    Log(LogLevel::kInfo, fmt::format("catalog {}: its policies can be read again", catalog));
    // What failed was the catalog, not they.
    for (auto& [table, known] : tables) known.trouble.not_before_ms = 0;
  }
  trouble = {};
  failed_table.clear();
  if (has_none || question.forgotten != forgotten) return values;
  Known& known = tables[question.table];
  known.answered_ms = now_ms;
  known.trouble = {};
  known.wrong.reset();
  if (values) {
    known.values = std::move(*values);
  } else {
    known.wrong = std::move(values.error());
  }
  return Answer(&known);
}

Result<PolicyValues> CatalogPolicies::Source::Fail(const Question& question, Error error, bool is_opened,
                                                   std::int64_t now_ms) {
  // kNotFound would drop the table.
  if (error.code == Code::kNotFound) error.code = Code::kUnavailable;
  const bool is_there = error.code != Code::kUnsupported;
  const std::lock_guard lock(mutex);
  Known gone;
  Known& known = question.forgotten == forgotten ? tables[question.table] : gone;
  // What has failed before says nothing new about the catalog.
  const bool is_first = known.trouble.count == 0;
  const bool is_second = is_first && !failed_table.empty() && failed_table != question.table;
  if (is_first) failed_table = question.table;
  if (!is_opened || !is_there || is_second || trouble.error) {
    if (trouble.Add(error, now_ms)) {
      Log(is_there ? LogLevel::kWarn : LogLevel::kInfo,
          fmt::format("catalog {}: {}: {}", catalog, is_there ? "its policies cannot be read" : "it has no policies",
                      error.message));
    }
  }
  if (is_opened && is_there && known.trouble.Add(error, now_ms) && !trouble.error) {
    Log(LogLevel::kWarn,
        fmt::format("catalog {}: the policies of {} cannot be read: {}", catalog, question.table, error.message));
  }
  return Answer(&known);
}

Result<PolicyValues> CatalogPolicies::Source::Answer(const Known* known) const {
  if (has_none) return PolicyValues();
  const Error* failure = known && known->trouble.error ? &*known->trouble.error : nullptr;
  if (!failure && trouble.error) failure = &*trouble.error;
  if (!known || !known->answered_ms) {
    if (!failure || failure->code == Code::kUnsupported) return PolicyValues();
    return Error{
        failure->code,
        fmt::format("what policies of catalog {} say of it is not known, so nothing is done: {} (the catalog's "
                    "property `{}: false` leaves them out)",
                    catalog, failure->message, kPolarisPoliciesProperty)};
  }
  if (known->wrong) return *known->wrong;
  PolicyValues values = known->values;
  if (failure) {
    for (auto& [key, value] : values) value.place += ", an earlier answer: " + failure->message;
  }
  return values;
}

Result<PolicyValues> CatalogPolicies::Source::Of(const ports::TableIdentifier& table, std::int64_t fresh_ms,
                                                 ports::Clock& clock) {
  Question question{ports::ToString(table)};
  if (auto known = Remembered(question.table, fresh_ms, clock.Now().value)) return std::move(*known);
  const std::lock_guard turn(asking);
  const std::int64_t now_ms = clock.Now().value;
  // Somebody else may have asked meanwhile.
  if (auto known = Remembered(question.table, fresh_ms, now_ms)) return std::move(*known);
  {
    const std::lock_guard lock(mutex);
    question.forgotten = forgotten;
  }
  bool is_opened = false;
  auto policies = Ask(table, is_opened);
  if (policies) return Keep(question, *policies, now_ms);
  return Fail(question, std::move(policies.error()), is_opened, clock.Now().value);
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
  ++source->second->forgotten;
}

std::vector<PolicyRow> CatalogPolicies::Rows() const {
  std::vector<PolicyRow> rows;
  for (const auto& [catalog, source] : sources_) {
    const std::lock_guard lock(source->mutex);
    if (source->has_none || (source->tables.empty() && !source->trouble.error)) continue;
    PolicyRow& row = rows.emplace_back(PolicyRow{fmt::format("catalog {}", catalog), "polaris", {}});
    std::map<std::pair<std::string, std::string>, std::pair<std::string, std::int64_t>> counts;  // by place and key
    std::int64_t failing = 0;
    const Error* failure = nullptr;
    for (const auto& [table, known] : source->tables) {
      if (known.trouble.error) {
        ++failing;
        failure = &*known.trouble.error;
      }
      for (const auto& [key, value] : known.values) {
        auto& [text, count] = counts[{value.place, key}];
        text = value.text;
        ++count;
      }
    }
    for (const auto& [at, value] : counts) {
      row.settings.push_back({at.second, value.first, at.first, "of " + HumanCount(value.second, "table")});
    }
    if (source->trouble.error) {
      row.settings.push_back({"not asked now", source->trouble.error->message, "", ""});
    } else if (failure) {
      row.settings.push_back({"not asked now", failure->message, "", "for " + HumanCount(failing, "table")});
    }
  }
  return rows;
}

}  // namespace firn::service
